#!/usr/bin/env bash
# Types, house rules, format and unit tests of the frontend, where there is Node.
set -euo pipefail
cd "$(dirname "$0")"
if ! command -v npm >/dev/null; then
  echo "libs/console/web/lint.sh: skipped, for there is no npm"
  exit 0
fi
./install.sh
npm run --silent format:check
npm run --silent lint
npm run --silent check
npm run --silent test
