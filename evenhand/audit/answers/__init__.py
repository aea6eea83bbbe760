"""Reading answers: what every domain needs, and the general reader by the form of an answer."""

__all__ = [
    "announced",
    "attribution",
    "labelled",
    "numerals",
    "objects",
    "reasoning",
    "refusals",
    "shapes",
    "vocabulary",
    "writing",
]
