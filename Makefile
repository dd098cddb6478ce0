# Everything is installed into .venv and built in build/; nothing outside this directory is written by make itself.
# `make help` lists the targets. An own C++ compiler is named by CXX, an own Python by PYTHON.

ifeq ($(filter output-sync,$(.FEATURES)),)
$(error cyscc needs GNU make 4.0 or newer, not $(or $(MAKE_VERSION),this make))
endif

SHELL := bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.SUFFIXES:

# What the targets take: make sim GRAPH=graph.mtx CONFIG=hc2-1ae MEMORY=fixed:75
GRAPH ?=
CONFIG ?= hc2
MEMORY ?= hc2
# Ports of the Verilog: ae, convey or axi.
TOP ?= ae
# Depths of FIFOs to synthesise with.
DEPTHS ?= 32 64 128 256 512
# Revision that the compiled executor is compared with.
BASE ?=
# Tests that run at once.
JOBS ?= 2
# Cycles that the waveforms show.
WINDOW ?= 5000:6999
# Files of hw whose mutants are made (all by default), which ones, how many; or files and folders of host and sim.
MODULE ?=
SEED ?= 1
COUNT ?= 200
# How long to look for what is wrong, and where; what failed with a SEED that is given comes first.
MINUTES ?= 10
PART ?=
PYTHON ?=

VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/installed
INSTALLED_FPGA := $(VENV)/installed-fpga
BUILD := build
SUPPLY := $(BUILD)/supply
LOCKS := requirements.lock requirements-fpga.lock requirements-supply.lock
NETLIST := $(BUILD)/netlist.txt
WAVES := $(BUILD)/waves
SYNTHESISED := $(if $(filter file,$(origin CONFIG)),hc2 hc2-1ae published published-1ae published-vhdl-1ae fast fast-1ae,$(CONFIG))
# What the demonstration graph is derived from.
NETLIST_SOURCES := $(shell find hw -name '*.py') $(wildcard sim/hardware.py host/graph/generators.py)

# Verilator's scripts look for Python by name.
export PATH := $(CURDIR)/$(BIN):$(PATH)

.PHONY: help setup sim reproduce bench bench-compare test test-long fuzz sanitize lint format verilog formal mutants synth timing waves docs notebooks lock bom audit clean

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-13s %s\n", $$1, $$2 }' Makefile
	@echo
	@echo "  make sim [GRAPH=FILE] [CONFIG=hc2] [MEMORY=hc2]    make verilog [CONFIG=hc2]    make test [JOBS=2]"

setup: $(INSTALLED) ## Install everything, at the locked versions, into .venv

# Sets $$python to the first one that runs, is new enough and can make virtual environments.
define find_python
python=; for p in $(PYTHON) python3 python3.13 python3.12 python3.11; do \
  if "$$p" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; \
  then python=$$p; break; fi; done; \
if [ -z "$$python" ]; then \
  echo "cyscc needs Python 3.11 or newer with its venv module: install it, or name one with PYTHON=..." >&2; exit 1; fi
endef

define find_compiler
set -- $(CXX); if ! command -v "$$1" >/dev/null; then \
  echo "cyscc needs a C++ compiler, and '$$1' was not found: install g++, or name another with CXX=..." >&2; exit 1; fi
endef

# Only what runs import is compiled ahead: that takes 5 s instead of 14, and a run starts a second sooner also where Python
# may not write its bytecode. What is edited later is compiled again by whoever imports it.
AHEAD := numpy numba llvmlite scipy amaranth idna jschon msgspec platformdirs rfc3986 wcwidth typing_extensions.py
SOURCES := cyscc/__init__.py host hw sim
PIP := $(BIN)/python -m pip install -qq --no-input --disable-pip-version-check --no-compile

$(INSTALLED): pyproject.toml requirements.lock
	@$(find_compiler)
	@$(find_python); $(BIN)/python -c 'import pip' 2>/dev/null || "$$python" -m venv --clear $(VENV)
	@echo "installing the locked packages into $(VENV) (a quarter of a minute on a fast line)"
	@$(PIP) --require-hashes -r requirements.lock
	@$(PIP) --no-deps --no-build-isolation -e .
	@cd "$$($(BIN)/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')" && \
	  "$(abspath $(BIN))/python" -m compileall -q -j 2 $(AHEAD) $(addprefix "$(CURDIR)"/,$(SOURCES)) >/dev/null
	@touch $@

