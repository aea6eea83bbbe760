"""Every kind of outcome on the whole road: built, answered, read, framed, analysed, and told."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from made_domains import DUTIES, GRANTS, KINDS, Judge, answer, make, opened, outcome_name, studied

import analyze
from analyze.inference import power
from evenhand.audit import build, find, missing, outdated, read, specifications
from store.errors import BadInput

DOMAINS = Path(__file__).parents[1] / "domains"
PRIMARY = {"class": "kind", "classes": "kind"}


def found(study, where: str = "true", columns: str = "*") -> list[dict]:
    rows = study.connection.sql(f"SELECT {columns} FROM findings WHERE {where} ORDER BY position")
    return rows.to_arrow_table().to_pylist()


@pytest.mark.parametrize("kind", KINDS)
async def test_a_planted_effect_is_confirmed_and_nothing_else(tmp_path, kind):
    domain = make(tmp_path / "d", kind, 60)
    with opened() as study:
        await studied(study, domain, Judge(kind, moved=0.5))
        (specs,) = specifications(domain)
        assert (specs.outcome, specs.kind) == (outcome_name(kind), kind)
        analyze.run(study, specs, draws=999, audit=False)
        labels = found(study, "scope = 'label'")
        assert {row["label"]: row["state"] for row in labels} == {"dress": "confirmed", "town": "not_shown"}
        assert {row["outcome"] for row in labels} == {specs.outcome}
        test = PRIMARY.get(kind, "outcome")
        (value,) = found(study, f"scope = 'value' AND state = 'confirmed' AND test = '{test}'")
        assert value["value"] == "suit"
        assert value["n_compared"] == 60
        assert value["contrast"] == "overall -> suit"
        assert value["ci_low"] > 0 or kind in PRIMARY
        biased = study.connection.execute("SELECT label, biased_05 FROM label_metrics ORDER BY 1").fetchall()
        assert biased[0] == ("dress", True)


@pytest.mark.parametrize("kind", KINDS)
async def test_nothing_is_confirmed_where_nothing_matters(tmp_path, kind):
    domain = make(tmp_path / "d", kind, 60)
    with opened() as study:
        await studied(study, domain, Judge(kind, seed=3))
        analyze.run(study, specifications(domain)[0], draws=999, audit=False)
        assert not found(study, "state = 'confirmed'")


async def test_yes_no_is_told_in_points_with_mcnemar_beside_the_flips(tmp_path):
    domain = make(tmp_path / "d", "yes_no", 30)
    says = {n: n < 10 for n in range(30)}

    def judge(query):
        number = int(query.doc_id.split("-")[1])
        yes = says[number] or (query.value == "suit" and 10 <= number < 18)
        yes = yes and not (query.value == "suit" and number == 0)
        return json.dumps({"granted": "yes" if yes else "no"})

    with opened() as study:
        await studied(study, domain, judge)
        analyze.run(study, specifications(domain)[0], draws=999, audit=False)
        (row,) = found(study, "scope = 'value' AND test = 'outcome' AND value = 'suit'")
        assert row["unit"] == "percentage points"
        assert row["measure"] == "yes_no"
        assert row["effect"] == pytest.approx(100 * 7 / 30)
        assert (row["ups"], row["downs"], row["n_changed"]) == (8, 1, 9)
        # Agresti and Min: the interval of (8 - 1) / 32 with half a case more in each cell.
        assert (row["ci_low"] + row["ci_high"]) / 2 == pytest.approx(100 * 7 / 32)
        exact = study.connection.execute(
            "SELECT class_name, share_from, share_to, ups, downs, mcnemar_p FROM class_effects WHERE value "
            "= 'suit'"
        ).fetchall()
        assert exact == [("yes", pytest.approx(100 / 3), pytest.approx(100 * 17 / 30), 8, 1, 2 * 10 / 512)]
        assert row["p"] == pytest.approx(2 * 10 / 512), (
            "sign flips of pairs without repeats are McNemar's test"
        )


async def test_a_class_is_told_by_its_switches_and_class_by_class(tmp_path):
    domain = make(tmp_path / "d", "class", 40)

    def judge(query):
        number = int(query.doc_id.split("-")[1])
        return json.dumps(
            {"course": "deferred" if query.value == "suit" and number % 4 == 0 else GRANTS[number % 4]}
        )

    with opened() as study:
        await studied(study, domain, judge)
        (specs,) = specifications(domain)
        analyze.run(study, specs, draws=999, audit=False)
        (row,) = found(study, "scope = 'value' AND test = 'kind' AND value = 'suit'")
        told = ("from_kind", "to_kind", "switches", "switches_back", "n_changed", "state")
        assert [row[name] for name in told] == ["refused", "deferred", 10, 0, 10, "confirmed"]
        assert study.connection.execute(
            "SELECT from_kind, to_kind, pairs, of_pairs FROM kind_switches"
        ).fetchall() == [("refused", "deferred", 10, 40)]
        effects = dict(
            study.connection.execute(
                "SELECT class_name, effect FROM class_effects WHERE value = 'suit'"
            ).fetchall()
        )
        assert effects == {"refused": -25, "small grant": 0, "large grant": 0, "deferred": 25}
        variants = study.connection.execute(
            "SELECT variant, coef, p, note FROM estimates WHERE value = 'suit'"
        ).fetchall()
        assert [one[0] for one in variants] == [
            "any_class",
            "class_refused",
            "class_small_grant",
            "class_large_grant",
            "class_deferred",
            "error",
        ]
        of_classes = [one for one in variants if one[0].startswith("class_")]
        smallest = min(p for _, _, p, _ in of_classes if p is not None)
        assert variants[0][2] == pytest.approx(4 * smallest), "of four classes the smallest p, four times"
        assert "chosen among 4" in variants[0][3]
        tests = {
            name for (name,) in study.connection.execute("SELECT DISTINCT test FROM findings").fetchall()
        }
        assert tests == {"missing", "kind"}, "codes of classes are no amounts"
        with pytest.raises(BadInput, match="is a class"):
            power.pilot(study, specs, "read")
        for table in ("value_tests", "label_tests"):
            assert study.connection.execute(f"SELECT count(*) FROM {table}").fetchall() == [(0,)]


async def test_errors_are_by_kind(tmp_path):
    """The distance from the truth of an answer that is known."""
    answers = {
        "amount": ({"grant": 1500.0}, lambda n: abs(1500 - 1000 * (1 + n % 7))),
        "yes_no": ({"granted": "yes"}, lambda n: 100 * (n % 2 != 0)),
        "class": ({"course": GRANTS[0]}, lambda n: 100 * (n % 4 != 0)),
        "classes": (
            {"duties": [DUTIES[0]]},
            lambda n: 100 * sum((place == 0) != bool(n >> place & 1) for place in range(3)) / 3,
        ),
        "ordinal": ({"grade": "good"}, lambda n: abs(2 - n % 4)),
        "probability": ({"success": 0.3}, lambda n: (0.3 - (1 + n % 9) / 10) ** 2),
    }
    for kind, (said, error) in answers.items():
        domain = make(tmp_path / kind, kind, 12)
        with opened() as study:
            await studied(study, domain, lambda _, said=said: json.dumps(said))
            view = f'"{domain.schema}".{outcome_name(kind)}_frame'
            rows = study.connection.execute(f"SELECT DISTINCT doc_id, error FROM {view}").fetchall()
            assert dict(rows) == {f"case-{n}": pytest.approx(error(n)) for n in range(12)}, kind
            analyze.run(study, specifications(domain)[0], draws=99, audit=False)
            (mae,) = study.connection.execute(
                "SELECT mae FROM label_metrics WHERE label = 'dress'"
            ).fetchone()
            assert mae == pytest.approx(sum(error(n) for n in range(12)) / 12), kind


async def test_two_outcomes_of_one_answer_are_one_family():
    parole = find(str(DOMAINS / "parole"))

    def judge(query):
        number = int(query.doc_id.split("-")[1])
        released = number % 2 == 0 or query.value == "female"
        risk = "low" if released else "high"
        return json.dumps({"reasons": "x", "release": "yes" if released else "no", "risk": risk})

    with opened() as study:
        await studied(study, parole, judge)
        analyze.run(study, specifications(parole), draws=999, audit=False)
        rows = study.connection.execute(
            "SELECT outcome, p, family, p_adjusted FROM findings WHERE scope = 'test' AND test = "
            "'outcome' AND label = 'sex' ORDER BY outcome"
        ).fetchall()
        # Six of six move, of either outcome.
        assert rows == [(outcome, 2 / 64, 2, 4 / 64) for outcome in ("released", "risk")]


async def test_only_what_is_new_or_of_another_version_is_read(tmp_path):
    folder = tmp_path / "d"
    domain = make(folder, "class", 12)
    with opened() as study:
        build(study, domain)
        await answer(study, lambda _: '{"course": "put off"}')
        assert read(study, domain).answers == 60
        assert read(study, domain).answers == 0
        assert not outdated(study, domain)
        (told,) = missing(study, domain)
        assert (told.outcome, told.reason, told.answers, told.of) == ("course", "unreadable", 60, 60)
        assert told.examples == ('{"course": "put off"}',)
        text = (folder / "domain.toml").read_text()
        (folder / "domain.toml").write_text(
            text.replace('"deferred"]', '{ name = "deferred", synonyms = ["put off"] }]')
        )
        again = find(str(folder))
        assert outdated(study, again)
        assert read(study, again).answers == 60
        assert missing(study, again) == []
        assert not outdated(study, again)


def test_a_folder_may_have_specifications_of_its_own(tmp_path):
    folder = tmp_path / "d"
    domain = make(folder, "amount", 12)
    given = """
