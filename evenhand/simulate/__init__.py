"""A scripted judge that demo, tests and benchmarks share: OpenAI-compatible, on loopback, no model behind it.

    script = Script(biases=(Bias("judge_religion", "佛教"),))
    async with SimulatedJudge.of_study(study, script) as judge:
        ...  # POST {judge.base_url}/chat/completions

What it does is a script (`Script`), what it knows are digests of prompts (`PromptBook`), and it can be
made to fail in every way a provider does (`FaultPlan`). The names below load on first use.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from evenhand.simulate.faults import DeadKey, FaultPlan, Outage
    from evenhand.simulate.judge import SimulatedJudge
    from evenhand.simulate.ledger import Ledger
    from evenhand.simulate.limits import ServerLimits
    from evenhand.simulate.process import JudgeProcess
    from evenhand.simulate.prompts import PromptBook
    from evenhand.simulate.script import Bias, Latency, Script

_HOME = {
    "Bias": "script",
    "DeadKey": "faults",
    "FaultPlan": "faults",
    "JudgeProcess": "process",
    "Latency": "script",
    "Ledger": "ledger",
    "Outage": "faults",
    "PromptBook": "prompts",
    "Script": "script",
    "ServerLimits": "limits",
    "SimulatedJudge": "judge",
}

__all__ = [
    "Bias",
    "DeadKey",
    "FaultPlan",
    "JudgeProcess",
    "Latency",
    "Ledger",
    "Outage",
    "PromptBook",
    "Script",
    "ServerLimits",
    "SimulatedJudge",
]


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(f"evenhand.simulate.{_HOME[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
