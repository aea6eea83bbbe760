"""The page: every figure is the database's, nothing comes from elsewhere, no model's text becomes markup."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from cellar import LABELS, SPECIFICATIONS, Cellar
from pages import Node, parse

import store
from analyze.report import extra_tables, numbers, write_html
from analyze.report.data import read
from store.errors import BadInput

MODELS = (("Sommelier 7B", "simulated", 0.0), ("Sommelier 7B", "api", 1.0), ("Taster", "api", None))
VARIANTS = ("main", "level", "robust", "distance")


@dataclass
class Written:
    """A study and its page."""

    study: store.Study
    html: str
    tree: Node

    def rows(self, sql: str, *parameters: Any) -> list[tuple[Any, ...]]:
        return self.study.connection.execute(sql, list(parameters)).fetchall()

    def one(self, sql: str, *parameters: Any) -> Any:
        rows = self.rows(sql, *parameters)
        assert len(rows) == 1, (sql, parameters, rows)
        return rows[0][0]

    def tables(self, name: str) -> list[Node]:
        found = self.tree.find("table", data_t=name)
        assert found, f"no table {name}"
        return found


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Written]:
    folder = tmp_path_factory.mktemp("page")
    study, specifications = Cellar(models=MODELS).analysed(folder, inference=True)
    with study:
        html = write_html(study, specifications, folder / "report").read_text(encoding="utf-8")
        yield Written(study, html, parse(html))


def cells(table: Node) -> list[Node]:
    """The elements of a table that carry a figure of the database.

    The cells of some tables leave the column's name to the heading, and a figure shown whole to the text.
    """
    return [cell for row in table.find("tbody")[0].find("tr") for cell in cells_of(row, table)]


def cells_of(row: Node, table: Node) -> list[Node]:
    """The same of one row."""
    headings = [heading.get("data-c") for heading in table.find("thead")[0].find("th")]
    for column, cell in zip(headings, row.find("td"), strict=False):
        if column is not None and (cell.text != numbers.NOTHING or "data-v" in cell.attributes):
            cell.attributes = {"data-c": column, "data-v": cell.text, **cell.attributes}
    for node in row.walk():
        if "data-c" in node.attributes:
            said = "" if node.text == numbers.NOTHING else node.text
            node.attributes = {"data-v": said, **node.attributes}
    return [node for node in row.walk() if "data-c" in node.attributes and "data-v" in node.attributes]


def number(node: Node) -> float | None:
    return float(node["data-v"]) if node["data-v"] else None


def key_of(node: Node) -> tuple[str, str, str]:
    collection, model, coding = (node.up(f"data-{name}") for name in ("collection", "model-key", "coding"))
    assert collection is not None
    assert model is not None
    assert coding is not None
    return collection, model, coding


def agrees(node: Node, expected: Any, *, percent: bool = False) -> None:
    """The whole figure is the database's to nine digits, and the one shown is the same, rounded."""
    full = number(node)
    same = full == expected if expected is None else full == pytest.approx(expected, rel=1e-8, abs=0)
    assert same, (node.text, full, expected)
    shown = node.text.replace("▲", "").replace("▼", "").strip().rstrip("*")
    if expected is None:
        assert shown in ("", numbers.NOTHING)
        return
    column = node["data-c"]
    percent |= column in ("inconsistency", "missing_share") or column.startswith("inconsistency_weighted")
    if shown == "<0.001":
        assert expected < 0.001
        return
    if "×10" in shown:
        mantissa, exponent = shown.split("×10")
        written = float(mantissa) * 10.0 ** float(exponent.strip().replace(numbers.MINUS, "-"))
        assert written == pytest.approx(expected, rel=0.05)
        return
    plain = shown.replace(numbers.MINUS, "-").replace(",", "").replace("+", "")
    places = len(plain.partition(".")[2])
    assert abs(float(plain) - (expected * 100 if percent else expected)) <= 0.5 * 10**-places + 1e-9, (
        shown,
        expected,
    )


# ---- every figure equals the database


