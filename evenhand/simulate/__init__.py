"""A scripted judge that demo, tests and benchmarks share: OpenAI-compatible, on loopback, no model behind it.

    script = Script(biases=(Bias("judge_religion", "佛教"),))
    async with SimulatedJudge.of_study(study, script) as judge:
        ...  # POST {judge.base_url}/chat/completions

What it does is a script (`Script`), what it knows are digests of prompts (`PromptBook`). The judge that fails
in every way a provider does, with a ledger of what it served, is among the tests (`tests/servers/`).
"""

from evenhand.simulate.judge import SimulatedJudge
from evenhand.simulate.prompts import PromptBook
from evenhand.simulate.script import Bias, Latency, Script

__all__ = ["Bias", "Latency", "PromptBook", "Script", "SimulatedJudge", "group_data"]
