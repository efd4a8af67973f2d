# Two commands to know: `make serve` and `make test`. The others are for people who change the code.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: serve test lint format bench openapi requirements clean

serve: $(VENV)/.runtime
	@exec $(BIN)/python -m service serve

test: $(VENV)/.development
	$(BIN)/python -m pytest -n 2

lint: $(VENV)/.development
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/hadolint Dockerfile
	$(BIN)/check-jsonschema --builtin-schema vendor.compose-spec docker-compose.yml

format: $(VENV)/.development
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

openapi: $(VENV)/.development
	$(BIN)/python -m service openapi > openapi.json

# The pinned versions, made anew from pyproject.toml.
requirements:
	uv pip compile -q pyproject.toml --extra dev --universal --generate-hashes --no-emit-index-url --no-header --no-annotate --python-version 3.11 -o requirements-dev.txt
	uv pip compile -q pyproject.toml --universal --generate-hashes --no-emit-index-url --no-header --no-annotate --python-version 3.11 -c requirements-dev.txt -o requirements.txt

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Niwaki needs Python 3.11 or newer; say which with: make PYTHON=/path/to/python3.12 …" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/.runtime: requirements.txt pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.txt
	@touch $@

$(VENV)/.development: requirements-dev.txt $(VENV)/.runtime
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-dev.txt
	@touch $@
