.PHONY: run cluster test test-embedded test-cluster test-faults lint bench bench-cluster build tools

CARGO ?= cargo
FAULTS ?= full

# Builds and runs the service over ./trapline-data.
run:
	$(CARGO) run --release -p trapline -- serve

# Runs a cluster on this machine, with its services, until Ctrl-C; keeps nothing.
cluster: tools
	$(CARGO) build --release -p trapline
	tests/services/play.py "$${CARGO_TARGET_DIR:-target}/release/trapline"

# Everything that must pass: unit, conformance and end-to-end tests, with foreign clients, in one
# process and as a cluster over real services.
test: test-embedded test-cluster

test-embedded: tools
	$(CARGO) build -p trapline -p smtpblast
	$(CARGO) test --workspace --exclude trapline-cluster
	$(CARGO) test -p trapline-cluster --lib

test-cluster: tools
	$(CARGO) build -p trapline -p smtpblast
	tests/services/run.py exec tests/cluster.sh

# A cluster under load while one part after another fails: 15 minutes, as root, and the table of
# docs/reliability.md. `make test-faults FAULTS=short` takes 6 and writes nothing.
test-faults: tools
	$(CARGO) build -p trapline
	FAULTS=$(FAULTS) $(CARGO) test -p trapline-tests --test faults

# What the end-to-end tests need beside Rust: foreign SMTP clients, a browser, an API fuzzer, and the
# services of a cluster.
tools:
	tests/setup.sh

lint:
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets --all-features -- -D warnings
	tests/lint.sh

# Measures Trapline and Mailpit by turns and writes docs/benchmarks.md.
bench:
	python3 bench/run.py

# Measures a cluster with its services on this machine: what a message costs, throughput, parked
# clients and latency. Half an hour. Writes docs/scaling.md and a part of docs/benchmarks.md.
bench-cluster: tools
	python3 bench/cluster.py