$(INSTALLED_FPGA): requirements-fpga.lock | $(INSTALLED)
	@echo "installing the place-and-route tool into $(VENV)"
	@$(PIP) --require-hashes -r requirements-fpga.lock
	@touch $@

# Apart from the rest, so that a lock can be made anew whatever the present one says.
$(SUPPLY)/installed: requirements-supply.lock
	@$(find_python); "$$python" -m venv --clear $(SUPPLY)
	@$(SUPPLY)/bin/python -m pip install -qq --disable-pip-version-check --require-hashes -r requirements-supply.lock
	@touch $@

# A file by one worker: its fixtures are made once. A test that ends its worker ends the run, else it would be run again.
# What was skipped is listed at the end.
PYTEST := $(BIN)/python -m pytest -rs -n $(JOBS) --dist loadfile --max-worker-restart 0

sim: $(INSTALLED) $(if $(GRAPH),,$(NETLIST)) ## Find the components of GRAPH (by default the machine's own netlist)
	@$(BIN)/cyscc scc "$(or $(GRAPH),$(NETLIST))" --config "$(CONFIG)" --memory "$(MEMORY)"

$(NETLIST): $(NETLIST_SOURCES) | $(INSTALLED)
	@mkdir -p $(@D)
	@$(BIN)/cyscc generate netlist -o $@

reproduce: $(INSTALLED) ## Reproduce the paper's table I in build/reproduce (some minutes)
	@$(BIN)/cyscc reproduce table1 --jobs $(JOBS)

bench: $(INSTALLED) ## Measure the compiled executor and two other ways to simulate the machine (some minutes)
	@$(BIN)/cyscc bench -o $(BUILD)

bench-compare: $(INSTALLED) ## Compare the speed of the compiled executor with that of revision BASE
	@if [ -z "$(BASE)" ]; then echo "bench-compare needs a revision: make bench-compare BASE=HEAD~1" >&2; exit 2; fi
	@$(BIN)/cyscc bench --compare "$(BASE)" -o $(BUILD)

test: lint ## Lint, then run the tests (all but the long ones)
	@# What all workers need is compiled once, before each of them would.
	@mkdir -p $(BUILD)
	@printf '0 1\n1 0\n' > $(BUILD)/pair.txt
	@$(BIN)/cyscc scc $(BUILD)/pair.txt --config test --quiet
	@$(PYTEST) -m 'not long'

test-long: $(INSTALLED) $(INSTALLED_FPGA) ## Run the long tests
	@$(PYTEST) -m long -o faulthandler_timeout=7200

fuzz: $(INSTALLED) ## Look for what is wrong for MINUTES: random runs, changed files, flipped bits, faults of the environment
	@MINUTES="$(MINUTES)" SEED="$(if $(filter file,$(origin SEED)),,$(SEED))" $(BIN)/python -m pytest tests/fuzz/fuzz.py \
		-v -s -k "$(PART)" -o faulthandler_timeout=0

sanitize: $(INSTALLED) ## Run the compiled executor's tests with ASan, UBSan and TSan, and numba's code with bounds (a quarter of an hour)
	@$(BIN)/python -m pytest tests/sanitizers/sanitize.py -v -rs -o faulthandler_timeout=7200

lint: $(INSTALLED) ## Check format, style and types
	@$(BIN)/ruff format --check
	@$(BIN)/ruff check
	@$(BIN)/python -m mypy

format: $(INSTALLED) ## Format the sources and mend what ruff can mend
	@$(BIN)/ruff format
	@$(BIN)/ruff check --fix

verilog: $(INSTALLED) ## Write the Verilog of CONFIG with the ports of TOP to build/verilog
	@mkdir -p $(BUILD)
	@$(BIN)/cyscc verilog --config "$(CONFIG)" --top "$(TOP)" -o $(BUILD)/verilog

formal: $(INSTALLED) ## Prove the properties of the hardware, and show that each can fail
	@$(BIN)/python -m tests.formal --jobs $(JOBS)

mutants: $(INSTALLED) ## Make small faults in the hardware, or in MODULE, and find out what finds them (hours)
	@$(BIN)/python -m tests.mutants --seed "$(SEED)" --count "$(COUNT)" $(MODULE)

