# Everything goes through a virtual environment in .venv with the locked versions of requirements/locked.txt.
# `make` alone lists the targets. Only python3 (3.11 or newer) has to be there; PYTHON=... picks another one.

PYTHON ?= python3
BIN := .venv/bin
STAMP := .venv/.installed
SUDO := $(if $(filter 0,$(shell id -u)),,sudo)
APT := DEBIAN_FRONTEND=noninteractive $(SUDO) apt-get
PYTEST := $(BIN)/pytest --numprocesses 2 --dist worksteal
FUZZ ?= 300
# commands that tests start would be compiled anew each time
unexport PYTHONDONTWRITEBYTECODE
SPECIAL := browser or peer or spark or dask or postgres or r

.DEFAULT_GOAL := help
.PHONY: help setup setup-browser setup-java setup-postgres setup-r setup-spark setup-dask demo test test-all test-unit test-slow test-browser test-postgres test-r test-spark test-dask lint format docs docs-serve picture golden man rooms bench peer fuzz fuzz-short safety changelog dist test-pythons data lock clean

help: ## list the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:[^#]*## /\t/' | expand -t 16

setup: $(STAMP) ## make .venv and install the locked versions and the project (editable)

$(STAMP): requirements/locked.txt pyproject.toml setup.py
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "tabprotect needs Python 3.11 or newer: make setup PYTHON=/path/to/python3"; exit 2; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null \
		|| { $(APT) update -qq && $(APT) install -y -qq python3-venv; }
	@test -x $(BIN)/pip || $(PYTHON) -m venv --clear .venv
	$(BIN)/python -m pip install --quiet --requirement requirements/locked.txt
	@# setuptools warns that ./tabprotect comes first on the path, which is what an editable install is for
	PYTHONWARNINGS=ignore $(BIN)/python -m pip install --quiet --no-deps --no-build-isolation --editable .
	@# mypy follows no import hooks: a path for the files of users
	@$(BIN)/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))' \
		| { read -r packages && pwd > "$$packages/tabprotect_checkout.pth"; }
	@# and links that place models/ and instances/ where the installed package has them
	@mkdir -p .venv/typings/tabprotect
	@ln -sfn ../../../models .venv/typings/tabprotect/models
	@ln -sfn ../../../instances .venv/typings/tabprotect/instances
	@touch $@

setup-browser: ## install a Chromium for the tests that look at the reports, where there is none
	@command -v chromium || command -v chromium-browser || command -v google-chrome \
		|| { $(APT) update -qq && $(APT) install -y -qq chromium; }

setup-java: ## install the Java runtime that Spark needs, where there is none
	@command -v java || { $(APT) update -qq && $(APT) install -y -qq openjdk-17-jre-headless; }

setup-postgres: ## install a PostgreSQL server for the tests of the query guard, where there is none
	@ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 \
		|| { $(APT) update -qq && $(APT) install -y -qq postgresql; }

setup-r: ## install R with reticulate, where there is none
	@Rscript -e 'library(reticulate)' >/dev/null 2>&1 \
		|| { $(APT) update -qq && $(APT) install -y -qq --no-install-recommends r-base-core r-cran-reticulate; }

setup-spark: setup setup-java ## install PySpark (450 MB)
	$(BIN)/python -m pip install --quiet --requirement requirements/spark.txt

setup-dask: setup ## install dask with a local cluster
	$(BIN)/python -m pip install --quiet --requirement requirements/dask.txt

demo: setup ## protect the bundled business register; the report is in build/demo
	$(BIN)/tabprotect demo --out build/demo

test: setup setup-browser setup-postgres setup-r ## all but the slow tests and those that need a cluster or a peer
	$(PYTEST) -m "(not slow or browser or postgres or r) and not (peer or spark or dask)"

test-all: export TABPROTECT_EXAMPLES = all
test-all: setup setup-browser setup-postgres setup-r setup-spark setup-dask ## everything that has to pass before a change goes in
	$(PYTEST) -m "not peer"
	$(MAKE) fuzz-short

test-unit: setup
	$(PYTEST) -m "not slow and not ($(SPECIAL))"

test-slow: setup ## those that take more than a few seconds each
	$(PYTEST) -m "slow and not ($(SPECIAL))"

test-browser: setup setup-browser ## open the reports in a headless Chromium
	$(PYTEST) -m browser

test-postgres: setup setup-postgres ## the query guard in front of a real PostgreSQL
	$(PYTEST) -m postgres tests/query

test-r: setup setup-r ## from R: the same values as from Python
	$(BIN)/pytest -m r tests/r

test-spark: setup-spark ## tabulate in a real local Spark
	$(BIN)/pytest -m spark tests/table tests/microdata/large

