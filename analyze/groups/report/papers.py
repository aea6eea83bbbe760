"""Tables in the layout of FairLex (Tables 2 to 4) as LaTeX, each with what the paper lacks."""

from __future__ import annotations

import duckdb

from analyze.groups.report.grids import Grid, decimals, grid, text
from analyze.report.latex import escaped
from analyze.report.numbers import count, p_value
from analyze.report.numbers import percent as points


def tables(connection: duckdb.DuckDBPyConnection) -> list[Grid]:
    """Tables 2, 3 and 4 of every data set and model."""
    table2 = grid(
        connection,
        "table2",
        "Groups: macro-F1 with its 95 per cent interval, cases in train, label drift (Jensen-Shannon "
        "distance) with what sampling alone gives, and the share of the worst class.",
        [
            ("Data set", text), ("Model", text), ("Attribute", text), ("Group", text), ("n", count),
            ("mF1", points), ("low", points), ("high", points), ("Train", count), ("Share", decimals),
            ("Drift", decimals), ("floor", decimals), ("WCI", decimals),
        ],
        "SELECT s.collection, s.model, s.attribute, s.group_name, s.n, s.score, s.ci_low, s.ci_high, "
        "s.n_train, r.share, d.value, d.floor, w.wci FROM group_scores AS s "
        "LEFT JOIN group_representation AS r ON (r.collection, r.outcome, r.attribute, r.group_name, "
        "r.split) = (s.collection, s.outcome, s.attribute, s.group_name, 'train') "
        "LEFT JOIN group_drift AS d ON (d.collection, d.outcome, d.attribute, d.group_name, d.comparison, "
        "d.measure) = (s.collection, s.outcome, s.attribute, s.group_name, 'train-test', 'js_distance') "
        "LEFT JOIN (SELECT collection, coding, arm, outcome, model, attribute, group_name, avg(wci) AS wci "
        "FROM worst_class WHERE variant = 'all' GROUP BY ALL) AS w "
        "ON (w.collection, w.coding, w.arm, w.outcome, w.model, w.attribute, w.group_name) "
        "= (s.collection, s.coding, s.arm, s.outcome, s.model, s.attribute, s.group_name) "
        "WHERE s.seed IS NULL AND s.variant = 'all' AND s.is_default AND s.reported ORDER BY s.rowid",
    )  # fmt: skip
    table3 = grid(
        connection,
        "table3",
        "Two attributes crossed: macro-F1 of the cases that are in both groups.",
        [
            ("Data set", text), ("Model", text), ("Attribute", text), ("Group", text), ("Attribute", text),
            ("Group", text), ("n", count), ("mF1", points),
        ],
        "SELECT collection, model, attribute_1, group_1, attribute_2, group_2, n, score FROM cross_attribute "
        "WHERE seed IS NULL ORDER BY rowid",
    )  # fmt: skip
    table4 = grid(
        connection,
        "table4",
        "Models and methods: mean score, disparity (GD) with the floor that chance gives and its p-value, "
        "worst group.",
        [
            ("Data set", text), ("Attribute", text), ("Model", text), ("mF1", points), ("GD", points),
            ("floor", points), ("p", p_value), ("p within labels", p_value), ("worst", points),
        ],
        "SELECT collection, attribute, model, mean_score, gd, gd_floor, p_plain, p_within_label, worst_score "
        "FROM group_disparities WHERE seed IS NULL AND variant = 'all' AND is_default "
        "ORDER BY collection, attribute, rowid",
    )  # fmt: skip
    return [table2, table3, table4]


def to_latex(table: Grid) -> str:
    """A longtable with booktabs rules, for `\\input`."""
    columns = "l" * table.texts + "r" * (len(table.columns) - table.texts)
    head = " & ".join(map(escaped, table.columns))
    lines = [
        r"% needs \usepackage{booktabs,longtable}",
        rf"\begin{{longtable}}{{{columns}}}",
        rf"\caption{{{escaped(table.title)}}}\label{{tab:{table.name}}}\\",
        rf"\toprule {head} \\ \midrule \endfirsthead",
        rf"\toprule {head} \\ \midrule \endhead",
        r"\bottomrule \endfoot",
        *(" & ".join(map(escaped, row)) + r" \\" for row in table.rows),
        r"\end{longtable}",
    ]
    return "\n".join(lines) + "\n"
