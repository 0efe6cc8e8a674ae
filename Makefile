# Everything runs in .venv, which the first target that needs it creates.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

.PHONY: help demo test adapters fuzz soak check lint types conformance bench clean

help: ## List the targets.
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/'

$(STAMP): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "memhtml needs Python 3.11 or newer; set PYTHON=/path/to/python3.11"; exit 1; }
	@echo "Setting up $(VENV), once: two or three minutes."
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $@

# The same cache as the tests': nothing outside of this folder is touched.
demo: export MEMHTML_CACHE := $(or $(MEMHTML_CACHE),$(abspath $(VENV))/.memhtml-cache)
demo: $(STAMP) ## Write a dozen memories into a new store and find them again.
	@$(BIN)/python -m memhtml model add splade-tiny --yes --text || echo "The demo goes on without it: search by words alone."
	@$(BIN)/python examples/demo.py

test: $(STAMP) ## Run every test, on all cores.
	$(BIN)/python -m pytest --numprocesses auto --dist loadfile

adapters: $(STAMP) ## Run the adapters' tests and examples against the frameworks.
	$(BIN)/python -m pytest tests/adapters

fuzz: $(STAMP) ## Run the property tests on examples that no run has seen.
	$(BIN)/python -m pytest -m hypothesis --hypothesis-profile=fuzz

soak: $(STAMP) ## Run the safety tests in full: 300 kills, crowds for a minute, 40,000 facts.
	MEMHTML_SOAK=1 $(BIN)/python -m pytest -s tests/safety

check: lint types test ## Lint, types and tests.

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(STAMP)
	$(BIN)/mypy src tests

conformance: $(STAMP) ## Run the shared vectors, highlight.js fetched from npm, and print what differs.
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[highlightjs]'
	MEMHTML_HIGHLIGHTJS="$$($(BIN)/python tools/fetch_hljs.py)" $(BIN)/python -m tests.conformance tests/conformance/vectors
	@tools/mcp_conformance.sh $(BIN)/python

bench: $(STAMP) ## Measure; every figure is a ratio to a floor of the same run.
	-$(BIN)/python bench/format.py
	-$(BIN)/python bench/cli.py
	-$(BIN)/python bench/detect.py
	-$(BIN)/python bench/index.py
	-$(BIN)/python bench/search.py
	-$(BIN)/python bench/abstention.py
	-$(BIN)/python bench/store.py
	-$(BIN)/python bench/history.py
	-$(BIN)/python bench/curation.py
	-$(BIN)/python bench/sleep.py

clean: ## Remove the environment and caches.
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis
