"""`python -m evenhand`: the command line, for an installation whose scripts are not on the path."""

from __future__ import annotations

from evenhand.cli.main import main

if __name__ == "__main__":
    main()
