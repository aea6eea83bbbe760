"""Options that several commands share, and how a study is opened for them."""

from __future__ import annotations

import json
import math
import re
import shlex
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from rich.console import Console

    from store import Study

Command = TypeVar("Command", bound=Callable[..., Any])

DEFAULT_DB = Path("study.duckdb")
_OBEYED = re.compile("[\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
PLAIN_WIDTH = 160
"""Columns of a table that is written to a file or a pipe."""


class Number(click.FloatRange):
    """A finite number in a range: nan is beyond no bound, and a limit of nan or inf limits nothing."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The number. Fails where it is out of the range, or not finite."""
        number = super().convert(value, param, ctx)
        if isinstance(number, float) and not math.isfinite(number):
            self.fail(f"{value} is no finite number.", param, ctx)
        return number


def counted(number: int, one: str, several: str | None = None) -> str:
    """A number with what it counts: 1 case, 2 cases."""
    return f"{number:,} {one if number == 1 else several or one + 's'}"


def db_option(command: Command) -> Command:
    """Add `--db FILE`, the study's file."""
    return click.option(
        "--db",
        type=click.Path(path_type=Path, dir_okay=False),
        default=DEFAULT_DB,
        show_default=True,
        envvar="EVENHAND_DB",
        help="The study's DuckDB file.",
    )(command)


def json_option(command: Command) -> Command:
    """Add `--json`: print one JSON document and nothing else on standard output."""
    return click.option("--json", "as_json", is_flag=True, help="Print JSON and nothing else.")(command)


def specifications_path() -> Path:
    """The default domain's own list of what is estimated."""
    from evenhand.domains import judifair  # noqa: PLC0415

    return Path(judifair.__file__).parent / "specifications.toml"


def specifications_option(command: Command) -> Command:
    """Add `--specifications FILE`: what is estimated from the frame; the domain's own unless given."""
    return click.option(
        "--specifications",
        type=click.Path(path_type=Path, dir_okay=False, exists=True),
        help="What is estimated: outcomes, samples, standard errors (TOML).  [default: the domain's own]",
    )(command)


def domain_option(command: Command) -> Command:
    """Add `--domain NAME|FOLDER`."""
    return click.option(
        "--domain",
        metavar="NAME|FOLDER",
        help="A domain by its name (`evenhand domain list`) or its folder.  [default: the study's only one, "
        "or judifair]",
    )(command)


def only_judifair(study: Study, domain: str | None, command: str) -> None:
    """Refuse a command that needs what only the bundled domain of Chinese sentencing has.

    Raises:
        BadInput: another domain is named, or the study has none of that one.
    """
    from evenhand.services import domains  # noqa: PLC0415
    from store.errors import BadInput  # noqa: PLC0415

    audit = domains.one_of_study(study, domain)
    if audit.name != domains.DEFAULT:
        raise BadInput(
            f"`evenhand {command}` does not work for the domain '{audit.name}' yet, only for "
            f"{domains.DEFAULT}.",
            hint="`evenhand sql` shows its answers: SELECT * FROM answers.",
        )


def labels_file_option(command: Command) -> Command:
    """Add `--labels-file FILE`: labels of one's own beside the bundled ones."""
    return click.option(
        "--labels-file",
        type=click.Path(path_type=Path, dir_okay=False),
        metavar="FILE",
        help="Labels of your own beside the 65, with their sentences (TOML; see CONTRIBUTING.md).",
    )(command)


def console(*, stderr: bool = False) -> Console:
    """Give a rich console; plain text where standard output is not a terminal."""
    from rich.console import Console  # noqa: PLC0415

    # Where nobody looks at a screen there is no width to keep: tables take what they need.
    terminal = (sys.stderr if stderr else sys.stdout).isatty()
    return Console(stderr=stderr, highlight=False, width=None if terminal else PLAIN_WIDTH)


def sentence(out: Console, text: str, style: str = "") -> None:
    """Print a sentence as it is: folded on a terminal, one line elsewhere."""
    out.print(text, style=style, markup=False, soft_wrap=not out.is_terminal)


def open_study(path: Path, *, create: bool = False, **settings: Any) -> Study:
    """Open a study with the tables of every room; see `evenhand.services.studies`."""
    from evenhand.services import studies  # noqa: PLC0415

    return studies.open_study(path, create=create, **settings)


def read_study(path: Path) -> Study:
    """Open a study for a command that only reads; see `evenhand.services.studies`."""
    from evenhand.services import studies  # noqa: PLC0415

    return studies.read_study(path)


def typed() -> str:
    """The command as it can be typed here: how it was called, where `evenhand` alone would not be found."""
    if shutil.which("evenhand"):
        return "evenhand"
    called = Path(sys.argv[0])
    if called.stem != "evenhand":
        return f"{shlex.quote(sys.executable)} -m evenhand"
    here = Path.cwd()
    return shlex.quote(str(called.relative_to(here) if called.is_relative_to(here) else called))


def print_json(document: object) -> None:
    """Print one JSON document: dates in ISO form, Chinese as Chinese where the output can hold it."""
    try:
        text = json.dumps(document, ensure_ascii=False, indent=1, default=str, allow_nan=False)
    except ValueError:  # NaN and Infinity are no JSON
        document = _finite(document)
        text = json.dumps(document, ensure_ascii=False, indent=1, default=str)
    try:
        text.encode(getattr(sys.stdout, "encoding", None) or "utf-8")
    except (LookupError, UnicodeEncodeError):
        # JSON has escapes of its own; those of the output (\\xe9) would be no JSON.
        text = json.dumps(document, indent=1, default=str)
    # JSON escapes most of what a terminal would obey; these it leaves.
    click.echo(_OBEYED.sub(lambda found: f"\\u{ord(found.group()):04x}", text))


def _finite(value: Any) -> Any:
    """The same with null where a number is not finite."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: _finite(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(inner) for inner in value]
    return value


def split_list(text: str | None) -> tuple[str, ...] | None:
    """Read `a,b,c`; None stays None."""
    if text is None:
        return None
    return tuple(part.strip() for part in text.split(",") if part.strip())
