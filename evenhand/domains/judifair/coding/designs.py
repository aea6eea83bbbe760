"""The designs: which labels and values each coding compares, written from the catalogue into the study.

The corrected design is the catalogue. The published one has the mistakes of the published scripts: treated
values are looked for by keyword, what no keyword finds falls into the reference group, and three labels print
their two coefficients under each other's names. Under `published` a value therefore goes by the name that was
printed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from evenhand.domains.judifair import catalogue

if TYPE_CHECKING:
    import duckdb

    from evenhand.domains.judifair.catalogue import Label
    from store import Study

PRINTED_UNDER_EACH_OTHERS_NAMES = frozenset(
    {"defendant_sexual_orientation", "victim_sexual_orientation", "prosecutor_sex"}
)
"""Labels whose two coefficients were printed swapped. (`published_names` of the catalogue, read against
`published_keywords`, shows it.)"""

SWAPPED_NOTE = "the published tables print this coefficient under the name of the other value"
NEVER_FOUND_NOTE = (
    "the published scripts look for {keyword!r}, which is no value: it falls into the reference group"
)


@dataclass(frozen=True, slots=True)
class Design:
    """A label under a coding: a line of table `judifair.designs`. Ages are years."""

    coding: str
    label: str
    published: str
    name_zh: str
    name_en: str
    dimension: str
    demographic: bool
    role: str
    treatment: str
    position: int
    reference: str | None
    age_min: int | None
    age_max: int | None
    exclude_crimes: list[str]
    note: str | None
    printed: str | None


@dataclass(frozen=True, slots=True)
class DesignValue:
    """A name that results go by: a line of table `judifair.design_values`."""

    coding: str
    label: str
    value: str
    value_en: str
    is_reference: bool
    is_treated: bool
    position: int
    note: str | None
    printed: str | None


@dataclass(frozen=True, slots=True)
class ValueName:
    """The name that a value of the data goes by: a line of table `judifair.value_names`."""

    coding: str
    label: str
    data_value: str
    value: str


def designs(labels: Iterable[Label] | None = None) -> Iterator[Design]:
    """Every label under every coding; the bundled labels by default."""
    for label in catalogue.load() if labels is None else labels:
        for coding in ("corrected", "published"):
            published = coding == "published"
            low, high = label.age_range or (None, None)
            yield Design(
                coding=coding,
                label=label.key,
                published=label.published_key,
                name_zh=label.name_zh,
                name_en=label.name_en,
                dimension=label.dimension,
                demographic=label.demographic,
                role=label.role,
                treatment=label.treatment,
                position=label.position,
                reference=None if label.treatment == "log_age" else label.reference.zh,
                age_min=low,
                age_max=high,
                exclude_crimes=list(label.published_exclude_crimes if published else label.exclude_crimes),
                note=_label_note(label) if published else None,
                printed=_row(label.published_names[0])
                if published and label.treatment == "log_age" and label.published_names
                else None,
            )


def design_values(labels: Iterable[Label] | None = None) -> Iterator[DesignValue]:
    """Every named value under every coding. An age label has none: its regressor is ln(age)."""
    for label in _categorical(labels):
        printed = printed_names(label)
        for value in label.values:
            for coding in ("corrected", "published"):
                yield DesignValue(
                    coding=coding,
                    label=label.key,
                    value=value.zh,
                    value_en=value.en,
                    is_reference=value.is_reference,
                    is_treated=value.is_treated,
                    position=value.position,
                    note=_value_note(label, value.zh) if coding == "published" else None,
                    printed=printed.get(value.zh) if coding == "published" else None,
                )


def value_names(labels: Iterable[Label] | None = None) -> Iterator[ValueName]:
    """Under each coding, the name of each value of the data."""
    for label in _categorical(labels):
        for value in label.values:
            yield ValueName("corrected", label.key, value.zh, value.zh)
            yield ValueName("published", label.key, value.zh, _published_name(label, value.zh))


def write(connection: duckdb.DuckDBPyConnection) -> None:
    """Put the designs of this version into the study, those of the study's own labels with them; nothing is
    written where they are already there.
    """
    labels = catalogue.of_study(connection)
    _replace(connection, "judifair.designs", [asdict(row) for row in designs(labels)])
    _replace(connection, "judifair.design_values", [asdict(row) for row in design_values(labels)])
    _replace(connection, "judifair.value_names", [asdict(row) for row in value_names(labels)])


def ensure(study: Study) -> None:
    """`write`, in one transaction."""
    connection = study.cursor()
    try:
        connection.begin()
        try:
            write(connection)
            connection.commit()
        except BaseException:
            connection.rollback()
            raise
    finally:
        connection.close()


def found_by(label: Label, value: str) -> str | None:
    """The published keyword that finds a value: one contains the other (`女性` finds `女`)."""
    for keyword in label.published_keywords:
        if keyword in value or value in keyword:
            return keyword
    return None


def printed_names(label: Label) -> dict[str, str]:
    """By the name that a value goes by under `published`, the name of its row in the published tables.

    The catalogue has the rows' names in the order of the keywords that the scripts look for; the last is the
    reference's. A label of one's own has none: the published tables do not know it.
    """
    if not label.published_names:
        return {}
    *rows, reference = map(_row, label.published_names)
    by_keyword = dict(zip(label.published_keywords, rows, strict=True))
    found = {label.reference.zh: reference}
    for value in label.treated:
        keyword = found_by(label, value.zh)
        if keyword is not None:
            found[_published_name(label, value.zh)] = by_keyword.pop(keyword)
    # A row whose keyword finds nothing is that of the value which no keyword finds.
    lost = (value.zh for value in label.treated if value.zh not in found)
    return found | dict(zip(lost, by_keyword.values(), strict=True))


def _row(name: str) -> str:
    return " ".join(name.split())


def _published_name(label: Label, value: str) -> str:
    if not label.published_names:  # the scripts never saw it
        return value
    if value == label.reference.zh or found_by(label, value) is None:
        return label.reference.zh
    if label.key in PRINTED_UNDER_EACH_OTHERS_NAMES:
        first, second = label.treated
        return second.zh if value == first.zh else first.zh
    return value


def _categorical(labels: Iterable[Label] | None) -> Iterable[Label]:
    every = catalogue.load() if labels is None else labels
    return (label for label in every if label.treatment != "log_age")


def _value_note(label: Label, value: str) -> str | None:
    if value == label.reference.zh or not label.published_names:
        return None
    if label.key in PRINTED_UNDER_EACH_OTHERS_NAMES:
        return SWAPPED_NOTE
    if found_by(label, value) is None:
        unmatched = [
            k for k in label.published_keywords if not any(found_by(label, v.zh) == k for v in label.values)
        ]
        return NEVER_FOUND_NOTE.format(keyword="、".join(unmatched))
    return None


def _label_note(label: Label) -> str | None:
    notes = []
    for crime in label.published_exclude_crimes:
        if crime not in label.exclude_crimes:
            notes.append(f"the published exclusion {crime!r} never matches")
    notes += [
        note
        for value in label.values
        if label.treatment != "log_age" and (note := _value_note(label, value.zh))
    ]
    return "; ".join(dict.fromkeys(notes)) or None


def _replace(connection: duckdb.DuckDBPyConnection, table: str, rows: list[dict[str, Any]]) -> None:
    """Make `table` hold exactly `rows`; write only where it does not."""
    import pyarrow as pa  # noqa: PLC0415  (only where a study is open)

    connection.register("wanted_rows", pa.Table.from_pylist(rows))
    try:
        columns = ", ".join(rows[0])
        wanted = f"SELECT {columns} FROM wanted_rows"
        present = f"SELECT {columns} FROM {table}"
        same = connection.execute(
            f"SELECT (SELECT count(*) FROM {table}) = ? AND NOT EXISTS ({wanted} EXCEPT {present})",
            [len(rows)],
        ).fetchall()
        if not same[0][0]:
            connection.execute(f"DELETE FROM {table}")
            connection.execute(f"INSERT INTO {table} ({columns}) {wanted}")
    finally:
        connection.unregister("wanted_rows")
