.PHONY: run test lint bench build tools

CARGO ?= cargo

# Builds and runs the service over ./trapline-data.
run:
	$(CARGO) run --release -p trapline -- serve

# Everything that must pass: unit, conformance and end-to-end tests, with foreign clients.
test: tools
	$(CARGO) build -p trapline -p smtpblast
	$(CARGO) test --workspace

# What the end-to-end tests need beside Rust: foreign SMTP clients, a browser, an API fuzzer.
tools:
	tests/setup.sh

lint:
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets --all-features -- -D warnings
	tests/lint.sh

# Measures Trapline and Mailpit by turns and writes docs/benchmarks.md.
bench:
	python3 bench/run.py
