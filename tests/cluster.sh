#!/usr/bin/env bash
# The cluster's half of the tests, over the services that tests/services/run.py exec started: the
# conformance suite on its adapters, and the end-to-end suite on two processes of each role.
set -euo pipefail
cd "$(dirname "$0")/.."

# Fails when nothing ran: a suite that was filtered away proves nothing.
suite() { # suite COMMAND…
  local log
  log="$(mktemp)"
  if ! "$@" 2>&1 | tee "$log"; then
    rm -f "$log"
    return 1
  fi
  if ! grep -qE '^test result: ok\. [1-9][0-9]* passed' "$log"; then
    echo "tests/cluster.sh: no test ran: $*" >&2
    rm -f "$log"
    return 1
  fi
  rm -f "$log"
}

suite "${CARGO:-cargo}" test -p trapline-cluster --test cluster
MODE=cluster suite "${CARGO:-cargo}" test -p trapline-tests --test e2e "$@"
