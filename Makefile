# `make reproduce` and `make test` need Python 3.11 to 3.13, make, git and a C++ compiler, nothing else.
SHELL := /bin/bash
.DELETE_ON_ERROR:

VENV ?= .venv
# The environment's, if there is one; else the first that runs: a name that a version manager has put on the path may stand for
# nothing.
PYTHON ?= $(or $(shell for p in $(VENV)/bin/python python3.11 python3.12 python3.13; do $$p -c '' 2>/dev/null && echo $$p && break; done),python3)
CORES ?= all
# Which torch is installed: cpu, cuda, or a version of CUDA, such as cu126 (tools/install.sh).
TORCH ?= cuda
READY := $(VENV)/.ready
BIN := $(abspath $(VENV))/bin
# A worker for each core, and no more than eight, for each takes a gigabyte of memory. One that has nothing left to do
# takes over half of what another has before it: tests that share a training stay together until then.
PARALLEL := --numprocesses logical --maxprocesses 8 --dist worksteal

# All that the tests need.
TESTED := $(READY) $(foreach extra,crate docs huggingface notebook parquet watch,$(VENV)/.$(extra)-ready)

.PHONY: help reproduce environment test quick-test test-cluster test-faults test-processors coverage bench gpu lint docs lock weigh

help:
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "make %-16s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

reproduce: $(READY)  ## the default study: tables and figures in results/quick/ (TORCH=cpu: without CUDA)
	PATH="$(BIN):$$PATH" preln run config/config.yaml --cores $(CORES)

environment: $(TESTED)  ## all that the tests need, in .venv

test: $(TESTED)  ## every test but those of a cluster; of the faults a sample
	PATH="$(BIN):$$PATH" python -m pytest -m "not cluster" $(PARALLEL)

quick-test: $(READY)  ## the tests to run while working: none of half a second or more (two minutes)
	PATH="$(BIN):$$PATH" python -m pytest -m "not cluster and not slow" $(PARALLEL)

# The quick tests alone, for the others run the code in processes of their own, and would take twice as long.
coverage: $(READY)  ## the quick tests, and which lines of the package they leave out
	PATH="$(BIN):$$PATH" python -m pytest -m "not cluster and not slow" $(PARALLEL) --cov --cov-report term

# FAULTS="--only pre-training" strikes those alone.
test-faults: $(READY)  ## hundreds of kills, damages and full disks (20 to 45 minutes)
	PATH="$(BIN):$$PATH" python -m tests.faults $(FAULTS)

test-cluster: $(READY)  ## the workflow on a real Slurm that it brings up here (root; Debian or Ubuntu)
	PATH="$(BIN):$$PATH" python -m pytest -m cluster -rs

test-processors: $(READY)  ## the tests that compare numbers, as on other processors than this (half an hour)
	PATH="$(BIN):$$PATH" python -m tests.processors

bench: $(VENV)/.bench-ready  ## speed beside that of others: benchmarks/README.md (half an hour)
	PATH="$(BIN):$$PATH" python -m benchmarks

# DEVICE=cpu tries it out on tiny models.
gpu: $(READY)  ## on a GPU: tests, speed, waits, profile; results in build/gpu/
	PATH="$(BIN):$$PATH" python -m benchmarks.gpu $(if $(DEVICE),--device $(DEVICE))

lint: $(READY)  ## the static checks alone
	PATH="$(BIN):$$PATH" python -m pytest tests/workflow/test_static_checks.py

docs: $(VENV)/.docs-ready  ## the site of docs/, in build/site/
	PATH="$(BIN):$$PATH" python -m preln.report.pages
	PATH="$(BIN):$$PATH" snakemake --cores 1 --quiet -- write_explorer
	PATH="$(BIN):$$PATH" python docs/gather.py
	cp results/explorer.html build/pages/
	PATH="$(BIN):$$PATH" python -m zensical build --strict --clean
	@echo "Open build/site/index.html"

# locks/ has the pins of the requirements once more, with the hash of each file, for every system and Python. torch has none:
# tools/install.sh says why. (The site wants 3.11.5 at least.)
lock: build/uv/bin/uv  ## the hashes in locks/, after a change of requirements*.txt
	for file in requirements*.txt; do \
		build/uv/bin/uv pip compile "$$file" --output-file "locks/$$file" --no-emit-package torch --no-deps --universal \
			--python-version 3.11.5 --generate-hashes --no-annotate --custom-compile-command "make lock" --quiet || exit 1; \
	done

weigh:  ## words, files, lines and megabytes of this repository
	@bash tools/weigh.sh

# In an environment of its own, for the other is made of what it finds.
build/uv/bin/uv: requirements-lock.txt
	"$(PYTHON)" -m venv build/uv
	build/uv/bin/python -m pip install --quiet --requirement requirements-lock.txt

# Packages that single commands and tests need beyond ours; each requirements-*.txt says for what.
$(VENV)/.%-ready: $(READY) locks/requirements-%.txt
	"$(BIN)/python" -m pip install --quiet --no-deps --require-hashes --requirement locks/requirements-$*.txt
	touch "$@"

$(VENV)/.bench-ready: $(VENV)/.huggingface-ready

$(READY): requirements.txt locks/requirements.txt locks/requirements-fairseq.txt pyproject.toml setup.py \
		src/preln/fused/native.cpp tools/check-machine.sh tools/install.sh
	@bash tools/check-machine.sh "$(PYTHON)" "$(VENV)" "$(TORCH)"
	"$(PYTHON)" -m venv "$(VENV)"
	@bash tools/install.sh "$(BIN)/python" "$(TORCH)"
	touch "$@"