def test_effects_intervals_and_p_are_those_of_the_estimates(written: Written) -> None:
    seen, pairs = set(), set()
    for table in (*written.tables("estimates"), *written.tables("variants")):
        for cell in cells(table):
            variant, column = cell["data-c"].split(".")
            label, value = cell.up("data-label"), cell.up("data-value")
            if variant == "findings":
                expected = written.one(
                    f'SELECT "{column}" FROM findings WHERE scope = \'value\' AND test = \'outcome\' '
                    "AND (collection, model_key, coding, label, value) = (?, ?, ?, ?, ?)",
                    *key_of(cell), label, value,
                )  # fmt: skip
                agrees(cell, expected)
                pairs.add((*key_of(cell), label, value))
                continue
            expected = written.one(
                f'SELECT "{column}" FROM estimates '
                "WHERE (collection, model_key, coding, label, value, variant) = (?, ?, ?, ?, ?, ?)",
                *key_of(cell), label, value, variant,
            )  # fmt: skip
            agrees(cell, expected)
            seen.add((*key_of(cell), label, value, variant, column))
    wanted = written.rows(
        "SELECT collection, model_key, coding, label, value, variant FROM estimates "
        "WHERE coding = 'careful' AND coef IS NOT NULL"
    )
    assert len(wanted) == len(MODELS) * 6 * len(VARIANTS)
    assert {(*row, "coef") for row in wanted} <= seen, "an estimate is not on the page"
    shown = [column for *_, variant, column in seen if variant == "main"]
    assert {"coef", "ci_low", "ci_high", "p", "n"} <= set(shown)
    assert len(pairs) == len(MODELS) * 6, "cases compared are the pairs of the findings"


def test_findings_are_those_of_the_database(written: Written) -> None:
    seen = 0
    for table in (*written.tables("findings"), *written.tree.find("table", data_t="unconfirmed")):
        for cell in cells(table):
            expected = written.one(
                f'SELECT "{cell["data-c"]}" FROM findings '
                "WHERE (collection, model_key, coding, position) = (?, ?, ?, ?)",
                *key_of(cell), int(str(cell.up("data-position"))),
            )  # fmt: skip
            if cell["data-c"] == "effect":
                assert float(cell["data-v"]) == pytest.approx(expected, rel=1e-8)
            else:
                agrees(cell, expected)
            seen += 1
    assert seen > 100
    states = {
        row["data-state"] for table in written.tables("findings") for row in table.find("tr", data_state=True)
    }
    assert "confirmed" in states
    for row in (
        r for t in written.tree.find("table", data_t="unconfirmed") for r in t.find("tr", data_state=True)
    ):
        assert row["data-state"] != "confirmed"


def test_further_tables_show_what_the_database_has(written: Written) -> None:
    shown = {table["data-name"]: table for table in written.tables("further")}
    assert {"label_tests", "flips", "sizes", "inconsistency_tests"} <= set(shown)
    assert "global" not in shown, "of six values a count says no more than the values do"
    specified = {one.name: one for one in extra_tables.declared()}
    for table in written.tables("further"):
        one = specified[table["data-name"]]
        rows = table.find("tr", data_k=True)
        scope = [("collection", table.up("data-collection"))]
        if one.scope != extra_tables.ACROSS:
            scope.append(("model_key", table.up("data-model-key")))
        if table.up("data-coding") and one.scope != extra_tables.COMPARISON:
            scope.append(("coding", table["data-coding"]))
        where = " AND ".join(f'"{name}" IS NOT DISTINCT FROM ?' for name, _ in scope)
        for row in rows:
            keys = list(zip(one.keys, json.loads(row["data-k"]), strict=True))
            condition = " AND ".join([where, *(f'"{name}" IS NOT DISTINCT FROM ?' for name, _ in keys)])
            parameters = [value for _, value in (*scope, *keys)]
            for cell in cells_of(row, table):
                expected = written.one(
                    f'SELECT "{cell["data-c"]}" FROM {one.table} WHERE {condition}', *parameters
                )
                if isinstance(expected, bool):
                    assert cell["data-v"] == str(expected).lower()
                    assert cell.text == ("yes" if expected else "no")
                else:
                    share = {c.key for c in one.columns if c.kind == "share"}
                    agrees(cell, expected, percent=cell["data-c"] in share)


def test_every_declared_table_and_column_is_in_a_study(written: Written) -> None:
    for one in extra_tables.declared():
        columns = {row[0] for row in written.rows(f"DESCRIBE {one.table}")}
        wanted = {*one.keys, *(column.key for column in one.columns), "collection"}
        assert wanted <= columns, (one.table, wanted - columns)
        written.rows(
            f"SELECT * FROM {one.table} WHERE {one.where} {'ORDER BY ' + one.order if one.order else ''}"
        )


