# The same verbs for people and for CI. Everything goes into .venv, target and out.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# What the core is built from; tests and benchmarks are no part of it.
RUST := $(shell find crates \( -name tests -o -name benches \) -prune -o \( -name '*.rs' -o -name 'Cargo.toml' \) -print) Cargo.toml Cargo.lock
export CARGO_TERM_COLOR ?= auto

.PHONY: help setup dev demo wheel crates test check lint rust-lint python-lint format rust-test rust-unit-test python-test python-unit-test bench fuzz fuzz-tools golden mutations bench-ns3 bench-linux bench-linux-exact bench-phase docs figures measured papers studies lock audit clean

help:
	@echo "make setup   an environment in .venv with the command .venv/bin/overspill"
	@echo "make demo    run scenarios/incast.toml and write out/incast/report.html"
	@echo "make test    formatting, lints and every test, Rust and Python"
	@echo "make check   formatting, lints and unit tests alone: a minute or two where little has changed"
	@echo "make wheel   a wheel for other machines and a source package, into dist; installs and tries it; some minutes"
	@echo "make crates  package and compile each crate for crates.io, without upload; needs cargo 1.90; some minutes"
	@echo "make bench   events, hops, ACKs and whole runs timed; tables; the command; memory; two cores against one"
	@echo "make bench BEFORE=rev  this tree against a revision, in turns; fails where a run has become slower"
	@echo "make fuzz    an hour of wrong scenarios; FUZZ_SECONDS=600 for ten minutes, FUZZ_TARGET=quantity for units, wire for frames"
	@echo "make golden  record the digests of golden/ anew and print what has changed; on purpose only"
	@echo "make mutations  deliberate faults, one at a time, which the tests must catch; MUTATIONS=rfc6298 for some"
	@echo "make bench-ns3  the same work in ns-3 (installs Debian's), the ratio, and a cross-check"
	@echo "make bench-linux  incasts on this machine's own TCP, in network namespaces, and the same starts here (needs root)"
	@echo "make bench-linux-exact  random lossy flows on this machine's kernel, packet by packet, against linux (needs root)"
	@echo "make bench-phase  how exact hosts may be before phases lock: fairness and incasts; PHASE=--publish writes the page"
	@echo "make format  format the sources"
	@echo "make docs    write the generated pages, and the site into out/site; make test fails where a page is stale"
	@echo "make papers  reproduce every paper of papers/ into its folder; goes on where it was stopped; PAPERS=pabo for one"
	@echo "make studies run the studies of studies/; goes on where it was stopped"
	@echo "make lock    write requirements/*.lock anew from pyproject.toml; LOCK=--upgrade takes the newest of everything"
	@echo "make audit   ask osv.dev for known advisories on the crates and packages that are locked"
	@echo "make figures draw the figures of the pages on mechanisms anew"
	@echo "make measured run again what the pages on mechanisms quote, into docs/measured.csv; some minutes"

setup: $(VENV)/.built

# Versions and hashes are those of requirements/*.lock. Python compiles a module when it is first imported: most never are.
PIP_INSTALL = $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile --require-hashes -r

