# Two commands do all the set-up: `make demo` and `make test`. Both work on a new machine that has Python 3.11–3.13 and make.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
DEMO := .demo

.PHONY: demo test lint format lock clean

$(VENV)/.installed: requirements.lock pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --requirement requirements.lock
	$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation --editable .
	touch $@

demo: $(VENV)/.installed
	@rm -rf $(DEMO)
	$(BIN)/kb --home $(DEMO) ingest fixtures/corpus
	@echo
	$(BIN)/kb --home $(DEMO) search "mirror cleaning" -k 3
	@echo
	$(BIN)/kb --home $(DEMO) ask "How often must the mirror of Marigold be cleaned?"

test: $(VENV)/.installed
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/python -m pytest -n 2 --dist worksteal

format: $(VENV)/.installed
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

# The lock holds exact versions of everything, tests included; made anew from pyproject.toml.
lock: $(VENV)/.installed
	$(BIN)/python -m pip freeze --exclude-editable --exclude kb > requirements.lock

clean:
	rm -rf $(VENV) $(DEMO) .pytest_cache .mypy_cache .ruff_cache
