# Everything a clean clone needs is Python >= 3.11, make and git: the rest comes from the locks.

VENV := .venv
BIN := $(VENV)/bin
PACKAGES := dfopt models/dfopt_models cli/dfopt_cli
CORE := $(shell find dfopt/core -name '*.[ch]pp')
INSTANCE ?= instances/hackbench-4-groups-100.json
PYTEST_ARGS ?= -n auto --maxprocesses 8 --dist worksteal

# The locks hold binary packages for these versions and no others.
PYTHONS := $(PYTHON) python3 python3.14 python3.13 python3.12 python3.11
FIT := import sys, venv, ensurepip; sys.exit(not (3, 11) <= sys.version_info < (3, 15))

# What is installed elsewhere must not leak into the environment.
unexport PYTHONPATH
unexport PYTHONHOME

# Tests start hundreds of processes, each of which would compile the same sources to bytecode.
unexport PYTHONDONTWRITEBYTECODE

PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
INSTALL_LOCKED := $(PIP) install --require-hashes --requirement

.DELETE_ON_ERROR:
.NOTPARALLEL:
.DEFAULT_GOAL := help
.PHONY: help venv solve test sanitize lint types layers docs bench dist wheel-test sbom schemas release-notes lock

help:  ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "%-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

venv: $(VENV)/dev $(VENV)/project  ## the development environment

solve: $(VENV)/run $(VENV)/project  ## solve a recorded instance to optimality (INSTANCE=...)
	$(BIN)/dfopt solve $(INSTANCE)

test: venv  ## run the tests (PYTEST_ARGS=...)
	$(BIN)/python -m pytest $(PYTEST_ARGS)