$(VENV)/.tools: requirements/setup.lock
	@command -v cargo >/dev/null || { echo "cargo is missing: install Rust with rustup"; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Python 3.11 or newer is needed: make PYTHON=python3.12"; exit 1; }
	@echo "Installing Python packages into $(VENV)"
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(PIP_INSTALL) $<
	@touch $@

$(VENV)/.built: $(VENV)/.tools pyproject.toml $(RUST)
	@echo "Building the core"
	@PIP_QUIET=1 VIRTUAL_ENV=$(abspath $(VENV)) $(BIN)/maturin develop --release --strip --quiet
	@touch $@

# What tests and documentation need beyond the command itself.
dev: $(VENV)/.dev $(VENV)/.built

$(VENV)/.dev: requirements/dev.lock $(VENV)/.tools
	@echo "Installing what tests and docs need"
	@$(PIP_INSTALL) $<
	@touch $@

# One resolution for every Python since 3.11 and every system (uv's markers); pins stay unless pyproject.toml forbids them.
LOCK ?=
UV_COMPILE = out/lock/venv/bin/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-annotate \
	--custom-compile-command "make lock" --cache-dir out/lock/cache

lock:
	@test -x out/lock/venv/bin/uv || { $(PYTHON) -m venv out/lock/venv && \
		out/lock/venv/bin/python -m pip install --quiet --disable-pip-version-check "uv>=0.5"; }
	@$(PYTHON) -c 'import tomllib; \
		print(*tomllib.load(open("pyproject.toml", "rb"))["build-system"]["requires"], sep="\n")' > out/lock/build.in
	$(UV_COMPILE) $(LOCK) --extra dev --output-file requirements/dev.lock pyproject.toml out/lock/build.in
	$(UV_COMPILE) --upgrade --constraint requirements/dev.lock --output-file requirements/setup.lock \
		pyproject.toml out/lock/build.in

# Needs the network; no part of the tests.
audit:
	@$(PYTHON) tests/audit.py

# The wheel is built from the source package, so that both are tested; profiled runs make it faster than `make setup` does.
wheel: $(VENV)/.dev
	@command -v rustup >/dev/null || { echo "rustup is missing: it has the tools that read profiles, see https://rustup.rs"; exit 1; }
	@rustup component add llvm-tools
	@rm -f dist/*
	CARGO_TARGET_DIR=$(abspath out)/wheel $(BIN)/maturin build --release --strip --sdist --pgo --interpreter $(BIN)/python --out dist
	OVERSPILL_WHEEL=$$(echo dist/overspill-*.whl) $(BIN)/python -m pytest -q tests/test_wheel.py

# Compiles each crate from its package, against the packages of the others. Changes must be committed.
crates:
	PYO3_BUILD_EXTENSION_MODULE=1 cargo publish --workspace --dry-run --locked
	RUSTDOCFLAGS="-D warnings" cargo doc --workspace --exclude micro --exclude own_answer --no-deps --quiet --locked

demo: setup
	$(BIN)/overspill demo

# Installing packages and lints leave one core idle for much of their time. Everything is compiled once: what helps to
# compile a change again would cost a tenth of it.
test: export CARGO_INCREMENTAL = 0
test:
	@$(MAKE) --no-print-directory -j3 rust-lint setup python-lint
	@$(MAKE) --no-print-directory rust-test python-test

check: lint rust-unit-test python-unit-test

PYTHON_SOURCES := python tests docs papers studies benches/linux benches/phase

lint: rust-lint python-lint

rust-lint:
	@cargo fmt --version >/dev/null 2>&1 || rustup component add rustfmt
	@cargo clippy --version >/dev/null 2>&1 || rustup component add clippy
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --quiet -- -D warnings

# Types of a paper's code are checked under the name that it is loaded by.
python-lint: $(VENV)/.dev
	$(BIN)/ruff check $(PYTHON_SOURCES)
	$(BIN)/ruff format --check $(PYTHON_SOURCES)
	@rm -rf out/typed && mkdir -p out/typed/overspill_papers
	@for one in $(dir $(wildcard papers/*/paper.toml)); do \
		ln -s "../../../$$one" out/typed/overspill_papers/$$(basename $$one | tr - _); done
	$(BIN)/mypy python/overspill out/typed/overspill_papers studies benches/linux benches/phase
	$(BIN)/python tests/circles.py
	$(BIN)/python tests/python_circles.py
	$(BIN)/python tests/names.py
	$(BIN)/python tests/english.py

rust-test:
	cargo test --workspace --exclude overspill-py --exclude micro --exclude own_answer --quiet

# Unit tests stand beside the code.
rust-unit-test:
	cargo test --workspace --exclude overspill-py --exclude micro --exclude own_answer --lib --quiet

# A file of tests stays in one process, since its tests share what takes long to make; the longest file comes first.
# A process that dies ends the tests: where another takes its place, files may wait for it forever.
PYTEST = $(BIN)/python -m pytest -q --numprocesses logical --maxprocesses 4 --max-worker-restart 0 \
	--dist loadfile --no-loadscope-reorder

python-test: dev
	$(PYTEST) tests

# Without what runs whole commands, on the core as it was built last.
python-unit-test: $(VENV)/.dev
	@test -e $(VENV)/.built || $(MAKE) --no-print-directory setup
	$(PYTEST) -m "not slow" tests/python

golden:
	OVERSPILL_GOLDEN=record cargo test --package overspill-sim --test all --quiet -- --nocapture golden::every_golden_run

# With BEFORE, a revision and the tree as it is, in turns; that needs SciPy but not the core in Python.
BENCH_ROUNDS ?= 11

ifdef BEFORE
bench:
	@$(BIN)/python -c 'import scipy' 2>/dev/null || $(MAKE) setup
	$(BIN)/python benches/compare.py --rounds $(BENCH_ROUNDS) '$(BEFORE)'
else
bench: setup
	cargo bench --quiet --manifest-path benches/micro/Cargo.toml
	cargo bench --quiet --manifest-path crates/sim/Cargo.toml --bench whole_runs
	$(BIN)/python benches/shares.py --rounds $(BENCH_ROUNDS)
	$(BIN)/python benches/scaling.py
endif

# Minutes to an hour; goes on where it was interrupted.
mutations:
	$(PYTHON) tests/mutate.py $(MUTATIONS)

