# Two commands for everybody: `make demo` runs the system, `make test` checks it. Both set up what they need.
.PHONY: demo demo-live test test-fast lint fmt docs bench soak clean setup-demo setup-test
.NOTPARALLEL:

BIN := .venv/bin
WORKERS ?= -n 2 --dist loadfile

demo: setup-demo
	$(BIN)/quezhuo --home .demo demo --auto

demo-live: setup-demo
	$(BIN)/quezhuo --home .demo demo

test: setup-test
	$(BIN)/python -m pytest -m "not soak" $(WORKERS)

test-fast: setup-test
	$(BIN)/python -m pytest -m "not soak and not slow and not browser and not system and not real" $(WORKERS)

lint: setup-test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

fmt: setup-test
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

docs: setup-test
	$(BIN)/python docs/make_pages.py

bench: setup-test
	$(BIN)/python -m benchmarks

soak: setup-test
	$(BIN)/python -m pytest -m soak --timeout 1800

clean:
	rm -rf .venv .demo .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache build dist
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

setup-demo:
	@.ci/setup demo

setup-test:
	@.ci/setup test
