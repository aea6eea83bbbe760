"""One module a command: it parses, calls a room, and prints."""
