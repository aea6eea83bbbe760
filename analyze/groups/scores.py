"""The scores of an attribute's groups on one panel of predictions, observed and bootstrapped."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from analyze.groups.counts import Panel, counts_of_cells, group_sums, panel
from analyze.groups.data import Attribute, Bools, Floats, GroupData, Ints, Predictions, Variant
from analyze.groups.inference.bootstrap import bootstrap
from analyze.groups.reweighting import reweighted_f1
from analyze.groups.rules import RULES, Rule, macro_f1_by_rule, micro_f1


@dataclass(frozen=True, slots=True)
class Scores:
    """Everything about the groups of one attribute that is a number of one seed."""

    panel: Panel
    groups: Ints
    """Each row's group."""
    n: Ints
    """(seeds, groups): rows scored."""
    counts: Floats
    """(seeds, groups, 3, classes)."""
    cells: Floats | None
    """(seeds, groups, classes, classes + 1); None where rows may have several classes."""
    by_rule: Floats
    """(rules, seeds, groups)."""
    micro: Floats
    """(seeds, groups)."""
    accuracy: Floats
    reweighted: Floats | None
    """(rules, seeds, groups), at the label shares of the reported rows."""
    drawn: Floats
    """(rules, draws, seeds, groups), bootstrapped; no draws if none were asked for."""
    drawn_reweighted: Floats | None
    """(draws, seeds, groups), by the collection's own rule."""

    def compared(self, attribute: Attribute, minimum: int, rule: Rule) -> Bools:
        """(seeds, groups): reported, with the least number of rows, and with a score by the rule."""
        there = ~np.isnan(self.by_rule[RULES.index(rule)])
        return np.asarray(attribute.is_reported & (self.n >= minimum) & there)


def score(
    data: GroupData,
    attribute: Attribute,
    predictions: Sequence[Predictions],
    rows: Bools,
    variant: Variant,
    bootstraps: int,
    generator: np.random.Generator,
) -> Scores:
    """Score every group of the attribute, those that are not reported too.

    Args:
        data: truth, classes, cases.
        attribute: the groups.
        predictions: one for each seed.
        rows: the rows that take part; those without a group never do.
        variant: what becomes of rows without an answer.
        bootstraps: draws; 0 for none.
        generator: of the bootstrap.
    """
    number = len(attribute.groups)
    found = panel(data, predictions, rows & (attribute.codes >= 0), variant)
    groups = attribute.codes[found.rows]
    counts = group_sums(found.counts, found.pattern, groups, number).swapaxes(0, 1)
    cells = (
        None if found.cells is None else group_sums(found.cells, found.pattern, groups, number).swapaxes(0, 1)
    )
    n, right = _rows_and_hits(data, predictions, found, groups, number, variant)
    reweighted = drawn_reweighted = None
    if cells is not None:
        reweighted = np.stack([reweighted_f1(cells, attribute.is_reported, rule) for rule in RULES])
    features = found.counts if found.cells is None else found.cells
    resampled = bootstrap(data, found, features, groups, number).draw(bootstraps, generator).swapaxes(1, 2)
    if found.cells is not None:
        drawn_reweighted = reweighted_f1(resampled, attribute.is_reported, data.rule)
        resampled = counts_of_cells(resampled)
    return Scores(
        panel=found,
        groups=groups,
        n=n,
        counts=counts,
        cells=cells,
        by_rule=macro_f1_by_rule(counts, RULES),
        micro=micro_f1(counts),
        accuracy=np.divide(right, n, out=np.full(n.shape, np.nan), where=n > 0),
        reweighted=reweighted,
        drawn=macro_f1_by_rule(resampled, RULES),
        drawn_reweighted=drawn_reweighted,
    )


def _rows_and_hits(
    data: GroupData,
    predictions: Sequence[Predictions],
    found: Panel,
    groups: Ints,
    number: int,
    variant: Variant,
) -> tuple[Ints, Ints]:
    """(seeds, groups): rows scored, and rows with exactly the true class or set of classes."""
    n, right = [], []
    truth = data.truth[found.rows]
    for one in predictions:
        there = one.answered[found.rows]
        same = one.values[found.rows] == truth
        hit = there & (same.all(axis=1) if same.ndim == 2 else same)
        taken = there | (variant is Variant.ALL)
        n.append(np.bincount(groups[taken], minlength=number))
        right.append(np.bincount(groups[hit], minlength=number))
    return np.array(n, dtype=np.int64), np.array(right, dtype=np.int64)
