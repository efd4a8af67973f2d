# Two commands to know: `make serve` and `make test`. The others are for people who change the code.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
BENCH := bench/.venv
MLSERVER := bench/.venv-mlserver

.DEFAULT_GOAL := help
.PHONY: help serve test check style types layers test-fast lint files format test-bounds fuzz openapi released-api \
	requirements bench faster same processors clean

##@ To use it
serve: $(VENV)/.runtime ## Start the service on http://127.0.0.1:8000
	@exec $(BIN)/python -m service serve

test: $(VENV)/.development ## Run all tests
	$(BIN)/python -m tests.compile_kernels
	$(BIN)/python -m pytest -n 2

##@ To change it
help: ## Show this list
	@awk -F ':.*## ' '/^##@/ { printf "%s%s\n", gap, substr($$0, 5); gap = "\n" } /^[a-z-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

check: style types layers test-fast ## What to run while working: style, types, layers and the fast tests

style: $(VENV)/.development ## Check how the code is formatted and written
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

types: $(VENV)/.development ## Check the types
	$(BIN)/mypy

layers: $(VENV)/.development ## Check who imports whom
	$(BIN)/lint-imports --config layers.toml

test-fast: $(VENV)/.development ## Run the fast tests
	$(BIN)/python -m pytest -n 2 -m "not slow and not bounds" tests/core tests/contract

format: $(VENV)/.development ## Format the code, and mend what can be mended without asking
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

lint: style types layers files ## All checks that are no tests

files: $(VENV)/.development ## Check the files for Docker and for hosted CI
	$(BIN)/hadolint Dockerfile
	$(BIN)/check-jsonschema --builtin-schema vendor.compose-spec docker-compose.yml
	$(BIN)/check-jsonschema --builtin-schema vendor.github-workflows .github/workflows/ci.yml

# How soon a training tells how far it is would only show that checking takes long, so those tests have no marker.
test-bounds: $(VENV)/.development ## Run the tests of compiled kernels again, with every index of an array checked
	NUMBA_BOUNDSCHECK=1 $(BIN)/python -m pytest -n 2 -m bounds tests/core

# Each property on ten times as many examples as in `make test`, and on other ones each time: make fuzz TESTS=tests/core/rules
fuzz: $(VENV)/.development ## Try every property on many more generated examples
	EXAMPLES=4 $(BIN)/python -m pytest -n 2 $(or $(TESTS),tests/core)

openapi: $(VENV)/.development ## Write openapi.json anew
	$(BIN)/python -m service openapi > openapi.json

# Before the version changes: later changes that break programs are told apart from this.
released-api: $(VENV)/.development ## Keep openapi.json as that of the last release
	$(BIN)/python -m tests.contract.breaking_changes

##@ To measure it
# Speed beside other libraries and servers, which have environments of their own; MLServer wants an older FastAPI than
# anybody else. Some rows only, and small: make bench ROWS="numeric --quick"
bench: $(BENCH)/.installed $(MLSERVER)/.installed $(VENV)/.runtime ## Compare the speed with that of other libraries and servers; ROWS="numeric --quick" for some
	$(BENCH)/bin/python -m bench $(ROWS)

# This checkout beside another, in turn, without other libraries: make faster BASE=main ROWS="numeric quest"
faster: $(BENCH)/.installed $(VENV)/.development ## Compare the speed with that of another revision, BASE; ROWS="numeric" for some
	$(BIN)/python -m bench.faster $(BASE) $(ROWS)

# Models of about 200 trainings, answers in every format, and openapi.json: make same BASE=main
same: $(VENV)/.development ## Compare models, answers and the API with those of another revision, BASE
	$(BIN)/python -m tests.net same $(BASE)

# The same digests, with NumPy, BLAS and libm as on older processors, and with kernels compiled for this one alone.
processors: $(VENV)/.development ## Compare models and answers with those of other processors
	$(BIN)/python -m tests.net processors

##@ To look after it
requirements: ## Pin the versions of all packages anew, from pyproject.toml
	uv pip compile -q pyproject.toml --extra dev --universal --generate-hashes --no-emit-index-url --no-header --no-annotate --python-version 3.11 -o requirements-dev.txt
	uv pip compile -q pyproject.toml --universal --generate-hashes --no-emit-index-url --no-header --no-annotate --python-version 3.11 -c requirements-dev.txt -o requirements.txt
	uv pip compile -q bench/requirements.in --universal --generate-hashes --no-emit-index-url --no-header --no-annotate --python-version 3.11 -c requirements.txt -o bench/requirements.txt
	uv pip compile -q bench/requirements-mlserver.in --universal --generate-hashes --no-emit-index-url --no-header --no-annotate --python-version 3.11 -o bench/requirements-mlserver.txt

clean: ## Delete the environments and caches
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
