# Works on a fresh machine that has Python 3.11 or later and make. Everything is kept inside this
# folder: the environment in .venv, the servers that tests run against in .servers.

.DEFAULT_GOAL := help
.PHONY: help demo test check docs record notebooks servers clean
.DELETE_ON_ERROR:

at_least_311 := -c 'import sys; sys.exit(sys.version_info < (3, 11))'
# The first of these that runs and is new enough; a command may be there and still not run. The last
# place is pyenv's own, which need not be on the PATH.
PYTHON ?= $(shell for python in python3.11 python3 python3.12 python3.13 python3.14 \
	"$${PYENV_ROOT:-$$HOME/.pyenv}"/versions/3.1[1-9].*/bin/python; do \
	if $$python $(at_least_311) 2>/dev/null; then echo $$python; break; fi; done)

VENV := .venv
BIN := $(VENV)/bin
CODE := mcp_adapters mcp_adapters_langchain mcp_adapters_llamaindex
INSTALL := $(BIN)/python -m pip install --quiet

help: ## Say what can be made
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):.*## (.*)/make \1\t\2/' | expand -t 16

demo: $(VENV)/demo.stamp ## Run a LangChain and a LlamaIndex agent on a local MCP server: no key, no network
	@$(BIN)/python scripts/demo.py

test: $(VENV)/dev.stamp servers ## Run all tests, a few at a time, also against real servers, and show the branch coverage
	@$(BIN)/python -m pytest -n auto --maxprocesses 4 --cov --cov-report=term

check: $(VENV)/dev.stamp ## Check format, lint, types, architecture, dependencies and the documentation's links
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/deptry $(CODE)
	@$(MAKE) --no-print-directory docs

docs: $(VENV)/dev.stamp ## Build the pages and the reference of all public names into site/
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict
	@echo "The documentation is in site/index.html"

record: $(VENV)/dev.stamp servers ## Record the sessions of real HTTP servers again that tests play back
	@$(BIN)/python -m pytest tests/recorded --record-mode=rewrite

notebooks: $(VENV)/dev.stamp ## Run the notebooks anew and keep their outputs
	@$(BIN)/python scripts/run_notebooks.py

servers: $(VENV)/stamp ## Install the real servers that tests run against, in pinned versions
	@$(BIN)/python scripts/install_servers.py

clean: ## Remove everything that was made here
	rm -rf $(VENV) .servers site .coverage .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache dist build
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# Older pips know no dependency groups.
$(VENV)/stamp:
	@test -n "$(PYTHON)" || { echo "Python 3.11 or later was not found; name one: make PYTHON=/path/to/python" >&2; exit 1; }
	@$(PYTHON) $(at_least_311) || { echo "$(PYTHON) is not Python 3.11 or later" >&2; exit 1; }
	@echo "Making $(VENV) with $$($(PYTHON) --version)"
	@$(PYTHON) -m venv --clear $(VENV)
	@$(INSTALL) --upgrade 'pip>=25.1'
	@touch $@

$(VENV)/demo.stamp: $(VENV)/stamp pyproject.toml
	@echo "Installing the package with its extras"
	@$(INSTALL) --editable '.[all]' --group demo
	@touch $@

$(VENV)/dev.stamp: $(VENV)/demo.stamp
	@echo "Installing the tools for development"
	@$(INSTALL) --group dev
	@touch $@
