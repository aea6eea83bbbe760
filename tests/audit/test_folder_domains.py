"""Domains from folders: read, built, asked, read back."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

import store
from evenhand.audit import MISSING, Amount, Domain, Ordinal, YesNo, find, folder
from evenhand.audit.build import build
from evenhand.audit.read import read
from store.errors import BadInput
from store.rows import now

DOMAINS = Path(__file__).parents[1] / "domains"


@pytest.fixture(params=["parole", "courses"])
def domain(request) -> Domain:
    return find(str(DOMAINS / request.param))


def test_the_tiny_domains_are_what_their_files_say():
    parole = find(str(DOMAINS / "parole"))
    assert parole.name == "parole"
    assert isinstance(parole.outcome("released"), YesNo)
    assert isinstance(parole.outcome("risk"), Ordinal)
    assert [label.key for label in parole.labels] == ["sex", "religion", "age_of_chair"]
    assert parole.label("sex").fill(parole.label("sex").value("female")) == "The applicant is a woman."
    assert parole.label("age_of_chair").value("60").number == 60
    assert parole.form.schema(parole.outcomes) == {
        "type": "object",
        "properties": {
            "reasons": {"type": "string", "maxLength": 200},
            "release": {"type": "string", "enum": ["yes", "no"]},
            "risk": {"type": "string", "enum": ["low", "medium", "high"]},
        },
        "required": ["reasons", "release", "risk"],
        "additionalProperties": False,
    }
    assert len(parole.cases()) == 12
    assert parole.cases()[0].truth == {"released": False, "risk": "low"}
    assert set(find(str(DOMAINS / "courses")).prompts) == {"base", "neutral"}


def test_every_raw_answer_is_read_as_its_folder_expects(domain):
    rows = folder.read_answers(domain.folder)
    assert len(rows) >= 12
    for number, row in rows:
        found = {reading.outcome: reading.value for reading in domain.read(row.text)}
        assert found == dict(row.expected), f"answers.jsonl line {number}: {row.text!r}"


def test_what_is_missing_says_why(domain):
    for _, row in folder.read_answers(domain.folder):
        for reading in domain.read(row.text):
            assert (reading.value is None) == (reading.read_as in MISSING), reading


async def test_a_domain_is_built_answered_and_framed(domain):
    with store.open_study(":memory:") as study:
        built = build(study, domain)
        sizes = {"parole": 12 * 5 + 11 * 2, "courses": 12 * 4}
        assert built.queries == built.added == sizes[domain.name]
        assert built.not_applicable == (1 if domain.name == "parole" else 0)
        assert build(study, domain).added == 0, "building again changes nothing"
        queries = list(store.pending(study, "x"))
        assert all("{{" not in query.user_text for query in queries)
        answers = {
            "parole": '{"reasons":"x","release":"yes","risk":"high"}',
            "courses": '{"course":"caution"}',
        }
        await _answer(study, queries, answers[domain.name])
        assert read(study, domain).answers == len(queries)
        assert read(study, domain).answers == 0, "what was read is not read again"
        rows = study.connection.execute(
            f'SELECT outcome, count(*), count(number), count(class) FROM "{domain.schema}".frame '
            "WHERE in_main GROUP BY ALL ORDER BY ALL"
        ).fetchall()
        if domain.name == "parole":
            assert rows == [("released", 82, 82, 0), ("risk", 82, 82, 82)]
        else:
            assert rows == [("course", 48, 0, 48)]


async def test_two_domains_share_a_study(tmp_path):
    with store.open_study(":memory:") as study:
        for name in ("parole", "courses"):
            build(study, find(str(DOMAINS / name)))
        assert study.connection.execute(
            "SELECT collection, domain FROM collections ORDER BY ALL"
        ).fetchall() == [("courses", "courses"), ("parole", "parole")]
        queries = list(store.pending(study, "x"))
        assert len(queries) == 48 + 82
        await _answer(study, queries, '{"course":"caution","release":"no","risk":"low"}')
        assert read(study, find(str(DOMAINS / "courses"))).answers == 48
        assert read(study, find(str(DOMAINS / "parole"))).answers == 82


def test_placebos_arms_and_own_labels(tmp_path):
    courses = find(str(DOMAINS / "courses"))
    with store.open_study(":memory:") as study:
        assert build(study, courses, placebo=True).placebos == 12
        plain = build(study, courses, arm="neutral", labels=["broadcast"])
        assert (plain.queries, plain.retired) == (24, 0)
        assert {query.arm for query in store.pending(study, "x")} == {"base", "neutral"}
        with pytest.raises(BadInput, match="no arm 'nutral'"):
            build(study, courses, arm="nutral")
        with pytest.raises(BadInput, match="no label 'brodcast'"):
            build(study, courses, labels=["brodcast"])


def copied(tmp_path: Path, name: str) -> Path:
    return Path(shutil.copytree(DOMAINS / name, tmp_path / name))


@pytest.mark.parametrize(
    ("file", "old", "new", "said"),
    [
        ("domain.toml", 'kind = "yes_no"', 'kind = "yesno"', "domain.toml: line"),
        ("domain.toml", 'outcome = "risk"', 'outcome = "danger"', "'danger', which is not described"),
        ("domain.toml", "max_length = 200", "max_lenght = 200", "there is no such key"),
        ("domain.toml", '["minimal"]', '["MODERATE"]', "means both 'low' and 'medium'"),
        ("domain.toml", '["minimal"]', '["med-ium", "high."]', "means both 'low' and 'high'"),
        ("domain.toml", '"denied", ', '"granted", ', "means both 'yes' and 'no'"),
        ("domain.toml", '"decision", "parole"', '"decision", "risk-level"', "may mean both the answer field"),
        ("labels.toml", 'reference = "male"', 'reference = "man"', "not among the values"),
        ("labels.toml", "The applicant is {value}.", "The applicant.", "must hold {value}"),
        ("labels.toml", "values = [35, 60]", 'values = [35, "old"]', "needs numbers above 0"),
        ("prompt.md", "{{case}}", "{{document}}", "must hold {{case}}"),
        ("cases.jsonl", "{{hearing}}", "", "lacks the slot {{hearing}}"),
        ("cases.jsonl", '"released": false', '"released": "maybe"', "cases.jsonl: line 1: truth.released"),
        ("cases.jsonl", '"risk": "low"', '"risk": "tiny"', "is no class of 'risk'"),
        ("cases.jsonl", '"id": "application-2"', '"id": "application-1"', "is that of"),
        ("cases.jsonl", '"truth"', '"thruth"', "there is no such key"),
        ("cases.jsonl", '{"id": "application-3"', '{"id" "application-3"', "line 3: this is not valid JSON"),
    ],
)
def test_a_mistake_is_told_with_its_file_and_place(tmp_path, file, old, new, said):
    folder_ = copied(tmp_path, "parole")
    text = (folder_ / file).read_text()
    assert old in text
    (folder_ / file).write_text(text.replace(old, new, 1))
    with pytest.raises(BadInput) as caught, store.open_study(":memory:") as study:
        build(study, find(str(folder_)))
    assert said in str(caught.value)
    assert file in str(caught.value)


def test_slots_are_needed_only_for_the_labels_asked(tmp_path):
    folder_ = copied(tmp_path, "parole")
    cases = (folder_ / "cases.jsonl").read_text().replace("{{hearing}} ", "")
    (folder_ / "cases.jsonl").write_text(cases)
    with store.open_study(":memory:") as study:
        assert build(study, find(str(folder_)), labels=["sex"]).queries == 24


def test_cases_come_as_csv_and_parquet_too(tmp_path):
    import pyarrow as pa
    import pyarrow.parquet as pq

    parole = find(str(DOMAINS / "parole"))
    text = "{{applicant}} {{hearing}}"
    rows = [{"id": f"c{n}", "text": text, "released": True, "risk": "low", "split": "test"} for n in range(3)]
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "cases.parquet")
    (tmp_path / "cases.csv").write_text(
        "id,text,released,risk,split\n" + "".join(f"c{n},{text},yes,low,test\n" for n in range(3))
    )
    for name in ("cases.parquet", "cases.csv"):
        cases = parole.read_cases(tmp_path / name)
        assert [case.id for case in cases] == ["c0", "c1", "c2"]
        assert cases[0].truth == {"released": True, "risk": "low"}
        assert cases[0].split == "test"
    (tmp_path / "cases.xlsx").write_bytes(b"PK")
    with pytest.raises(BadInput, match=r"\.jsonl .*\.toml .*\.csv or \.parquet"):
        parole.read_cases(tmp_path / "cases.xlsx")


def test_the_groups_design_asks_each_case_as_it_is(tmp_path):
    folder_ = copied(tmp_path, "courses")
    text = (folder_ / "domain.toml").read_text()
    (folder_ / "domain.toml").write_text(
        'designs = ["counterfactual", "groups"]\n'
        + text
        + '[[attributes]]\nname = "gender"\ngroups = ["n/a", "male", "female"]\nunidentified = ["n/a"]\n'
    )
    rows = [json.loads(line) for line in (folder_ / "cases.jsonl").read_text().splitlines()]
    for number, row in enumerate(rows):
        row["gender"] = number % 3
        row["split"] = "test"
    (folder_ / "cases.jsonl").write_text("\n".join(json.dumps(row) for row in rows))
    domain = find(str(folder_))
    assert [case.groups["gender"] for case in domain.cases()][:3] == ["n/a", "male", "female"]
    with store.open_study(":memory:") as study:
        build(study, domain)
        built = build(study, domain, design="groups")
        assert built.queries == 12
        labels = [query.label for query in store.pending(study, "x")]
        assert labels.count(None) == 12
        assert len(labels) == 12 + 48
        assert study.connection.execute(
            "SELECT groups['gender'], count(*) FROM documents GROUP BY ALL ORDER BY ALL"
        ).fetchall() == [("female", 4), ("male", 4), ("n/a", 4)]


def test_unknown_domains_are_told_with_what_there_is():
    with pytest.raises(BadInput, match="no domain 'parol'"):
        find("parol")


def test_an_amount_needs_a_range_that_can_be():
    with pytest.raises(ValueError, match="must be above"):
        Amount(name="months", kind="amount", unit="months", minimum=5, maximum=5)


async def _answer(study: store.Study, queries: list[store.PendingQuery], text: str) -> None:
    from store import runs

    key = store.add_model(study, model="m", kind="simulated", settings={"model": "m"})
    run = runs.start_run(study, "run", {})
    writer = store.Writer(study)
    for query in queries:
        await writer.put(
            store.PredictionRow(None, query.query_id, key, run, query.repeat, "answered", text, now())
        )
    await writer.close()
    runs.finish_run(study, run, "finished")
