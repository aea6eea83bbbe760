"""What is sent: each provider's parameters, answer formats, seeds, and the grammar that llama.cpp gets."""

from __future__ import annotations

import dataclasses
import re
import uuid

import orjson
import pytest
from runner_world import providers

from runner.transport.grammar import Unsupported, grammar
from runner.transport.request import Bodies
from store.pending_queries import PendingQuery
from store.prompt import Slotted, fill

SCHEMA = {
    "type": "object",
    "properties": {
        "罪名": {"type": "string", "maxLength": 12},
        "是否有罪": {"type": "boolean"},
        "刑罚类型": {"enum": ["有期徒刑", "拘役"]},
        "刑期": {"type": "integer", "minimum": 0, "maximum": 300},
    },
}


def query(repeat: int = 0, system: str | None = "你是法官。", schema=SCHEMA) -> PendingQuery:
    return PendingQuery(
        uuid.uuid4(),
        repeat,
        "c",
        "d",
        "l",
        "v",
        "base",
        system,
        Slotted("案情：{{x}}。"),
        {"x": "盗窃"},
        schema,
        0,
    )


def body(style=None, settings=None, asked=None, max_tokens=None):
    table = {"base_url": "http://h/v1", "style": style or {}}
    entry = providers(a=table).resolve("judge")
    made = Bodies(entry.settings(**(settings or {})), entry.routes[0])
    return orjson.loads(made.body(asked or query(), max_tokens))


def test_the_prompt_goes_out_whole_as_utf8():
    entry = providers(a={"base_url": "http://h/v1"}).resolve("judge")
    raw = Bodies(entry.settings(), entry.routes[0]).body(query())
    assert "案情：盗窃。".encode() in raw
    assert b"\\u" not in raw


@pytest.mark.parametrize("schema", [None, SCHEMA])
@pytest.mark.parametrize("system", [None, '你是"法官"。'])
@pytest.mark.parametrize("answer_format", ["none", "json_schema", "grammar"])
def test_a_body_put_together_from_parts_is_the_body_written_at_once(schema, system, answer_format):
    entry = providers(a={"base_url": "http://h/v1"}).resolve("judge")
    settings = dataclasses.replace(entry.settings(seed=3), answer_format=answer_format)
    made = Bodies(settings, entry.routes[0])
    text = '换行\n引号"反斜\\制表\t控制\x01表情🙂{{who}}和{{when}}，{{none}}{{who}}'
    fills = {"who": '甲"\n', "when": "二〇一九年\\"}
    for repeat, max_tokens in ((0, None), (1, None), (1, 9), (0, None)):
        asked = query(repeat, system, schema)
        asked.prompt, asked.fills = Slotted(text), fills
        assert made.body(asked, max_tokens) == orjson.dumps(made.plain(asked, max_tokens))
        assert asked.user_text == fill(text, fills)
        assert asked.chars == len(asked.user_text) + len(system or "")


def test_models_that_want_other_parameters_get_them():
    sent = body(
        {"max_tokens_name": "max_completion_tokens", "temperature": False, "top_p": False, "seed": False},
        {"temperature": 0.7, "top_p": 0.9, "seed": 1, "max_tokens": 99},
    )
    assert sent["max_completion_tokens"] == 99
    assert not {"max_tokens", "temperature", "top_p", "seed"} & set(sent)


def test_settings_are_sent_and_seeds_count_up_with_the_repeat():
    sent = body(None, {"temperature": 0.7, "top_p": 0.9, "seed": 5}, query(repeat=2))
    assert (sent["temperature"], sent["top_p"], sent["seed"]) == (0.7, 0.9, 7)


def test_reasoning_levels_and_bodies_are_the_routes_own_and_extra_is_the_users():
    style = {"reasoning": {"low": {"reasoning_effort": "low"}}, "body": {"usage": {"include": True}}}
    sent = body(style, {"reasoning": "low", "extra": {"top_k": 4}})
    assert sent["reasoning_effort"] == "low"
    assert sent["usage"] == {"include": True}
    assert sent["top_k"] == 4


