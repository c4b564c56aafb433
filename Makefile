PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.installed
RUNTIME := $(VENV)/.installed-runtime
INSTALL := $(BIN)/pip install --quiet --disable-pip-version-check --no-compile

.PHONY: demo test guard kernels coverage quick traces secrecy openings docs pictures sbom soak soak-jobs soak-kills kills fuzz world lint protos compose-test clean
.DEFAULT_GOAL := help

help:
	@echo "make demo          three organisations on this machine, from data to release"
	@echo "make test          lint, type check and every module's own facts"
	@echo "make guard         what takes long: real servers, simulated worlds, browsers, generated tables"
	@echo "make quick         lint, types and the fast tests, for the inner loop; T=tests/... chooses others"
	@echo "make traces        renews the digests of the wire traces; CONTRIBUTING.md says when that is right"
	@echo "make secrecy       removes or weakens every step that hides something, one at a time; the tests must notice"
	@echo "make openings      writes the threat model's tables of what is opened and of the keys of jobs anew"
	@echo "make docs          the documents as a site, in dist/site"
	@echo "make figures       every benchmark, DATA=folder of Adult; writes the tables of docs/ (two hours and more, idle machine)"
	@echo "make pictures      the pictures of the docs, from a real run in chromium"
	@echo "make sbom          writes dist/sbom.json: what Coterie needs to run, with licences and hashes"
	@echo "make soak          real servers: 500 jobs of all kinds and outcomes, then 22 minutes of kills, half an hour in all; figures"
	@echo "make kills         kills every party of small jobs of all kinds at every message; all must go on to the same release"
	@echo "make fuzz          inputs for every decoder of bytes that others wrote, first those with the fewest, 5 minutes in all; they add up over runs"
	@echo "make world         100,000 simulated worlds with faults at any moment, 54 minutes at most; RUNS and SECONDS change it"
	@echo "make compose-test  the multi-party simulation on a Docker engine"

# `make demo` installs what Coterie needs to run, all others what is needed to change it.
$(BIN)/pip:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check --upgrade pip

$(RUNTIME): pyproject.toml | $(BIN)/pip
	$(INSTALL) -e .
	touch $@

$(STAMP): pyproject.toml | $(BIN)/pip
	$(INSTALL) -e '.[dev]'
	touch $(RUNTIME) $@

demo: $(RUNTIME)
	PYTHONDONTWRITEBYTECODE= $(BIN)/coterie demo --out demo-out

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

kernels: $(STAMP)
	PYTHONDONTWRITEBYTECODE= $(BIN)/python -m tests.kernels

# Compiled modules are kept, because many tests start processes that import them. The files of tests
# come in the order of tests/durations.csv, the longest first.
PYTEST = PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest --dist loadfile --no-loadscope-reorder -rs

# While lint runs on one core, the loops that most tests need are compiled on another.
test: $(STAMP)
	$(MAKE) -j 2 --no-print-directory lint kernels
	$(PYTEST) -n 2 -m "not compose and not guard"

# Two processes share a core of a machine with two cores: while the servers of one test wait for each
# other, another test computes.
guard: $(STAMP)
	$(PYTEST) -n 4 -m "guard and not compose" --durations=40 --durations-min=5

coverage: $(STAMP)
	$(PYTEST) -n 2 -m "not compose" --cov --cov-report=term-missing:skip-covered

# What a change of one module most often breaks, without servers, large keys and generated tables.
T ?= tests/base tests/jobs/file tests/anonymity/table $(addprefix tests/protocols/messaging/,test_codes.py test_memory.py test_stream.py test_wire.py) \
     tests/traces tests/test_imports.py tests/test_docs.py

quick: $(STAMP) lint
	$(PYTEST) -n 2 -m "not compose and not slow" $(T)

traces: $(STAMP)
	$(BIN)/python -m tests.traces.renew

# TESTED=1 where `make test` has just passed on the same files.
secrecy: $(STAMP)
	$(BIN)/python -m tests.secrecy.run $(if $(TESTED),--tested)

openings: $(STAMP)
	$(BIN)/python docs/openings.py

docs: $(STAMP)
	$(BIN)/mkdocs build --quiet
	@echo "the site: dist/site/index.html"

# PEERS is the Python of an environment with the other tools that are measured beside Coterie.
PEERS ?= $(BIN)/python
MEASURE = $(BIN)/coterie bench --runs 3 --save bench/results

figures: $(STAMP)
	for name in channel dka fair garbling history logarithm scalar_products; do $(MEASURE) $$name >/dev/null || exit 1; done
	$(MEASURE) anonymise --data $(DATA) --peers $(PEERS) --repeat 1 >/dev/null
	$(MEASURE) integrate --data $(DATA) --chart docs/integrate.svg >/dev/null
	$(MEASURE) intersect --peers $(PEERS) --chart docs/intersect.svg >/dev/null
	$(MEASURE) conditions --data $(DATA) >/dev/null
	$(MEASURE) models --data $(DATA) >/dev/null
	$(MEASURE) questions --data $(DATA) >/dev/null
	$(MEASURE) utility --data $(DATA) --peers $(PEERS) >/dev/null
	$(BIN)/coterie bench tables

pictures: $(STAMP)
	$(BIN)/python -m tests.browser.pictures docs/pictures

sbom: $(STAMP)
	$(BIN)/python docs/sbom.py dist/sbom.json

# Soak, worlds and fuzzers together take 90 minutes at most. The two parts run apart, too; MINUTES and JOBS shorten them.
JOBS ?= 500
MINUTES ?= 22

soak: soak-jobs soak-kills

soak-jobs: $(STAMP)
	$(BIN)/python -m tests.soak jobs --jobs $(JOBS)

soak-kills: $(STAMP)
	$(BIN)/python -m tests.soak kills --minutes $(MINUTES)

# Every party of small jobs of every kind, before and after every message; then real servers.
kills: $(STAMP)
	$(BIN)/python -m tests.kills memory
	$(BIN)/python -m tests.kills servers

# FUZZ_SECONDS shortens it; tests/fuzz/inputs.json has the inputs of all runs.
FUZZ_SECONDS ?= 300

fuzz: $(STAMP)
	$(BIN)/python -m tests.fuzz.run --seconds $(FUZZ_SECONDS)

# Worlds add up over runs in tests/world/worlds.json; a world that goes wrong is kept in tests/world/corpus.
RUNS ?= 100000
REAL ?= 100
SECONDS ?= 3240

world: $(STAMP)
	$(BIN)/python -m tests.world.run --runs $(RUNS) --real $(REAL) --seconds $(SECONDS)

protos: $(STAMP)
	$(BIN)/python -m grpc_tools.protoc -I. --python_out=. --grpc_python_out=. --pyi_out=. coterie/protos/*.proto

# Containers mostly wait for each other, so three projects run at a time.
compose-test: $(STAMP)
	$(BIN)/python -m pytest -n 3 -m compose tests/compose

clean:
	rm -rf $(VENV) build dist *.egg-info demo-out
