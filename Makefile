# Everything a newcomer or a contributor runs. Each target makes the virtual environment it needs.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
TEST_STAMP := $(VENV)/.installed-for-tests
DOCS_STAMP := $(VENV)/.installed-for-docs
OLDEST := .venv-oldest
OLDEST_STAMP := $(OLDEST)/.installed
# The rooms that need no extra: an extra's own tests skip where it is missing. What is printed to the
# letter (tests/frozen) follows the newest versions.
CORE_TESTS := tests/api tests/bench tests/calibration tests/cli tests/construct tests/datasets \
	tests/judges tests/metrics tests/protocols tests/reports tests/runs tests/scenarios tests/tasks \
	tests/verdicts $(wildcard tests/test_*.py)
# Each may hold a small model of its own, so no more than two however many cores there are.
WORKERS ?= 2

.PHONY: judge test test-slow test-oldest gpu docs check lint types format release clean

$(STAMP): pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet -e '.[embedded,report,dev]'
	touch $(STAMP)

# The report is tested in a browser where one is to be had; its tests skip elsewhere, and say so.
# The shell of Chromium has no windows to draw: half the processor time.
CHROMIUM := [ -n "$$AUTOJ_CHROMIUM" ] || command -v chromium-headless-shell >/dev/null || \
	{ command -v apt-get >/dev/null && [ "$$(id -u)" = 0 ] && apt-get update -qq >/dev/null && \
	{ apt-get install -y -qq chromium-headless-shell >/dev/null 2>&1 || \
	command -v chromium >/dev/null || command -v chromium-browser >/dev/null || \
	apt-get install -y -qq chromium >/dev/null; }; } || \
	command -v chromium >/dev/null || command -v chromium-browser >/dev/null || \
	echo 'no Chromium: the tests of pages skip'

# An exact release of torch takes a CPU build where the package index has one.
$(TEST_STAMP): $(STAMP)
	$(BIN)/python -m pip install --quiet torch==2.13.0
	$(BIN)/python -m pip install --quiet \
		-e '.[embedded,train,openai,data,classifier,construct,report,serve,browser,ray,dev]'
	$(CHROMIUM)
	touch $(TEST_STAMP)

$(DOCS_STAMP): $(STAMP)
	$(BIN)/python -m pip install --quiet -e '.[docs]'
	touch $(DOCS_STAMP)

judge: $(STAMP)  ## judge the example pairs with the embedded judge: a table, and a report to open
	$(BIN)/autoj judge examples/pairs.jsonl --out runs/examples
	$(BIN)/autoj report runs/examples --out runs/examples.html

# A worker that has nothing left takes half of what the other one still has: both end together.
test: $(TEST_STAMP)  ## run the tests: no GPU, no network beyond the package index, nothing slow
	$(BIN)/python -m pytest --numprocesses $(WORKERS) --dist worksteal

# By file, because a file loads its model once.
test-slow: $(TEST_STAMP)  ## run the slow tests: real weights, trainings to convergence, large n
	$(BIN)/python -m pytest --numprocesses $(WORKERS) --dist loadfile \
		-m 'slow and not gpu and not network'

# uv takes the lowest version of each direct dependency; pip has no such choice.
$(OLDEST_STAMP): pyproject.toml
	test -x $(OLDEST)/bin/python || $(PYTHON) -m venv $(OLDEST)
	$(OLDEST)/bin/python -m pip install --quiet uv
	$(OLDEST)/bin/python -m uv pip install --quiet --python $(OLDEST)/bin/python \
		--resolution lowest-direct -e '.[dev]'
	touch $(OLDEST_STAMP)

# An old typer uses what the newest click is about to drop.
test-oldest: $(OLDEST_STAMP)  ## run the tests that need no extra on the oldest version of each dependency
	$(OLDEST)/bin/python -m pytest --numprocesses $(WORKERS) --dist worksteal \
		-W ignore::DeprecationWarning:typer $(CORE_TESTS)

# It installs nothing: the machine has the torch that fits its GPU, and may have no network.
gpu:  ## on a CUDA machine: GPU tests, throughput, trainings, into gpu-results/ (benchmarks/gpu/README.md)
	PYTHONPATH=src $(PYTHON) -m benchmarks.gpu.session gpu-results --all $(GPU)

docs: $(DOCS_STAMP)  ## build the pages into site/, which opens from a disk and fetches nothing
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict --quiet

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(TEST_STAMP)
	$(BIN)/mypy

check: lint types test test-slow  ## all that must be green before a commit

format: $(STAMP)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

release:  ## build dist/, check it, and try the wheel in a new environment
	scripts/release $(PYTHON)

clean:
	rm -rf $(VENV) $(OLDEST) dist site .mypy_cache .ruff_cache .pytest_cache .hypothesis
