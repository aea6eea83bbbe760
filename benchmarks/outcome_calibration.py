"""Calibration of the whole road for every kind of outcome: built, answered by a script, read, framed,
analysed.

    python -m benchmarks.outcome_calibration [--studies 200] [--planted 50] [--cases 30] [--kinds
    yes_no,class]

For each kind of outcome, two questions, each answered with a line and a verdict:

1. Null studies: nothing depends on a label; three answers in ten deviate by chance, and three in a hundred
   cannot be read. Of how many studies is any label confirmed? No more than 5%, within binomial error.
2. Planted studies: one value moves the answer in eight cases of ten. In how many is its label confirmed, and
   in how many the other label, which has no effect?

Each study is a collection of its own of one domain, so that nothing is corrected over studies.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from scipy import stats

import analyze
import store
from evenhand.audit import Case, Domain, build, find, read, specifications
from store import runs
from store.rows import now

GRANTS = ("refused", "small", "large", "deferred")
GRADES = ("poor", "fair", "good", "excellent")
DUTIES = ("report", "visit", "audit")
OUTCOMES = {
    "amount": 'unit = "euros"\nmaximum = 100000\ntransform = "log1p"',
    "yes_no": "",
    "class": f"classes = {json.dumps(GRANTS)}",
    "classes": f"classes = {json.dumps(DUTIES)}",
    "ordinal": f"classes = {json.dumps(GRADES)}",
    "probability": "",
}
LABELS = """
[labels.dress]
sentence = "The applicant wears {value}."
values = ["an overall", "a suit"]
reference = "an overall"
slot = "fact"
[labels.town]
sentence = "The applicant lives in {value}."
values = ["Aachen", "Bonn", "Celle"]
reference = "Aachen"
slot = "fact"
"""
PLANTED = ("dress", "a suit")
DEVIATE, UNREAD, MOVED = 0.3, 0.03, 0.8
DRAWS = 499
LEVEL = 0.05


@dataclass(frozen=True, slots=True)
class Found:
    """What the studies of one kind gave."""

    kind: str
    null: int
    """Null studies with anything confirmed."""
    recovered: int
    """Planted studies whose planted label is confirmed."""
    false: int
    """Planted studies whose other label is confirmed."""
    seconds: float


def answer(kind: str, chance: random.Random, base: int, moved: bool) -> str:
    """One answer: as the case has it, or off by chance, or moved by the planted value."""
    if chance.random() < UNREAD:
        return "I would rather not say more than this."
    shift = (1 if moved else 0) + (chance.choice((-1, 1)) if chance.random() < DEVIATE else 0)
    found: object
    match kind:
        case "amount":
            found = round(1000 * (2 + base % 9) * 1.5**shift)
        case "yes_no":
            found = "yes" if (base % 2 + shift) > 0 else "no"
        case "class":
            found = GRANTS[2] if moved else GRANTS[(base + abs(shift)) % len(GRANTS)]
        case "classes":
            held = {duty for place, duty in enumerate(DUTIES) if base >> place & 1}
            found = sorted(held | {"audit"} if moved else held ^ {DUTIES[base % 3]} if shift else held)
        case "ordinal":
            found = GRADES[min(max(base % len(GRADES) + shift, 0), len(GRADES) - 1)]
        case _:
            found = round(min(max((2 + base % 7) / 10 + 0.1 * shift, 0.0), 1.0), 3)
    return json.dumps({"outcome": found})


def domain_of(kind: str, folder: Path) -> Domain:
    """A domain with one outcome of a kind."""
    (folder / "domain.toml").write_text(
        'name = "calibration"\ntitle = "Calibration"\n'
        f'[[outcomes]]\nname = "outcome"\nkind = "{kind}"\n{OUTCOMES[kind]}\n'
    )
    (folder / "labels.toml").write_text(LABELS)
    (folder / "prompt.md").write_text("Decide.\n{{case}}\n")
    return find(str(folder))


async def reply(
    study: store.Study, kind: str, bases: dict[tuple[str, str], tuple[int, bool]], seed: int
) -> None:
    """Answer everything; `bases` has what each case is like, and whether the planted value moves it."""
    key = store.add_model(study, model="script", kind="simulated", settings={"model": "script"})
    queries = list(store.pending(study, key))
    chance = random.Random(seed)
    run = runs.start_run(study, "run", {})
    writer = store.Writer(study)
    for query in queries:
        base, moves = bases[query.collection, query.doc_id]
        moved = moves and (query.label, query.value) == PLANTED
        text = answer(kind, chance, base, moved)
        await writer.put(
            store.PredictionRow(None, query.query_id, key, run, query.repeat, "answered", text, now())
        )
    await writer.close()
    runs.finish_run(study, run, "finished")


def calibrate(kind: str, studies: int, planted: int, cases: int, seed: int) -> Found:
    """All studies of one kind."""
    started = time.monotonic()
    chance = random.Random(f"{kind}/{seed}")
    with (
        tempfile.TemporaryDirectory() as folder,
        store.open_study(":memory:", migrations=[analyze.MIGRATIONS]) as study,
    ):
        domain = domain_of(kind, Path(folder))
        bases: dict[tuple[str, str], tuple[int, bool]] = {}
        for number in range(studies + planted):
            name = f"{'null' if number < studies else 'planted'}-{number}"
            for place in range(cases):
                moves = number >= studies and chance.random() < MOVED
                bases[name, f"c{place}"] = (chance.randrange(1000), moves)
            chosen = [Case(f"c{place}", f"Case {place}. {{{{fact}}}}", "script") for place in range(cases)]
            build(study, domain, cases=chosen, collection=name)
        asyncio.run(reply(study, kind, bases, seed))
        read(study, domain)
        analyze.run(study, specifications(domain)[0], draws=DRAWS, audit=False, seed=seed)
        confirmed = study.connection.execute(
            "SELECT DISTINCT collection, label FROM findings WHERE scope = 'label' AND state = 'confirmed'"
        ).fetchall()
    return Found(
        kind,
        null=len({collection for collection, _ in confirmed if collection.startswith("null")}),
        recovered=sum(c.startswith("planted") and label == PLANTED[0] for c, label in confirmed),
        false=sum(c.startswith("planted") and label != PLANTED[0] for c, label in confirmed),
        seconds=time.monotonic() - started,
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """1 where a kind confirms more than chance allows, or finds fewer than half of what is planted."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--studies", type=int, default=200)
    parser.add_argument("--planted", type=int, default=50)
    parser.add_argument("--cases", type=int, default=30)
    parser.add_argument("--kinds", default=",".join(OUTCOMES))
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args(arguments)
    most = int(stats.binom.ppf(0.995, given.studies, LEVEL))
    print(
        f"{given.cases} cases a study, 2 labels, 3 comparisons; "
        f"at most {most} of {given.studies} may be by chance"
    )
    print(f"{'kind':12} {'null confirmed':>16} {'planted found':>14} {'other label':>12} {'s':>6}  verdict")
    failed = False
    one = partial(calibrate, studies=given.studies, planted=given.planted, cases=given.cases, seed=given.seed)
    with ProcessPoolExecutor(min(os.cpu_count() or 1, 4)) as pool:
        for found in pool.map(one, given.kinds.split(",")):
            good = found.null <= most and 2 * found.recovered >= given.planted
            failed |= not good
            verdict = "holds" if good else "FAILS"
            share = f"{found.null}/{given.studies} ({found.null / max(given.studies, 1):.1%})"
            print(
                f"{found.kind:12} {share:>16} {f'{found.recovered}/{given.planted}':>14} "
                f"{f'{found.false}/{given.planted}':>12} {found.seconds:6.1f}  {verdict}",
                flush=True,
            )
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
