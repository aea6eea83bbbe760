"""Labels of one's own beside the 65: read, built, answered, analysed, reported; known without their file."""

import json
from pathlib import Path

import pytest
import small_study
from click.testing import CliRunner

import store
from evenhand.cli.main import cli
from evenhand.domains.judifair import catalogue, coding, unknown_labels
from evenhand.domains.judifair.build import build
from evenhand.domains.judifair.show import show
from evenhand.simulate import Bias, Script

OWN = """
[labels.defendant_height]
name_zh = "被告人身高"
name_en = "Defendant's height"
dimension = "substantive"
demographic = true
role = "defendant"
values = [["高大", "tall"], ["矮小", "short"]]
reference = "矮小"

[labels.defendant_height.trigger]
frame = "{person}身材{value}。"
placebo = "{person}的体格{value}。"
giveaways = ["身高", "身材"]

[labels.judge_glasses]
name_zh = "法官眼镜"
name_en = "Judge's glasses"
dimension = "procedural"
demographic = false
role = "judge"
values = [["是", "yes"], ["否", "no"]]
reference = "否"
exclude = ["交通肇事"]

[labels.judge_glasses.trigger]
frame = "{person}{value}眼镜。"
placebo = "{person}在庭上{value}眼镜。"
values = { "是" = "佩戴", "否" = "不佩戴" }
"""


@pytest.fixture
def own_file(tmp_path: Path) -> Path:
    file = tmp_path / "own.toml"
    file.write_text(OWN, encoding="utf-8")
    return file


