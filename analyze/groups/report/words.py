"""The first sentences: what is confirmed, what is noise, and what was not answered."""

from __future__ import annotations

import duckdb

from analyze.groups.report.disparities import Disparity, Reading, disparities
from analyze.groups.stored.staleness import outdated
from analyze.report.numbers import p_value, with_sign
from analyze.report.numbers import percent as points

NO_PROOF = "This is no proof of equal scores."


def sentences(connection: duckdb.DuckDBPyConnection) -> list[str]:
    """What a reader should know first, the confirmed before the rest; one paragraph each."""
    found = disparities(connection)
    told = stale(connection)
    models = dict.fromkeys((row.collection, row.arm, row.model) for row in found)
    if not models:
        nothing = (
            "No model has answered yet: shares of groups and label drift are in `group_representation` and "
            "`group_drift`."
        )
        return told or [nothing]
    for collection, arm, model in models:
        rows = [row for row in found if (row.collection, row.arm, row.model) == (collection, arm, model)]
        told += _of_model(collection, model if arm in ("", "base") else f"{model} ({arm})", rows)
    told += _answers(connection)
    return told


def stale(connection: duckdb.DuckDBPyConnection) -> list[str]:
    """Which results are not of the answers that the study has now."""
    return [
        (
            f"The results of {one.model} in '{one.collection}' are not of all answers that the study has now."
            if one.analysed
            else f"{one.model} has answers in '{one.collection}' that were not analysed."
        )
        + " Run `evenhand analyze`."
        for one in outdated(connection)
    ]


def _of_model(collection: str, model: str, rows: list[Disparity]) -> list[str]:
    confirmed = [row for row in rows if row.reading in (Reading.BEHAVIOUR, Reading.CONFIRMED)]
    alone = [row for row in rows if row.reading is Reading.UNCORRECTED]
    noise = [row for row in rows if row.reading is Reading.NOISE]
    untested = [row for row in rows if row.reading is Reading.NOT_TESTED]
    told = []
    if not confirmed:
        told.append(f"{collection}, {model}: no disparity between groups is confirmed. {NO_PROOF}")
    for row in sorted(confirmed, key=lambda row: row.p_corrected or 0.0):
        told.append(f"{collection}, {model}: {_confirmed(row)}")
    for row in alone:
        told.append(
            f"{collection}, {model}: {row.attribute} is not confirmed. Its disparity of {points(row.gd)} "
            f"points has p = {p_value(row.p_plain)} taken alone, and {p_value(row.p_corrected)} after the "
            "correction for all attributes and models."
        )
    if noise:
        listed = "; ".join(
            f"{row.attribute} (GD {points(row.gd)}, chance alone {points(row.gd_floor)}, "
            f"p = {p_value(row.p_plain)}{_reach(row)})"
            for row in noise
        )
        told.append(f"{collection}, {model}: not distinguishable from noise: {listed}.")
    if untested:
        told.append(f"{collection}, {model}: not tested: {', '.join(row.attribute for row in untested)}.")
    return told


def _confirmed(row: Disparity) -> str:
    interval = (
        ""
        if row.worst_low is None or row.worst_high is None
        else f", 95% interval {points(row.worst_low)} to {points(row.worst_high)}"
    )
    said = (
        f"the groups of {row.attribute} differ beyond chance. Their macro-F1 has a disparity (GD) of "
        f"{points(row.gd)} points, where chance alone gives {points(row.gd_floor)} (corrected p "
        f"{_is(row.p_corrected)}). The lowest score is that of {row.worst_group} ({points(row.worst_score)}"
        f"{interval})."
    )
    if row.reading is Reading.BEHAVIOUR:
        return said + (
            " It is also shown among cases with the same true label (corrected p "
            f"{_is(row.p_within_corrected)}), so different label shares do not explain all of it."
        )
    return said + (
        f" Among cases with the same true label no difference is shown (corrected p "
        f"{_is(row.p_within_corrected)}): different label shares may explain all of it."
    )


def _reach(row: Disparity) -> str:
    if row.detectable_gd is None:
        return ""
    return f"; this test set can show disparities of about {points(row.detectable_gd)} or more"


def _is(value: float | None) -> str:
    return "unknown" if value is None else with_sign(value)


def _answers(connection: duckdb.DuckDBPyConnection) -> list[str]:
    rows = connection.execute(
        "SELECT collection, model, sum(n), sum(n_missing), sum(n_invalid) FROM group_answers "
        "GROUP BY ALL HAVING sum(n_missing) + sum(n_invalid) > 0 ORDER BY ALL"
    ).fetchall()
    return [
        f"{collection}, {model}: of {n:,} rows (all seeds), {missing:,} have no answer and {invalid:,} an "
        "answer that names no class. They count as wrong; the variant 'answered' leaves them out."
        for collection, model, n, missing, invalid in rows
    ]
