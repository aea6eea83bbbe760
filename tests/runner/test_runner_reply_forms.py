"""An answer that is in the reply is read, whatever its form; one that may not be whole is not complete."""

from __future__ import annotations

import gzip
import json
import random
import uuid
from typing import Any

import pytest

from runner.batch.requests import custom_id
from runner.batch.results import read_line
from runner.transport.compression import LONGEST_BODY
from runner.transport.finish_reasons import ending
from runner.transport.outcome import Answer, Fault, Kind
from runner.transport.redact import Redactor
from runner.transport.reply import read

REDACTOR = Redactor(())
VERDICT = '{"罪名":"盗窃罪","是否有罪":"是","刑罚类型":"有期徒刑","刑期":10}'
TRADITIONAL = (
    '{"罪名":"竊盜罪","是否有罪":"是","刑罰類型":"有期徒刑","刑期":10,"理由":"被告人趁無人之際竊取他人財物"}'
)


def body_of(message: Any, finish: Any = "stop", **more: Any) -> dict[str, Any]:
    choice: dict[str, Any] = {"index": 0, "message": message, "finish_reason": finish}
    return {"id": "c", "model": "m-1", "choices": [choice], **more}


def live(body: dict[str, Any]) -> Answer | Fault:
    return read(200, {"Content-Type": "application/json"}, json.dumps(body).encode(), REDACTOR)


def of_batch(body: Any) -> Answer | Fault:
    line = {"custom_id": custom_id(uuid.UUID(int=1), 0), "response": {"status_code": 200, "body": body}}
    found = read_line(json.dumps(line, ensure_ascii=False).encode(), REDACTOR)
    assert found is not None
    return found.result


BOTH = pytest.mark.parametrize("way", [live, of_batch])


@pytest.mark.parametrize(
    ("word", "meaning"),
    [
        *((word, "complete") for word in ("stop", "STOP", "end_turn", "eos", "eos_token", "stop_sequence")),
        *((word, "complete") for word in ("COMPLETE", "endoftext", "FinishReason.STOP", "endTurn", "normal")),
        *((word, "call") for word in ("tool_calls", "function_call", "tool_use", "TOOL_CALL")),
        *((word, "refused") for word in ("content_filter", "refusal", "SAFETY", "RECITATION", "sensitive")),
        *((word, "refused") for word in ("PROHIBITED_CONTENT", "BLOCKLIST", "SPII", "guardrail_intervened")),
        *(
            (word, "refused")
            for word in ("CONTENT_FILTERED", "contentFilter", "content-filter", "ERROR_TOXIC")
        ),
        *(
            (word, "cut")
            for word in ("length", "MAX_TOKENS", "max_tokens", "model_length", "max_output_tokens")
        ),
        *((word, "cut") for word in ("insufficient_system_resource", "network_error", "error", "abort")),
        *(
            (word, "cut")
            for word in ("cancelled", "token_limit", "pause_turn", "LANGUAGE", "OTHER", "timeout")
        ),
        *(
            (word, "cut")
            for word in ("model_context_window_exceeded", "MALFORMED_FUNCTION_CALL", "repetition")
        ),
        *((word, "cut") for word in ("", "null", "stopped by the user", "FINISH_REASON_UNSPECIFIED", None)),
    ],
)
def test_only_known_words_make_an_answer_complete_or_refused(word: str | None, meaning: str) -> None:
    assert ending(word) == meaning


