# Each target works alone on a machine with Python >= 3.11 and make: it creates .venv and installs what it needs.
PYTHON ?= python3
BIN := .venv/bin
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.PHONY: help demo test test-lowest torture lint docs bench clean

help:
	@echo "make demo   fit two problems, print what was found, write a picture of p(y|z) and a page to explore"
	@echo "make test   lint, type check, every test, with coverage"
	@echo "make test-lowest   a part of the tests with the lowest versions of all dependencies"
	@echo "make torture   20000 generated attacks; about two hours; continues where it stopped"
	@echo "make lint   style and types only"
	@echo "make docs   the pages, with the gallery, in docs/_build/html; a few minutes"
	@echo "make bench  speed and memory, as ratios, into docs/benchmarks.md; about twenty minutes"
	@echo "make dist   wheel and source archive in dist/, checked, and tried in an empty environment"
	@echo "make sbom   list of everything an installation with the command line contains: sbom.json"
	@echo "make lock   versions of the tools, for the automatic tests: requirements/ci.txt"
	@echo "make clean  remove the environment and caches"

# One stamp per set of extras, so that a demo does not install the test tools.
.venv/installed-%: pyproject.toml
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --editable ".[$*]"
	@touch $@

demo: .venv/installed-cli,plots
	$(BIN)/python -m condensity demo

test: .venv/installed-dev lint
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest --numprocesses=auto --cov --cov-report=term-missing --cov-fail-under=95

# The lowest versions that pyproject.toml declares: do they run what they promise?
test-lowest: .venv-lowest/installed
	OMP_NUM_THREADS=1 .venv-lowest/bin/python -m pytest -q -W ignore::DeprecationWarning tests/test_scorers.py \
		tests/cli/test_files.py tests/cli/test_predict.py tests/distributions/test_univariate.py \
		tests/io/test_older_files.py tests/tables/test_frames.py

# A case takes a fraction of a second; the records are kept in torture.jsonl.
torture: .venv/installed-dev
	OMP_NUM_THREADS=1 $(BIN)/python tests/torture.py --count 20000 --out torture.jsonl --jobs 2

.venv-lowest/installed: pyproject.toml tests/lowest_versions.py
	@test -x .venv-lowest/bin/python || $(PYTHON) -m venv .venv-lowest
	$(PYTHON) tests/lowest_versions.py > .venv-lowest/constraints.txt
	.venv-lowest/bin/python -m pip install --quiet --constraint .venv-lowest/constraints.txt \
		--editable ".[plots,cli,parquet]" pytest hypothesis pandas polars
	@touch $@

lint: .venv/installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python docs/check_docstrings.py

# The environment's own Python runs the gallery; one thread each, as two examples run at a time.
docs: .venv/installed-docs
	OMP_NUM_THREADS=1 $(BIN)/python -m sphinx -W --keep-going -b html docs docs/_build/html
	@echo "pages: docs/_build/html/index.html"

# RFCDE can be built only with what is there already; where it cannot, its row is left out.
bench: .venv/installed-bench
	$(BIN)/python -c "import rfcde" 2>/dev/null || \
		$(BIN)/python -m pip install --quiet --no-build-isolation rfcde || \
		echo "RFCDE cannot be built here: measured without it"
	$(BIN)/python benchmarks/bench.py

.PHONY: dist sbom lock

.venv-dist/installed: pyproject.toml
	@test -x .venv-dist/bin/python || $(PYTHON) -m venv .venv-dist
	.venv-dist/bin/python -m pip install --quiet "build>=1.2" "twine>=6" "cyclonedx-bom>=6" "uv>=0.5"
	@touch $@

dist: .venv-dist/installed
	.venv-dist/bin/python tests/check_distributions.py

sbom: .venv/installed-cli,plots .venv-dist/installed
	.venv-dist/bin/cyclonedx-py environment --pyproject pyproject.toml --output-file sbom.json .venv

lock: .venv-dist/installed
	.venv-dist/bin/uv pip compile pyproject.toml --extra dev --extra docs --universal --python-version 3.11 \
		--no-emit-index-url --no-annotate --custom-compile-command "make lock" --upgrade --output-file requirements/ci.txt

clean:
	rm -rf .venv .venv-lowest .venv-dist dist sbom.json .mypy_cache .ruff_cache .pytest_cache .hypothesis .coverage
	rm -rf docs/_build docs/auto_examples docs/api/generated docs/sg_execution_times.rst
