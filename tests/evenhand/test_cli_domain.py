"""`evenhand domain`: list, new, check."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner

from evenhand.cli.domain import command
from store.errors import BadInput

DOMAINS = Path(__file__).parents[1] / "domains"


def call(*arguments: str):
    return CliRunner().invoke(command, list(arguments))


def test_a_new_domain_is_right_from_the_start(tmp_path):
    folder = tmp_path / "mine"
    assert call("new", str(folder)).exit_code == 0
    checked = call("check", str(folder))
    assert checked.exit_code == 0, checked.output
    assert "4 of 4 read as expected" in checked.output
    again = call("new", str(folder))
    assert isinstance(again.exception, BadInput), "nothing is overwritten"


@pytest.mark.parametrize("name", ["parole", "courses"])
def test_the_tiny_domains_are_right(name):
    checked = call("check", str(DOMAINS / name), "--json")
    assert checked.exit_code == 0, checked.output
    found = json.loads(checked.output)
    assert (found["domain"], found["cases"], found["misread"]) == (name, 12, [])


def test_an_answer_that_is_read_otherwise_is_told_with_its_line(tmp_path):
    folder = shutil.copytree(DOMAINS / "courses", tmp_path / "courses")
    rows = (folder / "answers.jsonl").read_text().splitlines()
    rows[1] = json.dumps({"text": '{"course":"caution"}', "expected": {"course": "detention"}})
    (folder / "answers.jsonl").write_text("\n".join(rows))
    checked = call("check", str(folder))
    assert checked.exit_code == 1
    assert "line 2: course was read as 'caution'" in checked.output


def test_a_folder_that_is_no_domain_says_so(tmp_path):
    checked = call("check", str(tmp_path))
    assert isinstance(checked.exception, BadInput)
    assert "no domain.toml" in str(checked.exception)