lint: venv  ## style and format
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/clang-format --dry-run -Werror $(CORE) tests/benchmarks/*.cpp

types: venv  ## static types, strict
	$(BIN)/mypy $(PACKAGES)

layers: venv  ## who may import whom
	$(BIN)/lint-imports --no-logo

# What runs most of the core's code in little time.
CORE_TESTS := tests/native tests/simulate/run_queue/costs/test_caches.py tests/solvers/timed \
  tests/solvers/configuration/test_pricing.py tests/solvers/heuristics/test_local_search.py \
  tests/solvers/heuristics/test_segment_exchange.py tests/solvers/tour/test_tour.py \
  tests/compare/attainable/test_local_search.py tests/compare/attainable/test_beam_search.py \
  tests/compare/attainable/test_patience.py
SANITIZERS := -g -fsanitize=address,undefined -fno-sanitize-recover=all -D_GLIBCXX_ASSERTIONS

# Sanitizers are those of g++; Python itself is not built with them and leaks at its end.
sanitize: venv  ## run the core's tests under sanitizers for addresses and undefined behaviour
	@mkdir -p build
	CXX=g++ CXXFLAGS="$(SANITIZERS)" $(BIN)/python dfopt/core/build.py build/sanitized.so
	DFOPT_CORE=build/sanitized.so ASAN_OPTIONS=detect_leaks=0 \
	  LD_PRELOAD="$$(g++ -print-file-name=libasan.so) $$(g++ -print-file-name=libstdc++.so)" \
	  $(BIN)/python -m pytest -p no:cacheprovider -m "not slow" $(CORE_TESTS)

docs: venv  ## build the documentation; its examples run with the tests
	$(BIN)/sphinx-build -W --keep-going -q -b html docs docs/_build/html

bench: venv  ## run the benchmarks (slow)
	$(BIN)/python -m pytest tests/benchmarks

# The wheel is built from the source distribution. So a file that is missing there shows.
dist: venv  ## build the source distribution and the wheel, into dist/
	@set -eu; \
	work=$$(mktemp -d); trap 'rm -rf "$$work"' EXIT; \
	python=$$PWD/$(BIN)/python; dist=$$PWD/dist; rm -rf "$$dist"; \
	$$python -m hatchling build --target sdist --directory "$$dist"; \
	tar -xzf "$$dist"/dfopt-*.tar.gz -C "$$work" --strip-components 1; \
	for file in $$(git ls-files); do \
	  if [ ! -e "$$work/$$file" ]; then echo "not in the source distribution: $$file" >&2; exit 1; fi; \
	done; \
	cd "$$work"; $$python -m hatchling build --target wheel --directory "$$dist"

# The packages that the wheel needs are copied, which is much faster than to install them once more.
wheel-test: dist  ## run the tests against the built wheel, with the sources gone
	@set -eu; \
	work=$$(mktemp -d); trap 'rm -rf "$$work"' EXIT; \
	python=$$PWD/$(BIN)/python; dist=$$PWD/dist; tree=$$work/tree; mkdir "$$tree"; \
	tar -xzf "$$dist"/dfopt-*.tar.gz -C "$$tree" --strip-components 1; \
	git ls-files dfopt models cli > "$$tree/sources.txt"; \
	if [ -e ../shared ]; then ln -s "$$(cd ../shared && pwd)" "$$work/shared"; fi; \
	cd "$$tree"; \
	rm -r dfopt models cli; \
	$$python -m venv --without-pip "$$work/venv"; \
	packages='import sysconfig; print(sysconfig.get_path("purelib"))'; \
	cp -R "$$($$python -c "$$packages")/." "$$("$$work/venv/bin/python" -c "$$packages")"; \
	pip="$$work/venv/bin/python -m pip --disable-pip-version-check --quiet"; \
	$$pip uninstall --yes dfopt; \
	$$pip install --no-deps --no-index "$$dist"/dfopt-*.whl; \
	"$$work/venv/bin/python" -m pytest $(PYTEST_ARGS)

sbom: $(VENV)/run $(VENV)/project  ## write a bill of materials of the locked packages to build/
	@mkdir -p build
	@SOURCE_DATE_EPOCH=$$(git log -1 --format=%ct) \
	  $(BIN)/python release/sbom.py > build/dfopt.cdx.json

schemas: $(VENV)/run $(VENV)/project  ## write the JSON Schemas of all documents from their types
	$(BIN)/python release/schemas.py

TAG ?=
release-notes: venv  ## check that a tag may be released, and write its notes to build/ (TAG=v...)
	@mkdir -p build
	@$(BIN)/python release/notes.py "$(TAG)" > build/notes.md

# uv stays outside the project: it is fetched for this once. Pins that still fit are kept;
# LOCK_ARGS=--upgrade moves them all.
LOCK_ARGS ?=
lock: $(VENV)/created  ## renew requirements/ from pyproject.toml
	@set -eu; \
	tool=$$(mktemp -d); trap 'rm -rf "$$tool"' EXIT; \
	$(BIN)/python -m venv "$$tool"; \
	"$$tool/bin/python" -m pip --disable-pip-version-check --quiet install uv; \
	compile="$$tool/bin/uv pip compile --universal --python-version 3.11 \
	  --generate-hashes --no-header --no-annotate --quiet $(LOCK_ARGS)"; \
	$$compile pyproject.toml --group dev --output-file requirements/dev.txt; \
	$$compile pyproject.toml --group build --extra report --constraints requirements/dev.txt \
	  --output-file requirements/run.txt; \
	$$compile --group compiler --output-file requirements/compiler.txt

# The stamps inside the environment make a second run install nothing.

$(VENV)/created:
	@for python in $(PYTHONS); do \
	  if $$python -c '$(FIT)' 2>/dev/null; then \
	    rm -rf $(VENV) && $$python -m venv $(VENV) && touch $@; exit; \
	  fi; \
	done; \
	echo 'dfopt needs Python 3.11 to 3.14 with venv and pip: set PYTHON=/path/to/python3' >&2; exit 1

$(VENV)/run: requirements/run.txt $(VENV)/created
	$(INSTALL_LOCKED) $<
	@touch $@

$(VENV)/dev: requirements/dev.txt $(VENV)/created
	$(INSTALL_LOCKED) $<
	@touch $@

# Either lock holds the build backend; whichever was asked for is installed first. Where the machine
# has no C++ compiler, the one from the index builds the core.
$(VENV)/project: pyproject.toml dfopt/core/build.py $(CORE) | $(VENV)/created
	@if $(BIN)/python dfopt/core/build.py --needs-compiler; then \
	  set -x; $(INSTALL_LOCKED) requirements/compiler.txt; \
	fi
	$(PIP) install --no-deps --no-build-isolation --editable .
	@touch $@
