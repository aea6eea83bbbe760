"""A run: several models, each at its own pace, over the pending queries of a study."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from runner.options import Asked, RunOptions, RunSummary

if TYPE_CHECKING:
    from store.asking import Selection
    from store.study import Study


async def run(
    study: Study, asked: Sequence[Asked], selection: Selection, options: RunOptions | None = None
) -> RunSummary:
    """Ask every pending query of the selection of each model, and store what comes back."""
    raise NotImplementedError