@BOTH
@pytest.mark.parametrize(
    ("body", "outcome", "finish"),
    [
        (body_of({"content": VERDICT}, "end_turn"), "answered", "end_turn"),
        (body_of({"content": VERDICT}, "MAX_TOKENS"), "truncated", "MAX_TOKENS"),
        (body_of({"content": VERDICT}, "never heard of"), "truncated", "never heard of"),
        (body_of({"content": VERDICT}, None), "truncated", None),
        (body_of({"content": VERDICT}, 3), "truncated", None),
        (body_of({"content": VERDICT}, ["stop"]), "truncated", None),
        ({"choices": [{"message": {"content": VERDICT}}]}, "truncated", None),
        ({"choices": [{"message": {"content": VERDICT}, "stop_reason": "end_turn"}]}, "answered", "end_turn"),
        ({"choices": [{"message": {"content": VERDICT}, "finishReason": "STOP"}]}, "answered", "STOP"),
        ({"choices": [{"message": {"content": VERDICT}}], "done_reason": "stop"}, "answered", "stop"),
        (body_of({"content": ""}, "length"), "truncated", "length"),
        (body_of({"content": ""}, None), "truncated", None),
        (body_of({"content": VERDICT}, "SAFETY"), "refused", "SAFETY"),
        (body_of({"content": VERDICT}, "tool_calls"), "truncated", "tool_calls"),
        (body_of({"content": ""}, "tool_calls"), "empty", "tool_calls"),
    ],
)
def test_an_answer_is_complete_only_where_the_server_says_so(way, body, outcome, finish) -> None:
    answer = way(body)
    assert isinstance(answer, Answer)
    assert (answer.outcome, answer.finish_reason) == (outcome, finish)


@pytest.mark.parametrize(
    ("word", "native", "outcome"),
    [
        ("stop", "STOP", "answered"),
        ("stop", "completed", "answered"),
        ("stop", "", "answered"),
        ("stop", None, "answered"),
        ("stop", "some new word", "truncated"),
        ("stop", "OTHER", "truncated"),
        ("stop", "error", "truncated"),
        ("stop", "MALFORMED_FUNCTION_CALL", "truncated"),
        ("stop", "MAX_TOKENS", "truncated"),
        ("stop", "SAFETY", "refused"),
        ("length", "STOP", "truncated"),
        (None, "end_turn", "answered"),
    ],
)
def test_a_gateways_word_is_not_believed_against_the_models_own(word, native, outcome) -> None:
    body = body_of({"content": VERDICT}, word)
    body["choices"][0]["native_finish_reason"] = native
    assert live(body).outcome == outcome


@pytest.mark.parametrize(
    ("stopped_at", "outcome"),
    [
        (None, "answered"),
        (151645, "answered"),  # vLLM: the token at which it stopped
        ("<|im_end|>", "answered"),  # or the text
        ("end_turn", "answered"),
        ("max_tokens", "truncated"),
        ("model_context_window_exceeded", "truncated"),
        ("refusal", "refused"),
    ],
)
def test_a_stop_reason_beside_the_finish_reason_counts_where_it_is_known(stopped_at, outcome) -> None:
    body = body_of({"content": VERDICT})
    body["choices"][0]["stop_reason"] = stopped_at
    assert live(body).outcome == outcome


def filtered(**results: Any) -> dict[str, Any]:
    body = body_of({"content": VERDICT})
    body["choices"][0]["content_filter_results"] = results
    return body


@BOTH
@pytest.mark.parametrize(
    "body",
    [
        body_of({"content": None, "refusal": "我不能回答。"}),
        body_of({"content": "", "refusal": {"text": "no"}}),
        body_of({"content": [{"type": "refusal", "refusal": "I can't."}]}),
        body_of({"content": [{"type": "text", "text": "半"}, {"type": "refusal", "refusal": "不"}]}),
        filtered(hate={"filtered": True, "severity": "high"}),
        filtered(hate={"filtered": False}, custom_blocklists=[{"id": "b", "filtered": True}]),
        filtered(custom_blocklists={"filtered": False, "details": [{"id": "b", "filtered": True}]}),
        body_of(
            {"content": ""},
            prompt_filter_results=[
                {"prompt_index": 0, "content_filter_results": {"jailbreak": {"filtered": True}}}
            ],
        ),
        body_of({"content": ""}, input_sensitive=True),
        {"choices": [], "promptFeedback": {"blockReason": "SAFETY"}},
        {"choices": None, "prompt_feedback": {"block_reason": "PROHIBITED_CONTENT"}},
        {"promptFeedback": {"blockReason": "OTHER"}},
        {"choices": None, "base_resp": {"status_code": 1026, "status_msg": "input new_sensitive"}},
        {"code": "DataInspectionFailed", "message": "Output data may contain inappropriate content."},
    ],
)
def test_a_refusal_stands_in_many_fields(way, body) -> None:
    answer = way(body)
    assert isinstance(answer, Answer)
    assert answer.outcome == "refused"


