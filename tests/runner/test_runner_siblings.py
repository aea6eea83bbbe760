"""Replicas that turn out to be different models."""

from __future__ import annotations

from types import SimpleNamespace

from runner.live.siblings import Siblings
from runner.transport.outcome import Answer


def answer(model=None, fingerprint=None) -> Answer:
    return Answer("answered", "x", model=model, fingerprint=fingerprint)


A, B = SimpleNamespace(name="mine/judge@gpu1:8000"), SimpleNamespace(name="mine/judge@gpu2:8000")


def test_replicas_that_say_the_same_or_nothing_are_one_model():
    siblings = Siblings()
    for lane in (A, B, A):
        assert siblings.differs(lane, answer("qwen3-8b", "fp_1")) is None
        assert siblings.differs(lane, answer()) is None
        assert siblings.differs(lane, answer("qwen3-8b")) is None


def test_another_model_or_fingerprint_is_told_with_both_places():
    for one, other in ((answer("qwen3-8b"), answer("qwen3-4b")), (answer("q", "fp_1"), answer("q", "fp_2"))):
        siblings = Siblings()
        assert siblings.differs(A, one) is None
        said = siblings.differs(B, other)
        assert said is not None
        assert "gpu1:8000" in said
        assert "gpu2:8000" in said
        assert siblings.differs(A, one) is None


def test_a_replica_may_change_by_itself_as_it_is_the_measure():
    siblings = Siblings()
    assert siblings.differs(A, answer("q", "fp_1")) is None
    assert siblings.differs(A, answer("q", "fp_2")) is None, "restarted with a new build: not another's fault"