def test_label_metrics_are_those_of_the_database(written: Written) -> None:
    count = 0
    for table in written.tables("label_metrics"):
        for cell in cells(table):
            expected = written.one(
                f'SELECT "{cell["data-c"]}" FROM label_metrics '
                "WHERE (collection, model_key, coding, label) = (?, ?, ?, ?)",
                *key_of(cell), cell.up("data-label"),
            )  # fmt: skip
            if cell["data-c"].startswith("biased_"):
                assert cell["data-v"] == str(expected).lower()
                assert cell.text == {True: "●", False: "○", None: numbers.NOTHING}[expected]
            else:
                agrees(cell, expected)
            count += 1
    assert count == len(MODELS) * len(LABELS) * 14


def test_both_codings_stand_side_by_side(written: Written) -> None:
    tables = written.tables("codings")
    assert len(tables) == len(MODELS)
    for table in tables:
        assert len(table.find("tr", data_label=True)) == 6
        for cell in cells(table):
            coding, _, rest = cell["data-c"].partition(":")
            variant, column = rest.split(".")
            collection, model, _ = key_of(cell)
            expected = written.one(
                f'SELECT "{column}" FROM estimates '
                "WHERE (collection, model_key, coding, label, value, variant) = (?, ?, ?, ?, ?, ?)",
                collection, model, coding, cell.up("data-label"), cell.up("data-value"), variant,
            )  # fmt: skip
            agrees(cell, expected)


def test_the_ranking_and_the_summary_are_the_model_metrics(written: Written) -> None:
    anchors = audits(written)
    for name in ("ranking", "summary"):
        (table,) = written.tables(name)
        assert len(table.find("tr", data_k=True)) == len(MODELS) * 2
        for cell in cells(table):
            if cell["data-c"] == "findings/pairs":
                expected = written.one(
                    "SELECT sum(n_compared) FROM findings WHERE scope = 'value' AND test = 'outcome' "
                    "AND (collection, model_key, coding) = (?, ?, ?)",
                    *anchors[str(cell.up("data-k"))], cell.up("data-coding"),
                )  # fmt: skip
                agrees(cell, expected)
                continue
            if cell["data-c"] == "derived/by_chance":
                expected = written.one(
                    "SELECT sum(1 - 0.95 ** values_estimated) FROM label_metrics "
                    "WHERE (collection, model_key, coding) = (?, ?, ?)",
                    *anchors[str(cell.up("data-k"))], cell.up("data-coding"),
                )  # fmt: skip
                agrees(cell, expected)
                continue
            metric, group, threshold, *column = cell["data-c"].split("/")
            expected = written.one(
                f'SELECT "{column[0] if column else "value"}" FROM model_metrics '
                'WHERE (collection, model_key, coding, metric, "group") = (?, ?, ?, ?, ?) '
                "AND threshold IS NOT DISTINCT FROM ?",
                *anchors[str(cell.up("data-k"))], cell.up("data-coding"), metric, group,
                float(threshold) if threshold else None,
            )  # fmt: skip
            agrees(cell, expected)
    (table,) = written.tables("ranking")
    for row in table.find("tr", data_coding="careful"):
        held, tested = written.rows(
            "SELECT count(*) FILTER (state = 'confirmed'), count(p_adjusted) FROM findings "
            "WHERE scope = 'label' AND (collection, model_key) = (?, ?)",
            *anchors[row["data-k"]],
        )[0]
        assert row.find("td")[2].text == f"{held} of {tested}"


def test_counts_are_those_of_the_study(written: Written) -> None:
    anchors = audits(written)
    (table,) = written.tables("overview")
    asked = (
        "SELECT count({}) FROM latest JOIN queries USING (query_id) WHERE collection = ? AND model_key = ? {}"
    )
    for cell in cells(table):
        collection, model = anchors[str(cell.up("data-k"))]
        column = cell["data-c"]
        if column == "temperature":
            expected = written.one("SELECT temperature FROM models WHERE model_key = ?", model)
        elif column == "queries":
            expected = written.one("SELECT count(*) FROM queries WHERE collection = ?", collection)
        elif column == "repeats":
            expected = 1
        elif column.startswith("outcome/"):
            outcome = column.partition("/")[2]
            expected = written.one(asked.format("*", f"AND outcome = '{outcome}'"), collection, model)
        else:
            what = {"asked": "DISTINCT query_id", "documents": "DISTINCT doc_id"}[column]
            expected = written.one(asked.format(what, ""), collection, model)
        agrees(cell, expected)