@pytest.mark.parametrize(
    "body",
    [
        filtered(
            hate={"filtered": False, "severity": "safe"}, jailbreak={"detected": True, "filtered": False}
        ),
        filtered(hate={"filtered": "no"}),
        filtered(error={"code": "content_filter_error", "message": "The contents are not filtered"}),
        body_of({"content": VERDICT, "refusal": None}),
        body_of({"content": VERDICT, "refusal": ""}),
        body_of({"content": VERDICT}, promptFeedback={"blockReason": "BLOCK_REASON_UNSPECIFIED"}),
        body_of({"content": VERDICT}, promptFeedback={"safetyRatings": []}),
        body_of(
            {"content": VERDICT},
            prompt_filter_results=[{"content_filter_results": {"hate": {"filtered": False}}}],
        ),
        body_of({"content": VERDICT}, input_sensitive=False),
    ],
)
def test_what_a_filter_let_pass_is_no_refusal(body) -> None:
    assert live(body).outcome == "answered"


OBJECT = json.loads(VERDICT)
CALL = {"id": "1", "type": "function", "function": {"name": "answer", "arguments": VERDICT}}


@BOTH
@pytest.mark.parametrize(
    ("message", "finish"),
    [
        ({"content": OBJECT}, "stop"),
        ({"content": [OBJECT]}, "stop"),
        ({"content": [{"type": "json", "json": OBJECT}]}, "stop"),
        ({"content": [{"type": "text", "text": VERDICT}]}, "stop"),
        ({"content": [{"type": "output_text", "text": VERDICT, "annotations": []}]}, "stop"),
        ({"content": [{"text": VERDICT[:9]}, VERDICT[9:]]}, "stop"),
        ({"content": [{"type": "text", "text": {"value": VERDICT, "annotations": []}}]}, "stop"),
        ({"content": {"type": "text", "text": VERDICT}}, "stop"),
        ({"content": {"text": VERDICT}}, "stop"),
        ({"content": {"parts": [{"text": VERDICT}], "role": "model"}}, "stop"),
        ({"content": [{"type": "thinking", "thinking": "想"}, {"type": "text", "text": VERDICT}]}, "stop"),
        ({"content": None, "tool_calls": [CALL]}, "tool_calls"),
        ({"content": "", "tool_calls": [CALL]}, "stop"),
        ({"content": " \n", "tool_calls": [CALL, {**CALL, "id": "2"}]}, "tool_calls"),
        ({"tool_calls": [{"type": "function", "function": {"arguments": OBJECT}}]}, "tool_calls"),
        ({"tool_calls": [{"type": "custom", "custom": {"name": "answer", "input": VERDICT}}]}, "tool_calls"),
        ({"content": None, "function_call": {"name": "answer", "arguments": VERDICT}}, "function_call"),
        ({"content": [{"type": "tool_use", "name": "answer", "input": OBJECT}]}, "tool_use"),
        (VERDICT, "stop"),
    ],
)
def test_an_answer_is_read_wherever_it_stands_in_the_message(way, message, finish) -> None:
    answer = way(body_of(message, finish))
    assert isinstance(answer, Answer)
    assert (answer.outcome, json.loads(answer.text)) == ("answered", OBJECT)
    assert "盗窃罪" in answer.text


@pytest.mark.parametrize(
    "choice", [{"text": VERDICT}, {"delta": {"content": VERDICT}}, {"text": VERDICT, "message": None}]
)
def test_an_answer_is_read_from_a_text_completion_and_a_single_chunk(choice) -> None:
    answer = live({"choices": [{**choice, "finish_reason": "stop"}]})
    assert (answer.outcome, answer.text) == ("answered", VERDICT)


@pytest.mark.parametrize(
    ("message", "outcome"),
    [
        ({"content": None, "tool_calls": [CALL, {"function": {"name": "b", "arguments": "{}"}}]}, "empty"),
        ({"content": None, "tool_calls": []}, "empty"),
        ({"content": None, "tool_calls": [{"function": {"name": "look_up", "arguments": ""}}]}, "empty"),
        ({"content": "我先查一下。", "tool_calls": [CALL]}, "truncated"),
    ],
)
def test_a_call_that_is_not_the_only_thing_said_is_no_answer(message, outcome) -> None:
    assert live(body_of(message, "tool_calls")).outcome == outcome


