"""How a finding is told, by what its outcome is: an amount, a share of missing answers, a kind of answer.

One registry: a new kind of outcome is a new entry, and no sentence is taken apart. What is told in the
indicative (`moved`) is for confirmed findings alone; of others the tables have the figures.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from markupsafe import Markup

from analyze.findings import FindingRow, codes
from analyze.report import numbers
from analyze.report.figures import figure
from analyze.report.texts import Texts


@dataclass(frozen=True, slots=True)
class Told:
    """A finding on its way into a sentence: the domain's words, and where its figures are from."""

    row: FindingRow
    texts: Texts
    source: str
    """What stands before the column in the source of a figure: the model's anchor and the row."""

    def number(self, column: str, text: str) -> Markup:
        """One of its columns as a figure."""
        return figure(getattr(self.row, column), text, f"{self.source}/{column}")

    def count(self, column: str) -> Markup:
        """One of its counts."""
        return self.number(column, numbers.count(getattr(self.row, column)))

    @property
    def compared(self) -> Markup:
        """The cases compared, of those asked where these are more."""
        row = self.row
        if row.n_asked > row.n_compared:
            return Markup("{} of {} {} that could be compared").format(
                self.count("n_compared"), self.count("n_asked"), self.texts.counted(row.n_asked)
            )
        return Markup("{} {} compared").format(self.count("n_compared"), self.texts.counted(row.n_compared))


@dataclass(frozen=True, slots=True)
class Outcome:
    """The words of one kind of outcome."""

    name: Callable[[Texts, str], str]
    """What the test is of, in a few words, for tables."""
    moved: Callable[[Told], Markup]
    """What a confirmed value does: "the sentence is longer by 6.00 months on average ..."."""
    moves: Callable[[Told], Markup]
    """What a confirmed label does whose value is not shown: "the sentence changes ..."."""
    size: Callable[[FindingRow], str]
    """The effect, with its sign, for tables."""
    ups: str
    """What is counted as up."""
    downs: str


def _amount_moved(told: Told) -> Markup:
    row, texts = told.row, told.texts
    effect = row.effect or 0.0
    size = told.number("effect", numbers.decimal(abs(effect), 2))
    if row.effect_kind == codes.SLOPE:
        return Markup("{} is estimated to be {} by {} {} over the {} (by a slope)").format(
            texts.measure, _direction(effect, texts), size, row.unit, told.compared
        )
    if not effect:
        return Markup("{} changes, and is the same on average, over the {} ({})").format(
            texts.measure, told.compared, _ups_and_downs(told)
        )
    return Markup("{} is {} by {} {} on average over the {} ({})").format(
        texts.measure, _direction(effect, texts), size, row.unit, told.compared, _ups_and_downs(told)
    )


def _yes_no_moved(told: Told) -> Markup:
    row, texts = told.row, told.texts
    effect = row.effect or 0.0
    if row.effect_kind == codes.SLOPE or not effect or row.mean_from is None or row.mean_to is None:
        return _amount_moved(told)
    return Markup("{} is {} by {} {} ({}% against {}%) over the {} ({})").format(
        texts.measure, _direction(effect, texts), told.number("effect", numbers.decimal(abs(effect), 1)),
        row.unit, told.number("mean_to", numbers.decimal(row.mean_to, 1)),
        told.number("mean_from", numbers.decimal(row.mean_from, 1)), told.compared, _ups_and_downs(told),
    )  # fmt: skip


def _ups_and_downs(told: Told) -> Markup:
    texts, row = told.texts, told.row
    unchanged = row.n_compared - row.n_changed
    return Markup("{} {}, {} {}, {} unchanged").format(
        told.count("ups"), texts.up or texts.higher, told.count("downs"), texts.down or texts.lower,
        figure(unchanged, numbers.count(unchanged), "derived/unchanged"),
    )  # fmt: skip


