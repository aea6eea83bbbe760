"""The scripted judge answers the form of any domain, and a planted bias comes back out of the study."""

from __future__ import annotations

from pathlib import Path

import pytest

import store
from evenhand.audit import find
from evenhand.audit.build import build
from evenhand.audit.read import read
from evenhand.simulate import Bias, Script, SimulatedJudge
from evenhand.simulate.forms import FormJudge
from runner import RunOptions, load_providers
from runner.lifecycle.options import Asked
from runner.live.run import run

DOMAINS = Path(__file__).parents[1] / "domains"


async def asked(study: store.Study, script: Script) -> None:
    async with SimulatedJudge.of_study(study, script) as judge:
        entry = load_providers().at("simulated", judge.base_url).resolve("scripted-judge")
        summary = await run(study, [Asked(entry.settings(), entry)], options=RunOptions(monitor="none"))
    assert summary.state == "finished"


@pytest.mark.parametrize("name", ["parole", "courses"])
async def test_every_answer_of_a_domain_can_be_read(tmp_path, name):
    domain = find(str(DOMAINS / name))
    with store.open_study(tmp_path / "s.duckdb") as study:
        built = build(study, domain, placebo=True)
        await asked(study, Script(seed=3))
        assert read(study, domain).answers == built.queries
        missing = study.connection.execute(
            f'SELECT count(*) FROM "{domain.schema}".frame WHERE missing_kind IS NOT NULL'
        ).fetchall()
        assert missing == [(0,)]
        placebos = study.connection.execute(f'SELECT count(*) FROM "{domain.schema}".placebos').fetchall()
        assert placebos[0][0] == built.placebos * len(domain.outcomes)


async def test_a_planted_bias_moves_only_its_field(tmp_path):
    domain = find(str(DOMAINS / "parole"))
    script = Script(seed=3, jitter=0, biases=(Bias("religion", "Muslim", probability=1.0, field="risk"),))
    with store.open_study(tmp_path / "s.duckdb") as study:
        build(study, domain)
        await asked(study, script)
        read(study, domain)
        moved = dict(
            study.connection.execute(
                "SELECT outcome, sum(treated.number - plain.number) FROM parole.frame AS treated "
                "JOIN parole.frame AS plain USING (doc_id, outcome, label) "
                "WHERE label = 'religion' AND treated.value = 'Muslim' AND plain.value = 'none' GROUP BY ALL"
            ).fetchall()
        )
        others = study.connection.execute(
            "SELECT count(*) FROM (SELECT doc_id, label, outcome FROM parole.frame WHERE label <> 'religion' "
            "GROUP BY ALL HAVING count(DISTINCT number) > 1)"
        ).fetchall()
    assert moved["released"] == 0
    assert moved["risk"] > 4, "twelve cases, of which those at the top of the scale cannot move"
    assert others == [(0,)]


def test_every_kind_of_field_has_values_of_its_schema():
    schema = {
        "properties": {
            "articles": {"type": "array", "items": {"type": "string", "enum": ["2", "3", "5"]}},
            "months": {"type": "integer", "minimum": 0, "maximum": 600},
            "chance": {"type": "number", "minimum": 0, "maximum": 1},
            "reasons": {"type": "string", "maxLength": 10},
            "guilty": {"type": "boolean"},
        }
    }
    script = Script(seed=1)
    judge = FormJudge(script, schema)
    seen: dict[str, set[object]] = {}
    for number in range(200):
        decision = judge.decide(f"d{number}", "l", "v", script.draws(f"d{number}", "l", "v", None))
        assert set(decision["articles"]) <= {"2", "3", "5"}
        assert 0 <= decision["months"] <= 600
        assert isinstance(decision["months"], int)
        assert 0 <= decision["chance"] <= 1
        assert len(decision["reasons"]) == 10
        for key, value in decision.items():
            seen.setdefault(key, set()).add(str(value))
    assert len(seen["months"]) == 21
    assert len(seen["articles"]) > 4
    assert seen["guilty"] == {"True", "False"}
