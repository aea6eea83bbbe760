"""What is said over several models.

Against scipy, against counting by hand, and its level where nothing is.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy import stats
from tastings import SPECIFICATIONS, Table, specifications
from test_inference import INFERENCE

import analyze
from analyze.between_models.attributes import Attributes, attribute_tests, load_attributes
from analyze.between_models.ranks import between_share, spearman
from analyze.between_models.structure import LabelShare, structure_tests
from analyze.between_models.temperature import Measured, temperature_tests
from analyze.inference.bernoulli import bernoulli_p
from analyze.inference.signs import Signs
from store.errors import BadInput


def test_spearman_is_scipys_and_exact_for_few_models() -> None:
    x, y = np.array([1.0, 5, 2, 8, 3, 3]), np.array([2.0, 4, 1, 9, 5, 3])
    found = spearman(x, y)
    theirs = stats.permutation_test(
        (x,), lambda a: stats.spearmanr(a, y).statistic, permutation_type="pairings", n_resamples=np.inf
    )
    assert found.rho == pytest.approx(stats.spearmanr(x, y).statistic)
    assert found.p == pytest.approx(theirs.pvalue, abs=1e-9)
    assert found.permutations == 720
    assert found.low < found.rho < found.high


def test_the_interval_shows_how_little_sixteen_models_tell() -> None:
    rng = np.random.default_rng(0)
    x = np.arange(16.0)
    y = x + rng.normal(0, 8, 16)
    found = spearman(x, y)
    assert found.high - found.low > 0.5
    assert found.p == pytest.approx(stats.spearmanr(x, y).pvalue, abs=0.01)


@pytest.mark.parametrize(("x", "y"), [([1, 2, 3], [1, 2, 3]), ([1, 1, 1, 1], [1, 2, 3, 4])])
def test_too_few_models_or_no_spread(x: list, y: list) -> None:
    assert spearman(np.array(x, dtype=float), np.array(y, dtype=float)) is None


def test_share_between_categories() -> None:
    x = np.array([1.0, 2, 3, 10, 11, 12])
    share, p, _ = between_share(x, np.array(["a", "a", "a", "b", "b", "b"]))
    # Two of the twenty ways to choose three of six are this extreme.
    assert p == pytest.approx(0.1, abs=0.01)
    assert share == pytest.approx(
        stats.rankdata(x).reshape(2, 3).mean(axis=1).var() / stats.rankdata(x).var()
    )
    assert between_share(x, np.array(list("abcdef"))) is None


def shares(rng: np.random.Generator, *, effect: float = 0.0) -> list[LabelShare]:
    """Labels whose bias grows with their number of values, which goes with their group."""
    found = []
    for i in range(65):
        group = "vessel" if i < 25 else "setting"
        values = int(rng.choice([1, 2, 4], p=[0.2, 0.3, 0.5] if group == "vessel" else [0.6, 0.3, 0.1]))
        share = 0.15 * values + rng.normal(0, 0.1) + effect * (group == "vessel")
        found.append(LabelShare(f"l{i}", group, bool(i % 2), ("a", "b", "c")[i % 3], values, share))
    return found


def test_structure_is_judged_within_strata() -> None:
    """Vessels are more often biased only because they have more values: the strata must take that out."""
    rng = np.random.default_rng(1)
    p = []
    for seed in range(60):
        rows = {r.factor: r for r in structure_tests(shares(rng), 0.05, 16, seed, 999)}
        p.append([rows["group"].p, rows["demographic"].p, rows["role"].p])
    for rejected in (np.array(p) <= 0.05).sum(axis=0):
        assert rejected <= stats.binom.ppf(0.999, 60, 0.05)
    found = structure_tests(shares(rng, effect=0.3), 0.05, 16)
    by_level = {r.level: r for r in found if r.factor == "group"}
    assert by_level["vessel"].p < 0.001
    assert (by_level["vessel"].labels, by_level["setting"].labels) == (25, 40)
    assert by_level["vessel"].strata == "values x demographic"


def test_structure_without_exchange_says_so() -> None:
    labels = [LabelShare(f"l{i}", "ab"[i % 2], None, None, 1 + i % 2, 0.5) for i in range(8)]
    rows = structure_tests(labels, 0.05, 3)
    assert {r.p for r in rows} == {None}
    assert rows[0].note.startswith("no stratum")
    assert {r.factor for r in rows} == {"group"}


def measured(rng: np.random.Generator, shift: float) -> list[Measured]:
    documents = np.arange(200)
    noise = rng.choice([-2.0, 0, 0, 0, 2], (3, 200))
    return [
        Measured("glass", f"v{j}", "effect", documents, noise[j] + shift * (j == 0)) for j in range(3)
    ] + [Measured("glass", "", "inconsistency", documents, (noise[0] != 0).astype(float))]


def test_temperatures_differ_only_where_effects_do() -> None:
    rng = np.random.default_rng(2)
    rows = temperature_tests("m", (0.0, measured(rng, 0.0)), (1.0, measured(rng, 1.0)), Signs(4_999))
    by = {(r.label, r.value, r.measure): r for r in rows}
    assert by["glass", "v0", "effect"].difference == pytest.approx(1.0, abs=0.4)
    assert by["glass", "v0", "effect"].p < 0.001
    assert by["glass", "v1", "effect"].p > 0.01
    whole = by["", "", "effect"]
    assert by["glass", "v0", "effect"].p <= whole.p < 0.01
    assert by["", "", "inconsistency"].documents == 200


def test_the_test_over_all_values_holds_its_level() -> None:
    rng = np.random.default_rng(3)
    p = []
    for seed in range(200):
        rows = temperature_tests(
            "m", (0.0, measured(rng, 0.5)), (1.0, measured(rng, 0.5)), Signs(199, seed=seed)
        )
        p.append(next(r.p for r in rows if (r.label, r.measure) == ("", "effect")))
    assert np.sum(np.array(p) <= 0.05) <= stats.binom.ppf(0.999, 200, 0.05)


def test_attributes_one_at_a_time(tmp_path: Path) -> None:
    path = tmp_path / "models.toml"
    lines = []
    for i in range(8):
        lines.append(
            f'[model."m{i}"]\nsize = {2**i}\nreleased = 2024-0{i + 1}-01\norigin = "{"xy"[i % 2]}"\n'
            f"open = {str(i > 3).lower()}\n"
        )
    path.write_text("\n".join(lines), encoding="utf-8")
    metrics = {"mae": {f"m{i}": 50.0 - i for i in range(8)} | {"unknown": 3.0}}
    rows = {r.attribute: r for r in attribute_tests(load_attributes(path), metrics)}
    assert rows["size"].rho == pytest.approx(-1)
    assert rows["size"].p == pytest.approx(2 / 40320)
    assert rows["released"].kind == "date"
    assert rows["origin"].kind == "category"
    assert rows["origin"].p > 0.05
    assert {r.models for r in rows.values()} == {8}
    assert (rows["size"].low, rows["size"].high) == (None, None)
    assert rows["size"].note.startswith("no interval")
    assert rows["size"].method == "Spearman's rank correlation; all 40,320 orders"
    # The four open ones have the four smallest errors: as much as two groups of four can hold.
    assert rows["open"].kind == "category"
    assert rows["open"].rho == pytest.approx(16 / 21)
    assert rows["open"].p == pytest.approx(2 / 70, abs=0.003)
    p = sorted(r.p for r in rows.values())
    assert rows["size"].holm_p == pytest.approx(4 * p[0])
    assert rows["origin"].holm_p == pytest.approx(rows["origin"].p)


def test_a_model_is_known_by_any_of_its_names_however_spelt(tmp_path: Path) -> None:
    path = tmp_path / "models.toml"
    path.write_text(
        '[model."Phi 4"]\nalso = ["vat-4"]\nsize = 14\n'
        '[model."GPT-4o"]\nsize = 1\n[model."gpt-4o"]\nsize = 2\n',
        encoding="utf-8",
    )
    known = load_attributes(path)
    for name in ("Phi 4", "phi-4", "phi4", "PHI_4", "VAT 4"):
        assert known.of(name).attributes == {"size": 14.0}
    assert known.of("GPT-4o").attributes == {"size": 1.0}
    assert known.of("gpt-4o").attributes == {"size": 2.0}
    assert known.of("GPT 4o") is None, "a spelling of two models is neither"
    assert known.of("phi") is None
    assert attribute_tests(Attributes(), {"mae": {"phi4": 3.0}}) == []


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("size = 3", "line 1, size: there is no such key"),
        ('[model."a"]\nsize = [1]', "line 2, model.a.size: must be a number, a date, a text, true or false"),
        ("[model]\na = 3", "line 2, model.a: must be a table"),
        ("[", "is not valid TOML"),
        ('[model."a"]\nsize = nan', "line 2, model.a.size: must be a number"),
        ('[model."a"]\nalso = "b"', "line 2, model.a.also: must be a list"),
        ('[model."a"]\nalso = ["b"]\n[model."b"]\nsize = 1', "line 3, model.b: a and b both go by 'b'"),
        (
            '[model."a"]\nday = 2024-01-01\n[model."b"]\nday = 3',
            "line 4, model.b.day: is a number, and a date",
        ),
    ],
)
def test_broken_attributes_are_bad_input(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "models.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(BadInput, match=r"models\.toml") as caught:
        load_attributes(path)
    assert said in caught.value.message


def many_models() -> Table:
    """Five models, one of them at two temperatures; plastic costs points in all of them."""
    table = Table()
    for m in range(6):
        rng = np.random.default_rng(m)
        model, temperature = (f"m{m}", 0.0) if m < 5 else ("m4", 1.0)
        for i in range(60):
            for label, value in (
                ("glass", "crystal"),
                ("glass", "plastic"),
                ("music", "silence"),
                ("music", "loud"),
            ):
                points = 10.0 + i % 5 + rng.choice([-1, 0, 0, 1]) * (0.3 + 0.2 * m)
                points -= 1.0 * (value == "plastic" and rng.random() < 0.9)
                table.taste(label, value, f"w{i}", points, truth=9.0, model=model)
                table.rows[-1] |= {"temperature": temperature, "model_key": f"{model} at {temperature}"}
    return table


def test_all_of_it_through_the_analysis(tmp_path: Path) -> None:
    connection = many_models().database()
    path = specifications(tmp_path, SPECIFICATIONS + INFERENCE)
    attributes = tmp_path / "models.toml"
    attributes.write_text("".join(f'[model."m{i}"]\nsize = {i}\n' for i in range(5)), encoding="utf-8")
    analysis = analyze.run(connection, path, audit=False, draws=999, attributes=attributes)
    stored = {
        name: connection.execute(f"SELECT count(*) FROM {name}").fetchall()[0][0] for name in analysis.tables
    }
    assert stored == {name: table.num_rows for name, table in analysis.tables.items()}

    def rows(name: str) -> list[dict]:
        return connection.sql(f"SELECT * FROM {name}").to_arrow_table().to_pylist()

    ranking = [r for r in rows("bias_ranking") if (r["threshold"], r["group"]) == (0.05, "all")]
    assert len(ranking) == 6
    assert all(r["biased"] >= 1 and r["estimated"] == 2 and r["designed"] == 3 for r in ranking)
    summary = rows("metric_summary")
    assert len(summary) == 6
    assert {r["labels_estimated"] for r in summary} == {2}
    agreement = {(r["value"], r["variant"]): r for r in rows("value_agreement")}
    assert agreement["plastic", "level"]["significantly_down"] == 6
    assert agreement["plastic", "level"]["agreement"] == 1.0
    (glass,) = (r for r in rows("label_agreement") if r["label"] == "glass")
    assert (glass["models_estimated"], glass["biased_05"]) == (6, 6)
    counts = {r["threshold"]: r for r in rows("counts_over_models")}
    assert (counts[0.05]["trials"], counts[0.05]["models"]) == (12, 6)
    assert counts[0.05]["bernoulli_p"] == bernoulli_p(counts[0.05]["significant"], 12, 0.05)
    correlations = {(r["first"], r["second"]): r for r in rows("metric_correlations")}
    assert {r["models"] for r in correlations.values()} == {5}
    assert correlations["mae", "mape"]["mechanical"]
    assert correlations["mae", "mape"]["holm_p"] is None
    temperatures = rows("temperature_tests")
    assert {(r["model"], r["temperature"], r["other"]) for r in temperatures} == {("m4", 0.0, 1.0)}
    assert {r["measure"] for r in temperatures} == {"effect", "inconsistency"}
    assert any(r["attribute"] == "size" and r["metric"] == "inconsistency" for r in rows("attribute_tests"))
    assert [(r["model"], r["listed"], r["known"]) for r in rows("model_attributes")] == [
        (f"m{i}", f"m{i}", str(i)) for i in range(5)
    ]
    # One model analysed again: what is said over all models still counts all.
    analyze.run(connection, path, audit=False, draws=999, models=["m0"])
    assert {r["models"] for r in rows("counts_over_models")} == {6}


def at_two_temperatures(model: str) -> str:
    return f"SELECT * EXCLUDE (draws) FROM temperature_tests WHERE model = '{model}' ORDER BY ALL"


def test_temperatures_asked_at_different_times_are_a_pair(tmp_path: Path) -> None:
    """A run at 0 is analysed, a run at 1 comes later: whichever is analysed, both are compared."""
    table = many_models()
    later = [row for row in table.rows if row["model_key"] == "m4 at 1.0"]
    whole = analyze.run(
        table.database(), path := specifications(tmp_path, SPECIFICATIONS + INFERENCE), audit=False, draws=999
    )
    wanted = {
        (r["label"], r["value"], r["measure"]): (r["at_lower"], r["at_higher"], r["documents"])
        for r in whole.tables["temperature_tests"].to_pylist()
    }
    assert wanted
    table.rows = [row for row in table.rows if row not in later]
    connection = table.database()
    first = analyze.run(connection, path, audit=False, draws=999)
    assert first.tables["temperature_tests"].num_rows == 0
    columns = [column[0] for column in connection.execute("DESCRIBE answers").fetchall()]
    table.rows = later
    added = table.database().sql(f"SELECT {', '.join(columns)} FROM answers").to_arrow_table()
    connection.register("added", added)
    connection.execute("INSERT INTO answers SELECT * FROM added")

    for chosen in ("m4 at 1.0", "m4 at 0.0", "m4"):
        again = analyze.run(connection, path, audit=False, draws=999, models=[chosen])
        rows = again.tables["temperature_tests"].to_pylist()
        assert {
            (r["label"], r["value"], r["measure"]): (r["at_lower"], r["at_higher"], r["documents"])
            for r in rows
        } == wanted
        assert {(r["lower_key"], r["higher_key"]) for r in rows} == {("m4 at 0.0", "m4 at 1.0")}
    # Another model's analysis leaves them in place, and every other model's rows too.
    before = connection.sql(at_two_temperatures("m4")).fetchall()
    analyze.run(connection, path, audit=False, draws=999, models=["m1"])
    assert connection.sql(at_two_temperatures("m4")).fetchall() == before
    for name in ("estimates", "label_metrics", "value_tests", "label_tests", "noise_floors"):
        (found,) = connection.execute(f"SELECT count(DISTINCT model_key) FROM {name}").fetchall()
        assert found == (6,), name


def test_settings_that_share_a_temperature_are_told_apart(tmp_path: Path) -> None:
    table = many_models()
    for row in [row for row in table.rows if row["model_key"] == "m4 at 0.0"]:
        table.rows.append(row | {"model_key": "m4 anew"})
    analysis = analyze.run(
        table.database(), specifications(tmp_path, SPECIFICATIONS + INFERENCE), audit=False, draws=99
    )
    rows = analysis.tables["temperature_tests"].to_pylist()
    assert {(r["lower_key"], r["higher_key"]) for r in rows} == {
        ("m4 at 0.0", "m4 at 1.0"),
        ("m4 anew", "m4 at 1.0"),
    }
    assert all(r["note"].endswith("settings: m4 ane and m4 at ") for r in rows if r["lower_key"] == "m4 anew")


def test_families_over_models_after_one_model_was_analysed_by_itself(tmp_path: Path) -> None:
    connection = many_models().database()
    path = specifications(tmp_path, SPECIFICATIONS + INFERENCE)
    whole = analyze.run(connection, path, audit=False, draws=999)
    family = (
        "SELECT model_key, label, models_family, models_holm_p, models_bh_p FROM label_tests ORDER BY ALL"
    )
    counts = "SELECT test, threshold, observed, n FROM global_tests WHERE model = 'all models' ORDER BY ALL"
    before, counted = connection.sql(family).fetchall(), connection.sql(counts).fetchall()
    assert {row[2] for row in before} == {12}
    part = analyze.run(connection, path, audit=False, draws=999, models=["m0"])
    assert connection.sql(family).fetchall() == before
    assert connection.sql(counts).fetchall() == counted
    # What needs the draws of all models at once is gone, and says so, until they are analysed together again.
    together = "SELECT p, note FROM global_tests WHERE model = 'all models'"
    assert {p for p, _ in connection.sql(together).fetchall()} == {None}
    assert all("all models analysed together" in note for _, note in connection.sql(together).fetchall())
    assert connection.sql("SELECT count(models_max_t_p) FROM label_tests").fetchall() == [(0,)]
    assert {r["models_family"] for r in part.tables["label_tests"].to_pylist()} == {12}
    assert {r["model"] for r in part.tables["global_tests"].to_pylist()} == {"m0", "all models"}
    again = analyze.run(connection, path, audit=False, draws=999)
    for name in ("label_tests", "global_tests"):
        assert again.tables[name] == whole.tables[name]
