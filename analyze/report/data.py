"""What a report shows, read from the study once: estimates, metrics, names, and how asking and reading ended.

Nothing is estimated here. Figures come from the tables that the analysis filled; counts of queries and
answers come from the study itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb

from analyze.between_models import configurations
from analyze.between_models.configurations import Configuration
from analyze.counterfactual.frame import HoldsConnection, connection_of
from analyze.counterfactual.pairs import Pair, pairs
from analyze.findings import Finding, codes, read_findings, read_pending
from analyze.report import data_flow, extra_tables, undefined_values
from analyze.report import texts as wording
from analyze.report.conclusions import notable
from analyze.report.shapes import (
    Answers,
    Audit,
    Design,
    Ended,
    Estimate,
    LabelMetric,
    ModelMetric,
    Reading,
    Results,
    Tally,
)
from analyze.report.texts import Texts
from analyze.specification import UNNAMED_DOSE, Specifications, load
from analyze.stored import staleness as freshness
from store.errors import BadInput

ALL_MODELS = "all models"
"""What a test over all models has in the place of a key."""

MOST_OUTDATED = 4
"""Models named where figures are not up to date."""

_QUERIES = Path(__file__).parent / "queries"

Connection = HoldsConnection | duckdb.DuckDBPyConnection


def read(
    study: Connection,
    specifications: Specifications | Path | str,
    *,
    models: Sequence[str] | None = None,
    codings: Sequence[str] | None = None,
    collections: Sequence[str] | None = None,
    arms: Sequence[str] | None = None,
    pairs: bool = False,
) -> Results:
    """Read what there is to report of the specifications' outcome, all of it or of the models, codings,
    collections and arms named.

    A model may be named by its key as well. With `pairs`, also examples of the answers behind findings.

    Raises BadInput where nothing has been analysed yet, or where a name is not in the study.
    """
    specs = specifications if isinstance(specifications, Specifications) else load(specifications)
    with connection_of(study) as connection:
        reader = _Reader(connection, specs, wording.of(specs), pairs=pairs)
        return reader.results(_name_of(connection), models, codings, collections, arms)


class _Reader:
    """The queries, and what of their results is shared between audits."""

    def __init__(
        self, connection: duckdb.DuckDBPyConnection, specs: Specifications, texts: Texts, *, pairs: bool
    ) -> None:
        self.connection = connection
        self.pairs = pairs
        self.specs = specs
        self.texts = texts
        frame = specs.frame
        self.columns = {view: self._columns_of(view) for view in (frame.view, frame.designs, frame.values)}

    def results(
        self,
        study_name: str,
        models: Sequence[str] | None,
        codings: Sequence[str] | None,
        collections: Sequence[str] | None,
        arms: Sequence[str] | None,
    ) -> Results:
        analysed = self._analysed()
        for what, wanted, present in (
            ("model", models, {key[1] for key in analysed} | {key[4] for key in analysed}),
            ("coding", codings, {key[3] for key in analysed}),
            ("collection", collections, {key[0] for key in analysed}),
            ("arm", arms, {key[2] for key in analysed}),
        ):
            for name in wanted or ():
                if name not in present:
                    listed = ", ".join(sorted(present)) or "none"
                    raise BadInput(
                        f"nothing has been analysed for the {what} {name!r}", hint=f"There is: {listed}."
                    )
        chosen = [
            (collection, key, arm, coding)
            for collection, key, arm, coding, model in analysed
            if (models is None or model in models or key in models)
            and (codings is None or coding in codings)
            and (collections is None or collection in collections)
            and (arms is None or arm in arms)
        ]
        if not chosen:
            raise BadInput(
                "there is nothing to report: no results have been computed in this study",
                hint="Run `evenhand analyze` first.",
            )
        order = self.specs.coding_names()
        names = [name for name in order if any(coding == name for _, _, _, coding in chosen)]
        designs = {name: self._designs(name) for name in names}
        readings: dict[Answers, list[Reading]] = {}
        for name in names:
            for cell, reading in self._readings(name, chosen, designs[name]):
                readings.setdefault(cell, []).append(reading)
        rows = self.connection.execute("SELECT value FROM study WHERE key = 'study_id'").fetchall()
        audits = self._audits(readings)
        return Results(
            specs=self.specs,
            texts=self.texts,
            study_id=str(rows[0][0]) if rows else "",
            study_name=study_name,
            audits=audits,
            further=extra_tables.with_kinds(
                _chosen(extra_tables.read(self.connection, self.texts, self.specs.outcome), chosen),
                audits,
                self.specs.frame.unit,
            ),
            outdated=self._outdated(chosen, audits),
            outcomes=self._outcomes(),
            unanalysed=self._unanalysed(audits, models, names, collections, arms),
        )

    def _outdated(self, chosen: Sequence[tuple[str, str, str, str]], audits: Sequence[Audit]) -> str | None:
        names = {audit.answers: audit.name for audit in audits}
        of = dict.fromkeys(
            f"{names[row.collection, row.model_key, row.arm]} (analysed {_when(row)}, {_since(row)})"
            for row in freshness.outdated(self.connection)
            if row.outcome == self.specs.outcome
            and (row.collection, row.model_key, row.arm, row.coding) in chosen
            and (row.collection, row.model_key, row.arm) in names  # not where no answer counts any more
        )
        if not of:
            return None
        more = f" and {len(of) - MOST_OUTDATED} more" if len(of) > MOST_OUTDATED else ""
        told = "; ".join([*of][:MOST_OUTDATED])
        return f"Not up to date: {told}{more}. Run `evenhand analyze` to bring the figures up to date."

    def _unanalysed(
        self,
        audits: Sequence[Audit],
        models: Sequence[str] | None,
        codings: Sequence[str],
        collections: Sequence[str] | None,
        arms: Sequence[str] | None,
    ) -> str | None:
        found = [
            row
            for row in freshness.unanalysed(self.connection)
            if row.coding in codings
            and row.outcome == self.specs.outcome
            and (arms is None or row.arm in arms)
            and (models is None or row.model in models or row.model_key in models)
            and (collections is None or row.collection in collections)
        ]
        if not found:
            return None
        settings = configurations.read(self.connection)
        asked = dict.fromkeys(
            [(*a.answers, a.model, a.temperature) for a in audits]
            + [(row.collection, row.model_key, row.arm, row.model, row.temperature) for row in found]
        )
        called = configurations.called(
            [
                Configuration(collection, key, model, temperature, settings.get(key, {}), arm)
                for collection, key, arm, model, temperature in asked
            ]
        )
        names = {key[:3]: one.name for key, one in zip(asked, called, strict=True)}
        of: dict[str, list[str]] = {}
        for row in found:
            name = f"{names[row.collection, row.model_key, row.arm]} ({row.answers:,} answers)"
            of.setdefault(name, []).append(self.texts.coding(row.coding).lower())
        more = f"; and {len(of) - MOST_OUTDATED} more" if len(of) > MOST_OUTDATED else ""
        told = "; ".join(
            f"{name} under the {' and the '.join(own)} coding" for name, own in [*of.items()][:MOST_OUTDATED]
        )
        return f"Not analysed: {told}{more}. Run `evenhand analyze` under that coding to have figures of all."

    def _outcomes(self) -> tuple[str, ...]:
        """The outcomes with findings, this one first."""
        rows = self.connection.execute("SELECT DISTINCT outcome FROM findings ORDER BY outcome").fetchall()
        own = self.specs.outcome
        return tuple(sorted((name for (name,) in rows), key=lambda name: (name != own, name)))

    def _analysed(self) -> list[tuple[str, str, str, str, str]]:
        return self.connection.execute(
            "SELECT DISTINCT collection, model_key, arm, coding, model FROM label_metrics "
            "WHERE outcome = ? ORDER BY ALL",
            [self.specs.outcome],
        ).fetchall()

    def _designs(self, coding: str) -> dict[str, Design]:
        frame = self.specs.frame
        has, valued = self.columns[frame.designs], self.columns[frame.values]
        values: dict[str, list[tuple[str, str, bool, bool]]] = {}
        statement = _sql("values").format(
            values=frame.values, value_en="value_en" if "value_en" in valued else "value"
        )
        for label, value, value_en, reference, treated in self.connection.execute(
            statement, [coding]
        ).fetchall():
            values.setdefault(label, []).append((value, value_en, reference, treated))
        statement = _sql("designs").format(
            designs=frame.designs,
            groups=frame.groups,
            name_en="name_en" if "name_en" in has else "NULL",
            name_zh="name_zh" if "name_zh" in has else "NULL",
        )
        stored = dict(
            self.connection.execute(
                "SELECT label, max(value) FROM estimates WHERE coding = ? AND outcome = ? GROUP BY label",
                [coding, self.specs.outcome],
            ).fetchall()
        )
        found = {}
        for label, group, treatment, name_en, name_zh in self.connection.execute(
            statement, [coding]
        ).fetchall():
            own = values.get(label, [])
            found[label] = Design(
                label=label,
                group=group,
                treatment=treatment,
                name_en=name_en or wording.readable(label),
                name_zh=name_zh or "",
                values={value: value_en or value for value, value_en, _, _ in own},
                reference=tuple(value for value, _, reference, _ in own if reference),
                treated=tuple(value for value, _, _, treated in own if treated),
            )
            if found[label].continuous:
                found[label] = _of_quantity(found[label], frame.dose_name, stored.get(label))
        return found

    def _readings(
        self, coding: str, chosen: Sequence[tuple[str, str, str, str]], designs: Mapping[str, Design]
    ) -> list[tuple[Answers, Reading]]:
        wanted = [(collection, key, arm) for collection, key, arm, name in chosen if name == coding]
        position = {label: i for i, label in enumerate(designs)}
        spot = {(label, value): i for label, d in designs.items() for i, value in enumerate(d.treated)}
        estimates = self._rows("estimates", Estimate, coding)
        labels = self._rows("label_metrics", LabelMetric, coding)
        metrics = self._rows("model_metrics", ModelMetric, coding)
        tallies = self._tallies(coding)
        view, outcome = self.specs.frame.view, self.specs.outcome
        noted = "note" in self.columns[view]
        notes = data_flow.notes(self.connection, view, coding, outcome) if noted else {}
        variants = {s.name: i for i, s in enumerate(self.specs.specifications)}
        late = len(position)
        newer = freshness.newer(self.connection)
        findings: dict[Answers, list[Finding]] = {}
        for one in read_findings(self.connection, coding=coding, outcome=outcome):
            answers = (one.cell.collection, one.cell.model_key, one.cell.arm)
            findings.setdefault(answers, []).append(one)
        found = []
        for cell in wanted:
            own = sorted(
                estimates.get(cell, []),
                key=lambda e: (
                    position.get(e.label, late),
                    spot.get((e.label, e.value), 0),
                    variants.get(e.variant, len(variants)),
                ),
            )
            measured = undefined_values.labels(labels.get(cell, []), tallies.get(cell, []))
            measured = tuple(sorted(measured, key=lambda row: position.get(row.label, late)))
            reading = Reading(
                coding=coding,
                designs=designs,
                estimates=tuple(own),
                labels=measured,
                metrics=undefined_values.metrics(metrics.get(cell, []), measured),
                tallies=tuple(tallies.get(cell, [])),
                findings=tuple(findings.get(cell, [])),
                pairs=self._pairs(findings.get(cell, []), designs) if self.pairs else {},
                notes=tuple(notes.get(cell, [])),
                newer=newer.get((*cell[:2], coding, cell[2], outcome), 0),
                by_key={(e.label, e.value, e.variant): e for e in own},
            )
            found.append((cell, reading))
        return found

    def _pairs(
        self, findings: Sequence[Finding], designs: Mapping[str, Design]
    ) -> dict[int, tuple[Pair, ...]]:
        """Examples for the values that are confirmed, and for the first that are not but are named."""
        found = {}
        for row in notable(findings):
            design = designs.get(row.label)
            if design is None or row.value is None:
                continue
            references, value = design.reference, row.value
            if design.continuous:
                first, _, value = (row.contrast or "").partition(" -> ")
                references = (first,)
            missing = row.measure in (codes.MISSING, codes.DECLINED)
            found[row.position] = tuple(
                pairs(
                    self.connection, self.specs, row.cell, row.label, value, references,
                    which="incomplete" if missing else "changed",
                )
            )  # fmt: skip
        return {position: shown for position, shown in found.items() if shown}

    def _rows(self, table: str, kind: type[Any], coding: str) -> dict[Answers, list[Any]]:
        """Rows of a result table as `kind`, by the answers that they are of."""
        columns = ", ".join(f'"{name}"' for name in kind.__dataclass_fields__)
        rows = self.connection.execute(
            f"SELECT collection, model_key, arm, {columns} FROM {table} WHERE coding = ? AND outcome = ?",
            [coding, self.specs.outcome],
        ).fetchall()
        found: dict[Answers, list[Any]] = {}
        for collection, key, arm, *rest in rows:
            row = kind(*rest)
            found.setdefault((collection, key, arm), []).append(replace(row, note=self.texts.noted(row.note)))
        return found

    def _tallies(self, coding: str) -> dict[Answers, list[Tally]]:
        frame, inference = self.specs.frame, self.specs.inference
        primary = next(s for s in self.specs.specifications if s.name == frame.primary)
        if coding not in primary.codings:
            return {}
        statement = _sql("read").format(
            view=frame.view,
            read_as="read_as" if "read_as" in self.columns[frame.view] else "NULL",
            missing=f"CAST(({inference.missing}) AS VARCHAR)" if inference and inference.missing else "NULL",
            outcome=primary.outcome,
            sample=primary.sample,
        )
        found: dict[Answers, list[Tally]] = {}
        try:
            rows = self.connection.execute(statement, [coding, self.specs.outcome]).fetchall()
        except (duckdb.CatalogException, duckdb.BinderException, duckdb.ParserException) as error:
            raise BadInput(f"{self.specs.path} does not fit the database: {error}") from error
        for collection, key, arm, *rest in rows:
            found.setdefault((collection, key, arm), []).append(Tally(*rest))
        return found

    def _audits(self, readings: Mapping[Answers, list[Reading]]) -> tuple[Audit, ...]:
        built: dict[tuple[str, str], int] = {}
        for collection, arm, _, _, queries in self._fetch("built"):
            built[collection, arm] = built.get((collection, arm), 0) + queries
        ended: dict[Answers, list[Ended]] = {}
        for collection, key, arm, *rest in self._fetch("ended"):
            ended.setdefault((collection, key, arm), []).append(Ended(*rest))
        asked = {(collection, key, arm): queries for collection, key, arm, queries in self._fetch("asked")}
        rows = [row for row in self._fetch("models") if row[:3] in readings]
        if not rows:
            raise BadInput(
                "the results in this study are of answers that no longer count",
                hint="Run `evenhand analyze` again.",
            )
        settings = configurations.read(self.connection)
        called = configurations.called(
            [
                Configuration(collection, key, model, temperature, settings.get(key, {}), arm)
                for collection, key, arm, model, temperature, *_ in rows
            ]
        )
        returned: dict[Answers, dict[str, int]] = {}
        for collection, key, arm, name, answers in self._fetch("returned"):
            returned.setdefault((collection, key, arm), {})[name] = answers
        pending: dict[Answers, int] = {}
        for begun in read_pending(self.connection):
            cell = (begun.collection, begun.model_key, begun.arm)
            pending[cell] = pending.get(cell, 0) + begun.pending
        audits = []
        for number, row in enumerate(rows, 1):
            collection, key, arm, model, temperature, kind, first_at, last_at, repeats, documents = row
            cell = (collection, key, arm)
            audits.append(
                Audit(
                    collection=collection,
                    model_key=key,
                    model=model,
                    temperature=temperature,
                    arm=arm,
                    kind=kind,
                    settings=settings.get(key, {}),
                    name=called[number - 1].name,
                    apart=called[number - 1].settings,
                    anchor=f"m{number}",
                    first_at=first_at,
                    last_at=last_at,
                    repeats=repeats,
                    documents=documents,
                    queries=built.get((collection, arm), 0),
                    asked=asked.get(cell, 0),
                    ended=tuple(ended.get(cell, [])),
                    readings=tuple(readings[cell]),
                    pending=pending.get(cell, 0),
                    returned=returned.get(cell, {}),
                )
            )
        return tuple(audits)

    def _fetch(self, name: str) -> list[tuple[Any, ...]]:
        return self.connection.execute(_sql(name)).fetchall()

    def _columns_of(self, view: str) -> set[str]:
        try:
            described = self.connection.execute(f"DESCRIBE {view}").fetchall()
        except duckdb.CatalogException as error:
            raise BadInput(
                f"the study has no view {view!r}, which {self.specs.path} names",
                hint="Open the study with the domain's tables, or name another specifications file.",
            ) from error
        return {str(row[0]) for row in described}


def _of_quantity(design: Design, dose_name: str, stored: str | None) -> Design:
    """The design of a continuous label: its one estimate, by the name under which the study has it."""
    name = stored or (design.treated or (dose_name,))[-1]
    return replace(design, treated=(name,), quantity="" if dose_name == UNNAMED_DOSE else dose_name)


def _chosen(
    found: Mapping[str, tuple[Mapping[str, Any], ...]], chosen: Sequence[tuple[str, str, str, str]]
) -> dict[str, tuple[Mapping[str, Any], ...]]:
    """The rows that are of the audits chosen: a row names a collection and an arm, and may name a model and a
    coding.
    """
    collections, keys, arms, codings = (set(part) for part in zip(*chosen, strict=True))
    kept = {
        name: tuple(
            row
            for row in rows
            if row["collection"] in collections
            and row["arm"] in arms
            and row.get("model_key", ALL_MODELS) in {*keys, ALL_MODELS}
            and ("coding" not in row or row["coding"] in codings)
        )
        for name, rows in found.items()
    }
    return {name: rows for name, rows in kept.items() if rows}


def _sql(name: str) -> str:
    return (_QUERIES / f"{name}.sql").read_text(encoding="utf-8")


def _name_of(connection: duckdb.DuckDBPyConnection) -> str:
    """The file's name; empty for a study in memory."""
    rows = connection.execute(
        "SELECT path FROM duckdb_databases() WHERE database_name = current_database()"
    ).fetchall()
    return Path(str(rows[0][0])).name if rows and rows[0][0] else ""


def _when(row: freshness.Outdated) -> str:
    return f"{row.analysed_at:%Y-%m-%d %H:%M} UTC"


def _since(row: freshness.Outdated) -> str:
    if row.more:
        return f"{abs(row.more):,} {'more' if row.more > 0 else 'fewer'} answers since"
    return "other answers since" if row.changed else "an import since"
