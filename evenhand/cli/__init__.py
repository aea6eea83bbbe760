"""One module a command: it parses, calls a service, and prints."""

__all__ = ["main"]
