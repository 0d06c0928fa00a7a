.PHONY: run console api-types screenshots cluster test test-embedded test-cluster test-faults test-soak test-full test-operate docs release deny lint bench bench-cluster bench-console tools refresh-checks corpus

CARGO ?= cargo
FAULTS ?= full

# Builds and runs the service over ./trapline-data, without what it can do without: the drivers of a
# cluster, which are half of all crates, and the allocator.
run:
	@echo 'The first build takes five to seven minutes on two cores.'
	$(CARGO) run --profile quick -p trapline --no-default-features -- serve

# Serves the web console from its sources, which a change shows in at once, over the API of a server
# that runs at TRAPLINE_URL (http://127.0.0.1:8025 when left out).
console:
	cd libs/console/web && ./install.sh && npm run dev

# Writes the console's types of the API from the document that is served.
api-types: tools
	$(CARGO) build -p trapline
	UPDATE_DOCS=1 $(CARGO) test -p trapline-tests --test e2e the_types_of_the_console

# Takes the pictures of the console, light and dark, into docs/images.
screenshots: tools
	$(CARGO) build -p trapline
	UPDATE_PICTURES=1 $(CARGO) test -p trapline-tests --test e2e every_screen_has_its_pictures

# Runs a cluster on this machine, with its services, until Ctrl-C; keeps nothing.
cluster: tools
	$(CARGO) build --release -p trapline
	tests/services/play.py "$${CARGO_TARGET_DIR:-target}/release/trapline"

# Everything that must pass: unit, conformance and end-to-end tests, with foreign clients, in one
# process and as a cluster over real services. docs/testing.md has what each part takes.
test: tools deny
	tests/suites.py
	tests/.tools/operate/bin/python -m unittest discover --start-directory tests/operate

# What operators apply: the chart, the image, the unit and the modules of Terraform, without a cluster,
# an engine or an account. The roles of the chart run over real services, which start first.
test-operate: tools
	$(CARGO) build -p trapline
	tests/services/run.py exec tests/.tools/operate/bin/python -m unittest discover --start-directory tests/operate

# The docs as a site, into target/site; a warning is an error.
docs: tools
	NO_MKDOCS_2_WARNING=1 tests/.tools/operate/bin/mkdocs build --strict

# What a release is, into target/release-files: archive, image, chart, list of components, and sums. RELEASE_KEY names an SSH key that
# signs the sums.
release:
	packaging/release.sh target/release-files

# Licences, sources and bans of all dependencies, as deny.toml has them.
deny: tools
	tests/.tools/lint/bin/cargo-deny --locked check --hide-inclusion-graph --allow duplicate bans licenses sources

test-embedded: tools
	tests/suites.py unit embedded

test-cluster: tools
	tests/suites.py conformance cluster

# A cluster under load while one part after another fails: 15 minutes, as root, and the table of
# docs/reliability.md. `make test-faults FAULTS=short` takes 6 and writes nothing.
test-faults: tools
	FAULTS=$(FAULTS) tests/suites.py faults

# An installation of each kind lives through a month in half an hour, and the tables of docs/reliability.md.
test-soak: tools
	SOAK=30 tests/suites.py soak

# The same with every long proof whole: twenty crashes, the fuzzers, all faults, and a
# month in three minutes.
test-full: tools
	PROOFS=full FAULTS=full tests/suites.py unit embedded conformance cluster faults soak
	PROOFS=full tests/services/run.py exec tests/.tools/operate/bin/python -m unittest discover --start-directory tests/operate
	tests/fuzz.sh

# What the end-to-end tests need beside Rust: foreign SMTP clients, a browser, an API fuzzer, and the
# services of a cluster.
tools:
	tests/setup.sh

# One build lints and compiles what the tests run.
lint:
	$(CARGO) fmt --all --check
	tests/lint.sh
	libs/console/web/lint.sh
	tests/suites.py build

# Renews what the HTML check knows of mail clients; docs/html-check.md says what is left to decide then.
refresh-checks:
	python3 libs/checks/data/refresh.py

# Scores the extraction of codes over the mails of tests/corpus: prints what is wrong and writes docs/extraction.md.
corpus:
	UPDATE_DOCS=1 $(CARGO) test -p trapline-mime --test it extraction -- --nocapture

# Measures Trapline and Mailpit by turns and writes docs/benchmarks.md.
bench:
	python3 bench/run.py

# Measures a cluster with its services on this machine: what a message costs, throughput, parked
# clients and latency. Half an hour. Writes docs/scaling.md and a part of docs/benchmarks.md.
bench-cluster: tools
	python3 bench/cluster.py

# The web console in headless Chromium: until the first row, reading, scrolling, searching, and what comes meanwhile.
bench-console: tools
	$(CARGO) build --profile dist -p trapline -p smtpblast
	python3 bench/console.py "$${CARGO_TARGET_DIR:-target}/dist/trapline"
