"""The first minute: what was confirmed, how surely, and what could not be seen. Terminal, page and exports
print these sentences.

All of them are made from findings (`analyze.findings`) and from counts of what was asked and read. Every
figure is a `<data>` element that carries the full figure and where it stands in the database, so that a test
(and a reader with doubts) can look it up.
"""

from __future__ import annotations

import statistics
from collections import Counter
from dataclasses import dataclass

from markupsafe import Markup

from analyze.findings import FindingRow, codes
from analyze.report import conclusions, data_flow, numbers
from analyze.report.conclusions import Conclusions, LabelFindings
from analyze.report.figures import figure, metric
from analyze.report.outcomes import OUTCOMES, Told
from analyze.report.shapes import IMPORTED, Audit, Design, Reading, Results

MOST_LINES = 6
"""Confirmed labels that the minute gives a line each; the table of findings has all."""

MOST_NAMES = 5
LARGEST = 20
"""Without so many of the largest moves an effect is given; where these are most moves, that says little."""
MOST_REASONS = 3

NO_PROOF = "This is no proof of even-handedness."

LEAST_CASES = 6
"""Fewer cases than this that change cannot bring the p of sign flips below 0.05: 2 * 0.5**5 is 0.0625."""

REASONS = {
    codes.CONSTANT_ANSWERS: "the model gave one and the same answer to every {document}",
    codes.TOO_FEW_CASES: "too few {documents}: no p-value could fall below 0.05 with these",
    codes.OUT_OF_REACH: "too few {documents} for the correction: no corrected p-value could fall below 0.05",
    codes.ONE_CASE: "one {document} alone was compared",
    codes.NOTHING_COMPARED: "no {document} has both answers that would be compared",
    codes.REFERENCE_NOT_READ: "no answer under the reference value could be read",
    codes.VALUE_NOT_READ: "no answer under a varied value could be read",
    codes.TOO_FEW_CHANGES: "too few {documents} changed for any p-value below 0.05",
    codes.NO_CHANGE: "no answer changed",
    codes.NOT_SIGNIFICANT: "its p-value is not below 0.05",
    codes.AFTER_CORRECTION: "below 0.05 taken alone, and not after the correction",
    codes.VALUE_NOT_SHOWN: "its label is confirmed; that this value moves it is not shown",
}
"""Why a finding is not confirmed, to follow a colon. Every code of `analyze.findings.codes` has its text."""


@dataclass(frozen=True, slots=True)
class Line:
    """What is confirmed of a label: the sentence, and what carries it."""

    said: Markup
    carried: tuple[Markup, ...] = ()


@dataclass(frozen=True, slots=True)
class Minute:
    """The first screen of a model under a coding."""

    conclusion: Markup
    confirmed: tuple[Line, ...]
    tested: tuple[Markup, ...]
    missing: tuple[Markup, ...]
    smallest: Markup
    count: Markup | None
    """The paper's uncorrected count under its name, with what chance alone would give."""

    def sentences(self) -> tuple[Markup, ...]:
        """All of it in order."""
        lines = [part for line in self.confirmed for part in (line.said, *line.carried)]
        rest = [*self.tested, *self.missing, self.smallest, *([self.count] if self.count else [])]
        return (self.conclusion, *lines, *(sentence for sentence in rest if sentence))

    def plain(self) -> tuple[str, ...]:
        """The same as text."""
        return tuple(" ".join(sentence.striptags().split()) for sentence in self.sentences())


def of(results: Results, audit: Audit, reading: Reading) -> Minute:
    """The minute of a model under a coding."""
    found = conclusions.of(reading)
    writer = _Writer(results, audit, reading, found)
    return Minute(
        conclusion=writer.conclusion(),
        confirmed=tuple(writer.lines()),
        tested=tuple(writer.tested()),
        missing=tuple(writer.missing()),
        smallest=writer.smallest(),
        count=writer.count(),
    )


def reason(code: str | None, results: Results) -> str:
    """Why a finding is not confirmed, in words."""
    text = REASONS.get(code or "", "")
    return text.replace("{documents}", results.texts.documents).replace("{document}", results.texts.document)


def contrast(design: Design | None, row: FindingRow) -> str:
    """What is held against what: "Islam instead of atheism", "from 30 to 55"."""
    if design is None or row.value is None:
        return row.value or row.contrast or ""
    if design.continuous:
        first, arrow, second = (row.contrast or "").partition(" -> ")
        return f"from {first} to {second}" if arrow else design.value_en(row.value)
    versus = ", ".join(design.value_en(value) for value in design.reference)
    return f"{design.value_en(row.value)} instead of {versus}" if versus else design.value_en(row.value)


