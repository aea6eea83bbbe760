"""A model asked at one temperature, and at another some other day: the two are held against each other."""

from __future__ import annotations

from pathlib import Path

from small_study import BIAS, ask, rows, study_at

from evenhand.commands.analyze import analyze_study
from evenhand.commands.options import specifications_path
from evenhand.simulate import Script
from judifair import case_files
from judifair.build import build

LABELS = ("defendant_religion", "defendant_sex")
PAIRS = "SELECT * EXCLUDE (p, draws) FROM temperature_tests WHERE model = 'phi-4' ORDER BY ALL"


def test_two_runs_at_two_temperatures_are_compared_whenever_they_were_analysed(tmp_path: Path) -> None:
    specifications = specifications_path()
    with study_at(tmp_path / "study.duckdb") as study:
        build(study, cases=case_files.bundled()[:15], labels=LABELS)
        ask(study, tmp_path, "phi-4", script=Script(seed=1, jitter=0.1))
        ask(study, tmp_path, "gpt-4o", script=Script(seed=1, jitter=0.1), settings={"seed": 8})
        analyze_study(study, specifications)
        assert rows(study, "SELECT count(*) FROM temperature_tests") == [(0,)]
        # The next day, at temperature 1, the model has a bias.
        script = Script(seed=1, jitter=0.1, biases=(BIAS,))
        ask(study, tmp_path, "phi-4", script=script, settings={"temperature": 1.0})
        analyze_study(study, specifications, models=("phi-4",))
        pairs = rows(study, PAIRS)
        assert pairs
        whole = rows(
            study, "SELECT temperature, other, p, documents FROM temperature_tests WHERE label = '' "
            "AND measure = 'effect'",
        )  # fmt: skip
        assert [row[:2] for row in whole] == [(0.0, 1.0)]
        assert whole[0][2] < 0.01
        assert whole[0][3] == 15
        ((found,),) = rows(
            study, "SELECT difference FROM temperature_tests WHERE label = ? AND value = ?",
            [BIAS.label, BIAS.value],
        )  # fmt: skip
        assert found > 0
        # One of the two temperatures by itself, then another model by itself: the pair stays.
        ((later,),) = rows(study, "SELECT model_key FROM models WHERE temperature = 1")
        for chosen in (later, "gpt-4o"):
            analyze_study(study, specifications, models=(chosen,))
            assert rows(study, PAIRS) == pairs
            assert rows(study, "SELECT count(DISTINCT model_key) FROM estimates") == [(3,)]
