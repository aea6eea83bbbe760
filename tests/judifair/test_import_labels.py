"""Whose answers a file holds and of which label: by folders and names, text and values."""

from __future__ import annotations

import pytest

from evenhand.domains.judifair import catalogue
from evenhand.domains.judifair.importer import models
from evenhand.domains.judifair.importer.labels import infer, label_of_text, split_name
from evenhand.domains.judifair.importer.layouts import normal_value
from evenhand.domains.judifair.importer.models import Origin


@pytest.mark.parametrize(
    ("stem", "key", "rest"),
    [
        ("recusal_appliedphi4_t0", "recusal_applied", "phi4_t0"),
        ("defender_sexLFM40b_t0", "defender_sex", "LFM40b_t0"),
        ("defender_sexual_orientation_deepseek", "defender_sexual_orientation", "deepseek"),
        ("prosecurate_sexual_orientation_Gemini 8b", "prosecurate_sexual_orientation", "Gemini 8b"),
        ("prosecutor_age_gpt4o", "prosecurate_age", "gpt4o"),
        ("victim_race_glm4_flash", "victim_race", "glm4_flash"),
        ("defender_gender_identity_gpt4o", "defender_gender_identity", "gpt4o"),
        ("crime_timemistral_nemo_t0", "crime_time", "mistral_nemo_t0"),
        ("something_else", None, "something_else"),
    ],
)
def test_the_label_is_the_longest_match_of_the_name(stem, key, rest):
    assert split_name(stem) == (key, rest)


def test_every_label_is_found_with_every_kind_of_suffix():
    for label in catalogue.load():
        for suffix in ("phi4_t0", "_deepseek", "_gemini_flash15_t0", "LFM40b_t0", ""):
            assert split_name(label.published_key + suffix)[0] == label.published_key


@pytest.mark.parametrize(
    ("folders", "suffix", "model", "temperature"),
    [
        ("results/t0/PHI4_t0/output_for_experiment_t0", "phi4_t0", "Phi 4", 0.0),
        (
            "results/t0/GeminiFlash_1.5_t0/output_for_experiment_t0",
            "gemini_flash15_t0",
            "Gemini Flash 1.5",
            0.0,
        ),
        ("results/t1/LFM40b_t0", "LFM40b_t0", "LFM 40B", 0.0),
        ("results/t1/LFM40b/output_for_experiment", "deepseek", "LFM 40B", 1.0),
        ("results/t0/LFM7b_t0/LFM7b_t0", "LFM7b_t0", "LFM 7B", 0.0),
        ("results/t0/llama3_1/new", "llama3_1", "Llama 3.1", 0.0),
        ("results/t1/GPT_4o/gpt4o", "gpt4o", "GPT-4o", 1.0),
        ("results/t1/Gemini_1.5_8b/output_for_experiment", "deepseek", "Gemini Flash 1.5 8B", 1.0),
        ("results/t1/qwen2.5_72b/qwen2.5_72b", "deepseek", "Qwen2.5 72B", 1.0),
        ("results/t0/qwen25_7b_t0/output_for_experiment_t0", "qwen25_7b_t0", "Qwen2.5 7B", 0.0),
        ("results/t1/glm4_flash/legal_bias_glm4_flash(1)", "glm4_flash", "GLM-4 Flash", 1.0),
        ("results/t1/glm4_flash/new", "gpt4o", "GLM-4 Flash", 1.0),
        ("results/t1/Mistral_Nemo_t1/output_for_experiment", "Mistral_Nemo_t1", "Mistral Nemo", 1.0),
        ("results/t1/Mistral_3_Small/output_for_experiment", "deepseek", "Mistral Small 3", 1.0),
        ("results/t0/deepseek_r1_32b_t0/deepseek_r1_32b_t0", "x", "DeepSeek R1-32B", 0.0),
        ("results/t1/deepseek_v3/output_for_experiment", "deepseek", "DeepSeek V3", 1.0),
        ("home/someone", "phi4_t0", "Phi 4", 0.0),
        ("home/test_t1", "phi4_t0", "Phi 4", 0.0),
        ("home/someone", "deepseek", None, None),
    ],
)
def test_model_and_temperature_come_from_the_models_folder(folders, suffix, model, temperature):
    assert models.origin(folders.split("/"), suffix) == Origin(model, temperature)


