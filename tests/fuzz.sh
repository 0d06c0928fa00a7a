#!/usr/bin/env bash
# Mutated messages through the parser and the checks, and mutated SMTP sessions, calls of mocks and requests at mock
# identity providers, a million of each or as many as the first argument says, from the seed number in the second; a
# tenth of that through SPF, DKIM and DMARC, of which each asks a name server. Fails at the first panic, hang, slow
# input, growth or wrong answer.
set -euo pipefail
cd "$(dirname "$0")/.."

count=${1:-1000000}
seed=${2:-1}
cargo run --release --example mutate_messages -p trapline-mime -- "$count" "$seed"
cargo run --release --example mutate_sessions -p trapline-smtp -- "$count" "$seed"
cargo run --release --example mutate_checks -p trapline-checks -- "$count" "$seed"
cargo run --release --example mutate_calls -p trapline-mocks -- "$count" "$seed"
cargo run --release --example mutate_requests -p trapline-idp -- "$count" "$seed"
cargo run --release --example mutate_auth -p trapline-worker -- "$((count / 10))" "$seed"
