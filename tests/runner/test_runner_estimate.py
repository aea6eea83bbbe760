"""Estimates: from what is pending and what stored answers tell, each with its range and its grounds."""

from __future__ import annotations

import pytest
from runner_world import completion, fill_study, providers, rows

import store
from runner.estimate.estimate import estimate, total
from runner.estimate.tokens import ANSWER, MULTILINGUAL, OVERHEAD, SAMPLE
from runner.lifecycle.options import Asked, RunOptions
from store import Selection
from store.errors import BadInput

PRICES = {"input": 1.0, "cached": 0.5, "output": 4.0}
DEAD = "http://127.0.0.1:9/v1"
TEXT = "案" * 1000 + "{{sex}}"


def asked(settings=None, **table):
    entry = providers(a={"base_url": DEAD, **table}).resolve("judge")
    return [Asked(entry.settings(**{"max_tokens": 1000, **(settings or {})}), entry)]


def ruled(prompt: str, which: int) -> float:
    plain = sum(character.isascii() for character in prompt)
    return (len(prompt) - plain) * MULTILINGUAL.chinese[which] + plain * MULTILINGUAL.ascii[which] + OVERHEAD


async def test_without_stored_answers_the_rule_is_stated_with_its_range(study):
    fill_study(study, 10, 4, text=TEXT)
    (found,) = estimate(study, asked(offer={"prices": PRICES}), options=RunOptions(repeats=3))
    prompts = [f"{query.system_text}\n\n{query.user_text}" for query in store.pending(study, "none")]
    assert (found.pending, found.selected, found.sampled) == (120, 120, 40)
    for which, value in enumerate((found.tokens_in.low, found.tokens_in.expected, found.tokens_in.high)):
        assert value == pytest.approx(3 * sum(ruled(prompt, which) for prompt in prompts))
    assert found.tokens_per_character == pytest.approx(0.8, abs=0.02)
    assert "by rule: 0.8 tokens a Chinese character (0.55 to 1.3" in found.tokens_in.how
    assert found.tokens_out.expected == 120 * ANSWER[1]
    assert found.tokens_out.high == 120 * 1000
    assert "assumed" in found.tokens_out.how
    assert found.cost_usd.expected == pytest.approx((found.tokens_in.expected + 4 * 120 * ANSWER[1]) / 1e6)
    assert found.cost_usd.high == pytest.approx((found.tokens_in.high + 4 * 120 * 1000) / 1e6)
    assert any("prefix cache" in note for note in found.notes)
    assert rows(study, "SELECT count(*) FROM models") == [(0,)], "nothing is written"


async def test_a_sample_over_all_documents_is_near_the_truth(study):
    fill_study(study, 120, 10)
    # Documents of very different length: a sample of the first would be far off.
    study.connection.execute("UPDATE documents SET text = text || repeat('长', (position * 20)::INTEGER)")
    (found,) = estimate(study, asked())
    truth = sum(
        ruled(f"{query.system_text}\n\n{query.user_text}", 1) for query in store.pending(study, "none")
    )
    assert found.sampled == SAMPLE < found.pending
    assert found.tokens_in.expected == pytest.approx(truth, rel=0.03)
    assert "a sample of 200" in found.tokens_in.how


def test_a_sample_is_always_the_same_and_leaves_the_iteration_alone(study):
    ids = fill_study(study, 30, 10)
    cursor = store.pending(study, "none", 2)
    sample = cursor.sample(50)
    assert [query.query_id for query in sample] == [q.query_id for q in cursor.sample(50)]
    assert len({query.query_id for query in sample}) == 50
    assert len({query.doc_id for query in sample}) == 30
    assert [query.ordinal for query in sample] == sorted(query.ordinal for query in sample)
    assert len(cursor.sample(10_000)) == 300
    assert [str(query.query_id) for query in cursor] == [id for id in ids for _ in range(2)]


