"""`evenhand demo --domain fairlex-cail`: a planted disparity between groups, and what is found."""

from __future__ import annotations

import tempfile
from pathlib import Path

from evenhand.cli.options import console, open_study, sentence

SEEDS = (1, 2, 3)
MODEL = "scripted-judge"
ROWS = {"train": 1_000, "val": 200, "test": 1_500}


def demo_groups(domain: str, db: Path, folder: Path) -> None:
    """Make data, import the scripted judge's answers, analyse, report.

    Raises:
        BadInput: there is no demo of this domain, or the study holds other data.
    """
    from analyze.groups.report import write  # noqa: PLC0415
    from evenhand.audit import find  # noqa: PLC0415
    from evenhand.cli.groups import print_groups  # noqa: PLC0415
    from evenhand.services.group_analysis import analyze_groups  # noqa: PLC0415
    from evenhand.services.import_predictions import import_predictions  # noqa: PLC0415
    from evenhand.services.load import load_data_set  # noqa: PLC0415
    from evenhand.simulate.group_data import Planted, write_data_set, write_judgments  # noqa: PLC0415
    from store.errors import BadInput  # noqa: PLC0415

    found = find(domain)
    if "groups" not in found.designs or not found.attributes:
        raise BadInput(
            f"There is no demo of {domain}: it has no groups to compare.", hint="Try fairlex-cail."
        )
    attribute = found.attributes[-1]
    group = [one for one in attribute.groups if one not in attribute.unidentified][2]
    planted = Planted(attribute.name, group)
    collection = f"{found.name}-demo"
    out = console()
    out.rule("Evenhand demo: a scripted judge with a planted disparity")
    told = (
        f"Planted: the judge errs in {planted.error:.0%} of the cases of {planted.attribute} = "
        f"{planted.group}, and in {planted.other_error:.0%} of all others. No other group differs."
    )
    sentence(out, told)
    with tempfile.TemporaryDirectory(prefix="evenhand-demo-") as made, open_study(db, create=True) as study:
        place = Path(made)
        write_data_set(found, place, rows=ROWS, seed=0)
        loaded = load_data_set(study, found, place, collection=collection)
        rows = ", ".join(f"{split} {number:,}" for split, number in loaded.rows.items())
        sentence(out, f"\n1. Made and loaded: {rows} rows in {db}.")
        for seed in SEEDS:
            file = place / f"judgments-{seed}.jsonl"
            write_judgments(found, place / "test.jsonl", file, planted, seed=seed)
            import_predictions(study, found, file, model=MODEL, seed=seed, collection=collection)
        sentence(out, f"2. Imported: the answers of {MODEL}, seeds 1 to {len(SEEDS)}.")
        sentence(out, "3. Analysing.\n")
        analyze_groups(study)
        print_groups(study)
        paths = write(study.connection, folder, format="html")
    sentence(out, f"\n4. Report for readers: {paths[0]}")
    sentence(out, f"Compare it with what was planted. {told}")