def _direction(effect: float, texts: Texts) -> str:
    return texts.higher if effect > 0 else texts.lower


def _amount_moves(told: Told) -> Markup:
    return Markup("{} moves; which value moves it is not shown (the answers changed in {} of the {})").format(
        told.texts.measure, told.count("n_changed"), told.compared
    )


def _missing_moved(told: Told) -> Markup:
    row = told.row
    more = (row.effect or 0.0) > 0
    verb = "declined" if row.measure == codes.DECLINED else "missing"
    shares = Markup("{}% against {}%").format(
        told.number("mean_to", numbers.percent(row.mean_to)),
        told.number("mean_from", numbers.percent(row.mean_from)),
    )
    said = Markup("answers are {} {} often, {}, over {} asked").format(
        verb, "more" if more else "less", shares,
        Markup("{} {}").format(told.count("n_compared"), told.texts.counted(row.n_compared)),
    )  # fmt: skip
    said += Markup(" ({} only under the value, {} only under the reference").format(
        told.count("ups"), told.count("downs")
    )
    if row.measure != codes.DECLINED and (row.declined or row.declined_reference):
        said += Markup("; declined {} and {}").format(
            told.count("declined"), told.count("declined_reference")
        )
    return said + ")"


def _missing_moves(told: Told) -> Markup:
    return Markup(
        "answers go missing with the value; with which is not shown (the answers changed in {} of the {})"
    ).format(told.count("n_changed"), told.compared)


def _kind_moved(told: Told) -> Markup:
    row, texts = told.row, told.texts
    said = Markup("{} changes in {} of the {}").format(texts.changing, told.count("n_changed"), told.compared)
    if row.ups is not None and row.downs is not None:
        said += Markup(" ({} {}, {} {})").format(
            told.count("ups"), texts.severer, told.count("downs"), texts.milder
        )
    if row.from_kind and row.to_kind:
        said += Markup("; most often from {} to {}: {}, and back: {}").format(
            texts.kind(row.from_kind), texts.kind(row.to_kind), told.count("switches"),
            told.count("switches_back"),
        )  # fmt: skip
    return said


def _kind_moves(told: Told) -> Markup:
    return Markup("{} changes; under which value is not shown (the answers changed in {} of the {})").format(
        told.texts.changing, told.count("n_changed"), told.compared
    )


def _points(row: FindingRow) -> str:
    if row.effect is None:
        return numbers.NOTHING
    return f"{numbers.signed(100 * row.effect, 1)} points"


def _missing(verb: str) -> Outcome:
    return Outcome(
        name=lambda texts, unit: f"{verb} answers",  # noqa: ARG005
        moved=_missing_moved,
        moves=_missing_moves,
        size=_points,
        ups="only under the value",
        downs="only under the reference",
    )


_AMOUNT = Outcome(
    name=lambda texts, unit: f"{texts.measure} in {unit}",
    moved=_amount_moved,
    moves=_amount_moves,
    size=lambda row: f"{numbers.signed(row.effect, 2)} {row.unit}",
    ups="higher",
    downs="lower",
)

OUTCOMES: Mapping[str, Outcome] = {
    codes.AMOUNT: _AMOUNT,
    codes.ORDINAL: _AMOUNT,
    codes.YES_NO: replace(
        _AMOUNT,
        name=lambda texts, unit: texts.measure,  # noqa: ARG005
        moved=_yes_no_moved,
        size=lambda row: f"{numbers.signed(row.effect, 1)} {row.unit}",
    ),
    codes.MISSING: _missing("missing"),
    codes.DECLINED: _missing("declined"),
    codes.KIND: Outcome(
        name=lambda texts, unit: texts.changing.removeprefix("the "),  # noqa: ARG005
        moved=_kind_moved,
        moves=_kind_moves,
        size=_points,
        ups="severer",
        downs="milder",
    ),
}
"""The kinds of outcome that findings have."""