def test_an_object_whose_keys_are_those_of_a_part_is_still_an_object() -> None:
    assert json.loads(live(body_of({"content": {"type": "fine", "months": 3}})).text)["months"] == 3
    assert json.loads(live(body_of({"content": [{"text": "x", "months": 3}]})).text)["months"] == 3


# Streams


def chunk(delta: dict[str, Any], finish: str | None = None, **more: Any) -> str:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return json.dumps({"id": "c", "model": "m-1", "choices": [choice], **more}, ensure_ascii=False)


USAGE = {"prompt_tokens": 100, "completion_tokens": 10}
CHUNKS = [
    chunk({"role": "assistant", "content": VERDICT[:15]}),
    chunk({"content": VERDICT[15:]}),
    chunk({}, "stop"),
]
LAST = json.dumps({"id": "c", "choices": [], "usage": USAGE})


def stream(*data: str, end: str = "\n\n", before: str = "data: ") -> str:
    return "".join(f"{before}{one}{end}" for one in data)


def sent(text: str, content_type: str = "text/event-stream") -> Answer | Fault:
    return read(200, {"Content-Type": content_type}, text.encode(), REDACTOR)


@pytest.mark.parametrize(
    "content_type", ["text/event-stream", "application/json", "text/plain; charset=utf-8"]
)
@pytest.mark.parametrize(
    "text",
    [
        stream(*CHUNKS, LAST, "[DONE]"),
        ": ping\n\n: OPENROUTER PROCESSING\n\n" + stream(*CHUNKS, LAST, "[DONE]"),
        stream(*CHUNKS, LAST, "[DONE]", end="\r\n\r\n"),
        stream(*CHUNKS, LAST, "[DONE]", end="\r\r"),
        stream(*CHUNKS, LAST, "[DONE]", end="\n"),
        stream(*CHUNKS, LAST, "[DONE]", before="data:"),
        stream(*CHUNKS, LAST, "[DONE]", before="event: message\nid: 7\nretry: 100\ndata: "),
        "\ufeff" + stream(*CHUNKS, LAST, "[DONE]"),
        stream(*CHUNKS[:2], chunk({}, "stop", usage=USAGE), "[DONE]"),
        stream(*(one.replace(', "choices"', ',\ndata: "choices"') for one in (*CHUNKS, LAST)), "[DONE]"),
        stream(*CHUNKS, LAST, "[DONE]").rstrip(),
        stream(*CHUNKS, LAST, "[DONE]") + stream(chunk({"content": "more"})),
        "\n".join([*CHUNKS, LAST]),
    ],
)
def test_a_stream_that_was_not_asked_for_is_joined(text: str, content_type: str) -> None:
    answer = sent(text, content_type)
    assert isinstance(answer, Answer), answer
    assert (answer.outcome, answer.text, answer.finish_reason) == ("answered", VERDICT, "stop")
    assert (answer.prompt_tokens, answer.completion_tokens, answer.model) == (100, 10, "m-1")


@pytest.mark.parametrize(
    ("deltas", "outcome", "text", "reasoning"),
    [
        (
            [{"reasoning_content": "想"}, {"reasoning_content": "了"}, {"content": "六个月"}],
            *("answered", "六个月", "想了"),
        ),
        ([{"content": "<think>想"}, {"content": "</think>六个月"}], "answered", "六个月", "想"),
        ([{"content": None, "refusal": "我"}, {"refusal": "不能"}], "refused", "我不能", None),
        (
            [{"content": [{"type": "text", "text": text}]} for text in ("六", "个月")],
            *("answered", "六个月", None),
        ),
        (
            [
                {"tool_calls": [{"index": 0, "id": "1", "function": {"name": "a", "arguments": ""}}]},
                {"tool_calls": [{"index": 0, "function": {"arguments": '{"刑'}}]},
                {"tool_calls": [{"index": 0, "function": {"arguments": '期":6}'}}]},
            ],
            *("answered", '{"刑期":6}', None),
        ),
        (
            [
                {"function_call": {"name": "a", "arguments": '{"刑'}},
                {"function_call": {"arguments": '期":6}'}},
            ],
            *("answered", '{"刑期":6}', None),
        ),
    ],
)
def test_all_that_deltas_can_hold_is_joined(deltas, outcome, text, reasoning) -> None:
    answer = sent(stream(*map(chunk, deltas), chunk({}, "stop"), "[DONE]"))
    assert (answer.outcome, answer.text, answer.reasoning) == (outcome, text, reasoning)


