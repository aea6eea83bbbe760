"""What `evenhand import FILE --domain ...` does: the predictions of a classifier for a loaded data set."""

from __future__ import annotations

import dataclasses
from pathlib import Path

from evenhand.cli.options import console, open_study, print_json, sentence


def import_for_domain(
    path: Path,
    db: Path,
    *,
    domain: str,
    model: str | None,
    seed: int | None,
    outcome: str | None,
    collection: str | None,
    as_json: bool,
) -> None:
    """Import the file, and say how many rows it answers.

    Raises:
        BadInput: as `evenhand.services.import_predictions` says, or no model is named.
    """
    from evenhand.audit import find  # noqa: PLC0415
    from evenhand.services.import_predictions import import_predictions  # noqa: PLC0415
    from store.errors import BadInput  # noqa: PLC0415

    if model is None:
        raise BadInput("The classifier has no name.", hint="Name it: --model NAME.")
    with open_study(db) as study:
        imported = import_predictions(
            study, find(domain), path, model=model, seed=seed, outcome=outcome, collection=collection
        )
    if as_json:
        print_json(dataclasses.asdict(imported))
        return
    out = console()
    of_seed = "" if seed is None else f", seed {seed}"
    sentence(
        out,
        f"{imported.added:,} answers of {model}{of_seed} imported into {db}, collection "
        f"'{imported.collection}'. Of {imported.rows:,} rows, {imported.valid:,} have a valid answer, "
        f"{imported.invalid:,} an invalid one, and {imported.missing:,} none.",
    )
    if imported.invalid or imported.missing:
        sentence(
            out,
            "A row without a valid answer counts as wrong in the variant 'all', and is left out in the "
            "variant 'answered'.",
        )
    sentence(out, f"Next: evenhand analyze --db {db}")