def test_what_is_lost_between_queries_and_estimates_adds_up(written: Written) -> None:
    for table in written.tables("steps"):
        left = {str(cell["data-c"]): number(cell) for cell in cells(table)}
        collection, model, coding = key_of(table)
        frame = "FROM scores WHERE (collection, model_key, coding) = (?, ?, ?)"
        key = (collection, model, coding)
        assert left["rows"] == written.one(f"SELECT count(*) {frame}", *key)
        assert left["usable"] == written.one(f"SELECT count(points) {frame}", *key)
        assert left["used"] == written.one(f"SELECT count(*) FILTER (points <= 100) {frame}", *key)
        assert left["estimated"] == written.one(
            "SELECT sum(n) FROM (SELECT DISTINCT label, n FROM estimates "
            "WHERE variant = 'main' AND p IS NOT NULL AND (collection, model_key, coding) = (?, ?, ?))",
            *key,
        )
        before = None
        for row in table.find("tr", data_k=True):
            (cell,) = cells_of(row, table)
            lost = sum(
                int(n.replace(",", "")) for n in re.findall(r"(?:^|; )([\d,]+) ", row.children[-1].text)
            )  # type: ignore[union-attr]
            if before is not None:
                assert before - lost == number(cell), (row.text, before, lost)
            before = number(cell)


def test_missing_answers_are_counted_by_value(written: Written) -> None:
    for table in written.tables("missing"):
        assert len(table.find("tr", data_label=True)) == 11
        for cell in cells(table):
            column = {
                "rows": "count(*)",
                "usable": "count(points)",
                "used": "count(*) FILTER (points <= 100)",
                "missing_share": "1 - count(points) / count(*)",
                "missing/evasive": "count(*) FILTER (points IS NULL)",
            }[cell["data-c"]]
            expected = written.one(
                f"SELECT {column} FROM scores "
                "WHERE (collection, model_key, coding, label, value) = (?, ?, ?, ?, ?)",
                *key_of(cell), cell.up("data-label"), cell.up("data-value"),
            )  # fmt: skip
            assert number(cell) == pytest.approx(expected, rel=1e-8, abs=1e-12)


def test_the_label_by_model_table_shows_the_value_with_the_smallest_p(written: Written) -> None:
    (table,) = written.tables("matrix")
    models = [key for _, key in audits(written).values()]
    for cell in cells(table):
        model = models[int(cell["data-c"].partition("/")[2]) - 1]
        value, coef = written.rows(
            "SELECT m.value, l.coef FROM estimates m "
            "JOIN estimates l USING (collection, model_key, coding, label, value) "
            "WHERE m.variant = 'main' AND l.variant = 'level' AND coding = 'careful' "
            "AND model_key = ? AND label = ? ORDER BY m.p LIMIT 1",
            model, cell.up("data-label"),
        )[0]  # fmt: skip
        assert cell["data-value"] == value
        agrees(cell, coef)
    for row in table.find("tr", data_label=True):
        biased = written.one(
            "SELECT count(*) FILTER (biased_05) FROM label_metrics WHERE coding = 'careful' AND label = ?",
            row["data-label"],
        )
        assert row.find("td")[-1].text == f"{biased} of {len(MODELS)}"