def test_a_model_that_is_named_goes_before_the_folders():
    assert models.origin(["t1", "deepseek_v3"], "x", "phi4") == Origin("Phi 4", 1.0)
    assert models.origin(["t1", "elsewhere"], "x", "My Judge") == Origin("My Judge", 1.0)


@pytest.mark.parametrize(
    ("value", "normal"),
    [
        ("54.0", "54"),
        ("26", "26"),
        (30.0, "30"),
        (30, "30"),
        ("26.5", "26.5"),
        (" 男 ", "男"),
        ("佛教", "佛教"),
    ],
)
def test_values_are_normal(value, normal):
    assert normal_value(value) == normal


def test_values_that_are_the_labels_need_no_word():
    for label in catalogue.load():
        values = dict.fromkeys([v.zh for v in label.values], 5)
        found = infer(label.published_key, {label.published_changed_label: 10}, values)
        assert (found.published_label, found.label, found.warnings) == (label.published_key, label.key, ())


def test_the_known_mislabelled_file_keeps_both_names():
    found = infer(
        "prosecurate_sexual_orientation",
        {"检察官性别(Prosecurate_sexual_orientation)": 30},
        {"男": 10, "女": 10, "非二元性别": 10},
    )
    assert (found.published_label, found.label) == ("prosecurate_sexual_orientation", "prosecutor_sex")
    assert len(found.warnings) == 1
    assert "prosecurate_sexual_orientation" in found.warnings[0]
    assert "prosecutor_sex" in found.warnings[0]


def test_values_of_another_institution_are_named_by_the_text():
    found = infer("court_location", {"庭前会议(Pretrial_conference)": 20}, {"是": 10, "否": 10})
    assert (found.published_label, found.label) == ("court_location", "pretrial_conference")


def test_values_that_no_single_label_has_stay_and_are_told():
    found = infer("court_location", {"？": 20}, {"是": 10, "否": 10})
    assert found.label == "court_location"
    assert "not estimated" in found.warnings[0]


def test_a_text_of_another_label_whose_values_fit_too():
    found = infer("defendant_sex", {"受害人性别(Victim_sex)": 30}, {"男": 10, "女": 10, "非二元性别": 10})
    assert (found.published_label, found.label) == ("defendant_sex", "victim_sex")
    assert found.warnings


def test_a_mixed_text_is_told_and_changes_nothing():
    changed = {"被告人性别(Defendant_sex)": 20, "被告人性别(Defendant_gender)": 10}
    found = infer("defendant_sex", changed, {"男": 10, "女": 10, "非二元性别": 10})
    assert found.label == "defendant_sex"
    assert "Defendant_gender" in found.warnings[0]


def test_single_strange_values_are_counted():
    found = infer(
        "victim_wealth",
        {"被害人财产状况(Victim_wealth)": 20},
        {"身无分文": 10, "百万存款": 9, "一百万存款": 1},
    )
    assert found.label == "victim_wealth"
    assert "1 rows" in found.warnings[0]


def test_labels_beyond_the_catalogue_are_stored_under_their_own_name():
    found = infer("victim_race", {"被害人种族(Victim_race)": 20}, {"亚裔": 10, "白人": 10})
    assert (found.published_label, found.label) == ("victim_race", "victim_race")
    assert "not one of the 65" in found.warnings[0]


def test_a_file_without_a_label_in_its_name_is_read_by_its_content():
    found = infer(None, {"申请回避(Recusal_applied)": 20}, {"是": 10, "否": 10})
    assert (found.published_label, found.label) == ("recusal_applied", "recusal_applied")
    assert infer(None, {"": 20}, {"是": 10, "否": 10}).label is None


def test_the_texts_of_all_labels_are_known():
    for label in catalogue.load():
        found = label_of_text(label.published_changed_label)
        if label.key != "prosecutor_sexual_orientation":  # whose text says 性别
            assert found is not None
            assert found.key == label.key
