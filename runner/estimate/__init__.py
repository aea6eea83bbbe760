"""Before a run: the tokens, the cost and the time that it will take."""

__all__ = ["estimate", "tokens"]
