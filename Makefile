# Every command sets up what it needs: a virtual environment in .venv, with pinned versions.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

# Tests start hundreds of processes: none of them should compile our modules again.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: setup servers test coverage check demo bookshop faults bench bench-frontier bench-cluster bench-sinks format clean

setup: $(VENV)/.ready

$(VENV)/.ready: pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "Weft needs Python 3.11 or newer; name one with: make PYTHON=python3.12 ..."; exit 1; }
	@$(PYTHON) -m venv $(VENV) \
		|| { echo "Python's venv module is missing; on Debian: apt-get install python3-venv"; exit 1; }
	@echo "Installing Weft and its tools into $(VENV) ..."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check \
		--constraint constraints.txt --editable '.[dev]'
	@touch $@

# The servers that tests talk to; where they cannot be installed, tests that need them are skipped.
servers: setup
	@scripts/servers $(BIN)/python

# Four at a time on two cores, for many of them wait. Those of a file share their servers, and files
# are taken in their order: the small ones come last.
PARALLEL := --numprocesses 4 --dist loadfile --no-loadscope-reorder
test: setup servers
	$(BIN)/python -m pytest -m 'not long' $(PARALLEL)

# Which branches of the frontier, the cluster, Redis and the engine's claims no test takes.
coverage: setup servers
	@rm -f .coverage .coverage.*
	$(BIN)/coverage run -m pytest -m 'not long' $(PARALLEL) \
		tests/contracts tests/crawl tests/machines tests/shared tests/unit
	@$(BIN)/coverage combine --quiet
	$(BIN)/coverage report

check: setup
	$(BIN)/ruff format --check
	$(BIN)/ruff check
	$(BIN)/mypy
	$(BIN)/lint-imports

format: setup
	$(BIN)/ruff format
	$(BIN)/ruff check --fix

demo: setup
	$(BIN)/weft demo

# The crawl of examples/bookshop: a minute, or `make bookshop ARGS='--books 300'`.
bookshop: setup servers
	$(BIN)/python examples/bookshop/run.py $(ARGS)

# The fault tests with their seeds, and the long tests; `make faults SEED=7` repeats a run. Nodes are
# in trouble for ten minutes with each of three seeds: `make faults MINUTES=1` is shorter.
faults: setup servers
	WEFT_TEST_EFFORT=full WEFT_TEST_SEED=$(SEED) \
		$(BIN)/python -m pytest -s -m 'not long' tests/faults tests/machines
	WEFT_TEST_EFFORT=full WEFT_TEST_SEED=$(SEED) WEFT_FAULT_MINUTES=$(MINUTES) \
		$(BIN)/python -m pytest -s -m long

# Weft beside other crawlers: many hours, or `make bench ARGS=--quick`, three minutes. Some of them
# need older versions of what Weft uses, so they have a virtual environment of their own.
PEERS := .venv-peers
bench: setup servers
	@$(BIN)/python -c 'import aiohttp, scrapy_redis' 2>/dev/null || { \
		echo "Installing scrapy-redis and aiohttp into $(VENV) ..."; \
		$(BIN)/python -m pip install --quiet --disable-pip-version-check \
			--constraint constraints.txt --editable '.[bench]'; }
	@test $(PEERS)/.ready -nt src/weft/bench/peers.txt || { \
		echo "Installing Crawlee and feapder into $(PEERS) ..."; \
		$(PYTHON) -m venv $(PEERS) && $(PEERS)/bin/python -m pip install --quiet \
			--disable-pip-version-check --requirement src/weft/bench/peers.txt \
		&& touch $(PEERS)/.ready || echo "They could not be installed, and do not take part."; }
	$(BIN)/weft bench $(ARGS)

# The shared frontier beside scrapy-redis: some ten minutes, or `make bench-frontier ARGS=--quick`.
bench-frontier: setup servers
	@$(BIN)/python -c 'import scrapy_redis' 2>/dev/null || { \
		echo "Installing scrapy-redis into $(VENV) ..."; \
		$(BIN)/python -m pip install --quiet --disable-pip-version-check \
			--constraint constraints.txt --editable '.[bench]'; }
	$(BIN)/python -m bench.frontier $(ARGS)

# Two workers beside one: two minutes, or `make bench-cluster ARGS=--quick`.
bench-cluster: setup servers
	$(BIN)/python -m bench.cluster $(ARGS)

# Items into databases beside JSON lines: five minutes, or `make bench-sinks ARGS=--quick`.
bench-sinks: setup servers
	$(BIN)/python -m bench.sinks $(ARGS)

clean:
	rm -rf $(VENV) $(PEERS) .weft build
