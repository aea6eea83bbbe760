"""The counterfactual design: case x label x value, one fact changed, effects within the case."""

__all__ = ["frame", "pairs"]