# Wrong and odd input for the loader; needs nightly Rust and cargo-fuzz, which nothing else here does.
FUZZ_SECONDS ?= 3600
FUZZ_TARGET ?= scenario
FUZZ_INPUT_SECONDS ?= 5
FUZZ_MEMORY_MB ?= 2048
FUZZ_TOOLCHAIN ?= nightly

fuzz-tools:
	@command -v rustup >/dev/null || { echo "rustup is missing: fuzzing needs nightly Rust, see https://rustup.rs"; exit 1; }
	@rustup toolchain list | grep -q '^$(FUZZ_TOOLCHAIN)' || { echo "Installing Rust $(FUZZ_TOOLCHAIN)"; \
		rustup toolchain install $(FUZZ_TOOLCHAIN) --profile minimal || { echo "rustup could not install $(FUZZ_TOOLCHAIN)"; exit 1; }; }
	@command -v c++ >/dev/null || { echo "a C++ compiler is missing: libFuzzer is built from source (Debian: apt install g++)"; exit 1; }
	@command -v cargo-fuzz >/dev/null || { echo "Installing cargo-fuzz"; \
		cargo install cargo-fuzz --locked --quiet || { echo "cargo could not install cargo-fuzz"; exit 1; }; }

fuzz: fuzz-tools
	cd fuzz && cargo +$(FUZZ_TOOLCHAIN) run --release --quiet --example seeds
	cd fuzz && cargo +$(FUZZ_TOOLCHAIN) fuzz run --sanitizer none $(FUZZ_TARGET) -- -dict=$(FUZZ_TARGET).dict \
		-max_total_time=$(FUZZ_SECONDS) -timeout=$(FUZZ_INPUT_SECONDS) -rss_limit_mb=$(FUZZ_MEMORY_MB) \
		-max_len=8192 -print_final_stats=1
bench-ns3: setup
	$(BIN)/python benches/ns3/bench.py

# Half an hour of runs on the kernel where nothing is in out/bench-linux yet; LINUX='--only cubic-n40-*' for some cases,
# LINUX=--publish writes the tables of docs/internals/linux.md.
LINUX ?=

bench-linux: setup
	$(BIN)/python benches/linux/bench.py $(LINUX)

# Two minutes; LINUX_EXACT='--seed 5000 --flows 200' for other flows.
LINUX_EXACT ?=

bench-linux-exact: setup
	$(BIN)/python benches/linux/exact/exact.py $(LINUX_EXACT)

# Half an hour where nothing is in out/bench-phase.jsonl yet.
PHASE ?=

bench-phase: setup
	$(BIN)/python benches/phase/study.py $(PHASE)

format:
	cargo fmt --all
	$(BIN)/ruff format $(PYTHON_SOURCES)
	$(BIN)/ruff check --fix $(PYTHON_SOURCES)

TARGET := $(or $(CARGO_TARGET_DIR),target)

# docs/site.py removes out/site, so the pages of rustdoc and of papers are written after it.
docs: dev
	$(BIN)/python -m overspill.report.reference > docs/reference.md.new
	mv docs/reference.md.new docs/reference.md
	$(BIN)/python -m overspill.report.metrics_page > docs/metrics.md.new
	mv docs/metrics.md.new docs/metrics.md
	$(BIN)/python -m overspill.report.names > python/overspill/results/names.py.new
	mv python/overspill/results/names.py.new python/overspill/results/names.py
	$(BIN)/python -m overspill.papers.claims_page > docs/claims.md.new
	mv docs/claims.md.new docs/claims.md
	$(BIN)/python docs/site.py out
	$(BIN)/zensical build --clean --strict --config-file out/zensical.toml
	rm -rf $(TARGET)/doc
	RUSTDOCFLAGS="-D warnings" cargo doc --workspace --exclude overspill-py --exclude overspill-property \
		--exclude micro --exclude own_answer --no-deps --quiet
	cp -r $(TARGET)/doc out/site/rust
	@for one in $(PAPERS); do $(BIN)/overspill paper $$one --redraw --out out/site/papers/$$one || exit 1; done
	@echo "site: out/site/index.html"

figures: dev
	$(BIN)/python docs/figures.py

measured: setup
	$(BIN)/python docs/measured.py

# Every paper, though runs of one fail; some minutes of PABO, two hours each of DIBS and CP.
PAPERS ?= $(notdir $(patsubst %/,%,$(dir $(wildcard papers/*/paper.toml))))

papers: setup
	@left=0; for name in $(PAPERS); do \
		$(BIN)/overspill paper $$name --what-if --publish || left=$$?; done; exit $$left

# Some 6300 runs of one to ten seconds if out/studies is empty.
studies: setup
	@for one in bounce detour pause trim abq today hosts; do $(BIN)/python -m studies.$$one || exit; done

clean:
	rm -rf target out $(VENV)