def test_figures_in_sentences_are_those_of_the_database(written: Written) -> None:
    found = written.tree.find("data", data_from=True)
    assert len(found) > 20
    anchors = audits(written)
    for node in found:
        source, _, rest = node["data-from"].partition("/")
        section = node.inside("section")
        assert section is not None
        key = key_of(node) if section.get("data-model-key") else None
        if source in anchors:
            collection, model = anchors[source]
            key = (collection, model, "careful")
            source, _, rest = rest.partition("/")
        node.attributes |= {"data-v": node["value"], "data-c": rest.split("/")[0]}
        if source == "model_metrics":
            assert key is not None
            metric, group, threshold, column = rest.split("/")
            expected = written.one(
                f'SELECT "{column}" FROM model_metrics '
                'WHERE (collection, model_key, coding, metric, "group") = (?, ?, ?, ?, ?) '
                "AND threshold IS NOT DISTINCT FROM ?",
                *key, metric, group, float(threshold) if threshold else None,
            )  # fmt: skip
            agrees(node, expected)
        elif source == "findings":
            assert key is not None
            position, column = rest.split("/")
            expected = written.one(
                f'SELECT "{column}" FROM findings '
                "WHERE (collection, model_key, coding, position) = (?, ?, ?, ?)",
                *key, int(position),
            )  # fmt: skip
            shown = node.text.replace(numbers.MINUS, "-")
            assert float(node["value"]) == pytest.approx(expected, rel=1e-8, abs=1e-12)
            if "points" not in shown and column not in ("p_adjusted", "p", "p_unconverted"):
                size = abs(expected) if column == "effect" else expected
                scale = 100 if column in ("mean_from", "mean_to", "carrier_share") else 1
                places = len(shown.partition(".")[2])
                assert abs(float(shown.replace(",", "")) - size * scale) <= 0.5 * 10**-places + 1e-9
        elif source == "estimates":
            label, value, variant, column = rest.split("/")
            candidates = [key[1]] if key else [model for _, model in anchors.values()]
            values = written.rows(
                f'SELECT "{column}" FROM estimates '
                "WHERE coding = 'careful' AND list_contains(?, model_key) "
                "AND (label, value, variant) = (?, ?, ?)",
                candidates, label, value, variant,
            )  # fmt: skip
            known = [v for (v,) in values if v is not None]
            assert any(float(node["value"]) == pytest.approx(v, rel=1e-8, abs=0) for v in known)
        elif source == "global_tests":
            assert key is not None
            test, threshold, column = rest.split("/")
            node.attributes["data-c"] = column
            expected = written.one(
                f"SELECT {column} FROM global_tests "
                "WHERE (collection, model_key, coding, test, threshold) = (?, ?, ?, ?, ?)",
                *key, test, float(threshold),
            )  # fmt: skip
            agrees(node, expected)
        elif source == "label_tests":
            assert key is not None
            counted = {"tested": "holm_p IS NOT NULL", "rejected": "rejected"}[rest]
            expected = written.one(
                f"SELECT count(*) FILTER ({counted}) FROM label_tests "
                "WHERE (collection, model_key, coding) = (?, ?, ?)",
                *key,
            )
            agrees(node, expected)
        elif source == "value_tests":
            label, value, column = rest.split("/")
            candidates = [key[1]] if key else [model for _, model in anchors.values()]
            values = written.rows(
                f"SELECT {column} FROM value_tests WHERE coding = 'careful' "
                "AND list_contains(?, model_key) AND (label, value) = (?, ?)",
                candidates, label, value,
            )  # fmt: skip
            known = [v for (v,) in values if v is not None]
            assert any(float(node["value"]) == pytest.approx(v, rel=1e-8, abs=0) for v in known)
        elif source == "frame":
            assert key is not None
            total, usable = written.rows(
                "SELECT count(*), count(points) FROM scores "
                "WHERE (collection, model_key, coding) = (?, ?, ?)",
                *key,
            )[0]
            expected = {"rows": total, "missing": total - usable, "missing_share": 1 - usable / total}[rest]
            assert float(node["value"]) == pytest.approx(expected, rel=1e-8, abs=1e-12)
        else:
            assert source == "derived", node["data-from"]


def test_no_figure_stands_in_a_table_without_its_source(written: Written) -> None:
    loose = []
    for table in written.tree.find("table", data_t=True):
        if table["data-t"] == "names":
            continue
        for cell in table.find("td"):
            classes = (cell.get("class") or "").split()
            headings = table.find("thead")[0].find("th", data_c=True)
            carried = "data-v" in cell.attributes or cell.find(data_c=True) or headings
            if "n" in classes and re.search(r"\d", cell.text) and not carried:
                loose.append((table["data-t"], cell.text))
    assert not loose


def audits(written: Written) -> dict[str, tuple[str, str]]:
    """Anchor -> (collection, model_key)."""
    return {
        section["id"]: (section["data-collection"], section["data-model-key"])
        for section in written.tree.find("section", data_model_key=True)
    }


# ---- it needs nothing else, and nothing in it is run but its own script


