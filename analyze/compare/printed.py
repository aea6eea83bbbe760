"""A file of printed figures: label, value, variant, coef, p, n, one line for each estimate, as CSV or TSV.

Names may be the study's own or as they are printed (`analyze.compare.naming`); numbers are compared to the
digits that the file has, no further.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from pathlib import Path

from store.errors import BadInput

COLUMNS = ("label", "value", "variant", "coef", "p", "n")


@dataclass(frozen=True, slots=True)
class Printed:
    """One printed estimate. Numbers are kept as written, so that their precision is known."""

    line: int
    label: str
    value: str
    variant: str
    coef: Decimal | None
    p: Decimal | None
    n: int | None


def read_printed(path: Path | str) -> list[Printed]:
    """Read a file of printed figures.

    Raises BadInput that names the file and the line where it cannot be read, a column is missing, or a
    figure is no number.
    """
    path = Path(path)
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"{path} cannot be read: {error}") from error
    first = text.partition("\n")[0]
    reader = csv.DictReader(text.splitlines(), delimiter="\t" if "\t" in first else ",")
    reader.fieldnames = [name.strip().lower() for name in reader.fieldnames or ()]
    missing = [name for name in ("label", "coef") if name not in reader.fieldnames]
    if missing:
        raise BadInput(
            f"{path} has no column {missing[0]!r}",
            hint=f"Its first line must name {', '.join(COLUMNS)}; value, variant, p and n may be left out.",
        )
    found = []
    for row in reader:
        where = f"{path}, line {reader.line_num}"
        found.append(
            Printed(
                line=reader.line_num,
                label=(row["label"] or "").strip(),
                value=(row.get("value") or "").strip(),
                variant=(row.get("variant") or "main").strip(),
                coef=_number(row, "coef", where),
                p=_number(row, "p", where),
                n=_count(row, where),
            )
        )
    return found


def agrees(printed: Decimal | None, computed: float | None) -> bool | None:
    """Whether a computed figure is the printed one, to the last digit printed or to 1e-5 of it.

    (The published pipeline keeps outcomes in single precision, so that further digits are noise.) None where
    nothing was printed.
    """
    if printed is None:
        return None
    if computed is None:
        return False
    exponent = printed.as_tuple().exponent
    last_digit = 10.0**exponent if isinstance(exponent, int) else 0.0
    return abs(float(printed) - computed) <= max(0.51 * last_digit, 1e-5 * abs(float(printed)))


def _number(row: Mapping[str, str | None], name: str, where: str) -> Decimal | None:
    # Stars of significance and a typographic minus come along when a table is copied.
    text = (row.get(name) or "").strip().rstrip("*").replace("\N{MINUS SIGN}", "-")
    if text in ("", ".", "NA", "nan"):
        return None
    try:
        number = Decimal(text)
    except InvalidOperation as error:
        raise BadInput(f"{where}: {name} is {text!r}, which is no number") from error
    if not number.is_finite():
        raise BadInput(f"{where}: {name} is {text!r}, which is not finite")
    return number


def _count(row: Mapping[str, str | None], where: str) -> int | None:
    number = _number(row, "n", where)
    if number is not None and number != int(number):
        raise BadInput(f"{where}: n is {number}, which is no whole number")
    return None if number is None else int(number)