test-dask: setup-dask ## kill a worker of a real local dask cluster
	$(BIN)/pytest -m dask tests/methods

lint: setup ## style, types, direction of imports
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports

format: setup ## let ruff mend what it can
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

docs: setup ## build the pages into site/
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

docs-serve: setup ## show the pages while you write them
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs serve

picture: setup ## draw the table of the README again
	$(BIN)/python docs/picture.py

golden: setup ## say where the golden releases differ from what is recorded (`record` without --check writes them anew)
	$(BIN)/python -m tests.golden.releases.record --check

man: setup ## write the man page again
	$(BIN)/python docs/man.py

rooms: setup ## draw the picture of the rooms again
	$(BIN)/python docs/rooms.py

bench: setup ## solve the small instances of the index and bring its best known answers up to date
	$(BIN)/python -m benchmarks.record --seconds 10

peer: ## install tau-ARGUS in an environment of its own, to compare with (`tabprotect bench --against tau-argus`)
	@test -x .venv-peer/bin/pip || $(PYTHON) -m venv --clear .venv-peer
	.venv-peer/bin/python -m pip install --quiet "pytauargus==0.6.0"

fuzz: setup ## random problems, releases attacked from what is published, altered proofs; nightly: make fuzz FUZZ=10000
	$(BIN)/python -m benchmarks.fuzz --problems 1000 --seed 0
	$(BIN)/python -m benchmarks.fuzz_releases --releases $(FUZZ) --seed 0
	$(BIN)/python -m benchmarks.fuzz_verify --alterations $(FUZZ) --seed 0

fuzz-short: setup ## 300 random releases (150 seeds), attacked from what is published, in two processes
	@$(BIN)/python -m benchmarks.fuzz_releases --releases 75 --seed 0 --untimed & first=$$!; \
	$(BIN)/python -m benchmarks.fuzz_releases --releases 75 --seed 150 --untimed; second=$$?; \
	wait $$first && exit $$second

safety: setup ## 10,000 random sequences of queries, judged by brute force
	$(BIN)/python -m benchmarks.query.safety --games 10000

changelog: setup ## CHANGELOG.md from the fragments: make changelog VERSION=0.2.0
	@test -n "$(VERSION)" || { echo "say which version: make changelog VERSION=0.2.0"; exit 2; }
	$(BIN)/towncrier build --yes --version $(VERSION)

dist: setup ## wheel and sdist in dist/, checked by twine in an environment of its own
	rm -rf dist
	PYTHONWARNINGS=ignore $(BIN)/python -m build --no-isolation --outdir dist . >/dev/null
	@test -x .venv-dist/bin/pip || $(PYTHON) -m venv --clear .venv-dist
	.venv-dist/bin/python -m pip install --quiet --requirement requirements/dist.txt
	.venv-dist/bin/twine check --strict dist/*

test-pythons: dist ## the wheel in a clean environment of every Python from 3.11 to 3.14 at hand
	@for version in 3.11 3.12 3.13 3.14; do \
		python$$version --version >/dev/null 2>&1 || { echo "python$$version is not here"; continue; }; \
		python$$version -m venv --clear build/python$$version \
		&& build/python$$version/bin/python -m pip install --quiet dist/*.whl \
		&& build/python$$version/bin/tabprotect demo --time-limit 10 --out build/python$$version/demo >/dev/null \
		&& build/python$$version/bin/tabprotect verify build/python$$version/demo >/dev/null \
		&& echo "python$$version: installed, the demo is protected and verified" || exit 1; \
	done

data: setup ## write the bundled register and its hierarchies again (nothing changes unless the generator did)
	$(BIN)/python -c "from tabprotect.instances.register import bundle; bundle('instances/data')"

LOCK := $(BIN)/pip-compile --quiet --allow-unsafe --strip-extras --no-header --no-emit-index-url \
	--no-emit-find-links --no-emit-trusted-host --annotation-style=line

lock: setup ## resolve the files in requirements/ afresh from pyproject.toml
	$(LOCK) --upgrade --extra dev,docs,polars,excel,plot,microdata,query,serve,sdmx,delegation --output-file requirements/locked.txt pyproject.toml
	$(LOCK) --upgrade --extra spark --constraint requirements/locked.txt --output-file requirements/spark.txt pyproject.toml
	$(LOCK) --upgrade --extra dask --constraint requirements/locked.txt --output-file requirements/dask.txt pyproject.toml
	$(LOCK) --upgrade --constraint requirements/locked.txt --output-file requirements/dist.txt requirements/dist.in

clean: ## remove what the targets made, .venv included
	rm -rf .venv .venv-peer .venv-dist build dist site *.egg-info
