#!/usr/bin/env bash
# Mutated messages through the parser and the checks, and mutated SMTP sessions, calls of mocks and requests at mock
# identity providers, a million of each or as many as the first argument says, from the seed number in the second; a
# tenth of that through SPF, DKIM and DMARC, of which each asks a name server. Fails at the first panic, hang, slow
# input, growth or wrong answer. A program of these runs on each processor, the longest first.
set -euo pipefail
cd "$(dirname "$0")/.."

count=${1:-1000000}
seed=${2:-1}
packages=(-p trapline-mime -p trapline-smtp -p trapline-checks -p trapline-mocks -p trapline-idp -p trapline-worker)
programs=(mutate_messages mutate_sessions mutate_checks mutate_calls mutate_requests mutate_auth)
cargo build --release "${packages[@]}" "${programs[@]/#/--example=}"
# One that fails ends the run: 255 has xargs start no other.
xargs -P "$(nproc)" -n 2 sh -c "\"${CARGO_TARGET_DIR:-target}/release/examples/\$0\" \"\$1\" $seed || exit 255" <<RUNS
mutate_requests $count
mutate_auth $((count / 10))
mutate_calls $count
mutate_checks $count
mutate_messages $count
mutate_sessions $count
RUNS
