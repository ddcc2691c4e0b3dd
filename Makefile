# Two commands for everybody: `make demo` runs the system, `make test` checks it. Both set up what they need.
.PHONY: demo demo-live test test-fast coverage lint fmt docs bench soak mutation test-train clean setup-demo setup-test setup-soak setup-bench setup-train
.NOTPARALLEL:

BIN := .venv/bin
WORKERS ?= -n 2 --dist loadfile

demo: setup-demo
	$(BIN)/quezhuo --home .demo demo --auto

demo-live: setup-demo
	$(BIN)/quezhuo --home .demo demo

test: coverage
	$(BIN)/python -m pytest -m "not soak" --ignore-glob='tests/engine/test_*.py' $(WORKERS)

# The engine's tests but for the proofs, which would not run another line, under [tool.coverage] of pyproject.toml
coverage: setup-test
	$(BIN)/python -m pytest -m "not soak" tests/engine --ignore=tests/engine/proof --cov $(WORKERS)

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

bench: setup-bench
	$(BIN)/python -m benchmarks

soak: setup-soak
	$(BIN)/python -m pytest -m soak --timeout 1800
	$(MAKE) mutation

# Minutes on two cores. Without what another run has left: only changed functions would be tried again
mutation: setup-soak
	rm -rf mutants
	timeout 2400 $(BIN)/mutmut run --max-children 2 >mutants.log 2>&1 || { tail -n 30 mutants.log; exit 1; }
	$(BIN)/python -m tests.engine.mutation.report

# The checks of the training, in an environment of its own: torch is large, and nobody else needs it
test-train: setup-train
	.venv-train/bin/python -m pytest tests/vision/test_training_*.py

clean:
	rm -rf .venv .venv-train .demo .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache build dist \
		mutants mutants.log .coverage
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

setup-demo:
	@.ci/setup demo

setup-test:
	@.ci/setup test

setup-soak:
	@.ci/setup soak

setup-bench:
	@.ci/setup bench

setup-train:
	@.ci/setup train
