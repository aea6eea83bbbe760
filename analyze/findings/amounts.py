"""The effect on the primary outcome: paired differences, how sure they are, and what carries them."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from analyze.counterfactual.frame import Bools, Floats, Ints
from analyze.findings import codes
from analyze.findings.cells import Cells, added_error, difference
from analyze.findings.rows import FindingRow
from analyze.inference import discordant as changers
from analyze.inference.rows import ValueTest
from analyze.inference.scores import ValueScores
from analyze.inference.within_cases import permute

LARGEST = 20
"""So many of the largest moves are left out, to see whether the effect rests on them."""


@dataclass(frozen=True, slots=True)
class Compared:
    """Two levels of a label's cells, set against each other."""

    base: int
    to: int
    contrast: str


def contrasts(cells: Cells) -> list[Compared | None]:
    """What is compared for each estimated value of the design: the reference with the value.

    Of a continuous label, the two asked values that lie furthest apart among those that at least half of
    the cases were asked both of; None where there are none.
    """
    names = cells.names
    if not cells.rows.design.continuous:
        return [Compared(0, j, f"{names[0]} -> {names[j]}") for j in range(1, len(names))]
    asked = cells.asked.astype(np.float64)
    both = np.triu(asked.T @ asked, 1) if len(names) > 1 else np.zeros((1, 1))
    often = 2 * both >= max(1, int((cells.asked.sum(axis=1) > 1).sum()))
    if not often.any():
        return [None]
    apart = np.where(often, cells.doses[None, :] - cells.doses[:, None], -np.inf)
    base, to = np.unravel_index(int(np.argmax(apart)), apart.shape)
    return [Compared(int(base), int(to), f"{names[base]} -> {names[to]}")]


def amount_finding(
    row: FindingRow, cells: Cells, compared: Compared, value: ValueScores | None, seed: tuple[int, ...]
) -> FindingRow:
    """A value's row with the effect on the amount, from the pairs of answers that were both read."""
    base, to = cells.amount[:, compared.base], cells.amount[:, compared.to]
    d = difference(to, base)
    known = np.isfinite(d)
    n = int(known.sum())
    asked = int((cells.asked[:, compared.base] & cells.asked[:, compared.to]).sum())
    row = replace(
        row,
        contrast=compared.contrast,
        n_asked=asked,
        n_compared=n,
        n_changed=int(np.count_nonzero(d[known])),
        ups=int((d[known] > 0).sum()),
        downs=int((d[known] < 0).sum()),
    )
    if not n:
        return replace(row, state=codes.UNTESTABLE, reason_code=_not_read(cells, compared, asked))
    moves = d[known]
    row = replace(
        row,
        mean_from=float(base[known].mean()),
        mean_to=float(to[known].mean()),
        effect=float(moves.mean()),
        effect_kind=codes.PAIRED,
        # Of yes and no, an error that is never zero: shares of few cases have none otherwise.
        se=codes.PERCENT * added_error(moves / codes.PERCENT)
        if row.measure == codes.YES_NO
        else _error(moves),
    )
    converted = (cells.converted[:, compared.base] | cells.converted[:, compared.to])[known]
    row = _unconverted(row, moves, converted, seed)
    row = _carried(row, cells, moves, cells.carrier[known])
    return _noted(row, moves, value)


def slope_finding(row: FindingRow, test: ValueTest, value: ValueScores | None, unit: str) -> FindingRow:
    """The row of a continuous label of which no two values were asked in most cases: the slope, estimated."""
    if value is None:
        return replace(
            row, n_asked=test.documents, n_compared=test.documents, state=codes.UNTESTABLE,
            reason_code=codes.NOTHING_COMPARED,
        )  # fmt: skip
    d = value.difference[np.isfinite(value.difference)]
    row = replace(
        row,
        unit=unit,
        n_asked=test.documents,
        n_compared=len(d),
        n_changed=int(np.count_nonzero(d)),
        ups=value.ups,
        downs=value.downs,
        effect=value.effect,
        effect_kind=codes.SLOPE,
        se=test.se,
        note=codes.ESTIMATED,
    )
    return _noted(row, d, value)


def _not_read(cells: Cells, compared: Compared, asked: int) -> str:
    if not asked or np.isfinite(cells.amount[:, [compared.base, compared.to]]).any(axis=0).all():
        return codes.NOTHING_COMPARED
    read = np.isfinite(cells.amount[:, compared.base]).any()
    return codes.VALUE_NOT_READ if read else codes.REFERENCE_NOT_READ


def _error(moves: Floats) -> float | None:
    """The standard error of the mean move; None where all are the same."""
    if len(moves) < 2:
        return None
    spread = float(moves.std(ddof=1))
    return spread / float(np.sqrt(len(moves))) if spread > 1e-9 * float(np.abs(moves).max()) else None


def _unconverted(row: FindingRow, moves: Floats, converted: Bools, seed: tuple[int, ...]) -> FindingRow:
    row = replace(row, n_converted=int(converted.sum()))
    if not row.n_converted:
        return row
    left = moves[~converted]
    if not len(left):
        return row
    return replace(row, effect_unconverted=float(left.mean()), p_unconverted=flip_p(left, seed))


def flip_p(moves: Floats, seed: tuple[int, ...], draws: int = 99_999) -> float:
    """The p of sign flips of paired differences."""
    n = len(moves)
    response = np.stack([np.zeros(n), moves], axis=1)[:, :, None]
    design = np.broadcast_to(np.array([0.0, 1.0])[None, :, None], (n, 2, 1))
    return permute(design, response, np.ones((n, 2), dtype=np.bool_), draws, seed).p


def _carried(row: FindingRow, cells: Cells, moves: Floats, groups: Ints) -> FindingRow:
    """Which group of cases carries the effect, and what is left of it without the largest moves."""
    effect = row.effect or 0.0
    if len(moves) < 2 or not moves.any():
        return row
    # Largest first; of equal size first those that go the effect's way: nothing may look surer than it is.
    order = np.lexsort((-moves * np.sign(effect), -np.abs(moves)))
    row = replace(row, effect_without_largest=float(moves[order[1:]].mean()))
    if int(np.count_nonzero(moves)) > LARGEST:
        row = replace(row, effect_without_20=float(moves[order[LARGEST:]].mean()))
    along = np.maximum(moves * np.sign(effect), 0.0)
    if not cells.carriers or not along.any() or not (groups >= 0).any():
        return row
    held = np.bincount(groups[groups >= 0], weights=along[groups >= 0], minlength=len(cells.carriers))
    most = int(np.argmax(held))
    others = moves[groups != most]
    return replace(
        row,
        carrier=cells.carriers[most],
        carrier_share=float(held[most] / along.sum()),
        carrier_cases=int((groups == most).sum()),
        effect_without_carrier=float(others.mean()) if len(others) else None,
    )


def _noted(row: FindingRow, moves: Floats, value: ValueScores | None) -> FindingRow:
    """The notes that the moves call for."""
    noted = [row.note] if row.note else []
    effect = row.effect or 0.0
    if row.n_changed and row.se is None and len(moves) > 1:
        noted.append(codes.NO_SPREAD)
    elif row.n_changed and value is not None and changers.flag(value):
        noted.append(codes.FEW_CHANGERS)
    for left, code in (
        (row.effect_without_largest, codes.RESTS_ON_ONE_CASE),
        (row.effect_without_20, codes.RESTS_ON_FEW),
    ):
        if effect and left is not None and left * effect <= 0:
            noted.append(code)
    if row.n_compared < row.n_asked:
        noted.append(codes.NOT_ALL_COMPARED)
    return replace(row, note="; ".join(noted) or None)