async def answered(study, serve, ask, *, settings=None, selection=None, name="a", **usage):
    server = await serve(lambda call: completion(**usage))
    await ask(providers(**{name: {"base_url": server.base_url}}), settings=settings, selection=selection)


async def test_stored_answers_of_the_model_are_measured(study, serve, ask):
    fill_study(study, 20, 4)
    usage = {"prompt_tokens": 90, "completion_tokens": 50, "prompt_tokens_details": {"cached_tokens": 45}}
    await answered(study, serve, ask, settings={"temperature": 1}, **usage)
    table = {"offer": {"prices": PRICES}, "limits": {"tokens_per_minute": 9_500, "counts": "used"}}
    (found,) = estimate(study, asked(**table))
    assert found.pending == 80, "other settings, so all is pending"
    assert found.tokens_in.expected == pytest.approx(80 * 90, rel=0.01)
    assert found.tokens_in.low < found.tokens_in.expected < found.tokens_in.high < 80 * 90 * 1.1
    assert "measured on 80 stored answers of this model" in found.tokens_in.how
    assert found.tokens_out.expected == 80 * 50
    assert found.cost_usd.expected == pytest.approx(80 * (90 + 50 * 4) / 1e6, rel=0.01)
    assert found.cost_cached_usd == pytest.approx(80 * (45 + 45 * 0.5 + 50 * 4) / 1e6, rel=0.01)
    assert any("50% of the prompt tokens of its stored answers were cached" in note for note in found.notes)
    assert found.seconds.expected == pytest.approx(80 * 140 / 9_500 * 60, rel=0.02)
    assert found.bound_by == "9,500 tokens a minute (those used counted)"
    assert "mean latency" in found.seconds.how


async def test_the_same_settings_go_before_others_once_there_are_enough(study, serve, ask):
    fill_study(study, 20, 4)
    await answered(study, serve, ask, settings={"max_tokens": 500}, completion_tokens=400)
    half = Selection(documents=[f"d{n}" for n in range(10)])
    await answered(study, serve, ask, settings={"max_tokens": 1000}, selection=half, completion_tokens=40)
    (found,) = estimate(study, asked())
    assert found.pending == 40
    assert found.selected == 80
    assert found.tokens_out.expected == 40 * 40
    assert "40 stored answers of this model at these settings" in found.tokens_out.how


async def test_answers_of_another_model_are_a_wide_guess_and_named(study, serve, ask):
    fill_study(study, 10, 4)
    await answered(study, serve, ask, prompt_tokens=90, completion_tokens=50)
    study.connection.execute("UPDATE models SET model = 'elder'")
    (found,) = estimate(study, asked())
    assert "40 stored answers of other models (elder)" in found.tokens_in.how
    assert found.tokens_in.expected == pytest.approx(40 * 90, rel=0.01)
    assert found.tokens_in.low == pytest.approx(found.tokens_in.expected / 1.5)
    assert found.tokens_in.high == pytest.approx(found.tokens_in.expected * 1.5)
    assert found.cost_cached_usd is None
    assert "assumed" in found.seconds.how
    study.connection.execute("UPDATE models SET kind = 'simulated'")
    (found,) = estimate(study, asked())
    assert "by rule" in found.tokens_in.how, "what a script says is no measure of a tokenizer"