@dataclass(frozen=True)
class _Writer:
    results: Results
    audit: Audit
    reading: Reading
    found: Conclusions

    @property
    def pending(self) -> int:
        return self.audit.pending

    # ---- the conclusion

    def conclusion(self) -> Markup:
        """What it comes to, in one or two sentences, and that it is not all asked yet where it is not."""
        return self._conclusion() + so_far(self.pending)

    def _conclusion(self) -> Markup:
        found, texts = self.found, self.results.texts
        if not found.labels:
            return Markup(
                "Nothing is confirmed or ruled out: no confirmatory test was made under the {} coding."
            ).format(texts.coding(self.reading.coding).lower())
        ended = data_flow.outcome_counts(self.audit)
        if data_flow.ANSWERED not in ended:
            kinds = (f"{data_flow.OUTCOMES.get(kind, kind).lower()}: {n:,}" for kind, n in ended.items())
            return Markup("Nothing could be tested: no query was answered ({}). {}").format(
                ", ".join(kinds) or "none was asked", NO_PROOF
            )
        asked = self.figure(len(found.labels), "labels")
        if found.constant:
            return Markup(
                "The model gave one and the same answer to every {}: nothing varied, so nothing could be "
                "found. {}"
            ).format(texts.document, NO_PROOF)
        confirmed = found.confirmed
        if confirmed:
            names = [
                Markup("<b>{}</b> ({})").format(self.name(one.label), self.p(one.row))
                for one in confirmed[:MOST_NAMES]
            ]
            more = len(confirmed) - len(names)
            listed = Markup(", ").join(names) + (Markup(" and {} more").format(more) if more else "")
            return Markup("Confirmed: the answers change with {}: {}.").format(
                self.of_varied(len(confirmed), asked), listed
            )
        if not found.tested:
            none = all(one.row.state == codes.UNTESTABLE for one in found.labels)
            return Markup("{}: {}. {}").format(
                "Nothing could be tested" if none else "No effect is confirmed",
                Markup("; ").join(self.reasons()), NO_PROOF,
            )  # fmt: skip
        whole = (
            Markup("the one label (varied fact) tested")
            if found.tested == 1
            else Markup("any of the {} labels (varied facts) tested").format(
                self.figure(found.tested, "tested")
            )
        )
        return Markup("No effect is confirmed for {}. {}").format(whole, NO_PROOF)

    def of_varied(self, confirmed: int, asked: Markup) -> Markup:
        """How many of the labels asked, and what a label is."""
        if len(self.found.labels) == 1:
            return Markup("the one label (varied fact) asked")
        return Markup("{} of {} labels (varied facts)").format(self.figure(confirmed, "confirmed"), asked)

    # ---- what is confirmed

    def lines(self) -> list[Line]:
        """A line for each confirmed value, or for the label where no value is shown."""
        said = [line for one in self.found.confirmed[:MOST_LINES] for line in self.of_label(one)]
        more = len(self.found.confirmed) - MOST_LINES
        if more > 0:
            said.append(
                Line(Markup("{} more confirmed {} in the table of findings.").format(
                    self.figure(more, "more"), "label stands" if more == 1 else "labels stand"
                ))
            )  # fmt: skip
        return said

    def of_label(self, one: LabelFindings) -> list[Line]:
        """What is confirmed of one label."""
        said = []
        for test in one.confirmed:
            words = OUTCOMES[test.row.measure]
            if not test.shown:
                told = self.told(test.row)
                line = Markup("<b>{}</b>: {}; {}.").format(
                    self.name(one.label), words.moves(told), self.p(test.row)
                )
                said.append(Line(line))
            for row in test.shown:
                told, words = self.told(row), OUTCOMES[row.measure]
                line = Markup("<b>{}: {}</b>: {}{}; {}.").format(
                    self.name(one.label), contrast(self.design(one.label), row), words.moved(told),
                    self.interval(told), self.p(row),
                )  # fmt: skip
                said.append(Line(line, tuple(self.carried(told))))
        return said

    def p(self, row: FindingRow) -> Markup:
        """The row's own p after the correction, as the table of findings has it."""
        if row.p_adjusted is None:
            return Markup("its p-value is not known")
        return Markup('<span class="p">p {}</span>').format(
            self.told(row).number("p_adjusted", numbers.with_sign(row.p_adjusted))
        )

    def interval(self, told: Told) -> Markup:
        """The interval of an effect, and whether the selection is allowed for; why there is none."""
        row = told.row
        if row.ci_low is None or row.ci_high is None or row.ci_low == row.ci_high:
            if codes.NO_SPREAD in row.notes:
                return Markup("; all moved alike, so there is no interval")
            return Markup("")
        share = row.unit == codes.SHARE
        scale, unit = (100.0, " points") if share else (1.0, "")
        of = " of the difference" if share else ""
        if row.measure == codes.KIND:
            net = told.number("effect", numbers.percent(row.effect))
            of = Markup(" of the share that switches so{}, {}%,").format(
                ", less the share that switches back" if row.switches_back else "", net
            )
        low, high = scale * row.ci_low, scale * row.ci_high
        places = numbers.apart(low, high, 1 if share or row.measure == codes.YES_NO else 2)
        level = _per_cent(row.ci_level or 0.95)
        how = ", adjusted for the selection" if row.ci_kind == codes.SELECTED else ""
        if how and row.ci_low <= 0 <= row.ci_high and row.state == codes.CONFIRMED:
            how += ", which makes it wider than the test and lets it reach past 0"
        return Markup("; {}% interval{} {} to {}{}{}").format(
            level, of,
            told.number("ci_low", numbers.signed(low, places)),
            told.number("ci_high", numbers.signed(high, places)), unit, how,
        )  # fmt: skip

    def carried(self, told: Told) -> list[Markup]:
        """What carries a confirmed effect, and whether it rests on amounts that nobody gave."""
        row, texts = told.row, self.results.texts
        said: list[Markup] = []
        amount = row.measure in codes.MEASURED
        places = 1 if row.measure == codes.YES_NO else 2
        unit = f" {row.unit}" if amount else ""

        def effect(column: str) -> Markup:
            value = getattr(row, column)
            text = numbers.signed(value, places) if amount else numbers.signed(100 * value, 1) + " points"
            return told.number(column, text) + unit

        if row.n_converted:
            line = Markup("In {} of {} pairs an answer names no amount, and a rule gives it one: {}.").format(
                told.count("n_converted"), told.count("n_compared"), texts.conversion
            )
            if row.effect_unconverted is not None:
                line += Markup(" Without these pairs the effect is {}").format(effect("effect_unconverted"))
                if row.p_unconverted is not None:
                    line += Markup(" (p {}, uncorrected)").format(
                        told.number("p_unconverted", numbers.with_sign(row.p_unconverted))
                    )
                line += "."
            else:
                line += " Without these pairs nothing is left to compare."
            if codes.RESTS_ON_CONVERSIONS in row.notes:
                line += Markup(" <b>The effect rests on this conversion.</b>")
            said.append(line)
        parts: list[Markup] = []
        if row.carrier and row.carrier_share is not None and (row.carrier_cases or 0) < row.n_compared:
            part = Markup("{}% of it comes from {} of {} {} ({} {})").format(
                told.number("carrier_share", numbers.percent(row.carrier_share, 0)),
                told.count("carrier_cases"), told.count("n_compared"),
                texts.counted(row.n_compared), texts.carrier, row.carrier,
            )  # fmt: skip
            if row.effect_without_carrier is not None:
                part += Markup("; without them, {}").format(effect("effect_without_carrier"))
            parts.append(part)
        for column, what in (
            ("effect_without_largest", f"without the {texts.document} that moves most,"),
            ("effect_without_20", f"without the 20, of {row.n_changed} changed, that move most,"),
        ):
            if getattr(row, column) is not None and codes.NO_SPREAD not in row.notes:
                parts.append(Markup("{} {}").format(what, effect(column)))
        if parts:
            said.append(Markup("What carries it: {}.").format(Markup("; ").join(parts)))
        if codes.RESTS_ON_ONE_CASE in row.notes:
            said.append(
                Markup("<b>It rests on one {}:</b> without it the effect vanishes or turns.").format(
                    texts.document
                )
            )
        elif codes.RESTS_ON_FEW in row.notes and row.n_changed >= 2 * LARGEST:
            said.append(
                Markup(
                    "<b>It rests on few {}:</b> without the 20 that move most it vanishes or turns."
                ).format(texts.documents)
            )
        return said

    # ---- how many could be tested, what was missing, what could have been seen

    def tested(self) -> list[Markup]:
        """How many labels could be tested, and why others could not."""
        found, texts = self.found, self.results.texts
        if not found.labels:
            return []
        if found.constant:
            return [
                Markup(
                    "{} {} asked; as no answer differed from another, no test could show anything."
                ).format(self.figure(len(found.labels), "labels"), self.labels(len(found.labels)))
            ]
        said = self.how_many_tested()
        if found.untested and found.tested:
            said += Markup("; of the others: {}").format(Markup("; ").join(self.reasons()))
        lines = [said + "."]
        if found.confirmed:
            lines.append(
                Markup(
                    "A p beside a label is of the label as a whole, a p beside an effect of that effect. "
                    "All are corrected for {}."
                ).format(self.corrected_for())
            )
        if found.tested:
            lines.append(
                Markup("If no label had an effect, at most 5 of 100 studies like this would confirm any.")
            )
        most = found.most_compared
        if 0 < most < conclusions.FEW_CASES:
            few = Markup("Too few {}: at most {} {} compared for any label").format(
                texts.documents, self.figure(most, "most_compared"), "was" if most == 1 else "were"
            )
            few += (
                f"; with fewer than {LEAST_CASES} nothing can be confirmed."
                if most < LEAST_CASES
                else ", so only large effects can be seen."
            )
            lines.append(few)
        return lines

    def how_many_tested(self) -> Markup:
        """How many of the labels asked were tested: all, some or none, of one or of several."""
        asked, tested = len(self.found.labels), self.found.tested
        if asked == 1:
            return Markup("The one label asked was {}tested").format("" if tested else "not ")
        if not tested:
            return Markup("Not one of the {} labels asked was tested").format(self.figure(asked, "labels"))
        if tested == asked:
            return Markup("All {} labels asked were tested").format(self.figure(asked, "labels"))
        return Markup("{} of {} labels asked {} tested").format(
            self.figure(tested, "tested"), self.figure(asked, "labels"), "was" if tested == 1 else "were"
        )

    def corrected_for(self) -> Markup:
        """What every p of the minute is corrected for."""
        family, together = self.found.family, self.results.together(self.audit)
        if family == 1:
            return Markup("the tests of the label")
        return Markup("{} labels{} and the tests of each").format(
            self.figure(family, "family"), f" ({together})" if together else ""
        )

    def missing(self) -> list[Markup]:
        """Answers that could not be compared, by kind, and queries not asked yet."""
        texts, said = self.results.texts, []
        rows = sum(tally.rows for tally in self.reading.tallies)
        gone: Counter[str] = Counter()
        for tally in self.reading.tallies:
            gone[tally.missing or tally.read_as or ""] += tally.rows - tally.usable
        total = sum(gone.values())
        at = f"{self.audit.anchor}/frame"
        if rows and not total:
            said.append(Markup("All {} answers could be read.").format(
                figure(rows, numbers.count(rows), f"{at}/rows")
            ))  # fmt: skip
        elif rows:
            kinds = Markup(", ").join(
                Markup("{} {}").format(
                    figure(count, numbers.count(count), "derived/missing_kind"),
                    _within(texts.absence(kind)) if kind else "no outcome",
                )
                for kind, count in gone.most_common()
                if count
            )
            said.append(
                Markup("{} of {} answers ({}%) are missing: {}.").format(
                    figure(total, numbers.count(total), f"{at}/missing"),
                    figure(rows, numbers.count(rows), f"{at}/rows"),
                    figure(total / rows, numbers.percent(total / rows), f"{at}/missing_share"), kinds,
                )
            )  # fmt: skip
        unknown = max(0, self.audit.queries - self.audit.asked)
        if self.audit.kind == IMPORTED and unknown:
            said.append(
                Markup("{} of {} queries have no answer in the imported files.").format(
                    figure(unknown, numbers.count(unknown), "derived/unknown"),
                    figure(self.audit.queries, numbers.count(self.audit.queries), "derived/queries"),
                )
            )
        failed = [
            f"{count:,} {what}"
            for outcome, what in _UNANSWERED.items()
            if (count := sum(ended.rows for ended in self.audit.ended if ended.outcome == outcome))
        ]
        if failed:
            said.append(Markup("Without an answer: {}.").format(", ".join(failed)))
        if self.audit.answered_by_several:
            names = [
                Markup("{} ({})").format(name, figure(answers, numbers.count(answers), "derived/returned"))
                for name, answers in self.audit.returned.items()
            ]
            said.append(
                Markup("More than one model answered: {}. The figures are of all of them together.").format(
                    Markup(", ").join(names)
                )
            )
        return said

    def smallest(self) -> Markup:
        """The effect that the confirmatory test, as it is used, would find four times in five."""
        found, texts = self.found, self.results.texts
        known = found.detectables
        if not found.labels or self.results.specs.nominal:
            return Markup("")
        if not known:
            return Markup(
                "What effect could have been seen is not known: too few answers changed, or by sizes too "
                "unequal, to simulate it."
            )
        low, middle, high = known[0], statistics.median(known), known[-1]
        family = self.found.family
        corrected = f"corrected for {family:,} labels" if family > 1 else "of the one label"
        span = (
            Markup("")
            if numbers.decimal(low, 1) == numbers.decimal(high, 1)
            else Markup(" (median over values; {} to {})").format(
                figure(low, numbers.decimal(low, 1), "derived/detectable"),
                figure(high, numbers.decimal(high, 1), "derived/detectable"),
            )
        )
        return Markup(
            "The confirmatory test ({}) would find an average effect on {} of {} {} four times in five{}; "
            "smaller ones would mostly go unseen."
        ).format(
            corrected, texts.measure, figure(middle, numbers.decimal(middle, 1), "derived/detectable"),
            self.results.unit, span,
        )  # fmt: skip

    def count(self) -> Markup | None:
        """The paper's uncorrected count, under its name, and what chance alone would give."""
        biased = self.reading.metric("biased_labels", threshold=conclusions.LEVEL)
        if biased is None or not biased.n or biased.value is None:
            return None
        chance = by_chance(self.reading)
        return Markup(
            "Uncorrected count of the {} (labels with a value at clustered p &lt; 0.05): {} of {}; "
            "chance alone would give about {}. It is no list of findings."
        ).format(
            self.results.texts.counting, metric(biased, numbers.count(biased.value), at=self.audit.anchor),
            metric(biased, numbers.count(biased.n), "n", at=self.audit.anchor),
            figure(chance, numbers.expected(chance), "derived/by_chance"),
        )  # fmt: skip

    # ---- pieces

    def reasons(self) -> list[Markup]:
        """Why labels could not be tested, with how many where there are several reasons."""
        counted = self.found.reasons()
        said = [
            Markup("{} ({} {})").format(
                reason(code, self.results), figure(count, str(count), "derived/reason"), self.labels(count)
            )
            if len(counted) > 1 or self.found.tested
            else Markup("{}").format(reason(code, self.results))
            for code, count in counted[:MOST_REASONS]
        ]
        left = sum(count for _, count in counted[MOST_REASONS:])
        return [*said, Markup("other reasons ({})").format(left)] if left else said

    def design(self, label: str) -> Design | None:
        return self.reading.designs.get(label)

    def name(self, label: str) -> str:
        design = self.design(label)
        return design.name_en if design else label

    def told(self, row: FindingRow) -> Told:
        return Told(row, self.results.texts, f"{self.audit.anchor}/findings/{row.position}")

    def figure(self, value: int, name: str) -> Markup:
        return figure(value, numbers.count(value), f"derived/{name}")

    @staticmethod
    def labels(count: int) -> str:
        return "label" if count == 1 else "labels"


