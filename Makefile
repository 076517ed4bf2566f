# riskrank: every target sets up what it needs. `make help` lists them.
.DEFAULT_GOAL := help
# Any Python from 3.11 on: the oldest that has its version in its name, else python3.
PYTHON ?= $(firstword $(foreach minor,11 12 13 14,$(shell command -v python3.$(minor))) python3)
# Tables a case of `make calibrate`.
TABLES ?= 400
VENV := .venv
BIN := $(VENV)/bin
# What is compiled is kept: two workers collect thousands of tests, and tests start programs.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help demo test quick test-slow test-page test-all test-lowest test-newest lint format fuzz kill-trials mutate calibrate bench data readme manual figures docs lock audit dist try-dist clean

help:  ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip --quiet install --upgrade 'pip>=25.1'

$(VENV)/.installed: pyproject.toml setup.py riskrank/engine/_kernel.c | $(BIN)/python
	$(BIN)/python -m pip --quiet install --editable .
	@touch $@

# One stamp a dependency group: a group is installed the first time a target wants it.
$(VENV)/.group-%: pyproject.toml $(VENV)/.installed
	$(BIN)/python -m pip --quiet install --group $*
	@touch $@

$(VENV)/.extra-report: pyproject.toml $(VENV)/.installed
	$(BIN)/python -m pip --quiet install --editable '.[report]'
	@touch $@

demo: $(VENV)/.extra-report  ## set up, rank the models that value diamonds, and write a report of them
	$(BIN)/riskrank rank sample_data/diamonds.parquet --metrics-file sample_data/diamonds.toml
	@mkdir -p build
	@$(BIN)/riskrank report sample_data/diamonds.parquet --metrics-file sample_data/diamonds.toml \
	  --output build/report.html
	@echo "A page on the same models, to open in a browser or to mail: build/report.html"

# The workers have all cores: libraries that start threads of their own beside take a tenth longer. Memory that is
# free again stays with them for the next arrays.
KEPT := MALLOC_MMAP_THRESHOLD_=33554432 MALLOC_TRIM_THRESHOLD_=268435456 MALLOC_TOP_PAD_=16777216
test: $(VENV)/.group-test  ## set up and run the quick tests, on all cores: about two minutes on two
	$(MAKE) --no-print-directory quick

# Run the quick tests in an environment that has all packages: make quick VENV=FOLDER OPTIONS=PYTEST-OPTIONS.
quick:
	$(KEPT) POLARS_MAX_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -m "not slow and not page" -n logical \
	  --dist worksteal $(OPTIONS)

test-slow: $(VENV)/.group-test $(VENV)/.group-docs  ## the rest: examples of the guide, programs, pages as text, other people's LaTeX and Dask
	$(BIN)/python -m pytest -m slow -n logical

# What judges a page's accessibility; without npm that test is skipped.
build/page/node_modules/axe-core/axe.min.js:
	@mkdir -p build/page
	-npm install --silent --no-fund --no-audit --prefix build/page axe-core@4

test-page: $(VENV)/.group-test build/page/node_modules/axe-core/axe.min.js  ## open the report in headless Chromium
	$(BIN)/python -m pytest -m page

test-lowest:  ## the quick suite with the oldest versions pyproject.toml allows
	.ci/test-with build/lowest $(PYTHON) .ci/lowest.txt

test-newest:  ## the quick suite with the newest Python on this machine
	.ci/test-with build/newest "$$(.ci/pythons 1)"

test-all: test test-slow test-page  ## everything that is not a simulation

lint: $(VENV)/.group-lint $(VENV)/.group-test  ## check style, formatting, spelling, types, vocabulary and layers
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/codespell *.md docs/*.md riskrank
	$(BIN)/mypy
	$(BIN)/python -m pytest -q tests/test_architecture.py tests/test_size.py tests/test_vocabulary.py

format: $(VENV)/.group-lint  ## rewrite the code in the house style
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

fuzz: $(VENV)/.group-test  ## run 7,000 generated inputs against the contract (a quarter of an hour)
	$(BIN)/python tests/fuzz/fuzz.py --runs 3000
	$(BIN)/python tests/fuzz/fuzz.py --structured --runs 3000
	$(BIN)/python tests/fuzz/fuzz.py --known --runs 1000

kill-trials: $(VENV)/.installed  ## kill runs at 300 random moments and count what is left (half an hour)
	$(BIN)/python tests/fuzz/kill_trials.py

mutate: $(VENV)/.group-test $(VENV)/.group-mutate  ## break the package in 150 small ways and list what no test notices (two hours)
	$(BIN)/python tests/benchmarks/mutate.py

calibrate: $(VENV)/.group-rivals  ## simulate what the tests find and where they err; writes docs/calibration.md
	$(BIN)/python tests/benchmarks/calibrate.py --tables $(TABLES)

bench: $(VENV)/.group-bench  ## measure speed and memory; VS=REV runs the same jobs beside a revision's (VS=: the last tag)
ifdef VS
	$(BIN)/python tests/benchmarks/bench_commands.py --vs "$(VS)"
else
	$(BIN)/python tests/benchmarks/bench_commands.py
	$(BIN)/python tests/benchmarks/bench_calls.py
	$(BIN)/python tests/benchmarks/bench_refusals.py
endif

data: $(VENV)/.group-data  ## make the sample data again
	$(BIN)/python sample_data/make_diamonds.py
	$(BIN)/python sample_data/make_classifiers.py
	$(BIN)/python sample_data/make_suite.py
	$(BIN)/python sample_data/make_uci.py
	$(BIN)/python sample_data/make_verdicts.py
	$(BIN)/python sample_data/make_judge.py
	$(BIN)/python sample_data/make_folds.py
	$(BIN)/python sample_data/make_forecasts.py
	$(BIN)/python sample_data/make_weeks.py
	$(BIN)/python sample_data/make_prompts.py
	$(BIN)/python sample_data/make_year.py

readme: $(VENV)/.installed  ## run the examples of README and docs, or of PAGES, and write their output into them
	$(BIN)/python tests/examples.py --update $(PAGES)

manual: $(VENV)/.installed  ## write the man page and the shell completions again
	$(BIN)/python tests/manual.py

figures: $(VENV)/.extra-report  ## draw the pictures of README and docs again, in light and dark
	$(BIN)/python tests/figures.py

docs: $(VENV)/.group-docs  ## build the site from docs/, with a search that works offline: build/site
	$(BIN)/python .ci/website.py

lock: $(VENV)/.group-dist  ## pin every package the tests and the action install, with its hashes
	$(BIN)/uv --quiet pip compile pyproject.toml --group test --group lint --universal --generate-hashes \
		--python-version 3.11 --no-annotate --custom-compile-command 'make lock' --output-file .ci/lock.txt
	$(BIN)/uv --quiet pip compile pyproject.toml .ci/builder.txt --constraint .ci/lock.txt --universal --generate-hashes \
		--python-version 3.11 --no-annotate --custom-compile-command 'make lock' --output-file .ci/action.txt

audit: $(VENV)/.group-audit  ## look the locked packages up among known holes
	$(BIN)/python .ci/audit.py

dist: $(VENV)/.group-dist  ## build wheel, source distribution and bill of materials, the same bytes each time
	$(BIN)/python .ci/build.py

try-dist: dist  ## install both with every Python here, with and without [report], and use them (half an hour)
	$(BIN)/python .ci/try_dist.py

clean:  ## remove the environment and caches
	rm -rf $(VENV) build dist *.egg-info riskrank/engine/_kernel*.so .pytest_cache .ruff_cache .hypothesis