def test_a_system_text_of_the_settings_stands_before_the_prompts():
    assert body(None, {"system_text": "先"})["messages"][0]["content"] == "先\n\n你是法官。"
    assert [m["role"] for m in body(None, None, query(system=None))["messages"]] == ["user"]


@pytest.mark.parametrize(
    ("form", "expected"),
    [
        ("none", {}),
        ("json_object", {"response_format": {"type": "json_object"}}),
        (
            "json_schema",
            {
                "response_format": {
                    "type": "json_schema",
                    "json_schema": {"name": "answer", "strict": True, "schema": SCHEMA},
                }
            },
        ),
        ("grammar", {"grammar": grammar(SCHEMA)}),
    ],
)
def test_answer_formats(form, expected):
    sent = body({"answer_format": form})
    found = {key: sent[key] for key in ("response_format", "grammar", "json_schema") if key in sent}
    assert found == expected


def test_without_a_schema_no_format_is_asked_for():
    assert "response_format" not in body({"answer_format": "json_schema"}, None, query(schema=None))


def test_the_grammar_is_compact_and_bounded():
    made = grammar(SCHEMA)
    assert made.startswith("root ::= ")
    assert '"\\"罪名\\"" ":"' in made
    assert "{0,12}" in made
    assert '"\\"有期徒刑\\"" | "\\"拘役\\""' in made
    assert '[1-2] [0-9]{2} | "3" "0" "0"' in made
    assert "ws" not in made
    assert made.count("(") == made.count(")")


def as_regex(rule: str) -> re.Pattern[str]:
    """A rule without names, as a regular expression: literals escaped, the blanks between them left out."""
    literal = re.compile(r'"((?:[^"\\]|\\.)*)"|\s+')
    return re.compile(literal.sub(lambda found: re.escape(found.group(1) or ""), rule))


@pytest.mark.parametrize("minimum", [0, 1, 7, 10, 36, 105])
def test_whole_numbers_keep_to_their_bounds(minimum):
    for maximum in [*range(minimum, 130), 199, 599, 600, 601, 999, 1000, 1999, 2048, 10_000, 12_345]:
        schema = {"type": "integer", "minimum": minimum, "maximum": maximum}
        rule = grammar(schema).removeprefix("root ::= ").strip()
        pattern = as_regex(rule)
        taken = [n for n in range(maximum * 10 + 30) if pattern.fullmatch(str(n))]
        assert taken == list(range(minimum, maximum + 1)), rule
        assert not any(pattern.fullmatch(text) for text in ("", "00", "01", "-1", "0600", "6.0", "x"))
        assert len(rule) < 150
    with pytest.raises(Unsupported):
        grammar({"type": "integer", "minimum": minimum, "maximum": minimum - 1})


def test_numbers_keep_to_their_bounds():
    rule = grammar({"type": "number", "minimum": 0, "maximum": 600}).removeprefix("root ::= ").strip()
    pattern = as_regex(rule)
    assert all(pattern.fullmatch(text) for text in ("0", "0.5", "599.999999", "600", "36"))
    assert not any(pattern.fullmatch(text) for text in ("600.1", "601", "650", "799", "-1", "05"))
    most = as_regex(grammar({"type": "integer", "minimum": 0}).removeprefix("root ::= ").strip())
    assert most.fullmatch("999999999")
    assert not most.fullmatch("1000000000")


def test_what_the_grammar_does_not_know_is_left_to_the_server():
    strange = {
        "type": "object",
        "properties": {"a": {"type": "string", "pattern": "x+"}, "b": {"$ref": "#/x"}},
    }
    with pytest.raises(Unsupported):
        grammar(strange)
    assert body({"answer_format": "grammar"}, None, query(schema=strange))["json_schema"] == strange
