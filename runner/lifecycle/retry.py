"""How often and how long after a failure a query is asked again.

tenacity's policies decide, but are entered only after a first failure: around every request they would cost a
quarter of the whole runner's time.
"""

from __future__ import annotations

from tenacity import AsyncRetrying, RetryCallState, stop_after_attempt, wait_random_exponential

FIRST_WAIT_S = 0.5
LONGEST_WAIT_S = 30.0


class Retries:
    """The budget of tries of each query, with full jitter between them."""

    def __init__(self, max_tries: int) -> None:
        self._policy = AsyncRetrying(
            stop=stop_after_attempt(max_tries),
            wait=wait_random_exponential(multiplier=FIRST_WAIT_S, max=LONGEST_WAIT_S),
        )

    def after_failure(self, state: RetryCallState | None) -> tuple[RetryCallState, float | None]:
        """The query's state, and the seconds to wait before its next try; None when its budget is spent."""
        if state is None:
            state = RetryCallState(self._policy, None, (), {})
        if self._policy.stop(state):
            return state, None
        seconds = float(self._policy.wait(state))
        state.prepare_for_next_attempt()
        return state, seconds