@pytest.mark.parametrize(
    ("text", "finish"),
    [
        (stream(*CHUNKS), "stop (the stream ended without [DONE])"),
        (stream(*CHUNKS[:2], "[DONE]"), None),
        (stream(*CHUNKS[:1]), None),
        (stream(*CHUNKS[:2], chunk({}, "length"), "[DONE]"), "length"),
        (stream(*CHUNKS[:2], chunk({}, "abort"), "[DONE]"), "abort"),
        ("\n".join(CHUNKS[:2]), None),
    ],
)
def test_a_stream_that_does_not_end_as_it_should_is_not_complete(text: str, finish: str | None) -> None:
    answer = sent(text)
    assert (answer.outcome, answer.finish_reason) == ("truncated", finish)


def test_a_filter_that_speaks_in_a_stream_is_heard() -> None:
    first = chunk({"content": "半"}).replace(
        '"index": 0', '"index": 0, "content_filter_results": {"hate": {"filtered": true}}'
    )
    assert sent(stream(first, chunk({}, "stop"), "[DONE]")).outcome == "refused"


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (stream(CHUNKS[0], '{"error": {"code": 502, "message": "upstream"}}'), Kind.SERVER_ERROR),
        ("event: error\n" + stream('{"error": {"code": 429, "message": "slow down"}}'), Kind.RATE_LIMITED),
        (stream(CHUNKS[0], CHUNKS[1][:20]), Kind.BAD_BODY),
        (stream(CHUNKS[0], "[1, 2]"), Kind.BAD_BODY),
        (stream("[DONE]"), Kind.BAD_BODY),
        (": ping\n\n: ping\n\n", Kind.BAD_BODY),
        (stream(LAST, "[DONE]"), Kind.NO_CHOICES),
        (stream('{"choices": [7]}', "[DONE]"), Kind.BAD_BODY),
    ],
)
def test_a_stream_without_an_answer_is_a_fault(text: str, kind: Kind) -> None:
    fault = sent(text)
    assert isinstance(fault, Fault)
    assert fault.kind is kind


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "123456789012345678901234567890"])
def test_a_number_that_json_does_not_know_costs_an_answer_nothing(number: str) -> None:
    whole = body_of({"content": VERDICT}, logprobs={"x": 0.5})
    body = json.dumps(whole, ensure_ascii=False).replace("0.5", number).encode()
    assert read(200, {}, body, REDACTOR).text == VERDICT
    streamed = stream(
        chunk({"content": VERDICT}, "stop", logprobs={"x": 0.5}).replace("0.5", number), "[DONE]"
    )
    assert sent(streamed).text == VERDICT


def test_a_stream_in_a_batch_is_joined_too() -> None:
    answer = of_batch(stream(*CHUNKS, LAST, "[DONE]"))
    assert (answer.outcome, answer.text, answer.prompt_tokens) == ("answered", VERDICT, 100)


# Charsets


def in_charset(text: str, codec: str, declared: str | None) -> Answer | Fault:
    raw = json.dumps(body_of({"content": text}), ensure_ascii=False).encode(codec)
    header = "application/json" + (f"; charset={declared}" if declared else "")
    return read(200, {"Content-Type": header}, raw, REDACTOR)


