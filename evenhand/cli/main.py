"""The command `evenhand`: finds the subcommand, and turns errors for people into a sentence and a code.

Subcommands are imported when they are called, so that `evenhand --help` answers at once: duckdb, aiohttp and
pyfixest together take over two seconds to load.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence
from contextlib import suppress

import click

from evenhand.cli.output import OutputLost, guarded
from evenhand.version import __version__

# name -> (module, the line in `evenhand --help`), in the order in which a study goes through them.
COMMANDS: dict[str, tuple[str, str]] = {
    "demo": ("demo", "The whole pipeline in one command: build, run, analyze, report."),
    "build": ("build", "Write counterfactual queries into a study."),
    "load": ("load", "Load a data set with true answers and groups."),
    "import": ("import_published", "Add published predictions to a study."),
    "check": ("check", "List the defects of a data set, with counts and examples."),
    "labels": ("labels", "List the labels: names, values, reference."),
    "show": ("show", "Print one prompt, with its difference from the reference marked."),
    "pairs": ("pairs", "Show pairs of answers between which one fact was changed."),
    "providers": ("providers", "List providers, models, limits, and which keys are set."),
    "estimate": ("estimate", "Show the tokens, cost and time of a run before it starts."),
    "power": ("power", "Show how many cases confirm an effect of a given size."),
    "run": ("run", "Send the pending queries to one or more models."),
    "runs": ("runs", "List runs; exclude one."),
    "status": ("status", "Show the progress of a run."),
    "snapshot": ("snapshot", "Copy a study at any time, also while a run writes."),
    "merge": ("merge", "Add another study's answers to this one."),
    "analyze": ("analyze", "Estimate effects, inconsistency and error into tables."),
    "report": ("report", "Write the report for readers."),
    "plot": ("plot", "Write a single figure as SVG, PDF or PNG."),
    "compare-published": ("compare_published", "Compare the published figures with the corrected ones."),
    "sql": ("sql", "Query the study in SQL, read-only."),
    "export": ("export", "Write a table or query to Parquet, CSV or Excel."),
    "domain": ("domain", "List domains, start a new one, or check one."),
    "serve-embedded": ("serve_embedded", "Serve the embedded model alone, on loopback."),
}


class LazyGroup(click.Group):
    """A group that knows its commands' names and help lines without importing them."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Give the names, in the order of a study."""
        del ctx
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the module of a command and return its `command`."""
        del ctx
        if cmd_name not in COMMANDS:
            return None
        module = importlib.import_module(f"evenhand.cli.{COMMANDS[cmd_name][0]}")
        command: click.Command = module.command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of commands from the table above."""
        del ctx
        with formatter.section("Commands"):
            formatter.write_dl([(name, line) for name, (_, line) in COMMANDS.items()])


@click.group(
    cls=LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Each command has examples: evenhand COMMAND --help. Start with: evenhand demo",
)
@click.version_option(__version__, prog_name="evenhand")
def cli() -> None:
    """Audit the fairness of language models that judge people.

    Evenhand sends case facts that differ in one legally irrelevant fact to a model, stores every answer,
    and tells with social-science statistics whether the sentence moved because of it. One study is one DuckDB
    file (--db, study.duckdb unless said).
    """


WORKING = frozenset(
    {
        "demo",
        "build",
        "load",
        "import",
        "run",
        "merge",
        "analyze",
        "report",
        "plot",
        "export",
        "serve-embedded",
        "snapshot",
    }
)
"""Commands whose work is in files: they go on where nobody reads what they say."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line; exit 0 when all went well, 2 for bad input, 1 for work that could not be done."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    with guarded() as outputs:
        if not words or words[0] not in WORKING or {"--json", "--help", "-h"}.intersection(words):
            outputs.shows_only()
        code = _run(words)
        with suppress(OutputLost):
            sys.stdout.flush()
        if lost := outputs.lost():
            click.echo(f"Error: Standard output cannot be written: {lost}.", err=True)
            if code == 0 and words and words[0] in WORKING:
                click.echo("The work is done and stored; only its messages are incomplete.", err=True)
            code = code or 1
    sys.exit(code)


def _run(words: Sequence[str]) -> int:
    """Run a command and give its exit code; what is for people to know is printed."""
    for word in words:
        if any("\udc80" <= letter <= "\udcff" for letter in word):  # bytes that Python could not decode
            click.echo(f"Error: The argument {word!a} is not UTF-8 text.", err=True)
            return 2
    try:
        ended = cli.main(args=words, prog_name="evenhand", standalone_mode=False)
        return ended if type(ended) is int else 0  # of --help and the like
    except OutputLost:
        return 0
    except SystemExit as stop:
        if stop.code is None or isinstance(stop.code, int):
            return stop.code or 0
        raise
    except click.exceptions.Exit as stop:
        return stop.exit_code
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except (click.Abort, KeyboardInterrupt):
        click.echo("Stopped.", err=True)
        return 130
    except Exception as error:
        from store.errors import EvenhandError  # noqa: PLC0415  (the store loads duckdb, which --help needs not)

        if not isinstance(error, EvenhandError):
            raise
        click.echo(f"Error: {error.message}", err=True)
        if error.hint:
            click.echo(error.hint, err=True)
        return error.exit_code
