# tenner: every target sets up what it needs in .venv; see `make help`.

PYTHON ?= python3
VENV = .venv/bin/python

# `make test T=tests/test_x.py I=micropython32 K=name`: one file, one interpreter, one test.
T ?= tests
I ?= all
K ?=
# Tests of a folder run side by side, those of a file one after the other; `make test J=0` does all so.
J ?= $(if $(wildcard $(T)/.),auto,0)
# `make bench B=heap.`: only the rows whose names start so.
B ?=

# Tests start Python a thousand times: without its files of bytecode, each start compiles the sources again.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help run test test-long docs test-services services-table test-kernel test-deploy test-hw test-riscv64 test-web soak lint format house new-tool new-driver new-channel fuzz picture bench profile package micropython32 env-run env-test clean

help: ## Show this list
	@sed -n 's/^\([a-z0-9-]*\):.*## \(.*\)/  make \1|\2/p' $(MAKEFILE_LIST) | awk -F'|' '{printf "%-22s %s\n", $$1, $$2}'
	@echo
	@echo "  make test T=tests/test_x.py I=micropython32 K=part_of_a_name | make test CHANGED=1"
	@echo "  make run FOLLOW=1 | make PYTHON=python3.12 ..."

# The demo reads FOLLOW, RUNTIME, LLM_* and TELEGRAM_TOKEN from the environment; make passes on
# what is given on its own command line too.
run: env-run ## Boot a virtual board and watch a heartbeat find something (no account needed)
	@$(VENV) -m tenner_sim.demo

test: env-test ## Run the tests on CPython and on MicroPython, 64- and 32-bit [CHANGED=1: those near a change]
ifdef CHANGED
	@files="$$($(VENV) scripts/changed_tests.py)"; [ -z "$$files" ] || $(VENV) -m pytest -q -n auto --interpreter=cpython $$files
else
	@$(if $(filter cpython micropython,$(I)),,$(VENV) scripts/fetch_micropython32.py --if-possible)
	@[ ! -d "$(T)" ] || echo "All of $(T): about 15 minutes on two idle cores, twice that on busy ones; make test CHANGED=1 takes one."
	@$(VENV) -m pytest -n $(J) --interpreter=$(I) $(if $(wildcard $(T)/.),-m "not long") $(if $(K),-k "$(K)") $(T)
endif

test-long: env-test ## Run the rest: power cuts, damage, attacks, whole lives, all tests on ROMFS and frozen code
	@$(VENV) -m pytest -n $(J) -m long $(if $(K),-k "$(K)") tests

test-services: env-test ## Run the agent against servers that others wrote (fetches 450 MB once from npm and PyPI)
	@$(VENV) -m pytest -rs --interpreter=$(I) $(if $(K),-k "$(K)") tests/services/on_*.py

services-table: env-test ## Run them all, and write what passes into docs/services.md
	@rm -f build/services.json
	@$(VENV) -m pytest -rs tests/services/on_*.py; $(VENV) scripts/services_table.py --write

test-kernel: env-test ## Run the I2C, SPI and GPIO tools on real kernels in emulated ARM boards
	@$(VENV) -m pytest -rs tests/kernel/on_kernels.py

# `make test-hw PORT=/dev/ttyUSB0 HW_HOST=192.168.1.5 HW_SSID=home`; $HW_PASSWORD from the environment.
test-hw: env-test ## Lead a real board at PORT, or an emulator of one, through its whole life; write build/hw.txt
	@PORT="$(PORT)" $(VENV) -m tests.hw $(A)

test-riscv64: env-test ## Run the core of the tests on riscv64, MicroPython and CPython, in qemu-user
	@$(VENV) -m pytest -rs $(if $(K),-k "$(K)") tests/riscv64/on_riscv64.py

test-web: env-test ## Drive the page of each server in Chromium, with Playwright and axe-core (fetches 60 MB once)
	@$(VENV) -m pytest -rs $(if $(K),-k "$(K)") tests/web/on_views.py tests/web/on_browser.py tests/web/on_fleet.py

