"""Values of `providers.toml` and the environment that no request can carry: refused before one is sent."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from runner_world import fill_study, providers, rows

from runner.batch.run import run_batch
from runner.lifecycle.options import Asked, RunOptions
from runner.providers.file import load_providers
from runner.providers.urls import with_path
from runner.transport.address import address_of, proxy_for
from store.errors import BadInput

FILE = """\
[providers.p]
base_url = "{base_url}"
{provider}

[providers.p.models.{name}]
id = {id}
{model}
"""


def failure(tmp_path: Path, **parts: str) -> str:
    """What is said of a file with these parts."""
    path = tmp_path / "providers.toml"
    given = {"base_url": "http://h.example/v1", "provider": "", "name": "judge", "id": '"j"', "model": ""}
    path.write_text(FILE.format(**{**given, **parts}), encoding="utf-8")
    with pytest.raises(BadInput) as caught:
        load_providers(path)
    assert str(path) in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize(
    ("base_url", "says"),
    [
        ("http://127.0.0.1:99999/v1", "a number from 1 to 65535"),
        ("http://127.0.0.1:abc/v1", "a number from 1 to 65535"),
        ("http://127.0.0.1:0/v1", "a number from 1 to 65535"),
        ("http://[::1/v1", r"write http://\[::1\]:8000"),
        ("http://[::g]/v1", r"write http://\[::1\]:8000"),
        ("http://[::1]x/v1", r"write http://\[::1\]:8000"),
        ("http://exa..mple/v1", "nothing between two of its dots"),
        ("http://.example/v1", "nothing between two of its dots"),
        (f"http://{'a' * 64}.example/v1", "more than 63 characters"),
        (f"http://{'例' * 64}.example/v1", "a host that cannot be one"),
        ("http://ﬀ℀.example/v1", "a host that cannot be one"),
        ("http://{HOST}/v1", "letters, digits, hyphens and dots"),
        ("http://256.1.1.1/v1", "four numbers up to 255"),
        ("http://:80/v1", "names no host"),
        ("http://ex ample/v1", "a blank or a line break"),
        (r"http://example/v1\n", "a blank or a line break"),
        ("http://example/v1#part", "after #, which is never sent"),
        ("http://example/v1?api-version=2&key=abc", "must not hold a key: name its variable in `keys`"),
        ("http://example/v1?x=sk-abcdef", "must not hold a key"),
        ("http://example/v1/chat/completions?api-version=2", r"write http://example/v1\?api-version=2$"),
    ],
)
def test_an_address_that_cannot_be_one_is_told_with_its_line(tmp_path, base_url, says):
    text = failure(tmp_path, base_url=base_url)
    assert re.search(f"line 2, providers.p.base_url: .*{says}", text, re.MULTILINE), text


@pytest.mark.parametrize(
    "base_url",
    [
        "http://127.0.0.1:8000/v1",
        "http://[::1]:8000/v1",
        "http://[fe80::1%25eth0]/v1",
        "http://my_vllm:8000/v1",
        "http://例子.测试/v1",
        "http://api.example./v1",
        "http://127.1/v1",
    ],
)
def test_unusual_addresses_that_are_some_are_taken(base_url):
    (route,) = providers(p={"base_url": f"{base_url}/"}).resolve("judge").routes
    assert route.base_url == base_url
    assert address_of(route, None).url.path == "/v1/chat/completions"


async def test_the_path_goes_before_the_query_of_an_address(study, serve, ask):
    """As Azure wants it: .../chat/completions?api-version=..."""
    table = {"base_url": "http://h.example/v1/?api-version=2024-10-21"}
    (route,) = providers(p=table).resolve("judge").routes
    assert route.base_url == "http://h.example/v1?api-version=2024-10-21"
    assert str(address_of(route, None).url) == "http://h.example/v1/chat/completions?api-version=2024-10-21"
    assert str(address_of(route, None, "/models").url) == "http://h.example/v1/models?api-version=2024-10-21"
    assert with_path("http://h.example/v1", "/models") == "http://h.example/v1/models"

    fill_study(study, 1, 2)
    server = await serve()
    summary = await ask(providers(p={"base_url": f"{server.base_url}?api-version=2024-10-21"}))
    assert summary.counts == {"answered": 2}


def test_an_address_with_a_query_has_no_batches(tmp_path):
    text = failure(tmp_path, base_url="http://h.example/v1?api-version=2", provider="batch = true")
    assert "line 2, providers.p.base_url: cannot have a query (?...) together with `batch = true`" in text


@pytest.mark.parametrize(
    ("line", "place"),
    [
        ("limits = { requests_per_minute = inf }", "limits.requests_per_minute: .*finite"),
        ("limits = { requests_per_minute = 1e-9 }", "limits.requests_per_minute: must be from 0.001"),
        ("limits = { requests_per_minute = true }", "limits.requests_per_minute: must be a number"),
        ("limits = { tokens_per_minute = nan }", "limits.tokens_per_minute: .*finite"),
        ("limits = { tokens_per_minute = inf }", "limits.tokens_per_minute: .*finite"),
        ("limits = { in_flight = 1_000_000 }", "limits.in_flight: must be from 1 to 10,000"),
        ("limits = { in_flight = 0 }", "limits.in_flight: must be from 1 to 10,000"),
        ("limits = { in_flight = inf }", "limits.in_flight: .*finite"),
        ("timeouts = { total = inf }", "timeouts.total: .*finite"),
        ("timeouts = { first_byte = nan }", "timeouts.first_byte: .*finite"),
        ("timeouts = { connect = 1e9 }", "timeouts.connect: must be from 0.01 to 86,400"),
        ("batch_discount = nan", "batch_discount: .*finite"),
        ("vllm = { startup_s = inf }", "vllm.startup_s: .*finite"),
        (r'vllm = { arguments = ["a\u0000"] }', r"vllm.arguments\[0\]: .*zero character"),
        ('key_header = ""', "key_header: must be the name of an HTTP header"),
        ('key_header = "X Key"', "key_header: must be the name of an HTTP header"),
        (r'key_prefix = "Bearer\n"', "key_prefix: must be one line"),
        ('headers = { "X:Y" = "1" }', 'headers."X:Y": must be the name of an HTTP header'),
        (r'headers = { X-Title = "a\r\nb" }', "headers.X-Title: must be one line"),
        ('headers = { Content-Length = "1" }', "headers.Content-Length: .*has already: leave it out"),
        ('headers = { X-A = "1", x-a = "2" }', "headers.x-a: would be sent twice"),
        ('keys = ["K"]\nkey_header = "X-A"\nheaders = { x-a = "2" }', "headers.x-a: would be sent twice"),
        ('headers = { Authorization = "x" }', "headers.Authorization: headers must not hold Authorization"),
        ("style = { temperature = 0 }", "style.temperature: must be true or false"),
        ("style = { seed = 1 }", "style.seed: must be true or false"),
    ],
)
def test_a_value_that_cannot_be_used_is_told_with_its_line(tmp_path, line, place):
    text = failure(tmp_path, provider=line)
    assert re.search(rf"line {3 + line.count(chr(10))}, providers.p.{place}", text), text


@pytest.mark.parametrize(
    ("parts", "place"),
    [
        ({"model": "prices = { input = inf, output = 1 }"}, "line 7, .*judge.prices.input: .*finite"),
        ({"model": "prices = { input = 1, output = nan }"}, "line 7, .*judge.prices.output: .*finite"),
        ({"model": "prices = { input = -1, output = 1 }"}, "line 7, .*prices.input: must be from 0 to"),
        ({"model": "context_tokens = 1_000_000_000_000"}, "line 7, .*context_tokens: must be from 1 to"),
        ({"model": f"context_tokens = {'1' * 5000}"}, "a number of thousands of digits"),
        ({"id": '""'}, "line 6, .*judge.id: must be a name"),
        ({"id": '"judge "'}, "line 6, .*judge.id: must be a name, without a blank before or after"),
        ({"id": r'"a\nb"'}, "line 6, .*judge.id: must be one line"),
        ({"name": '""'}, 'line 5, providers.p.models."": must be a name'),
        ({"name": '"a@b"'}, 'line 5, providers.p.models."a@b": must be a name without @'),
        ({"name": r'"a\u0007"'}, r'providers.p.models."a\\u0007": must be one line'),
    ],
)
def test_a_model_that_cannot_be_asked_is_told_with_its_line(tmp_path, parts, place):
    text = failure(tmp_path, **parts)
    assert re.search(place, text), text


DECIDED = {
    "model": '"other"',
    "messages": "[]",
    "temperature": "2",
    "top_p": "0.5",
    "max_tokens": "5",
    "max_completion_tokens": "5",
    "seed": "1",
    "n": "2",
    "stream": "true",
    "stream_options": "{}",
    "response_format": '{ type = "text" }',
    "grammar": '"root"',
    "json_schema": "{}",
}
INSTEAD = {
    "model": "the `id` of the model",
    "temperature": "--temperature",
    "top_p": "--top-p",
    "max_tokens": "--max-tokens",
    "seed": "--seed",
    "n": "--repeat",
    "stream": "leave it out",
    "response_format": "style.answer_format",
}


@pytest.mark.parametrize("key", DECIDED)
def test_no_body_overrides_what_a_run_records(tmp_path, key):
    says = re.escape(INSTEAD.get(key, ""))
    text = failure(tmp_path, provider=f"style = {{ body = {{ {key} = {DECIDED[key]} }} }}")
    assert re.search(f"line 3, providers.p.style.body.{key}: must not stand here: .*{says}", text), text
    level = f"[providers.p.models.judge.style.reasoning]\nlow = {{ effort = 1, {key} = {DECIDED[key]} }}"
    text = failure(tmp_path, model=level)
    assert re.search(f"line 8, .*judge.style.reasoning.low.{key}: must not stand here: .*{says}", text), text
    entry = providers(p={"base_url": "http://h.example/v1"}).resolve("judge")
    with pytest.raises(BadInput, match=f"must not hold {key}(.|\n)*{says}"):
        entry.settings(extra={"top_k": 3, key: 1})


@pytest.mark.parametrize("value", ["inf", "[nan]", "{ a = 99999999999999999999 }", "2026-01-01"])
def test_a_body_is_json(tmp_path, value):
    text = failure(tmp_path, provider=f"style = {{ body = {{ x = {value} }} }}")
    assert "line 3, providers.p.style.body.x: cannot be sent as JSON" in text


@pytest.fixture
def proxies(monkeypatch):
    """Sets the variables of proxies, and none but these."""

    def put(**variables: str) -> None:
        for name in ("HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY", "NO_PROXY"):
            monkeypatch.delenv(name, raising=False)
            monkeypatch.delenv(name.lower(), raising=False)
        for name, value in variables.items():
            monkeypatch.setenv(name, value)

    return put


@pytest.mark.parametrize(
    ("variables", "says"),
    [
        ({"https_proxy": "garbage"}, "The proxy in https_proxy is no URL"),
        ({"HTTPS_PROXY": "user:planted@proxy:3128"}, "The proxy in HTTPS_PROXY is no URL"),
        ({"ALL_PROXY": "socks5://user:planted@proxy:1"}, "The proxy in ALL_PROXY names a SOCKS proxy"),
        ({"HTTPS_PROXY": "ftp://proxy"}, "The proxy in HTTPS_PROXY is of no HTTP proxy"),
        ({"HTTPS_PROXY": "http://proxy:99999"}, "The proxy in HTTPS_PROXY has a port"),
        ({"HTTPS_PROXY": "http://pro..xy:1"}, "The proxy in HTTPS_PROXY names a host"),
    ],
)
async def test_a_proxy_that_is_none_is_named_and_nothing_stored(study, ask, proxies, variables, says):
    fill_study(study, 1, 1)
    proxies(**variables)
    tables = providers(far={"base_url": "https://far.example/v1", "batch": True})
    entry = tables.resolve("judge")
    with pytest.raises(BadInput, match=says) as caught:
        proxy_for("https://far.example/v1")
    assert "planted" not in str(caught.value)
    assert "add far.example to NO_PROXY" in str(caught.value)
    with pytest.raises(BadInput, match=says):
        await ask(tables)
    with pytest.raises(BadInput, match=says):
        await run_batch(study, [Asked(entry.settings(), entry)], None, RunOptions(monitor="none"))
    assert rows(study, "SELECT (SELECT count(*) FROM runs), (SELECT count(*) FROM models)") == [(0, 0)]
    proxies(**variables, no_proxy="far.example")
    assert proxy_for("https://far.example/v1") is None


def test_a_proxy_may_have_a_password(proxies):
    proxies(https_proxy="http://user:pass@proxy.example:3128", HTTPS_PROXY="garbage")
    assert proxy_for("https://far.example/v1") == "http://user:pass@proxy.example:3128"


async def test_a_key_that_no_header_can_carry_leaves_no_run(study, ask, monkeypatch):
    monkeypatch.setenv("KEY_A", "two\nlines")
    fill_study(study, 1, 1)
    with pytest.raises(BadInput, match="KEY_A has characters"):
        await ask(providers(a={"base_url": "http://127.0.0.1:9/v1", "keys": ["KEY_A"]}))
    assert rows(study, "SELECT count(*) FROM runs") == [(0,)]
