# Two commands for everyone: `make demo` starts a page where instructions are followed (`DEMO=terminal make demo` shows some in the
# terminal and ends), `make test` runs the tests.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
DEMO ?= page
PORT ?= 8000
MINUTES ?= 1
SEED ?= 0

.PHONY: demo test slow fuzz audit sbom install lint types format docs figures clean help

help: ## show this list
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*##/\t/' | expand -t 12

demo: $(VENV)/.serve ## start the page and print its address; DEMO=terminal shows interactions in the terminal instead
	@if [ "$(DEMO)" = terminal ]; then $(BIN)/sestra demo; else $(BIN)/sestra serve --port $(PORT); fi

test: install ## run the tests
	@$(BIN)/python -m pytest -q

slow: install ## run the tests that take minutes: grids and sweeps on Ray, killed and continued
	@$(BIN)/python -m pytest -q -m slow

fuzz: install ## run every fuzzer for MINUTES=1 with SEED=0; fails if any of them found something
	@failed=; for each in tsv_files agent_folders command_lines http_requests training_crashes; do \
	  echo "$$each:"; $(BIN)/python tests/fuzz/$$each.py --minutes $(MINUTES) --seed $(SEED) || failed="$$failed $$each"; \
	done; if [ -n "$$failed" ]; then echo "wrong:$$failed" >&2; exit 1; fi

audit: install ## look up known vulnerabilities of the installed packages, where pip-audit and a network are there
	@.ci/audit $(BIN)/python

sbom: install ## write the software bill of materials of a release (CycloneDX JSON) into dist
	@mkdir -p dist && $(BIN)/python .ci/sbom.py > dist/sestra.cdx.json && echo dist/sestra.cdx.json

install: $(VENV)/.dev ## create .venv and install the package and all development tools into it (does nothing when it is up to date)

# What the demo needs, or everything: the extra is the name of the stamp.
$(VENV)/.serve $(VENV)/.dev: pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "sestra needs Python 3.11 or newer; set PYTHON=/path/to/python" >&2; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "Installing sestra into $(VENV) ..."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[$(subst .,,$(notdir $@))]'
	@touch $@

lint: install ## check style and formatting
	@$(BIN)/ruff check . && $(BIN)/ruff format --check .

types: install ## check types
	@$(BIN)/mypy

format: install ## put the code into its canonical form
	@$(BIN)/ruff check --fix . && $(BIN)/ruff format .

docs: install ## build the documentation into docs/_build
	@$(BIN)/python -m sphinx -q -W --keep-going docs docs/_build && echo "docs/_build/index.html"

figures: install ## draw the documentation's figures anew, from results/ and the agents
	@$(BIN)/sestra paper report
	@set -e; attend() { agent=$$1; shift; $(BIN)/sestra attention --agent $$agent --out docs/images/attention-$$agent.svg --state "$$@"; }; \
	for agent in alchemy alchemy-sestra; do \
	  attend $$agent "1:p 2:o 3:p 4:g 5:y 6:oo 7:p" "throw out first beaker" "pour sixth beaker into last one" "it turns brown"; \
	done; \
	attend scene-sestra "1:__ 2:yo 3:__ 4:rb 5:__ 6:__ 7:g_ 8:__ 9:__ 10:__" \
	  "the person in green moves to the right end" "the person in red moves to the left of him" "he gives him his hat"; \
	attend tangrams-sestra "1:2 2:4 3:0 4:1 5:3" "remove the last figure" "swap the second and fourth figures" "undo that"

clean: ## remove the environment and everything generated
	@rm -rf $(VENV) dist docs/_build .pytest_cache .mypy_cache .ruff_cache .hypothesis
