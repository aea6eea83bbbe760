"""Makes docs/demo.svg, the README's picture: `evenhand demo --simulated`, then `python docs/picture.py`."""

from __future__ import annotations

import html
import os
import re
import sys
from pathlib import Path

from rich.cells import cell_len
from rich.console import Console

import analyze
import store
from analyze.report import print_summary
from evenhand.cli.options import specifications_path
from evenhand.domains import judifair

WIDTH = 118
_FONTS = re.compile(r"@font-face\s*\{[^}]*\}")  # a picture that loads nothing from a network
_TEXT = re.compile(r'textLength="([\d.]+)"([^>]*)>([^<]+)</text>')


def main() -> None:
    """Print the summary of the demo's study into a picture."""
    study = Path(sys.argv[1] if len(sys.argv) > 1 else "demo-simulated.duckdb")
    with (
        store.open_study(study, migrations=[judifair.MIGRATIONS, analyze.MIGRATIONS]) as opened,
        Path(os.devnull).open("w") as nowhere,
    ):
        console = Console(record=True, width=WIDTH, force_terminal=True, file=nowhere, highlight=False)
        print_summary(opened, specifications_path(), console)
    picture = _FONTS.sub("", console.export_svg(title="evenhand demo --simulated"))
    Path(__file__).with_name("demo.svg").write_text(_TEXT.sub(_widened, picture), encoding="utf-8")


def _widened(found: re.Match[str]) -> str:
    """Rich counts characters where Chinese ones take two cells, and squeezes them."""
    length, rest, text = found.groups()
    plain = html.unescape(text)
    wide = float(length) / len(plain) * cell_len(plain)
    return f'textLength="{wide:g}"{rest}>{text}</text>'


if __name__ == "__main__":
    main()
