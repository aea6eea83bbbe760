"""Servers for tests and benchmarks: the scripted judge with every fault of a provider and an exact ledger.

- `FaultyJudge`: the server; `FaultPlan` says what goes wrong, `Ledger` knows what was served
- `JudgeProcess`: the same in a process of its own
"""

from tests.servers.faults import DeadKey, FaultPlan, Outage
from tests.servers.faulty_judge import FaultyJudge
from tests.servers.ledger import Ledger
from tests.servers.limits import ServerLimits
from tests.servers.process import JudgeProcess

__all__ = ["DeadKey", "FaultPlan", "FaultyJudge", "JudgeProcess", "Ledger", "Outage", "ServerLimits"]
