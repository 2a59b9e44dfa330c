# `make serve` and `make test` need only python3 (3.11 or newer) and make; uv is used when it is there.
PYTHON ?= python3
BIN := .venv/bin
UV := $(shell command -v uv 2>/dev/null)
INSTALL = $(if $(UV),$(UV) pip install -q --python $(BIN)/python,$(BIN)/python -m pip install -q)
PIN = uv pip compile -q --universal --python-version 3.11 --all-extras --no-emit-index-url --no-header --no-annotate pyproject.toml

.DEFAULT_GOAL := help
.PHONY: help serve test check unit bench conformance faults pins clean

help: ## show the targets
	@grep -hE '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 12

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Nur needs Python 3.11 or newer; this is " + sys.version.split()[0] + ". Try: make PYTHON=python3.12 serve")'
	$(if $(UV),$(UV) venv -q --clear --python $(PYTHON) .venv,$(PYTHON) -m venv --clear .venv || (rm -rf .venv; exit 1))

.venv/.run: pyproject.toml requirements/run.txt | $(BIN)/python
	$(INSTALL) -c requirements/run.txt -e . && touch $@

.venv/.dev: requirements/dev.txt .venv/.run
	$(INSTALL) -r requirements/dev.txt && touch $@

serve: .venv/.run ## set everything up and run the server on http://127.0.0.1:3000
	$(BIN)/nur serve

test: check unit ## set everything up and run every check and test

check: .venv/.dev ## style, types, import rules, spelling
	$(BIN)/ruff check src tests
	$(BIN)/ruff format --check src tests
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/deptry src
	$(BIN)/typos

unit: .venv/.dev ## the test suite: unit, contract, integration, acceptance
	$(BIN)/python -m pytest -n 2 --cov --cov-report=term:skip-covered

bench: .venv/.dev ## benchmarks: figures as ratios in one run; `make bench NAMES="start search"` runs some
	$(BIN)/python -m tests.benchmarks $(NAMES)

conformance: .venv/.dev ## the protocol's own suite and inspector; Node comes from a wheel, npm packages go into .venv
	$(INSTALL) -r requirements/conformance.txt
	$(BIN)/python -m tests.conformance

faults: .venv/.dev ## kill -9 sweeps and other slow fault tests
	$(BIN)/python -m pytest tests/faults -n 2

pins: ## pin every dependency again, in plain constraint files
	$(PIN) -o requirements/run.txt
	$(PIN) --group dev -c requirements/run.txt -o requirements/dev.txt
	uv pip compile -q --universal --python-version 3.11 --no-emit-index-url --no-header --no-annotate --group conformance -o requirements/conformance.txt
	! grep -nE '://|^-' requirements/*.txt

clean: ## remove the environment and caches
	rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .hypothesis .coverage
