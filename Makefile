# Every command sets up what it needs: a virtual environment in .venv, with pinned versions.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

# Tests start hundreds of processes: none of them should compile our modules again.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: setup servers test scrapy-next scrapy-suite third-party coverage check demo bookshop news faults bench bench-frontier bench-cluster bench-sinks bench-extract format clean

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

# The suite on the newest Scrapy that can be installed, and whatever that needs. If Weft does not say
# that it works with it, pip complains about that, and installs it.
NEXT := .venv-next
scrapy-next:
	@$(PYTHON) -m venv $(NEXT)
	@echo "Installing Weft, its tools and the newest Scrapy into $(NEXT) ..."
	@$(NEXT)/bin/python -m pip install --quiet --disable-pip-version-check \
		--constraint constraints.txt --editable '.[dev]'
	@$(NEXT)/bin/python -m pip install --quiet --disable-pip-version-check --upgrade scrapy
	@scripts/servers $(NEXT)/bin/python
	@$(NEXT)/bin/python -c 'import scrapy; print("Scrapy", scrapy.__version__)'
	$(NEXT)/bin/python -m pytest -m 'not long' $(PARALLEL)

# Scrapy's own tests with the add-on in every crawler: half an hour, or `make scrapy-suite
# ARGS=tests/test_crawl.py`; on Redis with ARGS=--redis. They have a virtual environment of their own:
# they need an older pytest, and much that Weft does not.
SUITE := .venv-suite
scrapy-suite:
	@test $(SUITE)/.ready -nt scrapysuite/requirements.txt -a $(SUITE)/.ready -nt pyproject.toml || { \
		echo "Installing Weft and what Scrapy's tests need into $(SUITE) ..."; \
		$(PYTHON) -m venv $(SUITE) \
		&& $(SUITE)/bin/python -m pip install --quiet --disable-pip-version-check \
			--constraint constraints.txt --editable '.[server]' \
		&& $(SUITE)/bin/python -m pip install --quiet --disable-pip-version-check \
			--requirement scrapysuite/requirements.txt \
		&& touch $(SUITE)/.ready; }
	@$(SUITE)/bin/python -m scrapysuite $(ARGS)

# Packages that many Scrapy projects use, with the add-on and without; in a virtual environment of
# their own, for they need much that Weft does not. scrapy-playwright wants a chromium.
THIRD := .venv-third
third-party:
	@test $(THIRD)/.ready -nt tests/crawl/thirdparty/requirements.txt -a $(THIRD)/.ready -nt pyproject.toml || { \
		echo "Installing Weft, its tools and other packages into $(THIRD) ..."; \
		$(PYTHON) -m venv $(THIRD) \
		&& $(THIRD)/bin/python -m pip install --quiet --disable-pip-version-check \
			--constraint constraints.txt --editable '.[dev]' \
		&& $(THIRD)/bin/python -m pip install --quiet --disable-pip-version-check \
			--constraint constraints.txt --requirement tests/crawl/thirdparty/requirements.txt \
		&& touch $(THIRD)/.ready; }
	$(THIRD)/bin/python -m pytest tests/crawl/test_third_party.py

# Which branches of the frontier, the cluster, Redis and the engine's claims no test takes.
coverage: setup servers
	@rm -f .coverage .coverage.*
	$(BIN)/coverage run -m pytest -m 'not long' $(PARALLEL) \
		tests/cli tests/contracts tests/crawl tests/machines tests/shared tests/unit
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

# The boards of examples/news into MongoDB: a quarter of a minute, or `make news ARGS=--keep`.
news: setup servers
	$(BIN)/python examples/news/run.py $(ARGS)

# The fault tests with their seeds, and the long tests; `make faults SEED=7` repeats a run. Nodes are
# in trouble for ten minutes with each of three seeds: `make faults MINUTES=1` is shorter.
faults: setup servers
	WEFT_TEST_EFFORT=full WEFT_TEST_SEED=$(SEED) \
		$(BIN)/python -m pytest -s -m 'not long' tests/faults tests/machines
	WEFT_TEST_EFFORT=full WEFT_TEST_SEED=$(SEED) WEFT_FAULT_MINUTES=$(MINUTES) \
		$(BIN)/python -m pytest -s -m long

# Weft beside other crawlers: many hours, or `make bench ARGS=--quick`, four minutes. Some of them
# need older versions of what Weft uses, so they have a virtual environment of their own. Before
# that, what lists of boards cost that come back unchanged.
PEERS := .venv-peers
bench: setup servers
	@$(BIN)/python -c 'import aiohttp, scrapy_redis' 2>/dev/null || { \
		echo "Installing scrapy-redis and aiohttp into $(VENV) ..."; \
		$(BIN)/python -m pip install --quiet --disable-pip-version-check \
			--constraint constraints.txt --editable '.[bench]'; }
	@test $(PEERS)/.ready -nt bench/crawlers/peers.txt || { \
		echo "Installing Crawlee and feapder into $(PEERS) ..."; \
		$(PYTHON) -m venv $(PEERS) && $(PEERS)/bin/python -m pip install --quiet \
			--disable-pip-version-check --requirement bench/crawlers/peers.txt \
		&& touch $(PEERS)/.ready || echo "They could not be installed, and do not take part."; }
	$(BIN)/python -m bench.boards.unchanged
	$(BIN)/python -m bench.crawlers $(ARGS)

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

# Reading pages beside trafilatura, resiliparse, newspaper4k and GNE, on labelled pages that you name:
# `make bench-extract PAGES=DIR`. Ten minutes for 1,400 pages.
READERS := .venv-extract
bench-extract: setup
	@test -n "$(PAGES)" || { echo "Name the folder of labelled pages: make bench-extract PAGES=DIR"; exit 1; }
	@test $(READERS)/.ready -nt bench/extraction/peers.txt || { \
		echo "Installing newspaper4k and GNE into $(READERS) ..."; \
		$(PYTHON) -m venv $(READERS) && $(READERS)/bin/python -m pip install --quiet \
			--disable-pip-version-check --requirement bench/extraction/peers.txt \
		&& touch $(READERS)/.ready || echo "They could not be installed, and do not take part."; }
	$(BIN)/python -m bench.extraction --pages $(PAGES) $(ARGS)

clean:
	rm -rf $(VENV) $(NEXT) $(THIRD) $(PEERS) $(SUITE) $(READERS) .weft build
