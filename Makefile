PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
BENCH := .venv-bench
# Without bytecode, each of the many commands that tests start would compile all of ringtrue anew.
unexport PYTHONDONTWRITEBYTECODE
# Two test workers on two cores: what takes both cores for a moment waits for the other worker.
check test studies: export OPENBLAS_NUM_THREADS = 1
check test studies: export POLARS_MAX_THREADS = 1

.PHONY: demo style parts test check golden bench studies docs site clean

$(VENV)/.run: pyproject.toml constraints.txt  ## what users need
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[plots]'
	touch $@

$(VENV)/.dev: $(VENV)/.run  ## what developers need
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	touch $@

demo: $(VENV)/.run  ## install, then run the main job on data that it makes itself
	$(BIN)/ringtrue demo

style: $(VENV)/.dev  ## style, types and layers
	$(BIN)/ruff check src tests benchmarks docs tools
	$(BIN)/ruff format --check --quiet src tests benchmarks docs tools
	$(BIN)/mypy
	$(BIN)/lint-imports

check: style  ## before every commit: style, and the fast tests with few examples each
	$(BIN)/pytest -q -n 2 -m "not slow and not simulation"

parts:  ## PostgreSQL and a browser for the tests, installed where we may
	tools/real-parts.sh

test: parts style  ## all but the longest simulations, with many examples; what CI runs
	$(BIN)/pytest -q -n 2 --hypothesis-profile=test -m "not study"

golden: $(VENV)/.dev  ## accept the words of commands and pages as they now are; then read the diff
	$(BIN)/pytest -q -n 2 -m "not study" tests -k golden --rewrite-golden

bench:  ## speed against peers, in CPU seconds, and the longest simulations
	$(PYTHON) -m venv $(BENCH)
	$(BENCH)/bin/pip install --quiet --disable-pip-version-check -e '.[postgres,plots]' -r benchmarks/requirements.txt
	$(BENCH)/bin/python -m benchmarks
	$(MAKE) studies

studies: $(VENV)/.dev  ## the simulations that take longest
	$(BIN)/pytest -q -n 2 -m study

docs: $(VENV)/.dev  ## rewrite the generated parts of the documentation
	$(BIN)/python docs/generate.py

site: $(VENV)/.dev  ## the documentation as pages that work without a network: open site/index.html
	$(BIN)/mkdocs build --strict

clean:
	rm -rf $(VENV) $(BENCH) ringtrue-demo build dist site
