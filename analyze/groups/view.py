"""What the rows of results of one model and attribute are taken from: scores and all their draws."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from analyze.groups.data import Attribute, Bools, GroupData, Predictions, Variant
from analyze.groups.inference.permutation import Shuffled, shuffle
from analyze.groups.inference.strata import Null, permutation
from analyze.groups.scores import score
from analyze.groups.settings import Settings


class View:
    """One model and attribute on some rows: their scores, bootstrapped scores and shuffled scores."""

    def __init__(
        self,
        data: GroupData,
        attribute: Attribute,
        predictions: Sequence[Predictions],
        kept: Bools,
        variant: Variant,
        settings: Settings,
    ) -> None:
        self.data, self.attribute, self.variant, self.settings = data, attribute, variant, settings
        self.model = predictions[0].model
        self.seeds = [one.seed for one in predictions]
        self.key = (data.collection, self.model, attribute.name, variant, *self.seeds)
        generator = settings.generator("bootstrap", *self.key)
        self.scores = score(data, attribute, predictions, kept, variant, settings.bootstraps, generator)
        eligible = attribute.is_reported & (self.scores.n >= data.minimum_n).any(axis=0)
        self.eligible = np.flatnonzero(eligible)
        self.shuffled = {null: self._shuffle(null) for null in Null} if settings.permutations else {}

    def _shuffle(self, null: Null) -> Shuffled | None:
        """Shuffled scores of the eligible groups; None where fewer than two take part."""
        if len(self.eligible) < 2:
            return None
        place = np.full(len(self.attribute.groups), -1, dtype=np.int64)
        place[self.eligible] = np.arange(len(self.eligible))
        groups = place[self.scores.groups]
        inside = groups >= 0
        part = replace(
            self.scores.panel, rows=self.scores.panel.rows[inside], pattern=self.scores.panel.pattern[inside]
        )
        blocks = permutation(self.data, part, groups[inside], len(self.eligible), null)
        return shuffle(blocks, self.settings.permutations, self.settings.generator(null, *self.key))
