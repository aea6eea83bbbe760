"""Importing the predictions of a classifier for the test split of a loaded data set."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import store
from evenhand.audit import read
from evenhand.audit.data_sets import TEST
from evenhand.audit.outcomes import Outcome, Value, YesNo
from evenhand.audit.predictions import Predicted, read_predictions
from store import identity
from store.errors import BadInput
from store.rows import PredictionRow, now, predictions_table
from store.runs import finish_run, start_run
from store.sql import chunks, registered, transaction

if TYPE_CHECKING:
    import uuid

    from evenhand.audit import Domain

CHUNK_ROWS = 5_000
SOURCE = "predictions of others"
_HERE = Path(__file__).parent
_QUERIES = (_HERE / "test_queries.sql").read_text(encoding="utf-8")
_EARLIER = (_HERE / "earlier_predictions.sql").read_text(encoding="utf-8")


@dataclass(frozen=True, slots=True)
class Imported:
    """What a file of predictions holds."""

    collection: str
    model: str
    seed: int | None
    rows: int
    """Of the test split."""
    valid: int
    invalid: int
    """Lines whose answer names no class."""
    missing: int
    """Rows without a line."""
    added: int
    """Answers that the study did not have."""


def import_predictions(
    study: store.Study,
    domain: Domain,
    path: Path,
    *,
    model: str,
    seed: int | None = None,
    outcome: str | None = None,
    collection: str | None = None,
) -> Imported:
    """Store the predictions of a classifier as answers. Importing the same file again adds nothing.

    Args:
        study: an open study that holds the data set. domain: of the data set. path: the file. model: the
        classifier's name. seed: of its training. outcome: what is predicted; needed where the domain has
        several. collection: the data set; the one of the domain by default.

    Raises:
        BadInput: a line is wrong, the data set is not loaded, or the model has other predictions with this
            seed.
    """
    if not model.strip():
        raise BadInput("The model has no name.", hint="Name the classifier: --model NAME.")
    predicted = _outcome(domain, outcome)
    answer_key = next(field.key for field in domain.form.fields if field.outcome == predicted.name)
    name = collection or _collection(study, domain)
    queries = study.connection.execute(_QUERIES, {"collection": name, "split": TEST}).fetchall()
    if not queries:
        raise BadInput(
            f"The study has no test split in the collection '{name}'.",
            hint=f"Load the data set first: evenhand load FOLDER --domain {domain.name}.",
        )
    ids = {doc_id: place for place, (doc_id, _) in enumerate(queries)}
    predictions = list(read_predictions(path, predicted, ids, len(queries)))
    content = hashlib.sha256(path.read_bytes()).hexdigest()
    settings = {"model": model, "seed": seed, "source": SOURCE}
    key = identity.model_key(settings)
    _refuse_other_predictions(study, name, model, seed, content)
    run = start_run(
        study, "import", {"collection": name, "domain": domain.name, "model": model, "file": path.name}
    )
    try:
        with transaction(study.connection) as connection:
            store.add_model(study, model=model, kind="imported", settings=settings, seed=seed)
            present = {
                row
                for (row,) in connection.execute(
                    "SELECT prediction_id FROM predictions "
                    "JOIN (SELECT run_id FROM runs WHERE set_aside_at IS NULL) USING (run_id) "
                    "WHERE model_key = ? AND source_hash = ?",
                    [key, content],
                ).fetchall()
            }
            added = 0
            for chunk in chunks(predictions, CHUNK_ROWS):
                rows = [
                    _row(one, predicted, answer_key, queries[one.row][1], key, run, content) for one in chunk
                ]
                rows = [row for row in rows if row.prediction_id not in present]
                if rows:
                    with registered(connection, imported=predictions_table(rows)):
                        connection.execute("INSERT INTO predictions BY NAME SELECT * FROM imported")
                added += len(rows)
    except BaseException:
        finish_run(study, run, "failed")
        raise
    finish_run(study, run, "finished")
    read(study, domain)
    valid = sum(one.value is not None for one in predictions)
    return Imported(
        collection=name,
        model=model,
        seed=seed,
        rows=len(queries),
        valid=valid,
        invalid=len(predictions) - valid,
        missing=len(queries) - len(predictions),
        added=added,
    )


def _outcome(domain: Domain, name: str | None) -> Outcome:
    if name is not None:
        return domain.outcome(name)
    if len(domain.outcomes) > 1:
        raise BadInput(
            f"{domain.name} has several outcomes: say which of them is predicted.",
            hint=f"--outcome {' or '.join(one.name for one in domain.outcomes)}",
        )
    return domain.outcomes[0]


def _collection(study: store.Study, domain: Domain) -> str:
    """The collection of a domain where there is one; its usual name where there is none."""
    rows = study.connection.execute(
        "SELECT collection FROM collections WHERE domain = ? ORDER BY collection", [domain.name]
    ).fetchall()
    names = [str(row[0]) for row in rows]
    if len(names) > 1 and domain.name not in names:
        raise BadInput(
            f"The study has several data sets of {domain.name}: {', '.join(names)}.",
            hint="Say which: --collection NAME.",
        )
    return names[0] if len(names) == 1 else domain.name


def _refuse_other_predictions(
    study: store.Study, collection: str, model: str, seed: int | None, content: str
) -> None:
    """Raise BadInput where two files would be mixed, or a model has predictions with and without a seed."""
    earlier = study.connection.execute(_EARLIER, {"collection": collection, "model": model}).fetchall()
    for its_seed, its_content, run in earlier:
        if its_seed == seed and its_content != content:
            what = "without a seed" if seed is None else f"with the seed {seed}"
            raise BadInput(
                f"'{model}' has other predictions {what} in '{collection}' already.",
                hint=f"Exclude those first (`evenhand runs` lists them; theirs begins with {str(run)[:13]}), "
                "or import under another --model or --seed.",
            )
        if its_seed != seed and None in (its_seed, seed):
            raise BadInput(
                f"'{model}' has predictions {'with' if seed is None else 'without'} a seed in '{collection}' "
                "already.",
                hint="Give each file of a model its own --seed, or another --model.",
            )


def _row(
    one: Predicted,
    outcome: Outcome,
    key: str,
    query: uuid.UUID,
    model_key: str,
    run: uuid.UUID,
    content: str,
) -> PredictionRow:
    return PredictionRow(
        prediction_id=identity.import_prediction_id(f"{content} {model_key} {query}", one.line),
        query_id=query,
        model_key=model_key,
        run_id=run,
        repeat=0,
        # What names no class is no answer, whatever a reader of free text would make of it.
        outcome="empty" if one.value is None else "answered",
        text=_json(one.given) if one.value is None else _json({key: _plain(outcome, one.value)}),
        created_at=now(),
        source_hash=content,
        source_row=one.line,
    )


def _plain(outcome: Outcome, value: Value) -> Any:
    if isinstance(outcome, YesNo):
        return outcome.yes if value else outcome.no
    return list(value) if isinstance(value, tuple) else value


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)
