# Two commands do everything on a fresh machine with Python 3.11+:  make demo  and  make test
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
# `make UV=uv demo` sets up with uv, in a fraction of the time.
UV     ?=
INSTALL = $(if $(UV),$(UV) pip install --python $(BIN)/python,$(BIN)/pip install) --quiet -c constraints.txt
AXE    := $(VENV)/npm/node_modules/axe-core/axe.min.js

.PHONY: demo test bench lint docs site package clean system

demo: $(VENV)/core.stamp
	$(BIN)/sightline demo -o demo-output

test: lint system
	$(BIN)/python -m pytest -n 2 --dist loadfile

lint: $(VENV)/dev.stamp
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache

bench: $(VENV)/dev.stamp
	for script in benchmarks/bench_*.py; do $(BIN)/python $$script || exit 1; done

docs: $(VENV)/dev.stamp
	$(BIN)/python docs/generate.py

site: $(VENV)/dev.stamp
	$(BIN)/python docs/site.py

package: $(VENV)/dev.stamp
	rm -rf dist
	$(BIN)/python -m build --no-isolation
	$(BIN)/twine check --strict dist/*

# Chromium draws the pages in the tests and axe-core looks for what shuts people out, PostgreSQL stores ratings, nginx and Caddy
# stand in front of the server. Where they cannot be installed, those tests say why they were skipped.
system:
	@command -v pg_ctl >/dev/null || ls /usr/lib/postgresql/*/bin/pg_ctl >/dev/null 2>&1 || { [ "$$(id -u)" = 0 ] && \
	  command -v apt-get >/dev/null && apt-get update -qq && apt-get install -y -qq postgresql; } || \
	  echo "PostgreSQL is missing: its storage tests will be skipped"
	@test -f $(AXE) || { command -v npm >/dev/null || { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && \
	  apt-get update -qq && apt-get install -y -qq npm; } && npm install --silent --no-save --prefix $(VENV)/npm axe-core@4.10.3; } || \
	  echo "axe-core could not be installed: the tests of what pages are to those who cannot see will be skipped"
	@command -v nginx >/dev/null && command -v caddy >/dev/null && command -v openssl >/dev/null || { [ "$$(id -u)" = 0 ] && \
	  command -v apt-get >/dev/null && apt-get update -qq && apt-get install -y -qq nginx caddy openssl; } || \
	  echo "nginx, Caddy or openssl is missing: the tests of the configurations in deploy/ will be skipped"
	@command -v chromium >/dev/null || { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && \
	  apt-get update -qq && apt-get install -y -qq chromium; } || echo "chromium is missing: browser tests will be skipped"

$(VENV)/core.stamp: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(if $(UV),,$(BIN)/pip install --quiet --upgrade pip)
	$(INSTALL) -e .
	touch $@

$(VENV)/dev.stamp: $(VENV)/core.stamp
	$(INSTALL) torch
	$(INSTALL) -e '.[dev]'
	touch $@

clean:
	rm -rf $(VENV) demo-output dist site