def test_nothing_is_loaded_from_elsewhere(written: Written) -> None:
    for node in written.tree.walk():
        for name, value in node.attributes.items():
            if name in ("src", "href", "xlink:href", "action", "data", "poster", "srcset", "background"):
                assert value.startswith(("#", "data:image/png;base64,")), f"<{node.tag} {name}={value!r}>"
        assert node.tag not in ("link", "img", "iframe", "object", "embed", "video", "audio", "form", "base")
    style = "".join(node.text for node in written.tree.find("style"))
    assert "@import" not in style
    assert "url(" not in style.replace("url(#", "")
    policy = written.tree.find("meta", http_equiv="Content-Security-Policy")[0]["content"]
    assert "default-src 'none'" in policy
    assert "'unsafe-inline'" not in policy.partition("script-src")[2].partition(";")[0]


def test_links_lead_somewhere_and_ids_are_unique(written: Written) -> None:
    ids = [node["id"] for node in written.tree.walk() if "id" in node.attributes]
    assert sorted(ids) == sorted(set(ids))
    for link in written.tree.find("a", href=True):
        assert link["href"][1:] in ids, link["href"]
    for clip in re.findall(r"url\(#([^)]+)\)", written.html):
        assert clip in ids


HOSTILE = '"><img src=x onerror=alert(1)></script><script>alert(2)</script>{{ 7 * 7 }}\u202e'


def test_hostile_text_stays_text(tmp_path: Path) -> None:
    labels = (
        (
            "glass",
            "vessel",
            "categorical",
            f"Glass {HOSTILE}",
            HOSTILE,
            ((f"水晶{HOSTILE}", HOSTILE), (f"纸{HOSTILE}", HOSTILE)),
        ),
        *LABELS[1:3],
    )
    cellar = Cellar(
        models=((f"Evil {HOSTILE}", "api", 0.0), ("Good", "api", 0.0)), labels=labels, wines=6,
        collection=f"c{HOSTILE}",
        text="I give {points} points" + HOSTILE,
    )  # fmt: skip
    study, specifications = cellar.analysed(tmp_path)
    with study:
        study.connection.execute("UPDATE estimates SET note = ?", [HOSTILE])
        html = write_html(study, specifications, tmp_path).read_text(encoding="utf-8")
    tree = parse(html)
    assert len(tree.find("script")) == 1
    assert "alert" not in tree.find("script")[0].text
    assert not tree.find("img")
    assert not [name for node in tree.walk() for name in node.attributes if name.startswith("on")]
    assert "49" not in {node.text for node in tree.find("td")}
    assert HOSTILE.replace("\u202e", "") in tree.find("table", data_t="estimates")[0].text.replace(
        "\u202e", ""
    )


# ---- what it says


def test_what_was_planted_is_what_the_page_says_first(tmp_path: Path) -> None:
    study, specifications = Cellar().analysed(tmp_path, inference=True)
    with study:
        tree = parse(write_html(study, specifications, tmp_path).read_text(encoding="utf-8"))
    (finding,) = [node for node in tree.find("div") if node.get("class") == "finding"]
    lead = finding.find("p")[0].text
    assert lead.startswith("Confirmed: the answers change with 1 of 5 labels (varied facts): Glass (p ")
    (line,) = finding.find("li")
    assert line.text.startswith("Glass: plastic instead of crystal: the score is lower by ")
    assert not tree.find("select", id="selector"), "one model needs no selector"
    assert not tree.find("table", data_t="matrix")
    minute = tree.find("section", id="minute")[0].text
    places = [
        minute.index(heading)
        for heading in ("Confirmed", "Asked", "Tested", "Missing", "Could be seen", "Do not conclude")
    ]
    assert places == sorted(places)


def test_imported_answers_were_asked_by_others_and_nobody_knows_when(tmp_path: Path) -> None:
    study, specifications = Cellar(models=(("M", "imported", 0.0),), wines=6).analysed(tmp_path)
    with study:
        page = parse(write_html(study, specifications, tmp_path).read_text(encoding="utf-8"))
    text = page.find("section", id="minute")[0].text
    assert "imported 2 January 2026 (asked by others; when, is not known)" in text
    assert "asked 2 January" not in text
    assert "What was changed between two answers is known by their account alone." in text
    for section in ("asked", "methods"):
        told = page.find("section", id=section)[0].text
        assert "word for word" not in told
        assert "asked for and published by others" in told


