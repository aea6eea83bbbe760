"""The bundled cases: their form, their hygiene, and that every label takes every value in each of them."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from evenhand.domains.judifair import case_files, catalogue, prompts, triggers
from evenhand.domains.judifair import leakage as giveaways
from evenhand.domains.judifair.case import WITH_MONTHS, Case
from evenhand.domains.judifair.label_file import HEARING
from store.errors import BadInput
from store.prompt import fill, render, slots

CASES = case_files.bundled()
HAN = re.compile(r"[\u4e00-\u9fff]")


def variants(case: Case) -> dict[str, list[tuple[str, triggers.Fill]]]:
    return {
        label.key: [(value.zh, triggers.fill(case, label, value)) for value in label.values]
        for label in catalogue.load()
        if case.why_not(label) is None
    }


def prompt(case: Case, filled: triggers.Fill) -> str:
    return render(prompts.SENTENCING.user_text, case.document, {filled.slot: filled.text})


def test_there_are_enough_cases_and_they_differ() -> None:
    assert len(CASES) >= 24
    assert len({case.doc_id for case in CASES}) == len(CASES)
    assert len({case.case_number for case in CASES}) == len(CASES)
    assert len({case.facts for case in CASES}) == len(CASES)
    with_victim = sum(case.victim is not None for case in CASES)
    assert with_victim >= 0.9 * len(CASES)
    charges = Counter(case.truth.charge for case in CASES if case.truth)
    assert len(charges) >= 12
    assert {"盗窃罪", "诈骗罪", "抢劫罪", "故意伤害罪", "敲诈勒索罪", "抢夺罪", "交通肇事罪"} <= set(charges)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.doc_id)
class TestEachCase:
    def test_its_facts_have_250_to_700_characters(self, case: Case) -> None:
        facts = fill(case.facts, {}).replace("\n", "")
        assert len(HAN.findall(facts)) >= 250
        assert len(facts) <= 700

    def test_it_reads_well_with_every_slot_empty(self, case: Case) -> None:
        text = fill(case.document, {})
        assert "{" not in text
        assert not re.search(r"，，|。。|，。|。，|  ", text)
        for paragraph in text.split("\n"):
            assert paragraph.endswith(("。", "】"))

    def test_it_gives_nothing_away(self, case: Case) -> None:
        assert giveaways.find(case) == []

    def test_it_contains_no_word_of_a_value(self, case: Case) -> None:
        # Independent of the lists of words: no value, and no wording of a value, may stand in the base text.
        text = fill(case.document, {})
        for label in catalogue.load():
            if case.why_not(label) is not None or {value.zh for value in label.values} == {"是", "否"}:
                continue
            for value in label.values:
                wording = triggers.of(case, label).values.get(value.zh, value.zh)
                assert not re.search(rf"(?<!\d){value.zh}(?!\d)", text), label.key
                assert not re.search(rf"(?<!\d){wording}(?!\d)", text), label.key

    def test_its_people_have_names_without_sex_or_people(self, case: Case) -> None:
        for name in filter(None, (case.defendant, case.victim)):
            assert re.fullmatch(r"[\u4e00-\u9fff]某", name)
            assert name in case.facts
        assert case.defendant != case.victim

    def test_every_label_takes_every_value(self, case: Case) -> None:
        taken = variants(case)
        for label in catalogue.load():
            reason = case.why_not(label)
            if reason is None:
                texts = [filled.text for _, filled in taken[label.key]]
                assert len(texts) == len(label.values)
                assert len(set(texts)) == len(texts), f"{label.key}: two values read the same"
            else:
                assert len(reason) >= 8, f"{label.key}: not applicable without a reason"

    def test_two_variants_differ_in_the_slot_only(self, case: Case) -> None:
        for label, fills in variants(case).items():
            (slot,) = {filled.slot for _, filled in fills}
            before, marker, after = case.document.partition(f"{{{{{slot}}}}}")
            assert marker, label
            head, tail = fill(before, {}), fill(after, {})
            for _, filled in fills:
                text = fill(case.document, {filled.slot: filled.text})
                assert text == head + filled.text + tail
                whole = prompt(case, filled)
                assert whole.count(text) == 1

    def test_the_frame_is_one_for_all_values(self, case: Case) -> None:
        for label in catalogue.load():
            if case.why_not(label) is not None:
                continue
            trigger = triggers.of(case, label)
            without = set()
            for value in label.values:
                wording = trigger.values.get(value.zh, value.zh)
                text = triggers.fill(case, label, value).text
                assert wording in text
                without.add(text.replace(wording, "", 1))
            assert len(without) == 1, label.key

    def test_a_trigger_is_a_sentence_within_a_paragraph(self, case: Case) -> None:
        for label, fills in variants(case).items():
            for _, filled in fills:
                (paragraph,) = [
                    line for line in case.document.split("\n") if f"{{{{{filled.slot}}}}}" in line
                ]
                before, after = fill(paragraph, {filled.slot: "\0"}).split("\0")
                # Text on both sides: never a tag at the end.
                assert len(before) >= 4, label
                assert len(after) >= 8, label
                if filled.slot == HEARING:
                    assert before.endswith("。"), label
                    assert filled.text.endswith("。"), label
                    assert filled.text.count("。") == 1, label
                else:
                    assert not re.search(r"[。，、]", filled.text), label

    def test_its_truth_is_consistent(self, case: Case) -> None:
        truth = case.truth
        assert truth is not None
        assert truth.charge.endswith("罪")
        assert truth.guilty == (truth.penalty != "acquitted")
        assert case.case_number is not None
        year = re.match(r"（(\d{4})）", case.case_number)
        assert year is not None
        assert int(year.group(1)) == case.year
        # The published rule for later cases matches such digits anywhere in the number.
        assert not re.search(r"200[0-9]|201[0-3]", case.case_number)
        names = {v: k for k, v in prompts.PENALTIES_ZH.items()}
        spoken = {"death_suspended": "死刑，缓期二年执行", "fine_only": "单处罚金", "acquitted": "无罪"}
        assert truth.penalty_text.startswith(spoken.get(truth.penalty) or names[truth.penalty])
        if truth.penalty in WITH_MONTHS:
            assert truth.months == _months(truth.penalty_text)
        else:
            assert truth.months == (None if truth.penalty in ("life", "death_suspended") else 0)

    def test_the_crime_precedes_the_judgment(self, case: Case) -> None:
        year = re.search(r"(\d{4})年\{\{crime_date\}\}", case.facts)
        assert year is not None
        assert case.year is not None
        assert int(year.group(1)) < case.year

    def test_the_charge_is_not_told(self, case: Case) -> None:
        assert case.truth is not None
        own = fill(case.facts, {}).replace("曾因犯盗窃罪", "")
        assert case.truth.charge not in own


def _months(text: str) -> int:
    digits = {c: i for i, c in enumerate("零一二三四五六七八九")}

    def number(zh: str) -> int:
        tens, ten, ones = zh.rpartition("十")
        return (digits[tens] if tens else 1 if ten else 0) * 10 + (digits[ones] if ones else 0)

    match = re.match(
        r"(?:有期徒刑|拘役|管制)(?:([一二三四五六七八九十]+)年)?(?:([一二三四五六七八九十]+)个月)?", text
    )
    assert match is not None
    return number(match.group(1) or "零") * 12 + number(match.group(2) or "零")


def test_penalties_vary() -> None:
    penalties = Counter(case.truth.penalty for case in CASES if case.truth)
    assert set(penalties) >= {"fixed_term", "detention", "public_surveillance", "fine_only", "exempted"}
    assert penalties["fixed_term"] > len(CASES) / 2
    months = {case.truth.months for case in CASES if case.truth and case.truth.penalty == "fixed_term"}
    assert len(months) >= 10
    assert max(filter(None, months)) > 120


def test_triggers_of_a_label_are_alike_in_length() -> None:
    case = CASES[0]
    for label, fills in variants(case).items():
        lengths = [len(filled.text) for _, filled in fills]
        assert max(lengths) - min(lengths) <= 5, label


def test_placebos_say_the_reference_in_other_words() -> None:
    for case in CASES:
        for label in catalogue.load():
            if case.why_not(label) is None:
                reference = triggers.fill(case, label, label.reference)
                other = triggers.placebo(case, label)
                assert other.slot == reference.slot
                texts = {triggers.fill(case, label, value).text for value in label.values}
                assert other.text not in texts, label.key
                assert abs(len(other.text) - len(reference.text)) <= 6, label.key


def test_the_dead_are_not_told_of_in_the_present() -> None:
    label = catalogue.by_key()["victim_wealth"]
    for case in CASES:
        if case.victim is None or case.why_not(label) is not None:
            continue
        text = triggers.fill(case, label, label.reference).text
        assert ("生前" in text) == case.victim_died == ("死亡" in case.facts), case.doc_id


def test_giveaways_are_found() -> None:
    case = CASES[0]
    for text, label in [
        ("其妻当晚报警。", "defendant_sex"),
        ("她随后报警。", "victim_sex"),
        ("他随后报警。", "judge_sex"),
        ("时值寒冬。", "crime_date"),
        ("2018年7月报警。", "crime_date"),
        ("当晚报警。", "crime_time"),
        ("某村村民报警。", "crime_location"),
        ("被依法逮捕。", "compulsory_measure"),
    ]:
        changed = Case(
            doc_id="x",
            facts=case.facts + text,
            hearing=case.hearing,
            defendant="周某",
            victim="陈某",
            source="x",
        )
        assert label in {found.label for found in giveaways.find(changed)}, text
    for harmless in ("殴打他人，抢走其他财物。", "此后三个月内。"):
        changed = Case(
            doc_id="x", facts=harmless, hearing=case.hearing, defendant="周某", victim="陈某", source="x"
        )
        assert giveaways.find(changed) == [], harmless


# --- a user's own cases ------------------------------------------------------------------------------------


def own(**changes: Any) -> dict[str, Any]:
    row: dict[str, Any] = {
        "id": "mine-1",
        "case_number": "（2020）某0101刑初1号",
        "defendant": "李某",
        "victim": "赵某",
        "facts": "2019年{{crime_date}}某日{{crime_time}}，李某在{{crime_location}}一处仓库殴打被害人赵某。",
        "truth": {"charge": "故意伤害罪", "guilty": True, "penalty": "fixed_term", "months": 10},
    }
    return {key: value for key, value in {**row, **changes}.items() if value is not None}


def written(tmp_path: Path, *rows: Any) -> Path:
    path = tmp_path / "own.jsonl"
    lines = [row if isinstance(row, str) else json.dumps(row, ensure_ascii=False) for row in rows]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_own_cases_are_read(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        own(),
        "",
        own(
            id="mine-2",
            victim=None,
            not_applicable={"victim": "没有自然人被害人", "prosecurate_sex": "没有检察官出庭"},
        ),
        own(id="mine-3", truth=None, triggers={"defendant_sex": {"frame": "查明，{person}系{value}。"}}),
    )
    first, second, third = case_files.read_cases(path)
    assert first.year == 2020
    assert first.truth is not None
    assert first.truth.months == 10
    assert second.why_not(catalogue.by_key()["victim_age"]) == "没有自然人被害人"
    assert second.why_not(catalogue.by_key()["prosecutor_sex"]) == "没有检察官出庭"
    assert third.truth is None
    label = catalogue.by_key()["defendant_sex"]
    assert triggers.fill(third, label, label.value("女")).text == "查明，经核对，被告人李某系女。"


def test_the_example_of_the_readme_is_read(tmp_path: Path) -> None:
    readme = (case_files.CASES_FOLDER / "README.md").read_text(encoding="utf-8")
    (example,) = re.findall(r"```json\n(.*?)```", readme, flags=re.DOTALL)
    (case,) = case_files.read_cases(written(tmp_path, example))
    assert case.doc_id == "mine-1"
    for key in case_files.KEYS:
        assert f"`{key}`" in readme, key


FACTS = own()["facts"]


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ("{not json", ["own.jsonl:1", "not JSON"]),
        ("[1, 2]", ["own.jsonl:1", "one JSON object"]),
        (own(facts=None), ["own.jsonl:1", "'facts'", "missing"]),
        (own(defendant=7), ["'defendant'", "a text"]),
        (own(year=True), ["'year'", "a whole number"]),
        (own(fact="x"), ["'fact'", "not known", "facts"]),
        (own(id="a b"), ["'id'", "no space"]),
        (own(defendant="王某"), ["own.jsonl:1", "'defendant'", "王某", "not in the facts"]),
        (own(year=2019), ["own.jsonl:1", "'year'", "is 2019", "says 2020"]),
        (own(facts=FACTS + "某" * 20_000), ["own.jsonl:1", "'facts'", "20,0", "20,000 at most"]),
        ('{"id": "a", "facts": "x", "id": "b"}', ["own.jsonl:1", "key 'id'", "given twice"]),
        ('{"id": "a", "truth": {"months": 1, "months": 2}}', ["own.jsonl:1", "key 'months'", "given twice"]),
        (own(victim=None), ["'victim'", "not_applicable"]),
        (
            own(facts=FACTS.replace("{{crime_time}}", "")),
            ["'facts'", "{{crime_time}}", "0 times", "crime_time"],
        ),
        (own(facts=FACTS + "{{crime_time}}"), ["{{crime_time}}", "2 times"]),
        (own(facts=FACTS + "{{crime_tme}}"), ["{{crime_tme}}", "no trigger fills"]),
        (own(hearing="本案现已审理终结。"), ["'hearing'", "{{hearing}}", "0 times"]),
        (own(not_applicable={"victims": "无"}), ["not_applicable.victims", "no label and no role"]),
        (own(not_applicable={"victim": ""}), ["not_applicable.victim", "reason"]),
        (own(triggers={"defendant_gender": {}}), ["triggers.defendant_gender", "no label"]),
        (own(triggers={"defendant_sex": {"frame": "系女。"}}), ["triggers.defendant_sex.frame", "{value}"]),
        (
            own(triggers={"defendant_sex": {"frame": "{x}{value}"}}),
            ["triggers.defendant_sex.frame", "{person}"],
        ),
        (own(triggers={"defendant_sex": {"values": {"雄": "x"}}}), ["values.雄", "男、女"]),
        (own(truth={"charge": "盗窃罪", "guilty": True}), ["truth.penalty", "missing"]),
        (own(truth={"charge": "x", "guilty": True, "penalty": "prison"}), ["truth.penalty", "fixed_term"]),
        (own(truth={"charge": "x", "guilty": True, "penalty": "fixed_term"}), ["truth.months", "missing"]),
        (
            own(truth={"charge": "x", "guilty": True, "penalty": "life", "months": 9}),
            ["truth.months", "life"],
        ),
        (own(truth={"charge": "x", "guilty": False, "penalty": "fine_only"}), ["truth.guilty", "acquitted"]),
    ],
)
def test_what_is_wrong_with_an_own_case_is_told_with_its_place(
    tmp_path: Path, row: Any, expected: list[str]
) -> None:
    with pytest.raises(BadInput) as caught:
        case_files.read_cases(written(tmp_path, row))
    for part in expected:
        assert part in str(caught.value)


def test_all_problems_of_a_file_are_told_at_once(tmp_path: Path) -> None:
    path = written(tmp_path, own(), own(), own(id="other", facts=7), "{")
    with pytest.raises(BadInput) as caught:
        case_files.read_cases(path)
    message = str(caught.value)
    assert "3 problems" in message
    assert "own.jsonl:2: key 'id'" in message
    assert f"{path}:1" in message
    assert "own.jsonl:3: key 'facts'" in message
    assert "own.jsonl:4" in message


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="cannot be read"):
        case_files.read_cases(tmp_path / "none.jsonl")
    (tmp_path / "gbk.jsonl").write_bytes("盗窃".encode("gbk"))
    with pytest.raises(BadInput, match="UTF-8"):
        case_files.read_cases(tmp_path / "gbk.jsonl")
    (tmp_path / "empty.jsonl").write_text("\n\n", encoding="utf-8")
    with pytest.raises(BadInput, match="no cases"):
        case_files.read_cases(tmp_path / "empty.jsonl")
    for text, words in (('id = "a"\n', "[[case]]"), ('[case]\nid = "a"\n', "two brackets")):
        (tmp_path / "none.toml").write_text(text, encoding="utf-8")
        with pytest.raises(BadInput) as caught:
            case_files.read_cases(tmp_path / "none.toml")
        assert words in str(caught.value.hint)
        assert "JSON" not in str(caught.value.hint)
    (tmp_path / "bad.toml").write_text("[[case]\n", encoding="utf-8")
    with pytest.raises(BadInput, match="not TOML"):
        case_files.read_cases(tmp_path / "bad.toml")


def test_slots_stand_where_they_should() -> None:
    for case in CASES:
        assert slots(case.facts) == ["crime_date", "crime_time", "crime_location"] or set(
            slots(case.facts)
        ) == {
            "crime_date",
            "crime_time",
            "crime_location",
        }
        assert slots(case.hearing) == ["hearing"]
