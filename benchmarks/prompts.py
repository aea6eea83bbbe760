"""6 KB Chinese prompts for the benchmarks, alone and as a study.

`python -m benchmarks.prompts DATABASE COUNT`
"""

from __future__ import annotations

import sys
from pathlib import Path

VALUES = 161
_SENTENCE = "经审理查明，被告人于案发当日趁被害人不备窃取其随身财物，后被公安机关抓获归案，赃物已发还被害人。"
FACTS = _SENTENCE * 42  # about 2,000 characters, 6 KB


def prompt(number: int) -> str:
    """The prompt of a query, by its number."""
    return f"第{number // VALUES}号案。{FACTS}被告人的情况为第{number % VALUES}种。请以JSON作答。"


def make_study(database: Path, count: int) -> None:
    """A study with so many queries, 161 for each document."""
    import store
    from store import identity
    from store.prompt import render

    with store.open_study(database) as study:
        store.add_collection(study, "bench", kind="own", description="benchmark")
        documents = [
            store.Document(f"d{n}", n, text=f"第{n}号案。{FACTS}被告人的情况为第{{{{value}}}}种。")
            for n in range(-(-count // VALUES))
        ]
        store.add_documents(study, "bench", documents)
        user = "{{document}}请以JSON作答。"
        template = store.add_template(study, name="bench", system_text=None, user_text=user)
        queries = []
        for number in range(count):
            document, value = documents[number // VALUES], str(number % VALUES)
            key = identity.prompt_hash(None, render(user, document.text or "", {"value": value}))
            queries.append(
                store.Query(document.doc_id, "label", value, number, key, template, {"value": value})
            )
        store.add_queries(study, "bench", queries)


if __name__ == "__main__":
    make_study(Path(sys.argv[1]), int(sys.argv[2]))
