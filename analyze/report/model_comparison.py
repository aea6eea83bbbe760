"""What several models' figures say side by side: how many have labels that move, the ends, how sure it is."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from analyze.report import headline, numbers, uncertainty
from analyze.report.figures import figure
from analyze.report.narrative import SHOWN, Story, effects
from analyze.report.shapes import Audit, Reading, Results


def biased_share(reading: Reading) -> float:
    """Of the labels that could be tested, the share that counts as biased at 0.05; -1 where none could."""
    found = reading.metric("biased_labels", threshold=0.05)
    return -1.0 if found is None or not found.n or found.value is None else found.value / found.n


def ranked(audits: Sequence[Audit]) -> list[Audit]:
    """The audits with the largest share of biased labels first."""
    return sorted(audits, key=lambda audit: -biased_share(audit.main))


def together(results: Results) -> Story:
    """The reading of several audits at once: the ends of the ranking, and how sure the whole is."""
    tested = [audit for audit in ranked(results.audits) if biased_share(audit.main) >= 0]
    first = [
        Markup('<a href="#{}">{}</a>. {}').format(audit.anchor, audit.name, sentence)
        for audit in results.audits
        for sentence in headline.sentences(results, audit, audit.main)
    ]
    moved = [*first, *_held(results)]
    if tested:
        moved += [_counted(results, tested), *_ends(tested)]
    else:
        other = "other " if any(headline.alike(results, audit.main) for audit in results.audits) else ""
        moved.append(Markup("No {}effect could be tested in the regression in any model.").format(other))
    moved += _untested(results, tested)
    told = [
        Markup('<a href="#{}">{}</a>. {}').format(audit.anchor, audit.name, lines[0])
        for audit in tested[:SHOWN]
        if (lines := effects(results, audit, audit.main))
    ]
    return Story(tuple(moved), tuple(told), tuple(_how_sure(results, tested)) if tested else ())


def _held(results: Results) -> list[Markup]:
    """In how many models a label withstands the correction: what is to be relied on, so it leads."""
    tests = [uncertainty.confirmed(results, audit, audit.main) for audit in results.audits]
    known = [rows for rows in tests if rows]
    if not known:
        return []
    holding = sum(any(row["rejected"] for row in rows) for rows in known)
    return [
        Markup(
            "In {} of {} models labels move {} by the confirmatory test (sign flips, corrected by Holm "
            "within the model)."
        ).format(
            figure(holding, str(holding), "derived/models_rejecting"),
            figure(len(known), str(len(known)), "derived/models_confirmed"),
            results.texts.measure,
        )
    ]


def _counted(results: Results, tested: Sequence[Audit]) -> Markup:
    biased = [audit for audit in tested if biased_share(audit.main) > 0]
    said = Markup(
        "By the uncorrected count of the {}, a value with clustered p < 0.05, {} of {} models have such "
        "labels."
    ).format(
        results.texts.counting,
        figure(len(biased), str(len(biased)), "derived/models_biased"),
        figure(len(tested), str(len(tested)), "derived/models_tested"),
    )
    doubted = sum(bool(uncertainty.doubted(results, audit, audit.main)) for audit in biased)
    if doubted:
        said += Markup(
            " In {} of these some labels count by values in which few {} carry the effect: the clustered p "
            "is not to be trusted there, and the sign flips lead."
        ).format(figure(doubted, str(doubted), "derived/models_doubted"), results.texts.documents)
    return said


def _ends(tested: Sequence[Audit]) -> list[Markup]:
    ends = [tested[0]] if len(tested) == 1 else [tested[0], tested[-1]]
    return [
        Markup("{} by that count: <b>{}</b>, {}.").format(word, audit.name, _share(audit))
        for word, audit in zip(("Most", "Fewest"), ends, strict=False)
    ]


def _untested(results: Results, tested: Sequence[Audit]) -> list[Markup]:
    """The models of which the counts say nothing."""
    left = [audit for audit in results.audits if audit not in tested]
    if not left or not tested:
        return []
    return [
        Markup(
            "In {} of {} models nothing could be tested in the regression, and no count has them: {}."
        ).format(
            figure(len(left), str(len(left)), "derived/models_untested"),
            figure(len(results.audits), str(len(results.audits)), "derived/models"),
            Markup(", ").join(
                Markup('<a href="#{}">{}</a>').format(audit.anchor, audit.name) for audit in left
            ),
        )
    ]


def _how_sure(results: Results, tested: Sequence[Audit]) -> list[Markup]:
    """Counts beyond chance: of each model the better of the tests that it has, each test by its own name."""
    flips = [row["p"] for a in results.audits if (row := uncertainty.chance(results, a, a.main)) is not None]
    others = [a for a in tested if uncertainty.chance(results, a, a.main) is None]
    bernoulli = [t.value or 0.0 for a in others if (t := uncertainty.bernoulli(a.main)) is not None]
    said = []
    for p, what, how in (
        (
            flips,
            f"values fall below p = 0.05 by their tests in {results.unit}",
            "sign flips common to all values",
        ),
        (
            bernoulli,
            f"values fall below p = 0.05 in the {results.texts.counting}",
            "Bernoulli test, which takes the tests as independent; they are not quite",
        ),
    ):
        if p:
            beyond = sum(one < 0.05 for one in p)
            said.append(
                Markup("In {} of {} models more {} than chance would explain ({}).").format(
                    figure(beyond, str(beyond), "derived/models_beyond_chance"),
                    figure(len(p), str(len(p)), "derived/models_counted"),
                    what,
                    how,
                )
            )
    said.append(
        Markup(
            "Models are not independent of each other: they share training texts, and here they share {}."
        ).format(results.texts.documents)
    )
    return said


def _share(audit: Audit) -> Markup:
    found = audit.main.metric("biased_labels", threshold=0.05)
    assert found is not None
    source = f"{audit.anchor}/model_metrics/biased_labels/all/0.05"
    return Markup("{} of {} labels").format(
        figure(found.value, numbers.count(found.value), f"{source}/value"),
        figure(found.n, numbers.count(found.n), f"{source}/n"),
    )
