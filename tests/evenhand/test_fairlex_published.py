"""The printed tables of FairLex: transcribed as they are printed, and held against the reference."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from evenhand.domains.fairlex import published


def test_every_printed_figure_is_that_of_the_reference(reference):
    file = reference / "fairlex" / "printed_tables.json"
    if not file.is_file():
        pytest.skip("the reference bundle of group fairness (../shared/reference/fairlex) is not here")
    printed = json.loads(file.read_text(encoding="utf-8"))
    found = {(c.table, c.set, c.attribute, c.row, c.field): c.value for c in published.cells()}
    for name, attributes in printed["table2"].items():
        for attribute, rows in attributes.items():
            for row, values in rows.items():
                for field in ("mF1", "n_train", "percent", "ld", "wci"):
                    assert found["2", name, attribute, row, field] == values[field]
    for name, attributes in printed["table4"].items():
        for attribute, methods in attributes.items():
            for method, values in methods.items():
                for field in ("mF1", "GD", "worst"):
                    assert found["4", name, attribute, method, field] == values[field]
    for number, name in (("8", "ecthr"), ("9", "scotus"), ("10", "fscs"), ("11", "cail")):
        for attribute, rows in printed[f"table{number}"].items():
            for row, values in rows.items():
                for field, value in values.items():
                    assert found[number, name, attribute, row, field] == value
    for number, name in (("6", "ecthr"), ("7", "scotus")):
        for attribute, rows in printed[f"table{number}"].items():
            for row, value in rows.items():
                assert found[number, name, attribute, row, "n_train"] == value


def test_what_contradictions_imply_follows_from_the_printed_cells():
    known = {one.id: one for one in published.contradictions()}
    cells = {(c.table, c.set, c.attribute, c.row, c.field): c.value for c in published.cells()}
    state = [cells["2", "ecthr", "defendant_state", row, "mF1"] for row in ("E.C. European", "The Rest")]
    implied = known["T4-mean/ecthr/defendant_state"].implied
    assert implied["mean_of_table2_groups"] == pytest.approx(sum(state) / 2)
    gender = [cells["2", "ecthr", "applicant_gender", row, "n_train"] for row in ("Male", "Female")]
    percent = known["T2-percent/ecthr/applicant_gender/Male"].implied["percent"]
    assert percent == pytest.approx(100 * gender[0] / sum(gender), abs=0.005)
    assert all(one.why for one in known.values())


def test_a_disparity_is_read_by_its_floor():
    readings = {(one.set, one.attribute, one.method): one for one in published.disparities()}
    assert len(readings) == 70
    assert readings["cail", "defendant_gender", "ERM"].reading == "within noise"
    assert readings["fscs", "legal_area", "ERM"].reading != "within noise"
    for one in readings.values():
        assert (one.reading == "within noise") == (one.gd <= one.floor.percentile_95)


def test_the_command_prints_all_of_it():
    done = subprocess.run(
        [sys.executable, "-m", "evenhand", "compare-published", "--paper", "fairlex", "--json"],
        capture_output=True, text=True, timeout=120, check=True,
    )  # fmt: skip
    document = json.loads(done.stdout)
    assert {cell["table"] for cell in document["cells"]} == {*"2346789", "10", "11"}
    assert len(document["disparities"]) == 70
    assert len(document["contradictions"]) == len(published.contradictions())
