"""A batch run in a process of its own, to be killed: `python batch_child.py DATABASE BASE_URL [DIE_AT]`.

DIE_AT names a step of `store.batches` or of the flow: the process kills itself when it has come so far.
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from typing import Any

import uvloop
from runner_world import providers

import store
from runner.batch.api import BatchApi
from runner.batch.run import run_batch
from runner.lifecycle.options import Asked, RunOptions
from store import batches


def die_after(owner: Any, name: str, when: Any = lambda *args, **kwargs: True) -> None:
    """Kill this process when the function has been called and has returned."""
    whole = getattr(owner, name)

    async def awaited(*args: Any, **kwargs: Any) -> Any:
        result = await whole(*args, **kwargs)
        os.kill(os.getpid(), signal.SIGKILL)
        return result

    def called(*args: Any, **kwargs: Any) -> Any:
        result = whole(*args, **kwargs)
        if when(*args, **kwargs):
            os.kill(os.getpid(), signal.SIGKILL)
        return result

    setattr(owner, name, awaited if owner is BatchApi else called)


def main(database: str, base_url: str, die_at: str = "") -> int:
    """Ask what is pending by batches."""
    if die_at == "noted":
        die_after(batches, "add_batch")
    elif die_at == "uploaded":  # and not recorded
        die_after(BatchApi, "upload")
    elif die_at == "upload recorded":
        die_after(batches, "change", lambda *_, **columns: columns.get("state") == "uploaded")
    elif die_at == "submitted":  # and not recorded
        die_after(BatchApi, "submit")
    elif die_at == "submission recorded":
        die_after(batches, "change", lambda *_, **columns: "batch_id" in columns)
    elif die_at == "harvested":  # all stored, the batch not closed
        whole = store.Writer.flush

        async def flush(self: store.Writer) -> None:
            await whole(self)
            if self.committed:
                os.kill(os.getpid(), signal.SIGKILL)

        store.Writer.flush = flush  # type: ignore[method-assign]
    entry = providers(a={"base_url": base_url, "batch": True}).resolve("judge")
    with store.open_study(Path(database)) as study:
        options = RunOptions(monitor="none", serve_sql=False)
        summary = uvloop.run(run_batch(study, [Asked(entry.settings(), entry)], None, options, poll_s=0.02))
    print(summary.state, summary.message, flush=True)
    return summary.exit_code


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