@pytest.mark.parametrize(
    ("text", "codec", "declared"),
    [
        (VERDICT, "gbk", "gbk"),
        (VERDICT, "gbk", '"GB2312"'),
        (VERDICT, "gb18030", "GB18030"),
        ("偷盗𠮷野家㐂", "gb18030", "gb2312"),
        (TRADITIONAL, "big5", "Big5"),
        (VERDICT, "utf-16", "utf-16"),
        (VERDICT, "utf-16-le", "utf-16"),
        (VERDICT, "utf-16-be", "utf-16le"),
        (VERDICT, "utf-8-sig", "utf-8"),
        (VERDICT, "utf-32", "utf-32"),
        ("condamné à six mois", "latin-1", "iso-8859-1"),
        ("6 months’ imprisonment – “fine”", "cp1252", "latin-1"),
        ("懲役六か月", "shift_jis", "shift_jis"),
        ("징역 6월", "euc_kr", "euc-kr"),
        # Declared wrongly: valid UTF-8 is UTF-8.
        (VERDICT, "utf-8", "gbk"),
        (VERDICT, "utf-8", "iso-8859-1"),
        (VERDICT, "utf-8", "big5"),
        ("condamné", "utf-8", "latin-1"),
        # Declared wrongly, or not at all: found by a mark, or by its characters.
        (VERDICT, "gbk", "utf-8"),
        (VERDICT, "gbk", None),
        (VERDICT, "gb18030", "iso-8859-1"),
        (VERDICT, "gbk", "no-such-charset"),
        (VERDICT, "gbk", "rot13"),
        (TRADITIONAL, "big5", None),
        (TRADITIONAL, "big5", "utf-8"),
        (VERDICT, "utf-16", None),
        (VERDICT, "utf-16-le", None),
        (VERDICT, "utf-16-be", "utf-8"),
        ("盗窃", "gbk", "gb2312"),
    ],
)
def test_a_reply_is_read_in_its_charset(text: str, codec: str, declared: str | None) -> None:
    answer = in_charset(text, codec, declared)
    assert isinstance(answer, Answer), answer
    assert (answer.outcome, answer.text) == ("answered", text)


def test_two_bytes_that_are_both_utf8_and_gbk_are_what_is_declared() -> None:
    text = "末"  # in GBK the bytes of a Greek letter of UTF-8
    body = json.dumps(body_of({"content": text}), ensure_ascii=False).encode("gbk")
    assert body.decode()
    assert in_charset(text, "gbk", "gbk").text == text


@pytest.mark.parametrize(
    ("raw", "declared"),
    [
        (b"six mois, condamn\xe9 \xe0 tort", None),
        (b"six mois, condamn\xe9 \xe0 tort", "utf-8"),
        (b"caf\xe9", None),
        ("无罪".encode("gbk"), None),
        (b"\xd0\xc2\xff\xfe\xd0", "gbk"),
        (b"\x81\x8d", "latin-1"),
        ("六个月".encode() + b"\xff\xff", None),
        ("六个月".encode() + b"\xe5\x88 and more", None),
        ("징역 육개월에 처한다".encode("euc_kr"), None),
        ("懲役六か月に処する".encode("shift_jis"), None),
        ("приговор".encode("cp1251"), None),
    ],
)
def test_bytes_that_are_no_text_for_certain_are_a_fault(raw: bytes, declared: str | None) -> None:
    body = b'{"choices": [{"message": {"content": "%b"}, "finish_reason": "stop"}]}' % raw
    header = "application/json" + (f"; charset={declared}" if declared else "")
    fault = read(200, {"Content-Type": header}, body, REDACTOR)
    assert isinstance(fault, Fault), fault
    assert fault.kind is Kind.BAD_BODY


def test_an_answer_cut_within_a_character_is_not_complete() -> None:
    """Some servers end so at the limit of tokens. All that came is kept, and it can be asked for again."""
    content = "有期徒刑六个月".encode() + "刑".encode()[:2]
    body = b'{"choices": [{"message": {"content": "%b"}, "finish_reason": "%b"}]}'
    answer = read(200, {}, body % (content, b"stop"), REDACTOR)
    assert (answer.outcome, answer.text) == ("truncated", "有期徒刑六个月\ufffd")
    assert answer.finish_reason == "stop (cut within a character)"
    assert read(200, {}, body % (content, b"length"), REDACTOR).finish_reason == "length"


def test_an_error_in_another_charset_is_shown_and_understood() -> None:
    body = json.dumps({"error": {"message": "账户余额不足，请充值"}}, ensure_ascii=False).encode("gbk")
    fault = read(403, {"Content-Type": "application/json; charset=gbk"}, body, REDACTOR)
    assert (fault.kind, fault.message) == (Kind.NO_MONEY, "账户余额不足，请充值")
    page = "<html><h1>系统繁忙，请稍后再试</h1></html>".encode("gb2312")
    assert "系统繁忙" in read(502, {"Content-Type": "text/html; charset=gb2312"}, page, REDACTOR).message


