#!/usr/bin/env bash
# Runs every benchmark of the module, one package after another so that they do
# not disturb each other. Those of daemon/e2e print ratios against a floor that
# they measure in the same run.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
export AURA_TEST_GOPLS="${AURA_TEST_GOPLS:-$PWD/.tools/bin/gopls}"

git grep -lE '^func Benchmark[A-Za-z0-9_]+\(' -- '*_test.go' | xargs -r -n 1 dirname | sort -u | while read -r package; do
	once=()
	if [ "$package" = daemon/e2e ]; then once=(-benchtime 1x); fi
	go test -run '^$' -bench "${BENCH:-.}" "${once[@]}" -timeout 1h "./$package" </dev/null
done