# `make soak MESSAGES=200 ALERTS=50 SEED=7 HEAP=160K MIX=all`
soak: env-test ## People, alerts and faults of every kind for minutes; nothing may be lost or repeated
	@$(VENV) -m tests.host.soak $(if $(MESSAGES),--messages $(MESSAGES)) $(if $(ALERTS),--alerts $(ALERTS)) $(if $(SEED),--seed $(SEED)) $(if $(HEAP),--heap $(HEAP)) $(if $(MIX),--mix $(MIX)) $(if $(MINUTES),--minutes $(MINUTES))

test-deploy: env-test ## Deploy to a board behind a real sshd, to an emulated riscv64 one, and break everything
	@$(VENV) -m pytest -rs $(if $(K),-k "$(K)") tests/deploy/on_boards.py tests/deploy/on_riscv64.py

lint: env-test ## Check format, types, and that the firmware keeps to MicroPython's subset
	@$(VENV) scripts/lint.py

format: env-test ## Put every file into the project's format
	@$(VENV) -m ruff format .
	@$(VENV) -m ruff check --fix --quiet .
	@$(VENV) scripts/package_json.py --write
	@$(VENV) scripts/config_template.py --write
	@$(VENV) scripts/security_table.py --write
	@$(VENV) scripts/failures_table.py --write
	@$(VENV) scripts/json_page.py --write
	@$(VENV) scripts/memory_tables.py --write
	@$(VENV) scripts/models_table.py --write
	@$(VENV) scripts/api_page.py --write
	@$(VENV) scripts/settings_page.py --write
	@$(VENV) scripts/page_cookbook.py --write
	@$(VENV) scripts/walks.py --write
	@$(VENV) scripts/wiring_pictures.py --write
	@$(VENV) scripts/house.py --write >/dev/null

house: env-test ## Print the house in figures, beside its budgets
	@$(VENV) scripts/house.py

new-tool: env-test ## Write the files of a new tool, and its places in the tables [NAME=dew_point]
	@$(VENV) scripts/new_part.py tool "$(NAME)"

new-driver: env-test ## Write the files of a new sensor driver, and its places in the tables [NAME=lm92]
	@$(VENV) scripts/new_part.py driver "$(NAME)"

new-channel: env-test ## Write the folder of a new channel for alerts, and its test [NAME=ntfy]
	@$(VENV) scripts/new_part.py channel "$(NAME)"

fuzz: env-test ## Feed the parsers of what others send with generated input, S seconds each [ON=micropython32]
	@PYTHONPATH=firmware $(VENV) -m tests.fuzz --seconds $(or $(S),60) --on $(or $(ON),cpython)

docs: env-docs ## Build the pages as a site, in build/site
	@NO_MKDOCS_2_WARNING=1 PYTHONPATH=. $(VENV) -m mkdocs build --quiet --strict
	@echo "The site is in build/site: python3 -m http.server -d build/site"

picture: env-test ## Draw the pictures of the pages in docs/pictures; that of the demo needs a run of it
	@$(VENV) scripts/wiring_pictures.py --write
	@$(VENV) scripts/sensors_picture.py
	@$(VENV) scripts/chart_picture.py
	@$(VENV) scripts/demo_picture.py
	@PYTHONPATH=firmware $(VENV) -m tests.web.pictures

bench: env-test ## Measure heap, code size and requests; write build/bench.json
	@PYTHONPATH=firmware $(VENV) -m tests.bench $(B)

profile: env-test ## Record which code runs in which phase, and place new code by it [R=--tidy]
	@PYTHONPATH=firmware $(VENV) -m tests.bench.profile $(R)

package: env-run ## Make a tar.xz of the agent for each Linux architecture, in build/packages
	@$(VENV) -m tenner_host.linux.package $(A)

micropython32: env-test ## Fetch the 32-bit MicroPython (Debian) whose heap is like an ESP32's
	@$(VENV) scripts/fetch_micropython32.py

env-run:
	@$(PYTHON) scripts/setup_env.py --extra run

env-test:
	@$(PYTHON) scripts/setup_env.py --extra test

env-docs:
	@$(PYTHON) scripts/setup_env.py --extra docs

clean: ## Remove everything that can be made again
	rm -rf .venv build typings .mypy_cache .ruff_cache .pytest_cache .hypothesis *.egg-info
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