def test_a_stream_in_another_charset_is_joined() -> None:
    raw = stream(*CHUNKS, LAST, "[DONE]").encode("gbk")
    answer = read(200, {"Content-Type": "text/event-stream; charset=gbk"}, raw, REDACTOR)
    assert (answer.outcome, answer.text) == ("answered", VERDICT)


def test_a_line_of_a_batch_in_another_charset_is_read() -> None:
    body = {"status_code": 200, "body": body_of({"content": VERDICT})}
    line = json.dumps({"custom_id": custom_id(uuid.UUID(int=1), 0), "response": body}, ensure_ascii=False)
    found = read_line(line.encode("gbk"), REDACTOR)
    assert found is not None
    assert found.result.text == VERDICT


# Redirects


PLAIN = json.dumps(body_of({"content": VERDICT}, usage={"prompt_tokens": 9, "completion_tokens": 2})).encode()


@pytest.mark.parametrize(
    "raw",
    [
        gzip.compress(PLAIN),
        b"[" + PLAIN + b"]",
        b": ping\n\n" + PLAIN,
        b": OPENROUTER PROCESSING\r\n\r\n: OPENROUTER PROCESSING\r\n\r\n" + PLAIN + b"\r\n",
        b'{"code":200,"msg":"ok","data":' + PLAIN + b"}",
        b'{"request_id":"r","output":' + PLAIN + b"}",
        b'{"result":' + PLAIN + b',"success":true}',
    ],
)
def test_an_answer_in_a_wrapping_is_taken_out(raw: bytes) -> None:
    found = read(200, {"Content-Type": "application/json"}, raw, REDACTOR)
    assert isinstance(found, Answer)
    assert (found.outcome, found.text, found.finish_reason) == ("answered", VERDICT, "stop")
    assert (found.prompt_tokens, found.completion_tokens) == (9, 2)


@pytest.mark.parametrize(
    "raw",
    [
        gzip.compress(PLAIN)[:-20],
        gzip.compress(b" " * (LONGEST_BODY + 1)),
        b"\x1f\x8b\x08 no gzip",
        b"[" + PLAIN + b"," + PLAIN + b"]",
        b"[]",
        b": ping\n\n" + PLAIN[:-9],
        b'{"data":[' + PLAIN + b"]}",
    ],
)
def test_a_wrapping_without_one_whole_answer_is_a_fault(raw: bytes) -> None:
    assert isinstance(read(200, {}, raw, REDACTOR), Fault)


@pytest.mark.parametrize(
    ("raw", "kind", "says"),
    [
        ('{"code":1113,"msg":"余额不足"}', Kind.NO_MONEY, "余额不足"),
        (
            '{"choices":null,"base_resp":{"status_code":1008,"status_msg":"insufficient balance"}}',
            Kind.NO_MONEY,
            "insufficient balance",
        ),
        ('{"detail":"Payment Required"}', Kind.NO_MONEY, "Payment Required"),
        ('{"message":{"content":"被告人余额不足"},"done":true}', Kind.NO_CHOICES, "余额不足"),
        ('{"success":false,"code":"1302","msg":"并发数过高"}', Kind.NO_CHOICES, "并发数过高"),
    ],
)
def test_an_error_with_status_200_and_no_error_key(raw: str, kind: Kind, says: str) -> None:
    found = read(200, {}, raw.encode(), REDACTOR)
    assert isinstance(found, Fault)
    assert found.kind is kind
    assert says in found.message


