"""`providers.toml`: what is accepted, and that each mistake is told with file, line or key, and the fix."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import ValidationError
from runner_world import providers as of_tables

from runner.providers.file import find, load_providers
from store.errors import BadInput

GOOD = """\
[providers.first]
base_url = "https://first.example/v1/"
keys = ["FIRST_KEY", "FIRST_KEY_2"]
limits = { requests_per_minute = 60, in_flight = 4 }
style = { seed = false }

[providers.first.models.judge]
id = "vendor/judge-1"
limits = { tokens_per_minute = 1000 }
prices = { input = 1.0, cached = 0.5, output = 4.0 }
style = { max_tokens_name = "max_completion_tokens" }

[providers.second]
base_url = "http://second.example/v1"
keys = ["SECOND_KEY"]

[providers.second.models.judge]
id = "judge"
"""


@pytest.fixture
def write(tmp_path: Path):
    def write(text: str | bytes) -> Path:
        path = tmp_path / "providers.toml"
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        return path

    return write


def failure(path: Path) -> str:
    with pytest.raises(BadInput) as caught:
        load_providers(path)
    return str(caught.value)


def test_routes_follow_the_order_of_the_file_and_inherit(write):
    entry = load_providers(write(GOOD)).resolve("judge")
    first, second = entry.routes
    assert (first.provider, second.provider) == ("first", "second")
    assert first.base_url == "https://first.example/v1"
    assert first.limits.requests_per_minute == 60
    assert first.limits.tokens_per_minute == 1000
    assert first.limits.in_flight == 4
    assert first.style.seed is False
    assert first.style.max_tokens_name == "max_completion_tokens"
    assert second.style.seed is True


def test_usable_routes_are_those_whose_key_is_set(write):
    entry = load_providers(write(GOOD)).resolve("judge")
    assert [route.provider for route in entry.usable({"SECOND_KEY": "x"})] == ["second"]
    assert entry.routes[0].keys_set({"FIRST_KEY_2": "x"}) == ("FIRST_KEY_2",)
    with pytest.raises(BadInput, match=r"FIRST_KEY or FIRST_KEY_2.*SECOND_KEY"):
        entry.usable({"FIRST_KEY": "  "})


def test_a_model_can_be_kept_to_one_provider(write):
    providers = load_providers(write(GOOD))
    assert [route.provider for route in providers.resolve("judge@second").routes] == ["second"]
    with pytest.raises(BadInput, match="first, second"):
        providers.resolve("judge@third")


def test_an_unknown_model_names_its_neighbours(write):
    with pytest.raises(BadInput, match="Did you mean judge"):
        load_providers(write(GOOD)).resolve("jugde")


def test_prices_split_cached_tokens(write):
    prices = load_providers(write(GOOD)).resolve("judge").routes[0].prices
    assert prices.cost(1_000_000, 400_000, 100_000) == pytest.approx(0.6 * 1.0 + 0.4 * 0.5 + 0.1 * 4.0)


def test_an_address_of_our_own_takes_the_place_of_the_files(write):
    text = '[providers.embedded]\nkind = "embedded"\n[providers.embedded.models.small]\nid = "small"\n'
    providers = load_providers(write(text))
    with pytest.raises(BadInput, match="No server is running for small"):
        providers.resolve("small").usable({})
    started = providers.at("embedded", "http://127.0.0.1:5/v1/")
    assert started.resolve("small").usable({})[0].base_url == "http://127.0.0.1:5/v1"


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ('keys = ["SECOND_KEY"]', "keys = [SECOND_KEY]", "line 15"),
        (
            "in_flight = 4",
            "in_fligth = 4",
            "line 4, providers.first.limits.in_fligth.*did you mean 'in_flight'",
        ),
        ('id = "judge"', "", "line 17, providers.second.models.judge.id: is missing"),
        ("= 60", "= 0", "line 4, providers.first.limits.requests_per_minute: .*greater than 0"),
        ('"max_completion_tokens"', '"max_new"', "line 11, .*style.max_tokens_name: .*'max_tokens'"),
        ('base_url = "http://second.example/v1"\n', "", "line 13, providers.second: base_url is missing"),
        ('"http://second.example/v1"', '"second.example"', "line 14, .*http://"),
        (
            'id = "judge"',
            'id = "judge"\nstyle = {temperature = false}',
            "first and second.*different temperature",
        ),
        ("[providers.first]", "[provider.first]", "unknown key .did you mean 'providers'"),
        (
            '"http://second.example/v1"',
            '"http://second.example/v1/chat/completions/"',
            "line 14, providers.second.base_url: .*is added: write http://second.example/v1$",
        ),
        (
            "in_flight = 4",
            "in_flight = 4, start_in_flight = 5",
            "line 4, providers.first.limits.start_in_flight: is 5, more than in_flight, which is 4; lower it",
        ),
        (
            'id = "judge"',
            'id = "judge"\nlimits = { start_in_flight = 300 }',
            "line 19, providers.second.models.judge.limits.start_in_flight: .*which is 256 unless said",
        ),
        ("style = { seed = false }", 'headers = { Authorization = "x" }', "must not hold Authorization"),
    ],
)
def test_each_mistake_is_told_with_its_place_and_the_fix(write, old, new, expected):
    import re

    assert old in GOOD
    path = write(GOOD.replace(old, new, 1))
    text = failure(path)
    assert str(path) in text
    assert re.search(expected, text, re.MULTILINE), text


def test_a_key_written_in_the_file_is_refused_and_not_repeated(write):
    secret = "sk-proj-PLANTED0123456789"
    text = failure(write(GOOD.replace("SECOND_KEY", secret)))
    assert "name of an environment variable" in text
    assert "line 15" in text
    assert secret not in text


def test_a_file_that_is_not_utf8(write):
    assert "UTF-8" in failure(write("名 = 1".encode("gbk")))


def test_no_file_at_all(tmp_path):
    with pytest.raises(BadInput, match="There is no file"):
        load_providers(tmp_path / "absent.toml")
    with pytest.raises(BadInput, match="Looked for"):
        find(None, among=[tmp_path / "a.toml", tmp_path / "b.toml"])


def test_the_bundled_file_is_valid_and_has_the_promised_entries():
    providers = load_providers(Path(__file__).parents[2] / "providers.toml")
    kinds = {name: table.kind for name, table in providers.tables.items()}
    assert kinds["embedded"] == "embedded"
    assert kinds["simulated"] == "simulated"
    assert kinds["vllm"] == "vllm"
    assert {"openai", "openrouter", "deepseek", "together"} <= set(kinds)
    assert [route.provider for route in providers.resolve("smollm2-135m").routes] == ["embedded"]
    assert len(providers.resolve("gpt-4o-mini").routes) == 2
    for entry in providers.models().values():
        assert entry.routes[0].prices is not None, entry.model


def test_what_a_model_refuses_is_left_out_of_its_settings():
    entry = load_providers(Path(__file__).parents[2] / "providers.toml").resolve("o4-mini")
    assert entry.settings(temperature=0.0).temperature is None
    assert entry.settings(reasoning="low").reasoning == "low"
    with pytest.raises(BadInput, match="low, medium, high"):
        entry.settings(reasoning="extreme")


def test_the_model_key_ignores_routes_and_heeds_every_setting():
    providers = load_providers(Path(__file__).parents[2] / "providers.toml")
    base = providers.resolve("gpt-4o-mini").settings(seed=1)
    assert base.model_key == providers.resolve("gpt-4o-mini@openrouter").settings(seed=1).model_key
    entry = providers.resolve("gpt-4o-mini")
    others = [
        entry.settings(seed=2),
        entry.settings(seed=1, temperature=1.0),
        entry.settings(seed=1, top_p=0.9),
        entry.settings(seed=1, max_tokens=10),
        entry.settings(seed=1, system_text="x"),
        entry.settings(seed=1, extra={"top_k": 5}),
    ]
    assert len({settings.model_key for settings in [base, *others]}) == len(others) + 1


def test_a_public_name_stays_what_it_is_however_often_it_is_imported():
    from importlib import import_module

    import runner

    for name in runner.__all__:
        if (Path(runner.__file__).parent / name).is_dir():
            continue  # a public package of the room
        first = getattr(runner, name)
        import_module(first.__module__)
        assert getattr(runner, name) is first
        assert callable(first), name


def test_a_body_that_can_change_answers_makes_another_model():
    def key(**body):
        table = {"base_url": "http://h/v1", "style": {"body": body}}
        return of_tables(a=table).resolve("judge").settings().model_key

    assert key(top_k=1) != key(top_k=50)
    assert key(top_k=1) != key()
    assert key(usage={"include": True}, user="u") == key()
    entry = of_tables(a={"base_url": "http://h/v1", "style": {"body": {"top_k": 1, "user": "u"}}}).resolve(
        "judge"
    )
    settings = entry.settings(extra={"min_p": 0.1})
    assert settings.hashed()["extra_body"] == {"top_k": 1, "min_p": 0.1}


def test_failover_may_not_mix_two_manners_of_asking():
    with pytest.raises(ValidationError, match="a and b offer judge with different body"):
        of_tables(
            a={"base_url": "http://h/v1", "style": {"body": {"top_k": 1}}}, b={"base_url": "http://i/v1"}
        )
    both = of_tables(
        a={"base_url": "http://h/v1", "style": {"body": {"user": "u"}}},
        b={"base_url": "http://i/v1", "style": {"seed": False, "top_p": False}},
    )
    settings = both.resolve("judge").settings(seed=3, top_p=0.9)
    assert (settings.seed, settings.top_p) == (None, None), "as one of the two would not get them"
