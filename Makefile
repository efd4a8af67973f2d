# Two commands to know: `make serve` and `make test`. The others are for people who change the code.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
BENCH := bench/.venv
MLSERVER := bench/.venv-mlserver

.PHONY: serve test test-bounds lint format bench openapi requirements clean

serve: $(VENV)/.runtime
	@exec $(BIN)/python -m service serve

test: $(VENV)/.development
	$(BIN)/python -m pytest -n 2

# The tests of core that run compiled kernels once more, with every index of an array checked; but how soon a training
# tells how far it is would only show that checking takes long.
test-bounds: $(VENV)/.development
	NUMBA_BOUNDSCHECK=1 $(BIN)/python -m pytest -n 2 $$(grep -rlE '_kernels|grow_fast|KERNELS|"kernels"' --include='test_*.py' --exclude=test_progress.py tests/core)

lint: $(VENV)/.development
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports --config layers.toml
	$(BIN)/hadolint Dockerfile
	$(BIN)/check-jsonschema --builtin-schema vendor.compose-spec docker-compose.yml

format: $(VENV)/.development
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

openapi: $(VENV)/.development
	$(BIN)/python -m service openapi > openapi.json

# Speed beside other libraries and servers, which have environments of their own; MLServer wants an older FastAPI than
# anybody else. Some rows only, and small: make bench ROWS="numeric --quick"
bench: $(BENCH)/.installed $(MLSERVER)/.installed $(VENV)/.runtime
	$(BENCH)/bin/python -m bench $(ROWS)

# The pinned versions, made anew from pyproject.toml.
requirements:
	uv pip compile -q pyproject.toml --extra dev --universal --generate-hashes --no-emit-index-url --no-header --no-annotate --python-version 3.11 -o requirements-dev.txt
	uv pip compile -q pyproject.toml --universal --generate-hashes --no-emit-index-url --no-header --no-annotate --python-version 3.11 -c requirements-dev.txt -o requirements.txt
	uv pip compile -q bench/requirements.in --universal --generate-hashes --no-emit-index-url --no-header --no-annotate --python-version 3.11 -c requirements.txt -o bench/requirements.txt
	uv pip compile -q bench/requirements-mlserver.in --universal --generate-hashes --no-emit-index-url --no-header --no-annotate --python-version 3.11 -o bench/requirements-mlserver.txt

clean:
	rm -rf $(VENV) $(BENCH) $(MLSERVER) .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache

$(VENV)/bin/python $(BENCH)/bin/python $(MLSERVER)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Niwaki needs Python 3.11 or newer; say which with: make PYTHON=/path/to/python3.12 …" >&2; exit 1; }
	$(PYTHON) -m venv $(patsubst %/bin/python,%,$@)

$(VENV)/.runtime: requirements.txt pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.txt
	@touch $@

$(VENV)/.development: requirements-dev.txt $(VENV)/.runtime
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-dev.txt
	@touch $@

$(BENCH)/.installed: bench/requirements.txt | $(BENCH)/bin/python
	$(BENCH)/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r bench/requirements.txt
	@touch $@

$(MLSERVER)/.installed: bench/requirements-mlserver.txt | $(MLSERVER)/bin/python
	$(MLSERVER)/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r bench/requirements-mlserver.txt
	@touch $@
