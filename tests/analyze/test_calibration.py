"""The calibration benchmark in small: it runs, it holds, and it would notice a test that does not hold."""

from __future__ import annotations

import numpy as np
import pytest

from analyze.inference import confirmatory, flips
from benchmarks.calibration import findings, run
from benchmarks.calibration.findings import null_studies, planted_studies
from benchmarks.calibration.worlds import World, answers, correlated_pairs


def test_levels_hold_in_small(capsys: pytest.CaptureFixture[str]) -> None:
    assert run.levels(120, seed=5, draws=499)
    assert "flip p of values" in capsys.readouterr().out


def test_counts_hold_in_small() -> None:
    assert run.counts(25, seed=5, draws=199, documents=120, values=40)


def test_recovery_holds_in_small() -> None:
    assert run.recovery(60, seed=5, draws=199)


def test_a_test_that_is_too_eager_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    real = flips.enumerate_value

    def eager(value: object) -> flips.Flipped:
        found = real(value)
        return flips.Flipped(found.p / 3, found.patterns, True)

    monkeypatch.setattr(flips, "ENUMERATED", 17)
    monkeypatch.setattr(flips, "enumerate_value", eager)
    monkeypatch.setattr(run, "draw_world", lambda rng: World(60, 1, 0.1, 0.0, False, False, False))
    assert not run.levels(300, seed=5, draws=99)


def test_null_studies_confirm_nothing_in_small(capsys: pytest.CaptureFixture[str]) -> None:
    assert null_studies(8, seed=3, draws=1_999)
    assert "with anything confirmed: 0" in capsys.readouterr().out


def test_planted_labels_have_their_line_in_small(capsys: pytest.CaptureFixture[str]) -> None:
    assert planted_studies(8, seed=3, draws=1_999)
    assert "Coverage" in capsys.readouterr().out


def test_what_is_called_detectable_is_confirmed_four_times_in_five() -> None:
    assert findings.recovery(80, seed=3, draws=4_999, cases=(30, 60))


def test_findings_that_are_too_eager_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the correction over labels, nearly every null study has something confirmed."""
    monkeypatch.setattr(confirmatory, "holm_steps", lambda p: [confirmatory.Step(1, one) for one in p])
    assert not null_studies(3, seed=3, draws=499)


def test_worlds_are_what_they_say() -> None:
    rng = np.random.default_rng(0)
    scores = answers(World(4000, 2, 0.2, 0.03, True, False, False), rng)
    null, biased = scores.values
    assert np.mean(np.nan_to_num(null.difference) != 0) == pytest.approx(1 - 0.8**2, abs=0.03)
    assert biased.ups > 1.5 * biased.downs
    assert scores.sample.n == pytest.approx(0.97 * 12_000, rel=0.01)
    pairs = correlated_pairs(4000, 4, 0.25, rng)
    matrix = np.column_stack([one.values[0].s for one in pairs])
    off = np.corrcoef(matrix.T)[np.triu_indices(4, 1)]
    assert off.mean() == pytest.approx(0.25, abs=0.04)
