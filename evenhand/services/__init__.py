"""What the commands do, as functions: for the command line, for `evenhand.api`, and for any page.

They print nothing, install no signal handlers, give progress as events, and raise the exceptions of
`store.errors`.
"""

__all__ = [
    "analysis",
    "domains",
    "engines",
    "events",
    "group_analysis",
    "import_predictions",
    "load",
    "queries",
    "reports",
    "runs",
    "studies",
]
