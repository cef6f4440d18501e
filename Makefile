# Two commands do all the set-up: `make demo` and `make test`. Both work on a new machine that has Python 3.11–3.13 and make.
SHELL := bash
.SHELLFLAGS := -o pipefail -c
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
DEMO := .demo

.PHONY: demo test suite quality quick docs lint format lock clean

$(VENV)/.installed: requirements.lock pyproject.toml
	@echo "[1/4] making a virtual environment in $(VENV)"
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --upgrade pip
	@echo "[2/4] installing $$(grep -c == requirements.lock) packages, torch among them: 1 to 3 minutes"
	@$(BIN)/python -m pip install --progress-bar on --requirement requirements.lock \
		| sed -u -n -e 's/^ *Downloading \([^ ]*\).* (\([0-9]*[0-9][0-9]\.[0-9] MB\)).*/      \1, \2/p' -e '/^Installing/s/:.*/ (the longest step)/p'
	@echo "[3/4] installing kb itself"
	@$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation --editable .
	@echo "[4/4] checking that every package has what it needs"
	@$(BIN)/python -m pip check
	@touch $@

demo: $(VENV)/.installed
	@rm -rf $(DEMO)
	$(BIN)/kb --home $(DEMO) ingest fixtures/corpus
	@echo
	$(BIN)/kb --home $(DEMO) search "mirror cleaning" -k 3
	@echo
	$(BIN)/kb --home $(DEMO) ask "How often must the mirror of Marigold be cleaned?"

# The type checker is at work beside the tests: half a minute, where it has nothing kept.
test: $(VENV)/.installed
	@$(MAKE) --no-print-directory -j 2 lint suite

# What the models say of a text is kept in .pytest_cache, until they change: later runs take seven tenths of the time of the first.
# One process more than a small machine has cores: while one waits for a server, a disk or a screen, the others go on.
suite: $(VENV)/.installed
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n 3 --dist worksteal -m "not quality"

# What is found and answered on the fixture corpus, held against the baseline: about a minute.
quality: $(VENV)/.installed
	$(BIN)/python -m pytest -m quality

# The fast half of the tests, in under 40 s: nothing that tests/conftest.py marks slow.
quick: $(VENV)/.installed
	$(BIN)/ruff check .
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 --dist worksteal -m "not slow and not quality"

lint: $(VENV)/.installed
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

docs: $(VENV)/.installed
	$(BIN)/mkdocs build --strict --quiet

format: $(VENV)/.installed
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

# The lock holds exact versions of everything, tests included; made anew from pyproject.toml.
lock: $(VENV)/.installed
	$(BIN)/python -m pip freeze --exclude-editable --exclude kb-cited > requirements.lock

clean:
	rm -rf $(VENV) $(DEMO) site .pytest_cache .mypy_cache .ruff_cache
