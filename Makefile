# make demo | test | lint | docs | bench | release | clean: each does all of its own set-up, in a virtual environment under $(VENV).
# Needs Python 3.11 or newer, make and a C compiler. PYTHON=python3.12 chooses the interpreter.

PYTHON ?= python3
VENV ?= .venv
PYTEST_ARGS ?=

BIN := $(VENV)/bin
STAMP := $(VENV)/stamp
MAKEFLAGS += --no-print-directory

# Where this is set, each of the many processes that the tests start would compile all of the source anew.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.NOTPARALLEL:
.DELETE_ON_ERROR:
.PHONY: help demo test lint docs bench release clean

help:
	@echo "make demo    five kernels beside NumPy: what they compute, how fast, their C and MLIR, a page about one"
	@echo "make test    run the test suite (PYTEST_ARGS='-k name' is passed on)"
	@echo "             AFFDSL_TEST_ALL=1 make test: with more random programs"
	@echo "make lint    ruff, mypy and the import contracts"
	@echo "make docs    build the site of the documentation: build/docs/index.html"
	@echo "make bench   run the benchmarks"
	@echo "make release build a wheel and a source archive, check them, and run a kernel where each is installed"
	@echo "make clean   remove the virtual environment and everything built"

demo: $(STAMP)-examples
	@$(BIN)/python -m examples.demo

test: $(STAMP)-test
	@$(BIN)/python -m pytest -n 2 --dist loadfile $(PYTEST_ARGS)

lint: $(STAMP)-dev
	@echo "lint: ruff check" && $(BIN)/ruff check .
	@echo "lint: ruff format" && $(BIN)/ruff format --check .
	@echo "lint: mypy" && $(BIN)/mypy
	@echo "lint: import contracts" && $(BIN)/lint-imports --no-logo

docs: $(STAMP)-docs
	@$(BIN)/python -m sphinx -q -E -W --keep-going -d build/doctrees docs build/docs
	@$(BIN)/python -m docs.site.check build/docs

bench: $(STAMP)-bench
	@$(BIN)/python -m benchmarks.call_overhead
	@$(BIN)/python -m benchmarks.text
	@$(BIN)/python -m benchmarks.analysis
	@$(BIN)/python -m benchmarks.passes
	@$(BIN)/python -m benchmarks.boundscheck
	@$(BIN)/python -m benchmarks.patterns
	@$(BIN)/python -m benchmarks.vector
	@$(BIN)/python -m benchmarks.matmul
	@$(BIN)/python -m benchmarks.stencils
	@$(BIN)/python -m benchmarks.fusion
	@$(BIN)/python -m benchmarks.strided
	@$(BIN)/python -m benchmarks.advice
	@$(BIN)/python -m benchmarks.growth --seconds 0.3 --task parse print "translate --to=c" canonicalize affine-scalrep

release: $(STAMP)-release
	@PYTHON="$(CURDIR)/$(BIN)/python" .ci/release

clean:
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
	find affdsl passes codegen tests examples benchmarks -name __pycache__ -type d -prune -exec rm -rf {} + 2>/dev/null || true

# One stamp for each extra: made once, and again when pyproject.toml changes.
$(STAMP)-%: pyproject.toml $(STAMP)
	@echo "set-up: installing affdsl[$*] into $(VENV)"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[$*]' || { \
	    echo "set-up: pip could not install affdsl[$*]; see its message above" >&2; exit 1; }
	@touch $@

# Kept although they are intermediate files to make.
.PRECIOUS: $(STAMP)-%

$(STAMP):
	@command -v "$(PYTHON)" >/dev/null 2>&1 || { \
	    echo "set-up: no '$(PYTHON)' on PATH; install Python 3.11 or newer, or run make PYTHON=python3.12" >&2; exit 1; }
	@"$(PYTHON)" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	    echo "set-up: affdsl needs Python 3.11 or newer, but '$(PYTHON)' is $$("$(PYTHON)" -V 2>&1);" \
	         "run make PYTHON=python3.12" >&2; exit 1; }
	@"$(PYTHON)" -c 'import ensurepip, venv' 2>/dev/null || { \
	    echo "set-up: '$(PYTHON)' cannot make virtual environments (its venv or ensurepip module is missing);" \
	         "install it (Debian and Ubuntu: apt-get install python3-venv) or run make PYTHON=python3.12" >&2; exit 1; }
	@echo "set-up: making the virtual environment $(VENV) with $$("$(PYTHON)" -V)"
	@"$(PYTHON)" -m venv --clear "$(VENV)"
	@touch $@
