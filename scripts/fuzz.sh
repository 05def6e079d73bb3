#!/usr/bin/env bash
# Runs every fuzz target of the module, one after another, for the given time.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
budget=${1:-30s}

git grep -lE '^func Fuzz[A-Za-z0-9_]+\(' -- '*_test.go' | sort | while read -r file; do
	package=./$(dirname "$file")
	sed -nE 's/^func (Fuzz[A-Za-z0-9_]+)\(.*/\1/p' "$file" | while read -r target; do
		echo "fuzz: $package $target for $budget"
		go test -run '^$' -fuzz "^$target\$" -fuzztime "$budget" "$package" </dev/null
	done
done