@pytest.mark.parametrize(
    ("data", "says"),
    [
        ('{"message":"boom"}', "boom"),
        ('{"error":{"message":"boom","code":503}}', "boom"),
        ("out of memory", "out of memory"),
    ],
)
def test_an_event_called_an_error_is_one(data: str, says: str) -> None:
    text = stream(*CHUNKS) + f"event: error\ndata: {data}\n\n" + stream(LAST, "[DONE]")
    found = sent(text)
    assert isinstance(found, Fault)
    assert found.message == says


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
@pytest.mark.parametrize(
    ("location", "says"),
    [
        ("https://llm.invalid/v1/chat/completions", "the server points to https://llm.invalid/v1 "),
        ("https://llm.invalid:8443/v1/chat/completions/", "https://llm.invalid:8443/v1 "),
        ("/api/v1/chat/completions", "http://here.invalid/api/v1 "),
        ("//other.invalid/v1/chat/completions", "http://other.invalid/v1 "),
        ("https://login.invalid/sso?next=secret", "https://login.invalid/sso "),
        ("https://me:secret@llm.invalid/v1/chat/completions?key=secret", "https://llm.invalid/v1 "),
    ],
)
def test_a_redirect_names_its_target(status: int, location: str, says: str) -> None:
    url = "http://here.invalid/v1/chat/completions"
    fault = read(status, {"Location": location}, b"", REDACTOR, url)
    assert isinstance(fault, Fault)
    assert (fault.kind, fault.status) == (Kind.REDIRECTED, status)
    assert says in fault.message
    assert "base_url" in fault.message
    assert "secret" not in fault.message


@pytest.mark.parametrize("location", [None, "", "http://[bad"])
def test_a_redirect_to_nowhere_says_so(location: str | None) -> None:
    fault = read(308, {} if location is None else {"Location": location}, b"", REDACTOR, "http://a.invalid/")
    assert fault.kind is Kind.REDIRECTED
    assert "redirects (HTTP 308)" in fault.message


# Whatever comes


def anything(chance: random.Random, depth: int = 0) -> Any:
    """A value of JSON, of the kinds and names that completions are made of."""
    words = ["stop", "data: x", "</think>", "拘役", "\ud800", "\0", "", "text", "refusal", "tool_use", "0"]
    numbers = [0, -1, 7, 1e300, 10**30, float("nan"), float("inf"), True, None]
    kind = chance.randrange(6) if depth < 5 else chance.randrange(2)
    if kind == 0:
        return chance.choice(words)
    if kind == 1:
        return chance.choice(numbers)
    if kind == 2:
        return [anything(chance, depth + 1) for _ in range(chance.randrange(4))]
    names = [
        *("choices", "message", "delta", "content", "text", "type", "refusal", "reasoning", "tool_calls"),
        *("function", "function_call", "arguments", "input", "finish_reason", "error", "code", "usage"),
        *("index", "id", "model", "content_filter_results", "prompt_filter_results", "filtered", "value"),
        *("promptFeedback", "blockReason", "base_resp", "status_msg", "parts", "thinking", "json"),
    ]
    return {chance.choice(names): anything(chance, depth + 1) for _ in range(chance.randrange(1, 6))}


@pytest.mark.parametrize("seed", range(4))
def test_whatever_comes_is_an_answer_or_a_fault(seed: int) -> None:
    chance = random.Random(seed)
    types = [
        "application/json",
        "text/event-stream",
        "text/html; charset=gbk",
        "x; charset=utf-16",
        "charset=rot13",
    ]
    for _ in range(1_500):
        whole = anything(chance)
        if chance.random() < 0.7:
            message = anything(chance) if chance.random() < 0.5 else {"content": anything(chance)}
            choice = {chance.choice(["message", "delta", "text"]): message, "finish_reason": anything(chance)}
            whole = {"choices": [choice], **(whole if isinstance(whole, dict) else {})}
        text = json.dumps(whole, ensure_ascii=chance.random() < 0.5)
        if chance.random() < 0.3:
            text = "\n".join(f"data: {text}" for _ in range(chance.randrange(1, 3))) + "\n\n"
        raw = text.encode(chance.choice(["utf-8", "utf-16", "gbk", "latin-1"]), "replace")
        if chance.random() < 0.2:
            at = chance.randrange(len(raw) + 1)
            raw = raw[:at] + bytes(chance.randrange(256) for _ in range(3)) + raw[at + chance.randrange(3) :]
        status = chance.choice([200, 200, 200, 400, 429, 500, 302])
        result = read(status, {"Content-Type": chance.choice(types)}, raw, REDACTOR)
        if isinstance(result, Answer):
            assert result.outcome in ("answered", "refused", "empty", "truncated")
            for text in (result.text, result.reasoning, result.finish_reason, result.model):
                assert text is None or text.encode() is not None
                assert text is None or "\0" not in text