def test_answers_asked_here_have_their_date_and_nothing_else_changed(tmp_path: Path) -> None:
    study, specifications = Cellar(wines=6).analysed(tmp_path)
    with study:
        page = parse(write_html(study, specifications, tmp_path).read_text(encoding="utf-8"))
    minute, asked = (page.find("section", id=name)[0].text for name in ("minute", "asked"))
    assert ", asked 2 January 2026." in minute
    assert "Between two answers one fact alone was changed." in minute
    assert "Everything else stayed word for word the same." in asked
    assert "by others" not in minute + asked


def test_imported_and_own_answers_side_by_side_are_each_told(tmp_path: Path) -> None:
    models = (("M", "imported", 0.0), ("N", "api", 0.0))
    study, specifications = Cellar(models=models, wines=6).analysed(tmp_path)
    with study:
        page = parse(write_html(study, specifications, tmp_path).read_text(encoding="utf-8"))
    text = page.find("section", id="asked")[0].text
    assert "word for word" in text
    assert "The answers of models marked as imported were asked for and published by others." in text


def test_no_effect_is_not_called_even_handedness(tmp_path: Path) -> None:
    study, specifications = Cellar(planted=0, seed=3).analysed(tmp_path, inference=True)
    with study:
        tree = parse(write_html(study, specifications, tmp_path).read_text(encoding="utf-8"))
    text = tree.find("section", id="minute")[0].text
    assert "No effect is confirmed for any of the 5 labels (varied facts) tested." in text
    assert "This is no proof of even-handedness." in text
    assert "would find an average effect on the score of" in text


@pytest.mark.parametrize(
    ("kind", "text"), [("simulated", "Simulated: a scripted taster"), ("embedded", "means nothing")]
)
def test_a_kind_that_proves_nothing_is_marked_on_every_page(tmp_path: Path, kind: str, text: str) -> None:
    study, specifications = Cellar(models=(("M", kind, 0.0),), wines=6).analysed(tmp_path)
    with study:
        html = write_html(study, specifications, tmp_path).read_text(encoding="utf-8")
    (notice,) = [node for node in parse(html).find("div") if node.get("class") == "notice"]
    assert text in notice.text
    printing = html[html.index("@media print") :]
    assert re.search(r"\.notice \{[^}]*display: table-header-group", printing), (
        "not repeated on printed pages"
    )


def test_an_ordinary_model_is_not_marked(tmp_path: Path) -> None:
    study, specifications = Cellar(wines=6).analysed(tmp_path)
    with study:
        tree = parse(write_html(study, specifications, tmp_path).read_text(encoding="utf-8"))
    assert not [node for node in tree.find("div") if node.get("class") == "notice"]


def test_the_engine_puts_no_law_into_a_page_about_wine(written: Written) -> None:
    body = written.tree.find("main")[0].text.lower()
    for word in ("crime", "sentence", "judge", "prison", "court", "defendant", "month"):
        assert word not in body


def test_names_stand_in_both_languages(written: Written) -> None:
    (table,) = written.tables("names")
    row = [cell.text for cell in table.find("tbody")[0].find("tr")[0].find("td")]
    assert row == ["glass", "Glass", "酒杯", "The vessel", "crystal 水晶; plastic 塑料; paper 纸"]


def test_two_temperatures_of_a_model_are_told_apart(written: Written) -> None:
    names = [a.text for a in written.tables("ranking")[0].find("a")]
    assert {"Sommelier 7B, T = 0", "Sommelier 7B, T = 1", "Taster"} == set(names)


def test_one_coding_alone_has_no_comparison(tmp_path: Path) -> None:
    study, specifications = Cellar(wines=6).analysed(tmp_path)
    with study:
        html = write_html(study, specifications, tmp_path, codings=["hasty"]).read_text(encoding="utf-8")
    tree = parse(html)
    assert not tree.find("table", data_t="codings")
    assert {section["data-coding"] for section in tree.find("section", data_coding=True)} == {"hasty"}


def test_what_could_not_be_estimated_says_why(tmp_path: Path) -> None:
    study, specifications = Cellar(wines=1).analysed(tmp_path)
    with study:
        notes = {
            n for (n,) in study.connection.execute("SELECT note FROM estimates WHERE p IS NULL").fetchall()
        }
        tree = parse(write_html(study, specifications, tmp_path).read_text(encoding="utf-8"))
    assert notes
    assert "no confirmatory test was made" in tree.find("section", id="minute")[0].text
    shown = tree.find("table", data_t="estimates")[0].text
    assert any(note and note in shown for note in notes)


# ---- errors for people