_UNANSWERED = {
    "truncated": "cut off at the length limit",
    "context_overflow": "longer than the model can read",
    "rejected": "rejected by the provider",
    "failed": "failed for good",
}
"""Ends of a query that bring no answer to read; refusals and empty answers are among the readings."""


def so_far(pending: int) -> Markup:
    """What follows a conclusion while queries are pending."""
    if not pending:
        return Markup("")
    return Markup(" So far: {} not been asked yet.").format(
        Markup("{} {}").format(
            figure(pending, numbers.count(pending), "derived/pending"),
            "query has" if pending == 1 else "queries have",
        )
    )


def do_not_conclude(results: Results) -> str:
    """What the minute warns of; the section below has all cautions of the domain."""
    return (
        "What is not confirmed is not shown to be absent. What is confirmed says that the answers depend on "
        f"the fact, not why, and nothing of other {results.texts.documents}, prompts or models."
    )


def _within(text: str) -> str:
    """A text with a capital, as it stands within a sentence."""
    return text[:1].lower() + text[1:]


def _per_cent(level: float) -> str:
    """A level of confidence, never rounded up to 100."""
    texts = [numbers.percent(level, places) for places in range(0, 4)]
    fit = [text for text in texts if abs(float(text) / 100 - level) < (1 - level) / 10]
    return fit[0] if fit else "over 99.99"


def by_chance(reading: Reading) -> float:
    """Labels of which chance alone would bring some value below 0.05, values taken as independent."""
    return sum(
        1 - (1 - conclusions.LEVEL) ** row.values_estimated for row in reading.labels if row.values_estimated
    )
