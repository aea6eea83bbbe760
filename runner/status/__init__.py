"""What a person sees of a run: counters, the live view, the summary at the end."""

__all__ = ["monitor", "summary", "typed"]