synth: $(INSTALLED) ## Synthesise all presets (or CONFIG) for Virtex-5 and Virtex-6, then with FIFOs of each of DEPTHS
	@$(BIN)/cyscc synth $(SYNTHESISED:%=--config "%") --jobs $(JOBS) -o $(BUILD)
	@$(BIN)/cyscc synth --config "$(CONFIG)" --family xc5v $(DEPTHS:%=--depth "%") --jobs $(JOBS) -o $(BUILD)

timing: $(INSTALLED) $(INSTALLED_FPGA) ## Place and route the parts of an AE of CONFIG for ECP5: build/timing.md and .json
	@$(BIN)/cyscc timing --config "$(CONFIG)" --jobs $(JOBS) -o $(BUILD)

waves: $(INSTALLED) ## Record waveforms of CONFIG in the cycles of WINDOW, with views, in build/waves.*
	@mkdir -p $(BUILD)
	@$(BIN)/cyscc generate random --vertices 2^14 --degree 8 --seed 1 -o $(WAVES).npz
	@$(BIN)/cyscc bfs $(WAVES).npz --source 1 --config "$(CONFIG)" --memory "$(MEMORY)" \
	  --waves $(WAVES).fst --wave-window "$(WINDOW)" --wave-view
	@echo "open them with: gtkwave $(WAVES).fst $(WAVES).gtkw   or: surfer -c $(WAVES).sucl $(WAVES).fst"

docs: $(INSTALLED) ## Build the documentation in build/docs; a warning is an error
	@$(BIN)/python -m sphinx -q -W --keep-going -b html docs $(BUILD)/docs
	@echo "documentation: $(BUILD)/docs/index.html"

notebooks: $(INSTALLED) ## Run the example notebooks in docs/notebooks, and keep their outputs
	@$(BIN)/python -m docs.executed

# Hashes of every file of a version, for all systems and Pythons; an index of one's own is named by UV_DEFAULT_INDEX.
LOCK := $(SUPPLY)/bin/uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-header --no-annotate \
  --no-emit-index-url --no-emit-find-links
# $(call locked,FILE,OPTIONS): resolve into build/FILE, below the comment at the head of FILE.
locked = { sed '/^\#/!d' $1; $(LOCK) $2; } > $(BUILD)/$1

lock: $(SUPPLY)/installed ## Resolve the newest versions that pyproject.toml allows, with hashes, into the lock files
	@$(call locked,requirements.lock,pyproject.toml --extra dev --extra docs --extra cluster --extra search)
	@$(call locked,requirements-fpga.lock,--group fpga -c $(BUILD)/requirements.lock)
	@$(call locked,requirements-supply.lock,--group supply)
	@mv $(LOCKS:%=$(BUILD)/%) .

bom: $(SUPPLY)/installed ## Write the bill of materials, in CycloneDX's form, to build/bom.json
	@# It warns that a lock does not say who needs whom.
	@$(SUPPLY)/bin/python -W ignore -m cyclonedx_py requirements requirements.lock --pyproject pyproject.toml --mc-type application \
	  --output-reproducible --of JSON -o $(BUILD)/bom.json
	@echo "written: $(BUILD)/bom.json"

# Where pip-audit asks. Without this question it would answer a missing network by a traceback.
ADVISORIES := https://pypi.org/pypi/pip/json

audit: $(SUPPLY)/installed ## Look up known vulnerabilities of the locked versions (asks pypi.org)
	@if ! $(SUPPLY)/bin/python -c 'import requests, sys; requests.get(sys.argv[1], timeout=15).raise_for_status()' \
	  $(ADVISORIES) 2>/dev/null; then \
	  echo "audit needs network: known vulnerabilities are looked up at $(ADVISORIES), which does not answer" >&2; exit 2; fi
	@for lock in $(LOCKS); do echo "$$lock"; \
	  $(SUPPLY)/bin/pip-audit --require-hashes --disable-pip --strict --progress-spinner off -r "$$lock"; done

clean: ## Remove build/ and the caches of Python, numba and the tools; .venv stays (rm -rf .venv removes it)
	rm -rf $(BUILD) cyscc.egg-info .hypothesis .mypy_cache .pytest_cache .ruff_cache
	find hw sim host tests docs -name __pycache__ -prune -exec rm -rf {} +