def test_each_limit_can_decide_the_time_and_keys_multiply_it(study):
    fill_study(study, 50, 4)
    limits = {"requests_per_minute": 60, "in_flight": 100}
    (found,) = estimate(study, asked(limits=limits))
    assert found.seconds.expected == pytest.approx(200, abs=4)
    assert found.bound_by == "60 requests a minute"
    keyed = asked(limits=limits, keys=["KEY_A", "KEY_B"])
    (found,) = estimate(study, keyed, environ={"KEY_A": "x", "KEY_B": "y"})
    assert found.seconds.expected == pytest.approx(100, abs=4)
    assert any("2 keys" in note for note in found.notes)
    (found,) = estimate(study, keyed, environ={})
    assert found.seconds.expected == pytest.approx(200, abs=4)
    assert any("no key is set (KEY_A or KEY_B)" in note for note in found.notes)
    (found,) = estimate(study, asked(limits={"tokens_per_minute": 10_000}))
    assert found.seconds.expected == pytest.approx(
        (200 * 1000 + found.tokens_in.expected) / 10_000 * 60, rel=0.02
    )
    assert "prompt + max_tokens counted" in found.bound_by
    (found,) = estimate(study, asked(limits=limits), options=RunOptions(in_flight=1))
    assert found.bound_by == "1 open requests"
    assert found.seconds.low < found.seconds.expected < found.seconds.high


def test_the_provider_whose_key_is_set_is_priced(study):
    fill_study(study, 5, 2)
    tables = providers(
        dear={"base_url": DEAD, "keys": ["KEY_A"], "offer": {"prices": {"input": 9, "output": 9}}},
        cheap={"base_url": DEAD, "keys": ["KEY_B"], "offer": {"prices": {"input": 1, "output": 1}}},
    )
    entry = tables.resolve("judge")
    one = [Asked(entry.settings(), entry)]
    assert estimate(study, one, environ={})[0].provider == "dear"
    found = estimate(study, one, environ={"KEY_B": "x"})[0]
    assert found.provider == "cheap"
    assert "$1 a million tokens in," in found.cost_usd.how
    assert any("others that offer it: dear" in note for note in found.notes)


def test_a_batch_costs_less_and_needs_a_provider_that_takes_it(study):
    fill_study(study, 5, 2)
    table = {"offer": {"prices": PRICES}, "batch": True, "batch_discount": 0.4}
    (plain,) = estimate(study, asked(**table))
    (batch,) = estimate(study, asked(**table), batch=True)
    assert batch.cost_usd.expected == pytest.approx(plain.cost_usd.expected * 0.6)
    assert batch.seconds.high == 24 * 3600
    with pytest.raises(BadInput, match="takes batches"):
        estimate(study, asked(), batch=True)


async def test_nothing_pending_is_said(study, serve, ask):
    fill_study(study, 3, 2)
    await answered(study, serve, ask, settings={"max_tokens": 1000})
    (found,) = estimate(study, asked())
    assert (found.pending, found.selected, found.cost_usd) == (0, 6, None)
    assert found.notes == ("nothing is pending: every query of the selection is settled",)
    assert total([found]) == {"pending": 0, "cost_usd": 0, "cost_at_most_usd": 0, "seconds": 0.0}
    assert estimate(study, asked(), options=RunOptions(repeats=2))[0].pending == 6


def test_an_empty_study_has_nothing_to_ask(study):
    (found,) = estimate(study, asked())
    assert found.notes == ("nothing is pending: the selection has no query to ask",)


def test_models_that_reason_are_given_room(study):
    fill_study(study, 5, 2)
    (found,) = estimate(study, asked(style={"temperature": False}))
    assert found.tokens_out.expected == 10 * 1000
    assert "with the reasoning" in found.tokens_out.how


def test_a_context_too_small_is_told(study):
    fill_study(study, 5, 2, text=TEXT)
    (found,) = estimate(study, asked(offer={"id": "judge-1", "context_tokens": 2000}))
    assert any("may not fit into its context of 2,000" in note for note in found.notes)
    (found,) = estimate(study, asked(offer={"id": "judge-1", "context_tokens": 20_000}))
    assert not any("context" in note for note in found.notes)


def test_what_has_no_price_has_no_cost_and_neither_has_the_sum(study):
    fill_study(study, 5, 2)
    found = estimate(study, [*asked(), *asked(offer={"prices": PRICES})])
    assert found[0].cost_usd is None
    assert any("states no prices" in note for note in found[0].notes)
    summed = total(found)
    assert summed["cost_usd"] is None
    assert summed["pending"] == 20
