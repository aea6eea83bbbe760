"""The commands as functions: what `import evenhand` offers to scripts and notebooks.

Everything heavy is imported where it is used, so that `import evenhand` is cheap.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    import pyarrow as pa

    from evenhand.audit import Built
    from evenhand.services.analysis import AnalysisReport
    from evenhand.services.events import Listener
    from runner.lifecycle.options import RunSummary
    from runner.status.typed import Status
    from store.snapshot import Snapshot

DB = "study.duckdb"


def build(db: str | Path = DB, domain: str | Path | None = None, **options: Any) -> Built:
    """Put the queries of a domain into a study.

    `options` are those of `evenhand.audit.protocol.BuildOptions`: cases_file, labels, arm, placebo, ...

    Raises:
        BadInput: an unknown domain, label or arm, wrong cases, nothing to ask.
    """
    from evenhand.audit.protocol import BuildOptions  # noqa: PLC0415
    from evenhand.services import queries  # noqa: PLC0415

    return queries.build(Path(db), domain, BuildOptions(**options))


def run(
    models: str | Sequence[str],
    db: str | Path = DB,
    *,
    temperature: float | None = 0.0,
    top_p: float | None = None,
    max_tokens: int = 2048,
    seed: int | None = None,
    reasoning: str | None = None,
    collection: str | None = None,
    labels: Sequence[str] | None = None,
    documents: Sequence[str] | None = None,
    arms: Sequence[str] | None = None,
    limit: int | None = None,
    providers_file: str | Path | None = None,
    on_status: Callable[[Status], None] | None = None,
    **options: Any,
) -> RunSummary:
    """Send the pending queries to one or more models, and store every answer.

    Also inside a running event loop, as in a notebook: the run then has a thread of its own, and the call
    returns when it has ended.

    Args:
        models: names of providers.toml. db: the study. temperature, top_p, max_tokens, seed, reasoning:
            settings that change answers. collection, labels, documents, arms, limit: which queries; all by
            default. providers_file: another providers.toml. on_status: hears where the run stands.
            options: those of `runner.RunOptions` (repeats, max_cost, max_total_cost, max_hours, ...).

    Raises:
        BadInput: there is no study, an unknown model or label, a key that is not set.
        RunFailed: a server that Evenhand starts did not come up.
    """
    from evenhand.services.runs import run_study  # noqa: PLC0415
    from evenhand.services.studies import open_study  # noqa: PLC0415
    from runner import RunOptions, load_providers  # noqa: PLC0415
    from store import RUN_MEMORY_LIMIT, Selection  # noqa: PLC0415

    named = (models,) if isinstance(models, str) else tuple(models)
    providers = load_providers(None if providers_file is None else Path(providers_file))
    for model in named:
        providers.resolve(model)
    # The same status, untyped where it is made.
    heard = cast("Callable[[Mapping[str, Any]], None] | None", on_status)
    chosen = RunOptions(monitor="none", handle_signals=False, on_status=heard, **options)
    selection = Selection(
        collection=collection,
        labels=_tuple(labels),
        documents=_tuple(documents),
        arms=_tuple(arms),
        limit=limit,
    )
    settings = {
        "temperature": temperature,
        "top_p": top_p,
        "max_tokens": max_tokens,
        "seed": seed,
        "reasoning": reasoning,
    }

    def work() -> RunSummary:
        with open_study(Path(db), memory_limit=RUN_MEMORY_LIMIT) as study:
            return run_study(study, providers, named, selection, settings=settings, options=chosen)

    return _outside_of_a_loop(work)


def analyze(
    db: str | Path = DB, domain: str | Path | None = None, *, on_event: Listener | None = None, **options: Any
) -> list[AnalysisReport]:
    """Read the answers and estimate; gives a report for each domain, with the tables of results as Arrow.

    `options` are those of `evenhand.services.analysis.analyze_study`: codings, models, arms, reread, ...

    Raises:
        BadInput: an unknown domain, coding or model.
        RunFailed: there is no answer to analyze.
    """
    from evenhand.services.analysis import analyze_study  # noqa: PLC0415
    from evenhand.services.events import silent  # noqa: PLC0415
    from evenhand.services.studies import open_study  # noqa: PLC0415

    with open_study(Path(db)) as study:
        return analyze_study(study, domain, on_event=on_event or silent, **options)


def report(
    db: str | Path = DB, folder: str | Path = "report", domain: str | Path | None = None, **options: Any
) -> list[Path]:
    """Write the report, and give the files; `options` are those of `evenhand.services.reports.write`.

    Raises:
        BadInput: nothing was analyzed, or the folder cannot be written.
    """
    from evenhand.services import reports  # noqa: PLC0415
    from evenhand.services.studies import open_study  # noqa: PLC0415

    with open_study(Path(db)) as study:
        return reports.write(study, Path(folder), domain, **options)


def sql(query: str, db: str | Path = DB, *, timeout_s: float = 60.0) -> pa.Table:
    """Run one read-only statement, and give all of its rows; also while a run is writing.

    Raises:
        BadInput: the statement is not allowed, wrong, or took too long.
    """
    import pyarrow as pa  # noqa: PLC0415

    from store import reach  # noqa: PLC0415

    with reach.reading(Path(db), query, timeout_s=timeout_s) as found:
        return pa.Table.from_batches(found.batches, found.schema)


def export(what: str, out: str | Path, db: str | Path = DB, *, overwrite: bool = False) -> int:
    """Write a table, a view or a SELECT to a .parquet, .csv or .xlsx file; gives the number of rows.

    Raises:
        BadInput: there is no such table, the file exists, or its ending is not known.
    """
    from store.export import export as write  # noqa: PLC0415

    return write(Path(db), what, Path(out), overwrite=overwrite).rows


def snapshot(out: str | Path, db: str | Path = DB) -> Snapshot:
    """Copy a study into a new file, also while a run is writing.

    Raises:
        BadInput: the file exists, or there is no study.
    """
    from store.snapshot import snapshot as copy  # noqa: PLC0415

    return copy(Path(db), Path(out))


def _tuple(names: Sequence[str] | None) -> tuple[str, ...] | None:
    return None if names is None else tuple(names)


def _outside_of_a_loop(work: Callable[[], RunSummary]) -> RunSummary:
    """Do the work here, or in a thread of its own where an event loop runs already."""
    import asyncio  # noqa: PLC0415
    from concurrent.futures import ThreadPoolExecutor  # noqa: PLC0415

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return work()
    with ThreadPoolExecutor(1, thread_name_prefix="evenhand-run") as pool:
        return pool.submit(work).result()
