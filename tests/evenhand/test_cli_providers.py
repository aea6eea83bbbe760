"""`evenhand providers`: what it lists, and the errors of the file and the environment that it shows."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from evenhand.cli.main import main

FILE = """\
[providers.far]
base_url = "https://far.example/v1"
keys = ["FAR_KEY"]
[providers.far.models."judge[/b]"]
id = "judge-1"
"""


@pytest.fixture
def listed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    """The exit code, standard output and error of `evenhand providers` with this file."""
    monkeypatch.chdir(tmp_path)
    for name in ("FAR_KEY", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY", "no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)

    def call(text: str, *arguments: str) -> tuple[int, str, str]:
        (tmp_path / "providers.toml").write_text(text, encoding="utf-8")
        code = 0
        try:
            main(["providers", *arguments])
        except SystemExit as stop:
            code = int(stop.code or 0)
        return code, *capsys.readouterr()

    return call


def test_a_value_that_cannot_be_used_ends_with_2_and_its_line(listed) -> None:
    code, out, err = listed(FILE.replace("far.example", "far.example:99999"))
    assert (code, out) == (2, "")
    assert "providers.toml: line 2, providers.far.base_url: has a port that cannot be one" in err
    code, out, err = listed(FILE + 'style = { body = { model = "x", temperature = 2 } }\n')
    assert (code, out) == (2, "")
    assert "line 6, " in err
    assert "style.body.model: must not stand here" in err


def test_keys_and_proxies_that_cannot_be_used_are_told_below_the_list(listed, monkeypatch) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "socks5://proxy:1080")
    assert listed(FILE)[0] == 0  # without its key it is not asked, and needs no proxy
    monkeypatch.setenv("FAR_KEY", "planted")
    code, out, err = listed(FILE)
    assert code == 2
    assert "judge[/b]" in out
    assert "Error: The proxy in HTTPS_PROXY names a SOCKS proxy" in err
    code, out, err = listed(FILE, "--json")
    assert (code, json.loads(out)[0]["model"]) == (2, "judge[/b]")
    monkeypatch.delenv("HTTPS_PROXY")
    assert listed(FILE)[0] == 0
    monkeypatch.setenv("FAR_KEY", "plan\nted")
    code, _, err = listed(FILE)
    assert code == 2
    assert "The key in FAR_KEY has characters" in err