[frame]
view = "grants_amount.grant_frame"
designs = "grants_amount.designs"
values = "grants_amount.design_values"
groups = "dimension"
unit = "euros"
primary = "plain"
level = "plain"
[[coding]]
name = "read"
description = "As read"
[[specification]]
name = "plain"
outcome = "amount"
sample = "in_main"
treatment = "dummies"
standard_error = "clustered:doc_id"
[metrics]
inconsistency = { value = "amount", sample = "in_main" }
mae = { value = "error", sample = "in_main" }
mape = { value = "error_percent", sample = "in_main" }
"""
    (folder / "specifications.toml").write_text(given)
    (own,) = specifications(domain)
    assert (own.frame.primary, own.outcome, own.kind) == ("plain", "grant", "amount")
    (folder / "specifications.toml").rename(folder / "specifications.salary.toml")
    with pytest.raises(BadInput, match="an outcome 'salary', which grants-amount does not have"):
        specifications(domain)


async def test_a_failed_query_of_one_domain_is_no_answer_of_another(tmp_path):
    one, other = make(tmp_path / "a", "yes_no", 12), make(tmp_path / "b", "amount", 12)
    with opened() as study:
        await studied(study, one, Judge("yes_no"))
        build(study, other)
        read(study, other)
        study.connection.execute(
            "INSERT INTO failures SELECT uuid(), query_id, (SELECT any_value(model_key) FROM models), "
            "(SELECT any_value(run_id) FROM runs), 0, 'failed', 'gone', NULL, current_localtimestamp() "
            "FROM queries WHERE collection = 'grants-amount'"
        )
        assert study.connection.execute(
            "SELECT collection, count(*) FROM grants_yes_no.frame GROUP BY ALL"
        ).fetchall() == [("grants-yes-no", 60)]
        assert study.connection.execute(
            "SELECT collection, count(*), min(missing_kind) FROM grants_amount.frame GROUP BY ALL"
        ).fetchall() == [("grants-amount", 60, "request_failed")], "missing though no answer was ever read"


@pytest.mark.parametrize("kind", ["class", "classes", "ordinal"])
@pytest.mark.parametrize(
    "names",
    [
        ["it's", "50% {x}", "a; b -- c", 'say "no"'],
        ["无罪", "有期徒刑", "拘役"],
        ["A", "a b", "ab", "a/b"],
        [f"article {n}" for n in range(60)],
    ],
)
async def test_names_of_classes_may_be_anything(tmp_path, kind, names):
    folder = tmp_path / "d"
    make(folder, kind, 12)
    text = (folder / "domain.toml").read_text()
    head = text[: text.index("classes = ")]
    listed = json.dumps(names, ensure_ascii=False)
    (folder / "domain.toml").write_text(f"{head}classes = {listed}\n")
    cases = [json.loads(line) for line in (folder / "cases.jsonl").read_text().splitlines()]
    for place, case in enumerate(cases):
        true = names[place % len(names)]
        case["truth"] = {outcome_name(kind): [true] if kind == "classes" else true}
    (folder / "cases.jsonl").write_text("".join(f"{json.dumps(case)}\n" for case in cases))
    domain = find(str(folder))

    def judge(query):
        one = names[(int(query.doc_id.split("-")[1]) + (query.value == "suit")) % len(names)]
        return json.dumps({outcome_name(kind): [one] if kind == "classes" else one})

    with opened() as study:
        await studied(study, domain, judge)
        assert missing(study, domain) == []
        (specs,) = specifications(domain)
        analyze.run(study, specs, draws=99, audit=False)
        (row,) = found(study, "scope = 'value' AND test = 'kind' AND value = 'suit'")
        assert row["n_changed"] == 12
        assert {row["from_kind"], row["to_kind"]} <= set(names)
        told = study.connection.execute(
            "SELECT class_name FROM class_effects WHERE value = 'suit'"
        ).fetchall()
        assert [name for (name,) in told] == names
        (error,) = study.connection.execute(
            f"SELECT avg(error) FROM {specs.frame.view} WHERE value <> 'suit'"
        ).fetchone()
        assert error == 0


async def test_declining_with_the_value_is_found(tmp_path):
    domain = make(tmp_path / "d", "yes_no", 40)

    def judge(query):
        if query.value == "suit" and int(query.doc_id.split("-")[1]) % 2:
            return "I cannot decide on this application, as I am an AI and must not make such decisions."
        return '{"granted": "yes"}'

    with opened() as study:
        await studied(study, domain, judge)
        assert {(one.reason, one.answers) for one in missing(study, domain)} == {("refused", 20)}
        analyze.run(study, specifications(domain)[0], draws=999, audit=False)
        (row,) = found(study, "scope = 'value' AND state = 'confirmed'")
        assert (row["test"], row["measure"], row["ups"], row["declined"]) == ("missing", "declined", 20, 20)


async def test_a_label_with_a_slope_is_told_by_the_values_asked():
    parole = find(str(DOMAINS / "parole"))

    def judge(query):
        number = int(query.doc_id.split("-")[1])
        return json.dumps({"release": "yes" if query.value == "60" and number > 2 else "no", "risk": "low"})

    with opened() as study:
        await studied(study, parole, judge)
        analyze.run(study, specifications(parole)[0], draws=999, audit=False)
        (row,) = found(study, "scope = 'value' AND test = 'outcome' AND label = 'age_of_chair'")
        assert (row["value"], row["contrast"], row["ups"]) == (
            "ln(age of the chair)",
            "35 -> 60",
            row["n_changed"],
        )
        assert row["unit"] == "percentage points"
        assert row["state"] == "confirmed"
