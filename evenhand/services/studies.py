"""Studies as files: opened with the tables of every room that works on them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from store.errors import BadInput

if TYPE_CHECKING:
    from evenhand.audit.protocol import Audit
    from store import Study


def open_study(path: Path, *, create: bool = False, audit: Audit | None = None, **settings: Any) -> Study:
    """Open a study with the tables of the analyzer and of its domains.

    Args:
        path: the file. create: make it where it is missing. audit: a domain that is to be added. settings: as
            those of `store.open_study`.

    Raises:
        BadInput: the file is missing (unless `create`), held by another process, or not ours.
    """
    import analyze  # noqa: PLC0415  (a heavy room, where a study is open)
    import store  # noqa: PLC0415
    from evenhand.domains import judifair  # noqa: PLC0415

    if not create and not path.exists():
        raise BadInput(
            f"There is no study at {path}.",
            hint="Make one with `evenhand build` or `evenhand import`, or name another with --db FILE.",
        )
    own = [one for one in (audit.migrations() if audit else ()) if one.room != judifair.MIGRATIONS.room]
    return store.open_study(
        path,
        migrations=[judifair.MIGRATIONS, *own, analyze.MIGRATIONS, judifair.RESULTS_MIGRATIONS],
        create=create,
        **settings,
    )


def read_study(path: Path) -> Study:
    """Open a study to be read: also where neither it nor its folder may be written.

    Elsewhere as `open_study`, which brings old tables up to date.
    """
    where = path.resolve()
    writable = not where.exists() or all(os.access(one, os.W_OK) for one in (where, where.parent))
    return open_study(path, read_only=not writable)