def test_nothing_analysed_is_an_error_that_says_what_to_do(tmp_path: Path) -> None:
    specifications = tmp_path / "specifications.toml"
    specifications.write_text(SPECIFICATIONS, encoding="utf-8")
    with Cellar(wines=2).open() as study, pytest.raises(BadInput) as caught:
        write_html(study, specifications, tmp_path)
    assert caught.value.hint == "Run `evenhand analyze` first."


def test_an_unknown_model_is_an_error_that_names_the_known(tmp_path: Path) -> None:
    study, specifications = Cellar(wines=4).analysed(tmp_path)
    with study, pytest.raises(BadInput, match="nobody") as caught:
        write_html(study, specifications, tmp_path, models=["nobody"])
    assert "Sommelier 7B" in str(caught.value.hint)


def test_an_unwritable_folder_is_an_error_for_people(tmp_path: Path) -> None:
    study, specifications = Cellar(wines=4).analysed(tmp_path)
    (tmp_path / "report").write_text("a file where the folder should be")
    with study, pytest.raises(BadInput, match="cannot be written"):
        write_html(study, specifications, tmp_path / "report")


def test_a_study_without_the_views_is_an_error_for_people(tmp_path: Path) -> None:
    specifications = tmp_path / "specifications.toml"
    specifications.write_text(
        SPECIFICATIONS.replace('view = "scores"', 'view = "elsewhere"'), encoding="utf-8"
    )
    with Cellar(wines=2).open() as study, pytest.raises(BadInput, match="elsewhere"):
        write_html(study, specifications, tmp_path)


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ('titel = "x"', "report.titel: there is no such key (did you mean 'title'?)"),
        ("title = 3", "report.title: must be a text"),
        ('cautions = "one"', "report.cautions: must be a list"),
        ('zzz = "x"', "report.zzz: there is no such key (known: title, subject,"),
        ("groups = 3", "report.groups: must be a table"),
        ('glossary = [{ term = "x" }]', "report.glossary[0].meaning: is missing"),
        ("groups = { vessel = 1 }", "report.groups.vessel: must be a text"),
    ],
)
def test_a_wrong_text_in_the_specifications_is_named(tmp_path: Path, line: str, complaint: str) -> None:
    head, _, _ = SPECIFICATIONS.partition("[report]")
    specifications = tmp_path / "specifications.toml"
    specifications.write_text(f"{head}[report]\n{line}\n", encoding="utf-8")
    with Cellar(wines=2).open() as study, pytest.raises(BadInput, match=re.escape(complaint)):
        read(study, specifications)


def test_json_tells_the_same(written: Written, tmp_path: Path) -> None:
    from analyze.report import summary_json

    specifications = tmp_path / "specifications.toml"
    specifications.write_text(SPECIFICATIONS, encoding="utf-8")
    told = json.loads(json.dumps(summary_json(written.study, specifications), allow_nan=False))
    for model in told["models"]:
        for coding in model["codings"]:
            rows = written.rows(
                "SELECT label, value, variant, coef, p FROM estimates "
                "WHERE (collection, model_key, coding) = (?, ?, ?) ORDER BY ALL",
                model["collection"], model["model_key"], coding["coding"],
            )  # fmt: skip
            assert rows == sorted(
                (e["label"], e["value"], e["variant"], e["coef"], e["p"]) for e in coding["estimates"]
            )


def test_figures_behind_cells_are_no_longer_than_needed(written: Written) -> None:
    behind = re.findall(r'data-v="([^"]*)"', written.html)
    assert max(len(re.sub(r"[-.]|e.*", "", full)) for full in behind) <= 9 + len("0000")
    assert not [
        full for full in re.findall(r'data-v="([^"]*)">([^<]*)</td>', written.html) if full[0] == full[1]
    ]
    for part in re.findall(r"<use [^>]*>", written.html):
        assert not re.search(r' [xy]="[^"]*\.\d\d', part)


def test_the_least_p_that_can_be_had_is_marked_as_no_finding(written: Written) -> None:
    table = next(t for t in written.tables("further") if t["data-name"] == "flips")
    headings = [th.get("data-c") for th in table.find("thead")[0].find("th")]
    column = headings.index("least_p")
    least = [row.find("td")[column] for row in table.find("tbody")[0].find("tr")]
    assert any(number < 0.05 for cell in least if (number := float(cell.get("data-v") or 1)))
    assert all("sig" not in cell["class"].split() for cell in least)
