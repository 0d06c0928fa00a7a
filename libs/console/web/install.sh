#!/usr/bin/env bash
# Installs the packages of the lock file, unless they are there.
set -euo pipefail
cd "$(dirname "$0")"
cmp --silent package-lock.json node_modules/.installed && exit
npm ci --ignore-scripts --no-audit --no-fund --silent
cp package-lock.json node_modules/.installed