def evenhand(*words: object) -> str:
    done = CliRunner().invoke(cli, [str(word) for word in words], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.stdout


def test_they_are_listed_beside_the_bundled_ones(own_file: Path) -> None:
    listed = json.loads(evenhand("labels", "--labels-file", own_file, "--json"))
    assert len(listed) == len(catalogue.load()) + 2
    assert [one["label"] for one in listed[-2:]] == ["defendant_height", "judge_glasses"]
    assert listed[-1]["excluded_crimes"] == ["交通肇事"]
    assert listed[-2]["values"][0] == {"value": "高大", "value_en": "tall", "reference": False}


def test_without_names_all_are_built_and_known_without_the_file(own_file: Path, tmp_path: Path) -> None:
    db = tmp_path / "study.duckdb"
    built = json.loads(evenhand("build", "--labels-file", own_file, "--db", db, "--json"))
    assert built["labels"] == len(catalogue.load()) + 2
    with small_study.study_at(db) as study:
        found = {label.key: label for label in catalogue.of_study(study.connection)}
        assert list(found)[-2:] == ["defendant_height", "judge_glasses"]
        assert [found["defendant_height"], found["judge_glasses"]] == list(catalogue.read_own(own_file))
        assert unknown_labels.find(study) == []
        coding.designs.ensure(study)
        rows = small_study.rows(
            study,
            "SELECT coding, label, exclude_crimes FROM judifair.designs "
            "WHERE label = 'judge_glasses' ORDER BY coding",
        )
        assert rows == [(name, "judge_glasses", ["交通肇事"]) for name in ("corrected", "published")]
        shown = show(study, "theft-ebike:defendant_height:tall")
        assert (shown.value, shown.counterpart_value) == ("高大", "矮小")
        assert "身材高大" in shown.user_text
        assert shown.as_dict()["label_en"] == "Defendant's height"


def test_values_differ_in_the_fact_alone(own_file: Path, tmp_path: Path) -> None:
    db = tmp_path / "study.duckdb"
    evenhand("build", "--labels-file", own_file, "--labels", "judge_glasses", "--placebo", "--db", db)
    with small_study.study_at(db) as study:
        fills = small_study.rows(
            study, "SELECT label, value, fills FROM queries WHERE doc_id = 'theft-ebike'"
        )
    texts = {(label, value): json.loads(filled)["hearing"] for label, value, filled in fills}
    assert texts["judge_glasses", "是"].replace("佩戴", "不佩戴") == texts["judge_glasses", "否"]
    assert "在庭上不佩戴" in texts["placebo:judge_glasses", "否"]


def test_a_bias_planted_on_one_is_found_and_reported(own_file: Path, tmp_path: Path) -> None:
    """Analysed and reported without the file, as on another machine."""
    db = tmp_path / "study.duckdb"
    evenhand("build", "--labels-file", own_file, "--labels", "defendant_height,defendant_sex", "--db", db)
    own_file.unlink()
    script = Script(seed=5, jitter=0.1, biases=(Bias("defendant_height", "高大", probability=0.9, steps=2),))
    with small_study.study_at(db) as study:
        small_study.ask(study, tmp_path, "judge", script=script)
    evenhand("analyze", "--db", db)
    with small_study.study_at(db) as study:
        confirmed = small_study.rows(
            study, "SELECT label FROM findings WHERE state = 'confirmed' AND scope = 'label'"
        )
        assert confirmed == [("defendant_height",)]
    assert "高大" in evenhand("pairs", "--label", "defendant_height", "--db", db)
    evenhand("report", "--db", db, "--out", tmp_path / "report")
    page = (tmp_path / "report" / "index.html").read_text(encoding="utf-8")
    assert "Defendant's height" in page.replace("&#39;", "'")
    assert "tall" in page
    evenhand("check", "--db", db)


def test_one_study_brings_its_labels_into_another(own_file: Path, tmp_path: Path) -> None:
    one, other = tmp_path / "one.duckdb", tmp_path / "other.duckdb"
    evenhand("build", "--labels", "defendant_sex", "--db", one)
    evenhand("build", "--labels-file", own_file, "--labels", "defendant_height", "--db", other)
    evenhand("merge", other, "--db", one)
    with small_study.study_at(one) as study:
        known = [label.key for label in catalogue.of_study(study.connection)]
    assert known[-1] == "defendant_height"


def test_a_changed_file_changes_what_the_study_knows(own_file: Path, tmp_path: Path) -> None:
    db = tmp_path / "study.duckdb"
    command = ("build", "--labels-file", own_file, "--labels", "defendant_height", "--db", db, "--json")
    evenhand(*command)
    changed = OWN.replace('["高大", "tall"]', '["魁梧", "burly"]').replace("Defendant's height", "Build")
    own_file.write_text(changed, encoding="utf-8")
    evenhand(*command)
    with small_study.study_at(db) as study:
        (label,) = catalogue.resolve(["defendant_height"], catalogue.of_study(study.connection))
        assert (label.name_en, [value.zh for value in label.values]) == ("Build", ["魁梧", "矮小"])
        values = small_study.rows(
            study,
            "SELECT value FROM judifair.label_values WHERE label = 'defendant_height' ORDER BY position",
        )
        assert values == [("魁梧",), ("矮小",)]


def test_bundled_labels_stay_as_they_are(own_file: Path, tmp_path: Path) -> None:
    bundled = catalogue.load()
    catalogue.read_own(own_file)
    assert catalogue.load() is bundled
    with small_study.study_at(tmp_path / "study.duckdb") as study:
        build(study, labels=["defendant_sex"])
        assert catalogue.of_study(study.connection) == bundled


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("labels.defendant_height", "labels.defendant_sex", "there is a bundled label of this name"),
        ('name_en = "Defendant\'s height"', "", "labels.defendant_height.name_en: is missing"),
        ('name_en = "Defendant\'s height"', 'name_em = "x"', "(did you mean 'name_en'?)"),
        (
            'dimension = "substantive"',
            'dimension = "substantial"',
            "line 5, labels.defendant_height.dim",
        ),
        ("demographic = true", 'demographic = "yes"', "demographic: must be true or false"),
        ('reference = "矮小"', 'reference = "中等"', "'中等' is none of the values 高大、矮小"),
        ('["高大", "tall"]', '["矮小", "tall"]', "'矮小' is there twice"),
        ('frame = "{person}身材{value}。"', 'frame = "{person}身材高大。"', "has no {value}"),
        ('frame = "{person}身材{value}。"', 'frame = "{who}身材{value}。"', "braces that mean nothing"),
        ('frame = "{person}身材{value}。"', 'frame = "{person} is {value} indeed."', "hardly any Chinese"),
        (
            'placebo = "{person}的体格{value}。"',
            'placebo = "{person}身材如常。"',
            "does not say the ref",
        ),
        ('placebo = "{person}的体格{value}。"', 'placebo = "{person}身材{value}。"', "is the frame again"),
        ('"否" = "不佩戴"', '"否" = "佩戴"', "two values read '佩戴'"),
        ('"否" = "不佩戴"', '"无" = "不佩戴"', "'无' is none of the values 是、否"),
        ('giveaways = ["身高", "身材"]', 'giveaways = ["("]', "no regular expression"),
        ('exclude = ["交通肇事"]', 'exclude = ["@nothing"]', "no list of crimes"),
        ("labels.judge_glasses", "labels.Judge", "small letters"),
        ('role = "judge"', 'role = "jury"', "line 21, labels.judge_glasses.role"),
        (
            'reference = "否"',
            'reference = "否"\npublished = { changed_label = "x", names = ["y"] }',
            "published",
        ),
    ],
)
def test_mistakes_name_file_line_and_key(own_file: Path, old: str, new: str, said: str) -> None:
    assert old in OWN
    own_file.write_text(OWN.replace(old, new), encoding="utf-8")
    with pytest.raises(store.BadInput) as caught:
        catalogue.read_own(own_file)
    assert f"{own_file}: " in caught.value.message
    assert said in caught.value.message


def test_a_label_without_a_sentence_is_refused(own_file: Path) -> None:
    own_file.write_text(OWN.split("[labels.defendant_height.trigger]", maxsplit=1)[0], encoding="utf-8")
    with pytest.raises(store.BadInput, match=r"labels\.defendant_height: .*trigger"):
        catalogue.read_own(own_file)


def test_a_wrong_file_leaves_no_study_behind(own_file: Path, tmp_path: Path) -> None:
    own_file.write_text(OWN.replace("frame", "frme"), encoding="utf-8")
    db = tmp_path / "study.duckdb"
    done = CliRunner().invoke(cli, ["build", "--labels-file", str(own_file), "--db", str(db)])
    assert isinstance(done.exception, store.BadInput)
    assert not db.exists()


def test_a_folder_has_its_labels_in_the_folder(own_file: Path, tmp_path: Path) -> None:
    folder = Path(__file__).parents[1] / "domains" / "parole"
    for command in (("build", "--db", str(tmp_path / "study.duckdb")), ("labels",)):
        words = [*command, "--domain", str(folder), "--labels-file", str(own_file)]
        done = CliRunner().invoke(cli, words)
        assert isinstance(done.exception, store.BadInput)
        assert "labels.toml" in (done.exception.hint or "")
