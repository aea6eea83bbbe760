"""The inference through the whole analysis, on tastings: what is kept in the tables, checked by hand."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy import stats
from tastings import SPECIFICATIONS, Table, specifications

import analyze
from analyze.analysis import ALL_MODELS, Analysis

INFERENCE = """
[inference]
outcome = "points"
sample = "true"
rank = "floor(points / 5)"
kind = "CASE WHEN points >= 12 THEN 'good' ELSE 'plain' END"
truth = "truth"
missing = "CASE WHEN points IS NULL THEN 'spilt' END"
"""
TEXT = SPECIFICATIONS + INFERENCE


def analysed(table: Table, folder: Path, **options: object) -> Analysis:
    options = {"audit": False, "draws": 4_999} | options
    return analyze.run(table.database(), specifications(folder, TEXT), **options)


def rows(analysis: Analysis, name: str) -> list[dict]:
    return analysis.tables[name].to_pylist()


def tasted(model: str = "sommelier", seed: int = 1, wines: int = 120) -> Table:
    """Plastic costs a point in half the wines; paper and loud music only make noise.

    Some answers are missing.
    """
    rng = np.random.default_rng(seed)
    table = Table()
    for i in range(wines):
        wine, base = f"w{i:03}", float(rng.integers(8, 18))
        for label, value in (
            ("glass", "crystal"),
            ("glass", "plastic"),
            ("glass", "paper"),
            ("music", "silence"),
            ("music", "loud"),
        ):
            points = base + float(rng.choice([-1, 0, 0, 0, 0, 1]))
            if value == "plastic":
                points -= float(rng.random() < 0.5)
            given = None if value == "loud" and i < 12 else points
            table.taste(label, value, wine, given, truth=base + 1, model=model)
    return table


def test_values_labels_and_counts(tmp_path: Path) -> None:
    table = tasted()
    analysis = analysed(table, tmp_path)
    value = {(r["label"], r["value"]): r for r in rows(analysis, "value_tests")}
    plastic, paper, loud = value["glass", "plastic"], value["glass", "paper"], value["music", "loud"]
    (level,) = (
        r
        for r in rows(analysis, "estimates")
        if (r["label"], r["value"], r["variant"]) == ("glass", "plastic", "level")
    )
    assert plastic["effect"] == pytest.approx(level["coef"])
    assert plastic["cluster_p"] == pytest.approx(level["p"])
    assert plastic["flip_p"] == pytest.approx(1 / 5_000)
    assert plastic["changers"] == plastic["ups"] + plastic["downs"] == level["changers"]
    assert plastic["downs"] > plastic["ups"]
    assert (
        plastic["rank_p"]
        == stats.binomtest(plastic["rank_ups"], plastic["rank_ups"] + plastic["rank_downs"]).pvalue
    )
    assert plastic["per_cent_low"] < plastic["per_cent"] < plastic["per_cent_high"] < 0
    assert plastic["margin"] == pytest.approx(0.05 * plastic["reference_mean"])
    assert plastic["leading"] == "cluster"
    assert plastic["holm_p"] == pytest.approx(2 / 5_000)
    assert paper["flip_p"] > 0.01
    assert paper["conclusion"] == "equivalent"
    assert 0 < paper["detectable"] < 1
    assert paper["detectable_share"] < 0.5
    assert loud["documents"] == 108
    assert loud["holm_p"] is None
    label = {r["label"]: r for r in rows(analysis, "label_tests")}
    assert label["glass"]["rejected"]
    assert not label["music"]["rejected"]
    assert label["glass"]["holm_p"] == pytest.approx(2 / 5_000)
    assert label["glass"]["max_t_p"] <= label["glass"]["holm_p"] + 1e-9
    assert label["music"]["flip_p"] == loud["flip_p"]
    assert (label["glass"]["family"], label["glass"]["values"]) == (2, 2)
    counts = {(r["test"], r["threshold"]): r for r in rows(analysis, "global_tests")}
    assert counts["significant_values", 0.05]["observed"] == 1
    assert counts["significant_values", 0.05]["n"] == 3
    assert counts["significant_values", 0.05]["expected"] == pytest.approx(0.15, abs=0.03)
    assert counts["significant_values", 0.05]["bernoulli_p"] == pytest.approx(1 - 0.95**3)
    assert counts["significant_values", 0.05]["p"] == pytest.approx(1 - 0.95**3, abs=0.04)
    assert abs(counts["cross_label_correlation", None]["observed"]) < 0.3


def test_nothing_changes_is_bounded_and_not_tested(tmp_path: Path) -> None:
    table = Table()
    for i in range(60):
        for value, points in (("crystal", 10.0), ("plastic", 10.0), ("paper", 10.0 + i % 2)):
            table.taste("glass", value, f"w{i}", points)
        for value in ("silence", "loud"):
            table.taste("music", value, f"w{i}", 10.0)
    value = {(r["label"], r["value"]): r for r in rows(analysed(table, tmp_path), "value_tests")}
    for key in (("glass", "plastic"), ("music", "loud")):
        still = value[key]
        assert (still["effect"], still["flip_p"], still["cluster_p"]) == (0.0, None, None)
        assert still["share_bound"] == pytest.approx(0.05)
        assert still["conclusion"] == "no change seen"
        assert still["note"].startswith("no variation")
    assert value["glass", "paper"]["flip_p"] < 0.01


def test_few_changers_are_flagged_and_the_flips_lead(tmp_path: Path) -> None:
    table = Table()
    for i in range(200):
        table.taste("music", "silence", f"w{i:03}", 10.0, region=f"r{i % 40}")
        table.taste("music", "loud", f"w{i:03}", 10.0 + (2.0 + i if i < 6 else 0), region=f"r{i % 40}")
    (loud,) = rows(analysed(table, tmp_path), "value_tests")
    assert loud["few_changers"].startswith("only 6 documents change")
    assert "p cannot fall under 0.01" in loud["few_changers"]
    assert "6 values of region change" in loud["few_clusters"]
    assert loud["leading"] == "flip"
    assert loud["leading_p"] == loud["flip_p"] == loud["least_p"] == 2**-5
    assert loud["exact"]
    assert loud["cluster_p"] < loud["flip_p"]


def test_a_value_that_moves_every_document_alike_counts(tmp_path: Path) -> None:
    """No error, no cluster p, and yet as significant as can be: counted, and its flips among the draws."""
    table = Table()
    for i in range(12):
        table.taste("music", "silence", f"w{i:02}", 10.0 + i)
        table.taste("music", "loud", f"w{i:02}", 12.0 + i)
    analysis = analysed(table, tmp_path, draws=20_000)
    (loud,) = rows(analysis, "value_tests")
    assert (loud["cluster_p"], loud["flip_p"]) == (None, 2**-11)
    counts = {(r["test"], r["threshold"]): r for r in rows(analysis, "global_tests")}
    for test in ("significant_values", "significant_labels"):
        found = counts[test, 0.05]
        assert (found["observed"], found["n"]) == (1, 1)
        # Of the 4,096 patterns 2 * (1 + 12 + 66), with at most two of one sign have a cluster p below 0.05.
        assert [found["expected"], found["p"]] == pytest.approx([158 / 4096] * 2, abs=0.006)


def test_ages_with_repeats_compare_means_of_documents(tmp_path: Path) -> None:
    """Two doses asked three times each: changed, up, down, sign test and temperatures go by the means."""
    rng = np.random.default_rng(11)
    young, old = np.log(30.0), np.log(55.0)
    table = Table()
    points = {t: rng.integers(5, 15, (14, 2, 3)).astype(float) for t in (0.0, 0.7)}
    for t, given in points.items():
        for i in range(14):
            for k, dose in enumerate((young, old)):
                for repeat in range(3):
                    table.taste(
                        "price", f"{dose:.1f}", f"w{i:02}", given[i, k, repeat], dose=dose, repeat=repeat
                    )
                    table.rows[-1] |= {"temperature": t, "model_key": f"key at {t}"}
    analysis = analysed(table, tmp_path, draws=99)
    mean = {t: given.mean(axis=2) for t, given in points.items()}
    for row in rows(analysis, "value_tests"):
        moves = mean[row["temperature"]][:, 1] - mean[row["temperature"]][:, 0]
        up, down = int(np.sum(moves > 1e-9)), int(np.sum(moves < -1e-9))
        assert (row["changers"], row["ups"], row["downs"]) == (up + down, up, down)
        assert row["effect"] == pytest.approx(moves.mean() / np.log(55 / 30))
        ranks = np.floor(points[row["temperature"]] / 5).mean(axis=2)
        up, down = (
            int(np.sum(ranks[:, 1] > ranks[:, 0] + 1e-9)),
            int(np.sum(ranks[:, 1] < ranks[:, 0] - 1e-9)),
        )
        assert (row["rank_ups"], row["rank_downs"]) == (up, down)
        assert row["rank_p"] == pytest.approx(stats.binomtest(up, up + down).pvalue)
    (changers,) = {
        r["changers"]
        for r in rows(analysis, "estimates")
        if (r["variant"], r["temperature"]) == ("level", 0.0)
    }
    assert changers == np.sum(np.abs(mean[0.0][:, 1] - mean[0.0][:, 0]) > 1e-9)
    (pair,) = (r for r in rows(analysis, "temperature_tests") if r["measure"] == "effect" and r["label"])
    slopes = {t: float((m[:, 1] - m[:, 0]).mean() / np.log(55 / 30)) for t, m in mean.items()}
    assert pair["at_lower"] == pytest.approx(slopes[0.0])
    assert pair["at_higher"] == pytest.approx(slopes[0.7])
    assert pair["difference"] == pytest.approx(slopes[0.7] - slopes[0.0])


def test_verdicts_on_equivalence_claim_no_more_than_the_design_gives(tmp_path: Path) -> None:
    """Few changers; differences that do not survive the correction; doses over their range."""
    rng = np.random.default_rng(3)
    table = Table()
    for i in range(300):
        wine = f"w{i:03}"
        for value, points in (
            ("crystal", 10.0),
            ("plastic", 10.0 + (i < 3) - (i == 3)),  # 4 of 300 by 1: at most 3% x 3
            ("paper", 10.0 + 3.0 * (i % 60 == 7) * (-1) ** i),  # 5 of 300 by 3
        ):
            table.taste("glass", value, wine, points)
        noise = float(rng.choice([-1.0, 0.0, 1.0]))
        for value, points in (("silence", 10.0), ("loud", 10.0 + noise + (i < 12 and noise == 0.0))):
            table.taste("music", value, wine, points)
        for dose in (1.0, 5.0):
            price = 10.0 + 0.2 * (dose - 1.0) + 0.1 * rng.normal()
            table.taste("price", f"{dose}", wine, price, dose=dose)
    found = {(r["label"], r["value"]): r for r in rows(analysed(table, tmp_path), "value_tests")}
    plastic, loud = found["glass", "plastic"], found["music", "loud"]
    assert plastic["few_changers"]
    assert plastic["equivalence_p"] is None
    share = stats.beta.ppf(0.95, 5, 296)
    assert share * 3 <= plastic["margin"]
    assert plastic["conclusion"] == "equivalent, as hardly anything changes"
    assert loud["few_changers"] is None
    p = loud["leading_p"]
    assert loud["conclusion"] == ("different, within the margin, taken alone" if p < 0.05 else "equivalent")
    # 0.2 a unit is within the margin of about 0.5, and 0.8 over the range of doses is not.
    (price,) = (row for key, row in found.items() if key[0] == "price")
    assert price["effect"] == pytest.approx(0.2, abs=0.01)
    assert (price["conclusion"], price["equivalence_p"]) == ("different", pytest.approx(1.0))


def test_several_models_are_one_family_with_common_signs(tmp_path: Path) -> None:
    table = tasted()
    for row in tasted("critic", seed=2).rows:
        table.rows.append(row)
    # The third answers exactly as the first: with common signs the maximum is no larger for it.
    for row in tasted().rows:
        table.rows.append(row | {"model": "twin", "model_key": "key of twin"})
    analysis = analysed(table, tmp_path)
    label = {(r["model"], r["label"]): r for r in rows(analysis, "label_tests")}
    first, twin = label["sommelier", "music"], label["twin", "music"]
    assert first["flip_p"] == twin["flip_p"]
    assert {r["models_family"] for r in label.values()} == {6}
    by_p = sorted(r["flip_p"] for r in label.values())
    steps = np.maximum.accumulate([p * (6 - k) for k, p in enumerate(by_p)])
    expected = [min(1.0, steps[k]) for k in range(6)]
    assert sorted(r["models_holm_p"] for r in label.values()) == pytest.approx(expected)
    assert first["models_max_t_p"] == twin["models_max_t_p"] <= first["models_holm_p"]
    together = {
        (r["test"], r["threshold"]): r for r in rows(analysis, "global_tests") if r["model_key"] == ALL_MODELS
    }
    assert together["significant_values", 0.1]["n"] == 9
    assert together["significant_values", 0.1]["observed"] >= 3
    single = analysed(tasted(), tmp_path)
    assert {r["models_family"] for r in rows(single, "label_tests")} == {None}
    again = {(r["model"], r["label"], r["value"]): r["flip_p"] for r in rows(analysis, "value_tests")}
    for r in rows(single, "value_tests"):
        assert again["sommelier", r["label"], r["value"]] == r["flip_p"]


def test_switches_of_kind(tmp_path: Path) -> None:
    table = Table()
    for i, (quiet, loud) in enumerate([(10, 12), (10, 13), (12, 10), (10, 11), (15, None)]):
        table.taste("music", "silence", f"w{i}", quiet)
        table.taste("music", "loud", f"w{i}", loud)
    found = [
        (r["from_kind"], r["to_kind"], r["pairs"], r["of_pairs"])
        for r in rows(analysed(table, tmp_path), "kind_switches")
    ]
    assert found == [("plain", "good", 2, 4), ("good", "plain", 1, 4)]


def test_pairwise_inconsistency_and_its_floor(tmp_path: Path) -> None:
    table = Table()
    for i in range(40):
        for repeat in range(2):
            for value, points in (
                ("crystal", 10.0),
                ("plastic", 10.0 + (i < 20)),
                ("paper", 10.0 + (repeat == 1 and i < 10)),
            ):
                table.taste("glass", value, f"w{i}", points, repeat=repeat)
    for i in range(40):
        for value in ("silence", "loud"):
            table.taste("music", value, f"w{i}", 10.0 + (i < 4))
    analysis = analysed(table, tmp_path)
    glass, music = rows(analysis, "inconsistency_tests")
    # Three pairs of values x two repeats x 40 wines. Plastic differs from crystal 40 times; paper from
    # crystal 10; paper from plastic 20 in the first repeat, 10 in the second.
    assert glass["pairs"] == 240
    assert glass["pairwise"] == pytest.approx((40 + 10 + 20 + 10) / 240)
    # Among repeats only paper differs: 10 of 120 pairs.
    assert glass["floor"] == pytest.approx(10 / 120)
    assert glass["excess"] == pytest.approx(80 / 240 - 10 / 120)
    assert glass["excess_low"] < glass["excess"] < glass["excess_high"]
    assert (music["pairwise"], music["floor"], music["excess"]) == (0.0, None, None)
    assert "no prompt was repeated" in music["note"]
    metric = {r["metric"]: r for r in rows(analysis, "model_metrics")}
    assert metric["inconsistency_pairwise"]["value"] == pytest.approx(80 / 280)
    # Four wines get 11 in silence and 10 from crystal.
    assert metric["reference_disagreement"]["value"] == pytest.approx(4 / 40)
    assert metric["reference_disagreement"]["n"] == 40


def test_placebos_are_a_floor_and_nothing_else(tmp_path: Path) -> None:
    table = Table()
    for i in range(40):
        for value, points in (("silence", 10.0), ("loud", 10.0 + (i < 12))):
            table.taste("music", value, f"w{i}", points)
        if i >= 20:
            table.taste("glass", "crystal", f"w{i}", 10.0 + (i < 30))
    connection = table.database()
    # The same silence in other words: of the last wine there is none, of the one before it nobody can tell.
    connection.execute("""
        CREATE VIEW stillness AS
        SELECT collection, model_key, coding, arm, outcome, label, value, doc_id, repeat,
            CASE WHEN doc_id <> 'w38' THEN points + CAST(doc_id IN ('w0', 'w1', 'w2') AS INTEGER) END AS still
        FROM tastings WHERE value = 'silence' AND doc_id <> 'w39'
    """)
    text = TEXT + 'placebos = "stillness"\nplacebo_outcome = "still"\n'
    analysis = analyze.run(connection, specifications(tmp_path, text), audit=False, draws=999)
    _, music = rows(analysis, "inconsistency_tests")
    assert (music["placebo"], music["placebo_pairs"]) == (3 / 38, 38)
    assert (music["pairwise"], music["pairs"], music["note"]) == (0.3, 40, None)
    assert music["placebo_excess"] == pytest.approx(12 / 38 - 3 / 38)
    assert music["placebo_low"] < music["placebo_excess"] < music["placebo_high"]
    (loud,) = (r for r in rows(analysis, "value_tests") if r["value"] == "loud")
    assert (loud["n"], loud["effect"]) == (80, pytest.approx(0.3))
    floors = {r["floor"]: r for r in rows(analysis, "noise_floors")}
    assert (floors["placebos"]["share"], floors["placebos"]["pairs"]) == (3 / 38, 38)
    assert (floors["placebos"]["inconsistency"], floors["placebos"]["value_pairs"]) == (12 / 38, 38)
    assert floors["placebos"]["excess"] == music["placebo_excess"]
    assert (floors["repeats"]["pairs"], floors["repeats"]["share"]) == (0, None)
    assert floors["repeats"]["note"] == "no prompt was repeated"
    # Ten of twenty documents answer crystal otherwise than silence, and none of them moves with music.
    reference = floors["reference_answers"]
    assert (reference["share"], reference["pairs"], reference["documents"]) == (0.5, 20, 20)
    assert (reference["inconsistency"], reference["excess"]) == (0.0, -0.5)


def test_imbalance_by_side(tmp_path: Path) -> None:
    """Loud music adds a point: errors grow where silence was over the truth and shrink where it was under."""
    table = Table()
    for i in range(60):
        for value, points in (("silence", 10.0), ("loud", 11.0 + (i % 3 == 0))):
            table.taste("music", value, f"w{i}", points, truth=5.0 if i < 40 else 20.0)
    side = {r["side"]: r for r in rows(analysed(table, tmp_path), "imbalance_tests")}
    assert side["over"]["documents"] == 40
    assert side["over"]["error_effect"] == pytest.approx(side["over"]["level_effect"])
    assert side["under"]["error_effect"] == pytest.approx(-side["under"]["level_effect"])
    assert "no independent evidence" in side["over"]["note"]
    assert side["under"]["note"] is None
    over = Table()
    for i in range(9):
        for value, points in (("silence", 10.0), ("loud", 11.0 + i % 2)):
            over.taste("music", value, f"w{i}", points, truth=20.0 if i == 0 else 5.0)
    told = {r["side"]: (r["documents"], r["note"]) for r in rows(analysed(over, tmp_path), "imbalance_tests")}
    assert told["under"] == (1, "one document only")
    for row in over.rows:
        row["truth"] = 20.0
    told = {r["side"]: (r["documents"], r["note"]) for r in rows(analysed(over, tmp_path), "imbalance_tests")}
    assert told == {"all": (9, None), "over": (0, "no documents"), "under": (9, None)}
    whole = (40 * side["over"]["error_effect"] + 20 * side["under"]["error_effect"]) / 60
    assert side["all"]["error_effect"] == pytest.approx(whole)


def test_missing_answers_and_what_they_could_hide(tmp_path: Path) -> None:
    table = tasted()
    (loud,) = (r for r in rows(analysed(table, tmp_path), "missing_tests") if r["label"] == "music")
    assert (loud["pairs"], loud["only_value"], loud["only_reference"]) == (120, 12, 0)
    assert loud["p"] == stats.binomtest(0, 12).pvalue
    assert loud["low"] < loud["effect"] < loud["high"]
    assert loud["high"] - loud["low"] == pytest.approx(2 * 12 * loud["jump"] / 120)
    assert loud["tipping"] * 12 == pytest.approx(-108 * loud["effect"])
    assert loud["worst_low"] < loud["low"]
    glass = [r for r in rows(analysed(table, tmp_path), "missing_tests") if r["label"] == "glass"]
    assert [(r["p"], r["only_value"], r["low"]) for r in glass if r["value"] == "paper"] == [
        (None, 0, glass[1]["effect"])
    ]


def test_repeats_are_no_documents_where_answers_go_missing(tmp_path: Path) -> None:
    """Two of twelve documents refused, three times each: two documents of twelve, and one in part."""
    table = Table()
    for i in range(12):
        for repeat in range(3):
            gone = i < 2 or (i == 2 and repeat == 0)
            table.taste("music", "silence", f"w{i:02}", 11.0, repeat=repeat)
            loud = None if gone else 11.0 + (1.0 + repeat if i % 4 == 2 else 0.0)
            table.taste("music", "loud", f"w{i:02}", loud, repeat=repeat)
            for dose in (1.0, 2.0):
                points = None if dose == 2.0 and (i < 6 or repeat == i - 6) else 10.0 + i
                table.taste("price", f"{dose}", f"w{i:02}", points, dose=dose, repeat=repeat)
    analysis = analysed(table, tmp_path)
    loud, price = rows(analysis, "missing_tests")
    assert (loud["pairs"], loud["only_value"], loud["only_reference"]) == (12, 3, 0)
    assert loud["p"] == stats.binomtest(0, 3).pvalue
    # Documents 2, 6 and 10 move by 2 on average, document 2 by 2.5 in the two thirds that were answered.
    assert loud["effect"] == pytest.approx((2.5 + 2 + 2) / 10)
    gone, total = 2 + 1 / 3, 2.5 * 2 / 3 + 2 + 2
    assert loud["jump"] == pytest.approx(np.quantile([2.5, 2, 2], 0.9))
    for side, sign in (("low", -1), ("high", 1)):
        assert loud[side] == pytest.approx((total + sign * gone * loud["jump"]) / 12)
    assert loud["tipping"] == pytest.approx(-total / gone)
    # Along a dose: six documents lack all answers at the larger, three a third of them.
    assert (price["label"], price["pairs"], price["only_value"], price["only_reference"]) == (
        "price",
        12,
        9,
        0,
    )
    assert price["p"] == 2 * 0.5**9
    # Of three loud answers two (document 2) or three have another kind: at least 12 points are good.
    (switch,) = rows(analysis, "kind_switches")
    assert (switch["from_kind"], switch["to_kind"], switch["pairs"], switch["of_pairs"]) == (
        "plain",
        "good",
        3,
        10,
    )


def test_missingness_over_several_values_is_tested_together(tmp_path: Path) -> None:
    table = Table()
    for i in range(80):
        for value in ("crystal", "plastic", "paper"):
            gone = (value == "paper" and i < 15) or (value == "crystal" and i == 79)
            table.taste("glass", value, f"w{i}", None if gone else 10.0 + i % 3)
    by_value = {r["value"]: r for r in rows(analysed(table, tmp_path), "missing_tests")}
    assert by_value["paper"]["p"] < 0.001
    assert by_value["plastic"]["p"] == 1.0
    assert by_value["paper"]["label_p"] == by_value["plastic"]["label_p"] < 0.01


def test_inference_can_be_left_out_and_leaves_nothing_stale(tmp_path: Path) -> None:
    connection = tasted().database()
    path = specifications(tmp_path, TEXT)
    analyze.run(connection, path, audit=False, draws=999)
    assert connection.execute("SELECT count(*) FROM value_tests").fetchall() == [(3,)]
    analyze.run(connection, path, audit=False, inference=False)
    assert connection.execute("SELECT count(*) FROM value_tests").fetchall() == [(0,)]


def test_what_is_kept_is_what_is_returned(tmp_path: Path) -> None:
    connection = tasted().database()
    analysis = analyze.run(connection, specifications(tmp_path, TEXT), audit=False, draws=999)
    for name, table in analysis.tables.items():
        assert connection.execute(f"SELECT count(*) FROM {name}").fetchall() == [(table.num_rows,)], name
        columns = {row[0] for row in connection.execute(f"DESCRIBE {name}").fetchall()}
        assert set(table.column_names) == columns, name
        pandas = analysis.pandas(name)
        assert (list(pandas.columns), len(pandas)) == (table.column_names, table.num_rows), name


def test_small_and_regular_samples_do_not_break_anything(tmp_path: Path) -> None:
    """One document; documents that all move alike; answers that differ between repeats alone."""
    alone = Table()
    for value, points in (("silence", 10.0), ("loud", 11.0)):
        alone.taste("music", value, "w", points, truth=5.0, region="valley")
    analysis = analysed(alone, tmp_path)
    (row,) = rows(analysis, "value_tests")
    assert (row["effect"], row["flip_p"]) == (None, None)
    for table in ("value_tests", "label_tests", "estimates"):
        assert {r["note"].split(";")[0] for r in rows(analysis, table)} == {"one document only"}, table
    alike = Table()
    for i in range(9):
        for value, points in (("crystal", 10.0), ("plastic", 12.0), ("paper", 11.0)):
            alike.taste("glass", value, f"w{i}", points + i)
    analysis = analysed(alike, tmp_path)
    for row in rows(analysis, "value_tests"):
        assert row["effect"] == pytest.approx(2.0 if row["value"] == "plastic" else 1.0)
        assert (row["se"], row["leading"], row["flip_p"]) == (None, "flip", 2**-8)
    (label,) = rows(analysis, "label_tests")
    assert label["flip_p"] == label["max_t_p"] == 2**-8
    assert label["wald"] is None
    repeats = Table()
    for i in range(9):
        for value in ("silence", "loud"):
            for repeat in range(2):
                repeats.taste("music", value, f"w{i}", 10.0 + repeat, repeat=repeat)
    (row,) = rows(analysed(repeats, tmp_path), "value_tests")
    assert (row["effect"], row["conclusion"]) == (0.0, "no change seen")


def test_a_value_under_which_every_answer_is_zero_has_no_per_cent(tmp_path: Path) -> None:
    table = Table()
    for i in range(40):
        table.taste("music", "silence", f"w{i}", 1.0 + i % 3)
        table.taste("music", "loud", f"w{i}", 0.0)
    (loud,) = rows(analysed(table, tmp_path), "value_tests")
    assert loud["per_cent"] is None
    assert loud["note"].startswith("no per cent")
    assert loud["effect"] < 0
