# `make demo` and `make test` set up all they need in .venv; a second run finds it there and only runs.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check
BENCH_PIP := .venv-bench/bin/python -m pip install --quiet --disable-pip-version-check

.PHONY: help setup demo reproduce test slow lint format page docs bench bench-smoke clean
help:
	@echo "make demo    learn when a tumour is malignant: section 4 of the paper, with a report in build/demo"
	@echo "make reproduce   all experiments of the paper, with pictures in build/reproduce (some minutes)"
	@echo "make test    run the tests (less than five minutes on two cores)"
	@echo "make slow    run the tests that take long: whole experiments, every export model, scikit-learn's checks"
	@echo "make lint    ruff, mypy, and which folder may import which"
	@echo "make page    run the examples of the pages in docs and put in what they print (minutes)"
	@echo "make docs    build the documentation site into build/docs"
	@echo "make bench   measure speed, accuracy and exports against peers (installs them and torch into .venv-bench)"
	@echo "make bench-smoke   do the benchmarks run?"
	@echo "make clean   remove everything that was made"

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "baconlogic needs Python 3.11 or newer; set PYTHON=/path/to/python3"; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: pyproject.toml | $(BIN)/python
	$(PIP) --editable '.[demo,cli,report,plot]'
	@touch $@

$(VENV)/.test: $(VENV)/.installed
	$(PIP) --editable '.[test,docs]'
	@touch $@

$(VENV)/.lint: $(VENV)/.installed
	$(PIP) --editable '.[lint]'
	@touch $@

$(VENV)/.docs: $(VENV)/.installed
	$(PIP) --editable '.[docs]'
	@touch $@

# everything at once: one resolution instead of four; what is imported compiles itself, which is the lesser part
setup: pyproject.toml | $(BIN)/python
	$(PIP) --no-compile --editable '.[demo,cli,plot,report,test,lint,docs]'
	@touch $(VENV)/.installed $(VENV)/.test $(VENV)/.lint $(VENV)/.docs

# the kernel is compiled once and kept beside the code: the demo starts at once, and tests side by side do not each compile it
$(VENV)/.compiled: | $(VENV)/.installed
	$(BIN)/python -m experiments.compile_kernel
	@touch $@

demo: $(VENV)/.installed $(VENV)/.compiled
	@$(BIN)/python -m experiments breast-cancer -o build/demo

reproduce: $(VENV)/.installed $(VENV)/.compiled
	@$(BIN)/python -m experiments all -o build/reproduce

test: $(VENV)/.test $(VENV)/.compiled
	$(BIN)/python -m pytest

slow: $(VENV)/.test $(VENV)/.compiled
	$(BIN)/python -m pytest -m slow

lint: $(VENV)/.lint
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

page: $(VENV)/.test
	for page in docs/*.md; do $(BIN)/python docs/run.py $$page || exit 1; done

# warnings are errors; nothing is asked of the network
docs: $(VENV)/.docs
	$(BIN)/sphinx-build -W --keep-going --quiet -b html docs build/docs
	@echo "the site is in build/docs/index.html"

format: $(VENV)/.lint
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# FasterRisk has an environment of its own: it needs an older numpy. torch first and by itself: bacon-net asks for any torch, and this one is what the results were measured with
.venv-bench/.ready: pyproject.toml benchmarks/requirements.txt benchmarks/tables.txt benchmarks/fasterrisk.txt
	$(PYTHON) -m venv .venv-bench
	$(BENCH_PIP) "$$(grep ^torch== benchmarks/requirements.txt)"
	$(BENCH_PIP) --requirement benchmarks/requirements.txt
	$(BENCH_PIP) --no-deps --requirement benchmarks/tables.txt
	$(BENCH_PIP) --editable .
	$(PYTHON) -m venv .venv-fasterrisk
	.venv-fasterrisk/bin/python -m pip install --quiet --disable-pip-version-check --requirement benchmarks/fasterrisk.txt
	@touch $@

# each benchmark prints, and keeps its figures in benchmarks/results; the last line makes benchmarks/RESULTS.md of them
bench: .venv-bench/.ready
	.venv-bench/bin/python -W ignore benchmarks/suite.py
	.venv-bench/bin/python -W ignore benchmarks/suite.py --extra --seeds 1
	for part in kernel fit growth predict recovery stability export before_after reading speed; do .venv-bench/bin/python benchmarks/$$part.py || exit 1; done
	PYTHONPATH=. .venv-bench/bin/python benchmarks/write.py

# does everything run? in a temporary folder, without peers; benchmarks/RESULTS.md stays as it is
bench-smoke: $(VENV)/.installed
	$(BIN)/python benchmarks/suite.py --quick
	$(BIN)/python benchmarks/smoke.py

clean:
	rm -rf $(VENV) .venv-bench .venv-fasterrisk build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
	rm -rf docs/examples
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
