"""Small made-up domains, one for each kind of outcome, and judges that answer with a planted effect, or none.

Each has two labels: `dress`, a plain fact with two values, and `town`, with three. Without an effect an
answer depends on the case and on chance alone; with one, `dress = "suit"` moves a share of the cases.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import analyze
import store
from evenhand.audit import Domain, build, find, read
from store import runs
from store.rows import now

KINDS = ("amount", "yes_no", "class", "classes", "ordinal", "probability")
GRANTS = ("refused", "small grant", "large grant", "deferred")
GRADES = ("poor", "fair", "good", "excellent")
DUTIES = ("report", "visit", "audit")

_OUTCOMES = {
    "amount": 'name = "grant"\nkind = "amount"\ntitle = "Size of the grant"\nunit = "euros"\n'
    'maximum = 100000\ntransform = "log1p"\n',
    "yes_no": 'name = "granted"\nkind = "yes_no"\ntitle = "Grant awarded"\n',
    "class": f'name = "course"\nkind = "class"\ntitle = "Decision"\nclasses = {json.dumps(GRANTS)}\n',
    "classes": f'name = "duties"\nkind = "classes"\ntitle = "Duties"\nclasses = {json.dumps(DUTIES)}\n',
    "ordinal": f'name = "grade"\nkind = "ordinal"\ntitle = "Grade"\nclasses = {json.dumps(GRADES)}\n',
    "probability": 'name = "success"\nkind = "probability"\ntitle = "Probability of success"\n',
}
_LABELS = """
[labels.dress]
title = "Dress of the applicant"
sentence = "The applicant wears {value}."
placebo = "The applicant is dressed in {value}."
values = [{ name = "overall", wording = "an overall" }, { name = "suit", wording = "a suit" }]
reference = "overall"
slot = "fact"
splits = { dimension = "person" }

[labels.town]
title = "Town"
sentence = "The applicant lives in {value}."
values = ["Aachen", "Bonn", "Celle"]
reference = "Aachen"
slot = "fact"
splits = { dimension = "place" }
"""


def make(folder: Path, kind: str, cases: int = 40, *, name: str | None = None) -> Domain:
    """A domain with one outcome of a kind, in a new folder."""
    folder.mkdir(parents=True, exist_ok=True)
    name = name or f"grants-{kind.replace('_', '-')}"
    (folder / "domain.toml").write_text(f'name = "{name}"\ntitle = "Grants"\n[[outcomes]]\n{_OUTCOMES[kind]}')
    (folder / "labels.toml").write_text(_LABELS)
    (folder / "prompt.md").write_text("Decide on the application.\n{{case}}\nAnswer with one JSON object.\n")
    rows = [
        {
            "id": f"case-{number}",
            "text": f"Application {number}. {{{{fact}}}}",
            "truth": {outcome_name(kind): truth(kind, number)},
        }
        for number in range(cases)
    ]
    (folder / "cases.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return find(str(folder))


def outcome_name(kind: str) -> str:
    """The name of the one outcome of a domain."""
    return _OUTCOMES[kind].split('"')[1]


def truth(kind: str, number: int) -> object:
    """The true answer of a case."""
    return {
        "amount": 1000.0 * (1 + number % 7),
        "yes_no": number % 2 == 0,
        "class": GRANTS[number % 4],
        "classes": [duty for place, duty in enumerate(DUTIES) if number >> place & 1],
        "ordinal": GRADES[number % 4],
        "probability": (1 + number % 9) / 10,
    }[kind]


@dataclass
class Judge:
    """Answers each query: as the truth, with noise in `noise` of the answers, moved in `moved` of the
    cases."""

    kind: str
    moved: float = 0.0
    noise: float = 0.1
    seed: int = 0

    def __call__(self, query: store.PendingQuery) -> str:
        number = int(query.doc_id.rpartition("-")[2])
        chance = random.Random(f"{self.seed}/{number}/{query.label}/{query.value}/{query.repeat}")
        of_case = random.Random(f"{self.seed}/{number}")
        moves = of_case.random() < self.moved and query.value == "suit"
        shift = (1 if moves else 0) + (chance.choice((-1, 1)) if chance.random() < self.noise else 0)
        return json.dumps({outcome_name(self.kind): self._answer(number, shift)})

    def _answer(self, number: int, shift: int) -> object:
        match self.kind:
            case "amount":
                return 1000 * (2 + number % 7) * (1 + 0.5 * shift)
            case "yes_no":
                return "yes" if (number % 5 == 0 or shift > 0) and shift >= 0 else "no"
            case "class":
                return GRANTS[2] if shift > 0 else GRANTS[(number + abs(shift)) % 4]
            case "classes":
                held = {duty for place, duty in enumerate(DUTIES) if number >> place & 1}
                return sorted(held | {"audit"} if shift > 0 else held - {"visit"} if shift < 0 else held)
            case "ordinal":
                return GRADES[min(max(number % 3 + shift, 0), 3)]
            case _:
                return round(min(max((2 + number % 5) / 10 + 0.2 * shift, 0.0), 1.0), 3)


async def answer(study: store.Study, reply: Callable[[store.PendingQuery], str], model: str = "judge") -> int:
    """Answer every pending query of a study."""
    key = store.add_model(study, model=model, kind="simulated", settings={"model": model})
    queries = list(store.pending(study, key))
    run = runs.start_run(study, "run", {})
    writer = store.Writer(study)
    for query in queries:
        text = reply(query)
        await writer.put(
            store.PredictionRow(None, query.query_id, key, run, query.repeat, "answered", text, now())
        )
    await writer.close()
    runs.finish_run(study, run, "finished")
    return len(queries)


async def studied(study: store.Study, domain: Domain, reply: Callable[[store.PendingQuery], str]) -> None:
    """A domain built into a study, answered and read."""
    build(study, domain, placebo=True)
    await answer(study, reply)
    read(study, domain)


def opened() -> store.Study:
    """A study in memory with the tables of results."""
    return store.open_study(":memory:", migrations=[analyze.MIGRATIONS])
