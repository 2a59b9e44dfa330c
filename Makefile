# `make serve` and `make test` need only python3 (3.11 or newer) and make; uv is used if it is installed.
PYTHON ?= python3
BIN := .venv/bin
UV := $(shell command -v uv 2>/dev/null)
# Not quiet: the first run downloads for a minute or two and should show its progress.
INSTALL = $(if $(UV),$(UV) pip install --python $(BIN)/python,$(BIN)/python -m pip install --disable-pip-version-check)
UNINSTALL = $(if $(UV),$(UV) pip uninstall -q --python $(BIN)/python,$(BIN)/python -m pip uninstall -q -y)
COMPILE = uv pip compile -q --universal --python-version 3.11 --no-emit-index-url --no-header --no-annotate
# Without the extra "models": its package is built from the folder models/.
PIN = $(COMPILE) --extra chroma --extra files --extra onnx --extra openai --extra postgres --extra qdrant --extra tokenizers pyproject.toml

.DEFAULT_GOAL := help
.PHONY: help serve test check unit dist docs reference changelog bench screenshots conformance faults profiles mutants pins clean

help: ## show the targets
	@grep -hE '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 12

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Nur needs Python 3.11 or newer; this is " + sys.version.split()[0] + ". Try: make PYTHON=python3.12 serve")'
	$(if $(UV),$(UV) venv -q --clear --python $(PYTHON) .venv,$(PYTHON) -m venv --clear .venv || (rm -rf .venv; exit 1))

.venv/.run: pyproject.toml requirements/run.txt src/nur/data/models.json | $(BIN)/python
	@echo "Installing Nur and its packages into .venv. This takes a minute or two, once."
	$(INSTALL) -c requirements/run.txt -e '.[files,openai]' && touch $@

.venv/.dev: requirements/dev.txt .venv/.run
	@echo "Installing the packages for checks and tests into .venv."
	$(INSTALL) -r requirements/dev.txt && touch $@

.venv/.models: models/pyproject.toml models/src/nur_models/models.json release/model_files.py .venv/.run
	@echo "Installing the sentence models into .venv: 115 MB to download, once."
	$(INSTALL) ./models && touch $@

serve: .venv/.models ## install everything and run the server on http://127.0.0.1:3000
	$(BIN)/nur serve

test: check unit ## install everything and run every check and test

check: .venv/.dev ## style, types, import rules, spelling
	$(BIN)/ruff check src tests release
	$(BIN)/ruff format --check src tests release
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/deptry src
	$(BIN)/typos

unit: .venv/.dev ## the test suite: unit, contract, integration, acceptance
	@rm -f .venv/.models; $(UNINSTALL) nur-memory-models 2>/dev/null || true # if installed, new stores would use them
	$(BIN)/python -m pytest -n 2 --randomly-seed=1 --cov --cov-report=
	@echo "Coverage of lines and branches in percent (details: $(BIN)/coverage report --skip-covered):"
	@$(BIN)/coverage report --format=total

dist: .venv/.dev ## build wheel, sdist and MCPB bundle in dist/, and test them in a fresh environment
	$(INSTALL) -r requirements/dist.txt
	rm -rf dist
	$(BIN)/python -m build --outdir dist
	$(BIN)/python -m build --wheel --outdir dist/models models
	$(BIN)/python -m release.bundle dist
	$(BIN)/twine check --strict dist/*.whl dist/*.tar.gz dist/models/*.whl
	$(BIN)/python -m pytest tests/dist

docs: .venv/.dev ## build the documentation as a site in dist/site; broken links fail
	$(INSTALL) -r requirements/docs.txt
	rm -rf dist/site
	$(BIN)/zensical build --clean --strict
	$(BIN)/python -m release.site dist/site
	@echo "To read it: $(BIN)/python -m http.server --directory dist/site --bind 127.0.0.1 8080"

reference: .venv/.dev ## generate the reference of tools, REST and settings from the code
	$(BIN)/python -m release.reference docs/reference/generated

bench: .venv/.dev ## benchmarks, as ratios within one run; `make bench NAMES="start search"` runs some
	$(BIN)/python -m tests.benchmarks $(NAMES)

screenshots: .venv/.dev ## take the web page's screenshots for the documentation; needs Chromium
	$(BIN)/python -m tests.browser.screenshots docs/images

conformance: .venv/.dev ## MCP's conformance suite and inspector; installs Node and npm packages into .venv
	$(INSTALL) -r requirements/conformance.txt
	$(BIN)/python -m tests.conformance

profiles: .venv/.dev ## the tests of tools and routes on each profile: embedded, Chroma server, PostgreSQL, PostgreSQL with Qdrant
	for profile in embedded compose server scale-out; do \
		echo "Profile $$profile"; \
		NUR_TEST_PROFILE=$$profile $(BIN)/python -m pytest -n 2 $$($(BIN)/python -m tests.profiles) || exit 1; \
	done
	$(BIN)/python -m pytest -n 2 tests/contract tests/integration/test_notes_state_machine.py tests/faults/test_killed_server.py tests/faults/test_killed_replicas.py

faults: .venv/.dev ## kill -9 and other slow fault tests; `NUR_FAULT_NOTES=10000 make faults` uses more notes
	$(BIN)/python -m pytest tests/faults -n 2

mutants: .venv/.dev ## mutation testing: change sampled places in the code, check that the fast tests fail; `make mutants ROOMS=domain SAMPLE=50`
	nice -n 15 $(BIN)/python -m tests.mutants $(ROOMS) $(if $(SAMPLE),--sample $(SAMPLE))

changelog: .venv/.dev ## merge the fragments of changes/ into CHANGELOG.md
	$(BIN)/python -m release.changelog

pins: ## update the pinned versions in requirements/
	$(PIN) -o requirements/run.txt
	$(PIN) --group dev -c requirements/run.txt -o requirements/dev.txt
	$(COMPILE) --group conformance -o requirements/conformance.txt
	$(COMPILE) --group docs -c requirements/dev.txt -o requirements/docs.txt
	$(COMPILE) --group dist -c requirements/dev.txt -o requirements/dist.txt
	! grep -nE '://|^-' requirements/*.txt

clean: ## remove the environment, caches and build output
	rm -rf .venv dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .coverage
