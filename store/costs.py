"""What a study has cost over all its runs, for the limits that are kept over them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from store.sql import statement
from store.study import Study


@dataclass(frozen=True, slots=True)
class Spent:
    """US dollars. Runs that are set aside count too: they were paid."""

    known: float = 0.0
    """Of answers and of tries that gave none, as far as their cost is known."""
    assumed: float = 0.0
    """For what has a cost that is not known: the most that it may have been."""
    unsettled: float = 0.0
    """The most that killed runs may have spent beyond what they stored."""
    in_batches: float = 0.0
    """The most that open batches may still cost, but those of the models named."""
    in_named_batches: float = 0.0
    """The most that open batches of the models named may still cost."""

    @property
    def total(self) -> float:
        """All that counts as spent, without the open batches of the models named."""
        return self.known + self.assumed + self.unsettled + self.in_batches

    def and_more(self, known: float, assumed: float) -> Spent:
        """With what was spent since."""
        return replace(self, known=self.known + known, assumed=self.assumed + assumed)


def spent(study: Study, but_batches_of: Sequence[str] = ()) -> Spent:
    """What counts as spent in this study. The open batches of the models named (by key) stand apart."""
    cursor = study.cursor()
    try:
        row = cursor.execute(
            statement("spent"),
            {
                "active_runs": [str(run_id) for run_id in study.active_runs],
                "but_batches_of": list(but_batches_of),
            },
        ).fetchall()[0]
    finally:
        cursor.close()
    return Spent(*map(float, row))
