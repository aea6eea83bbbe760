"""Effects that are no amounts: answers that go missing or are declined with a value, and other decisions."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from analyze.counterfactual.frame import Bools, Floats
from analyze.findings import codes
from analyze.findings.amounts import Compared
from analyze.findings.cells import Cells, added_error, difference
from analyze.findings.rows import FindingRow
from analyze.inference.within_cases import NOTHING_VARIES, Permuted, permute


@dataclass(frozen=True, slots=True)
class Tested:
    """A test of a label: over all values, and of each."""

    joint: Permuted
    values: tuple[Permuted, ...]


def missing_test(cells: Cells, compared: list[Compared | None], draws: int, seed: tuple[int, ...]) -> Tested:
    """Whether answers are missing by value."""
    missing = np.nan_to_num(cells.missing)[:, :, None]
    return _tested(cells, missing, cells.asked, compared, draws, seed)


def kind_test(cells: Cells, compared: list[Compared | None], draws: int, seed: tuple[int, ...]) -> Tested:
    """Whether answers are of another kind by value."""
    if len(cells.kinds) < 2:
        return Tested(NOTHING_VARIES, (NOTHING_VARIES,) * len(compared))
    return _tested(cells, np.nan_to_num(cells.compared_kind), _known_kinds(cells), compared, draws, seed)


def _tested(
    cells: Cells,
    response: Floats,
    there: Bools,
    compared: list[Compared | None],
    draws: int,
    seed: tuple[int, ...],
) -> Tested:
    joint = permute(cells.design, response, there, draws, seed)
    if cells.rows.design.continuous or len(compared) == 1:
        return Tested(joint, (joint,) * len(compared))
    values = []
    for one in compared:
        assert one is not None  # of a categorical label
        at = [one.base, one.to]
        values.append(permute(cells.design[:, at], response[:, at], there[:, at], draws, (*seed, one.to)))
    return Tested(joint, tuple(values))


def missing_finding(row: FindingRow, cells: Cells, compared: Compared | None) -> FindingRow:
    """A value's row with the share of its answers that is missing, against the reference."""
    row = replace(row, measure=codes.MISSING, unit=codes.SHARE)
    if compared is None:
        return _along_dose(row, cells)
    pair = [compared.base, compared.to]
    both = cells.asked[:, pair].all(axis=1)
    base, to = (cells.missing[both, level] for level in pair)
    d = difference(to, base)
    away, back = _sides(d)
    declined, declined_reference = _sides(difference(*(cells.declined[both, level] for level in pair[::-1])))
    row = replace(
        row,
        contrast=compared.contrast,
        n_asked=len(d),
        n_compared=len(d),
        n_changed=away + back,
        ups=away,
        downs=back,
        declined=declined,
        declined_reference=declined_reference,
    )
    if len(d):
        row = replace(
            row,
            mean_from=float(base.mean()),
            mean_to=float(to.mean()),
            effect=float(d.mean()),
            effect_kind=codes.PAIRED,
            se=added_error(d),
        )
    if row.n_changed and (declined, declined_reference) == (away, back):
        row = replace(row, measure=codes.DECLINED)
    return row


def kind_finding(row: FindingRow, cells: Cells, compared: Compared | None) -> FindingRow:
    """A value's row with the kinds of its answers, against those under the reference."""
    row = replace(row, measure=codes.KIND, unit=codes.SHARE)
    if compared is None:
        there = _known_kinds(cells)
        n = int((there.sum(axis=1) > 1).sum())
        changed = _varying(cells.kind, there) if cells.kinds else 0
        return replace(row, n_asked=_asked(cells), n_compared=n, n_changed=changed, note=codes.ESTIMATED)
    pair = [compared.base, compared.to]
    asked = int(cells.asked[:, pair].all(axis=1).sum())
    row = replace(row, contrast=compared.contrast, n_asked=asked)
    if not cells.kinds:
        return row
    both = np.isfinite(cells.kind[:, pair]).all(axis=(1, 2))
    base, to = (cells.kind[both, level] for level in pair)
    changed = np.abs(to - base).max(axis=1, initial=0.0) > 1e-9
    ranks = difference(cells.rank[both, compared.to], cells.rank[both, compared.base])[changed]
    row = replace(row, n_compared=int(both.sum()), n_changed=int(changed.sum()))
    if np.isfinite(ranks).all() and len(ranks):
        row = replace(row, ups=int((ranks > 0).sum()), downs=int((ranks < 0).sum()))
    usual = [_usual(shares) for shares in (base, to)]
    clear = (usual[0] >= 0) & (usual[1] >= 0) & (usual[0] != usual[1])
    if not clear.any():
        return row
    times = np.zeros((len(cells.kinds), len(cells.kinds)), dtype=np.int64)
    np.add.at(times, (usual[0][clear], usual[1][clear]), 1)
    one, other = (int(i) for i in np.unravel_index(int(np.argmax(times)), times.shape))
    n = int(both.sum())
    net = (times[one, other] - times[other, one]) / n
    moves = np.zeros(n)
    moves[(usual[0] == one) & (usual[1] == other)] = 1.0
    moves[(usual[0] == other) & (usual[1] == one)] = -1.0
    return replace(
        row,
        from_kind=cells.kinds[one],
        to_kind=cells.kinds[other],
        switches=int(times[one, other]),
        switches_back=int(times[other, one]),
        effect=float(net),
        effect_kind=codes.PAIRED,
        se=added_error(moves),
    )


def _known_kinds(cells: Cells) -> Bools:
    """The cells with an answer of known kind."""
    if not cells.kinds:
        return np.zeros_like(cells.asked)
    known: Bools = np.isfinite(cells.kind[:, :, 0])
    return known


def _along_dose(row: FindingRow, cells: Cells) -> FindingRow:
    """Of a continuous label of which no two values were asked in most cases."""
    n = int((cells.asked.sum(axis=1) > 1).sum())
    changed = _varying(np.nan_to_num(cells.missing)[:, :, None], cells.asked)
    return replace(row, n_asked=_asked(cells), n_compared=n, n_changed=changed, note=codes.ESTIMATED)


def _asked(cells: Cells) -> int:
    return int((cells.asked.sum(axis=1) > 1).sum())


def _varying(shares: Floats, there: Bools) -> int:
    """Cases in which the cells that are there differ."""
    known = there[:, :, None]
    high = np.where(known, shares, -np.inf).max(axis=1)
    low = np.where(known, shares, np.inf).min(axis=1)
    return int((high > low + 1e-9).any(axis=1).sum())


def _sides(d: Floats) -> tuple[int, int]:
    return int((d > 0).sum()), int((d < 0).sum())


def _usual(shares: Floats) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """The kind given most often, -1 where two are."""
    top = shares.max(axis=1, keepdims=True)
    clear = (np.abs(shares - top) < 1e-9).sum(axis=1) == 1
    found: np.ndarray[tuple[int], np.dtype[np.int64]] = np.where(clear, np.argmax(shares, axis=1), -1)
    return found
