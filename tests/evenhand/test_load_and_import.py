"""Loading data sets and importing predictions: what is read, what is refused, and with which words."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import analyze
import store
from evenhand.audit import find
from evenhand.services.group_analysis import analyze_groups
from evenhand.services.import_predictions import import_predictions
from evenhand.services.load import load_data_set
from store.errors import BadInput

FSCS = {"decision_language": "fr", "legal_area": "penal law", "court_region": "Zürich"}
ECTHR = {"applicant_age": 1, "applicant_gender": "male", "defendant_state": "Rest of Europe"}


def fscs(**changes: Any) -> dict[str, Any]:
    return {"text": "un recours", "label": "approval", "attributes": dict(FSCS), **changes}


def ecthr(**changes: Any) -> dict[str, Any]:
    return {"text": "facts", "labels": ["6"], "attributes": dict(ECTHR), **changes}


def write(file: Path, rows: list[Any]) -> Path:
    text = "".join((row if isinstance(row, str) else json.dumps(row)) + "\n" for row in rows)
    if file.suffix == ".gz":
        file.write_bytes(gzip.compress(text.encode()))
    else:
        file.write_text(text, encoding="utf-8")
    return file


@pytest.fixture
def study(tmp_path):
    with store.open_study(tmp_path / "study.duckdb", migrations=[analyze.MIGRATIONS]) as opened:
        yield opened


def loaded(study: store.Study, folder: Path, domain: str, **settings: Any) -> list[tuple[Any, ...]]:
    load_data_set(study, find(domain), folder, **settings)
    return study.connection.execute(
        "SELECT doc_id, split, truth::VARCHAR, groups FROM documents ORDER BY position"
    ).fetchall()


def columns(rows: list[dict[str, Any]]) -> dict[str, list[Any]]:
    return {name: [row[name] for row in rows] for name in rows[0]}


@pytest.mark.parametrize(
    "form", ["nested.jsonl", "flat.jsonl", "nested.jsonl.gz", "flat.parquet", "flat.csv"]
)
@pytest.mark.parametrize("codes", [False, True])
def test_every_layout_gives_the_same_cases(study, tmp_path, form, codes):
    groups = {"decision_language": 1, "legal_area": 2, "court_region": 2} if codes else FSCS
    row = {"text": "un recours", "label": 1 if codes else "approval"}
    flat, nested = [{**row, **groups}], [{**row, "attributes": groups}]
    layout, ending = form.split(".", 1)
    for name in ("test", "train", "validation"):
        file = tmp_path / f"{name}.{ending}"
        if ending == "parquet":
            pq.write_table(pa.table(columns(flat)), file)
        elif ending == "csv":
            cells = [flat[0].keys(), map(str, flat[0].values())]
            file.write_text("".join(",".join(line) + "\n" for line in cells), encoding="utf-8")
        else:
            write(file, flat if layout == "flat" else nested)
    assert loaded(study, tmp_path, "fairlex-fscs") == [
        (f"{split}-0", split, '{"decision": "approval"}', FSCS) for split in ("test", "train", "val")
    ]


def test_a_text_is_a_name_and_an_integer_a_code(study, tmp_path):
    write(tmp_path / "test.jsonl", [ecthr(labels=given) for given in (["2"], [2], ["P1-1", "6", 3], [])])
    found = loaded(study, tmp_path, "fairlex-ecthr")
    assert [json.loads(row[2])["articles"] for row in found] == [["2"], ["5"], ["6", "P1-1"], []]


def test_swiss_judgment_prediction_has_other_names(study, tmp_path):
    row = {"id": 7, "year": 2015, "language": "it", "region": "Ticino", "legal area": "civil law"}
    write(tmp_path / "test.jsonl", [{**row, "text": "ricorso", "label": 0}])
    groups = {"decision_language": "it", "legal_area": "civil law", "court_region": "Ticino"}
    assert loaded(study, tmp_path, "fairlex-fscs") == [("7", "test", '{"decision": "dismissal"}', groups)]


def test_a_limit_takes_the_first_rows_of_each_split(study, tmp_path):
    for name in ("test", "train", "dev"):
        write(tmp_path / f"{name}.jsonl", [fscs()] * 3)
    assert [row[0] for row in loaded(study, tmp_path, "fairlex-fscs", limit=2)] == [
        f"{split}-{number}" for split in ("test", "train", "val") for number in (0, 1)
    ]
    assert study.connection.execute("SELECT count(*) FROM queries").fetchall() == [(2,)]


WRONG = {
    "no such label": ("fscs", fscs(label="perhaps"), ["line 2", "label", "perhaps", "dismissal, approval"]),
    "code out of range": ("fscs", fscs(label=2), ["line 2", "label", "2"]),
    "true is no code": ("fscs", fscs(label=True), ["line 2", "True"]),
    "a float is no code": ("fscs", fscs(label=1.0), ["line 2", "1.0"]),
    "a code as text is a name": ("fscs", fscs(label="1"), ["line 2", "'1'"]),
    "missing column": ("fscs", {"text": "a", "attributes": FSCS}, ["line 2", "'label'", "text"]),
    "misspelt column": ("fscs", fscs(attributes={**FSCS, "court_region": "Paris"}), ["line 2", "Paris"]),
    "no attribute": ("fscs", fscs(attributes={"legal_area": 1}), ["line 2", "decision_language"]),
    "group out of range": ("fscs", fscs(attributes={**FSCS, "legal_area": 6}), ["line 2", "legal_area", "6"]),
    "text is a number": ("fscs", fscs(text=3), ["line 2", "text"]),
    "labels are no list": ("ecthr", ecthr(labels="6"), ["line 2", "labels", "list"]),
    "one bad label in a list": ("ecthr", ecthr(labels=["6", "7"]), ["line 2", "labels", "'7'"]),
    "no JSON": ("fscs", '{"text": ', ["line 2", "JSON"]),
    "no object": ("fscs", "[1]", ["line 2", "object"]),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_named_with_its_line_and_nothing_is_stored(study, tmp_path, name):
    which, row, words = WRONG[name]
    good = fscs() if which == "fscs" else ecthr()
    write(tmp_path / "test.jsonl", [good, row, good])
    with pytest.raises(BadInput) as caught:
        load_data_set(study, find(f"fairlex-{which}"), tmp_path)
    said = f"{caught.value.message} {caught.value.hint}"
    for word in words:
        assert word in said, said
    assert study.connection.execute("SELECT count(*) FROM documents").fetchall() == [(0,)]
    assert study.connection.execute("SELECT count(*) FROM collections").fetchall() == [(0,)]


def test_other_data_do_not_mix_with_a_loaded_set(study, tmp_path):
    write(tmp_path / "test.jsonl", [fscs()])
    assert len(loaded(study, tmp_path, "fairlex-fscs")) == 1
    assert len(loaded(study, tmp_path, "fairlex-fscs")) == 1
    write(tmp_path / "test.jsonl", [fscs(label=0)])
    with pytest.raises(BadInput, match="other data"):
        load_data_set(study, find("fairlex-fscs"), tmp_path)
    assert load_data_set(study, find("fairlex-fscs"), tmp_path, collection="second").added == 1


def test_two_files_of_one_split_are_refused(study, tmp_path):
    for name in ("test", "val", "dev"):
        write(tmp_path / f"{name}.jsonl", [fscs()])
    with pytest.raises(BadInput, match=r"dev\.jsonl, val\.jsonl"):
        load_data_set(study, find("fairlex-fscs"), tmp_path)


# ------------------------------------------------------------------ predictions

FSCS_ANSWERS = [
    ("approval", True), ("dismissal", True), (0, True), (1, True),
    (2, False), (-1, False), (None, False), (True, False), (1.0, False), ("1", False), ("", False),
    (["approval"], False), ({}, False), ("Approval", False),
]  # fmt: skip
ECTHR_ANSWERS = [
    ([], True), (["6"], True), ([3, "6", "6"], True), (["P1-1", 0], True),
    ("6", False), (3, False), (None, False), (["6", None], False), (["7"], False), ([10], False),
    ([True], False), ([""], False), ([["6"]], False),
]  # fmt: skip


@pytest.mark.parametrize(
    ("which", "row", "key", "answers"),
    [("fscs", fscs(), "prediction", FSCS_ANSWERS), ("ecthr", ecthr(), "predictions", ECTHR_ANSWERS)],
)
def test_invalid_answers_and_rows_without_a_line_are_counted(study, tmp_path, which, row, key, answers):
    domain = find(f"fairlex-{which}")
    n = len(answers) + 3
    write(tmp_path / "test.jsonl", [row] * n)
    load_data_set(study, domain, tmp_path)
    lines = [{"row": place, key: given} for place, (given, _) in enumerate(answers)]
    lines.append({"row": len(answers), "score": 0.4})  # a line without an answer
    valid = sum(good for _, good in answers)
    done = import_predictions(study, domain, write(tmp_path / "p.jsonl", lines[::-1]), model="m")
    assert (done.rows, done.valid, done.invalid, done.missing) == (n, valid, len(answers) - valid + 1, 2)
    assert import_predictions(study, domain, tmp_path / "p.jsonl", model="m").added == 0
    analyze_groups(study)
    assert study.connection.execute(
        "SELECT n, n_answered, n_missing, n_invalid FROM group_answers"
    ).fetchall() == [(n, valid, 2, len(answers) - valid + 1)]


WRONG_LINES = {
    "no row": ({"prediction": 1}, "neither `row` nor `id`"),
    "row beyond the split": ({"row": 3, "prediction": 1}, "from 0 to 2"),
    "row before it": ({"row": -1, "prediction": 1}, "-1"),
    "row is text": ({"row": "1", "prediction": 1}, "'1'"),
    "the same row": ({"row": 0, "prediction": 1}, "predicted before"),
    "unknown id": ({"id": "x", "prediction": 1}, "'x'"),
    "two answers": ({"row": 1, "prediction": 1, "predictions": 0}, "differ"),
    "no JSON": ("row 1", "JSON"),
}


@pytest.mark.parametrize("name", WRONG_LINES)
def test_a_wrong_line_is_named_and_nothing_is_stored(study, tmp_path, name):
    line, word = WRONG_LINES[name]
    write(tmp_path / "test.jsonl", [fscs()] * 3)
    load_data_set(study, find("fairlex-fscs"), tmp_path)
    file = write(tmp_path / "p.jsonl", [{"row": 0, "prediction": 1}, line])
    with pytest.raises(BadInput) as caught:
        import_predictions(study, find("fairlex-fscs"), file, model="m")
    assert "line 2" in caught.value.message
    assert word in caught.value.message
    assert study.connection.execute("SELECT count(*) FROM predictions").fetchall() == [(0,)]


def test_a_file_without_predictions_is_refused(study, tmp_path):
    write(tmp_path / "test.jsonl", [fscs()])
    load_data_set(study, find("fairlex-fscs"), tmp_path)
    with pytest.raises(BadInput, match="no column `prediction`"):
        import_predictions(
            study, find("fairlex-fscs"), write(tmp_path / "p.jsonl", [{"row": 0, "pred": 1}]), model="m"
        )


def test_two_files_of_one_model_and_seed_do_not_mix(study, tmp_path):
    domain = find("fairlex-fscs")
    write(tmp_path / "test.jsonl", [fscs()] * 2)
    load_data_set(study, domain, tmp_path)
    first = write(tmp_path / "1.jsonl", [{"row": 0, "prediction": 1}])
    second = write(tmp_path / "2.jsonl", [{"row": 1, "prediction": 1}])
    import_predictions(study, domain, first, model="m", seed=1)
    with pytest.raises(BadInput, match="with the seed 1"):
        import_predictions(study, domain, second, model="m", seed=1)
    with pytest.raises(BadInput, match="with a seed"):
        import_predictions(study, domain, second, model="m")
    assert import_predictions(study, domain, second, model="m", seed=2).added == 1


def test_predictions_need_a_loaded_data_set(study, tmp_path):
    file = write(tmp_path / "p.jsonl", [{"row": 0, "prediction": 1}])
    with pytest.raises(BadInput) as caught:
        import_predictions(study, find("fairlex-fscs"), file, model="m")
    assert "evenhand load" in caught.value.hint


# ------------------------------------------------------------------ a domain of one's own


def test_a_folder_domain_is_loaded_from_csv_imported_and_analysed(study, tmp_path):
    folder = tmp_path / "bail"
    folder.mkdir()
    (folder / "domain.toml").write_text(
        'name = "bail"\ntitle = "Bail"\ndesigns = ["groups"]\n'
        '[[outcomes]]\nname = "granted"\nkind = "yes_no"\n'
        '[[attributes]]\nname = "sex"\ngroups = ["woman", "man"]\n'
        '[columns]\ntext = "facts"\n[columns.truth]\ngranted = "decision"\n[columns.groups]\nsex = "gender"\n'
        '[scoring]\nrule = "union"\nminimum_n = 2\n',
        encoding="utf-8",
    )
    (folder / "prompt.md").write_text("Granted?\n\n{{case}}\n", encoding="utf-8")
    table = tmp_path / "cases.csv"
    lines = ["case,facts,decision,gender,split"]
    lines += [
        f'{n},"a, b",{"yes" if n % 2 else "no"},{n % 3 % 2},{"test" if n < 12 else "train"}'
        for n in range(20)
    ]
    table.write_text("\n".join(lines) + "\n", encoding="utf-8")
    domain = find(str(folder))
    done = load_data_set(study, domain, table)
    assert (done.rows, done.unused) == ({"test": 12, "train": 8}, ("case",))
    answers = tmp_path / "answers.csv"
    answers.write_text("row,prediction\n" + "".join(f"{n},{'yes' if n % 4 else 'no'}\n" for n in range(11)))
    assert import_predictions(study, domain, answers, model="m").missing == 1
    analyze_groups(study)
    rows = study.connection.execute(
        "SELECT group_name, n, n_train, rule FROM group_scores WHERE is_default AND variant = 'all' "
        "ORDER BY group_name"
    ).fetchall()
    assert rows == [("man", 4, 3, "union"), ("woman", 8, 5, "union")]
    assert study.connection.execute("SELECT count(*) FROM group_rates").fetchall()[0][0] > 0


def test_an_analysis_knows_when_it_is_out_of_date(study, tmp_path):
    from analyze.groups.stored import outdated

    domain = find("fairlex-fscs")
    write(tmp_path / "test.jsonl", [fscs(), fscs(label=0)])
    load_data_set(study, domain, tmp_path)
    import_predictions(study, domain, write(tmp_path / "1.jsonl", [{"row": 0, "prediction": 1}]), model="m")
    assert [(one.model, one.analysed, one.more) for one in outdated(study.connection)] == [("m", False, 1)]
    analyze_groups(study)
    assert outdated(study.connection) == []
    import_predictions(
        study, domain, write(tmp_path / "2.jsonl", [{"row": 1, "prediction": 1}]), model="n", seed=1
    )
    assert [(one.model, one.analysed) for one in outdated(study.connection)] == [("n", False)]
    analyze_groups(study)
    before = study.connection.execute("SELECT count(*) FROM group_scores").fetchall()
    study.connection.execute(
        "UPDATE runs SET set_aside_at = now()::TIMESTAMP WHERE manifest ->> '$.model' = 'n'"
    )
    assert [(one.model, one.analysed, one.more) for one in outdated(study.connection)] == [("n", True, -1)]
    assert analyze_groups(study).removed == ("n",)
    assert study.connection.execute("SELECT count(*) FROM group_scores").fetchall() < before


def test_the_report_of_groups_says_what_is_noise_and_is_written_in_every_format(study, tmp_path):
    from analyze.groups import Settings
    from analyze.groups.report import Reading, disparities, sentences
    from analyze.groups.report import write as write_report

    domain = find("fairlex-fscs")
    # Approval is predicted well in penal law, and at random in civil law; languages do not differ.
    rows = [
        fscs(
            label=n % 2,
            attributes={
                "decision_language": ("de", "fr")[n // 4 % 2],
                "legal_area": ("penal law", "civil law")[n // 2 % 2],
                "court_region": "Zürich",
            },
        )
        for n in range(400)
    ]
    lines = [{"row": n, "prediction": n % 2 if n // 2 % 2 == 0 else n // 8 % 2} for n in range(len(rows))]
    write(tmp_path / "test.jsonl", rows)
    load_data_set(study, domain, tmp_path)
    import_predictions(study, domain, write(tmp_path / "p.jsonl", lines), model="m")
    analyze_groups(study, settings=Settings(permutations=999, bootstraps=100, drift_draws=20))
    found = {row.attribute: row for row in disparities(study.connection)}
    assert found["legal_area"].reading is Reading.BEHAVIOUR
    assert found["legal_area"].worst_group == "civil law"
    assert found["decision_language"].reading is Reading.NOISE
    assert found["court_region"].reading is Reading.NOT_TESTED
    said = sentences(study.connection)
    assert "legal_area differ beyond chance" in said[0]
    assert any("not distinguishable from noise: decision_language" in line for line in said)
    assert any("not tested: court_region" in line for line in said)
    written = {
        form: write_report(study.connection, tmp_path / form, format=form)
        for form in ("html", "latex", "csv", "json")
    }
    table4 = (tmp_path / "latex" / "groups-table4.tex").read_text(encoding="utf-8")
    assert r"fairlex-fscs & legal\_area & m & 75.0 & 25.0" in table4
    assert {path.name for path in written["csv"]} >= {"groups-disparities.csv", "groups-table2.csv"}
    assert "civil law 50.0" in (tmp_path / "csv" / "groups-disparities.csv").read_text(encoding="utf-8")
    document = json.loads((tmp_path / "json" / "groups.json").read_text(encoding="utf-8"))
    assert document["findings"] == said
    page = (tmp_path / "html" / "index.html").read_text(encoding="utf-8")
    assert page.count("<svg") == 3
    assert page.index("differ beyond chance") < page.index("not distinguishable from noise")
    with pytest.raises(BadInput, match="docx"):
        write_report(study.connection, tmp_path, format="docx")
