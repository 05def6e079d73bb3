#!/usr/bin/env bash
# Runs every test and says how many ran against each real language server.
#
# A test that finds a server through lsptest.Tool adds its name to the file
# that AURA_TEST_REAL_LOG names; a server without any means that the run proved
# nothing about the real thing and fails.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

race=()
compiler=$(go env CC)
if [ "${CGO_ENABLED:-1}" = 0 ]; then
	echo "test: CGO_ENABLED=0: running without the race detector"
	export CGO_ENABLED=0
elif command -v "${compiler%% *}" >/dev/null; then
	race=(-race)
	export CGO_ENABLED=1
else
	echo "test: no C compiler ($compiler): running without the race detector"
	export CGO_ENABLED=0
fi

export AURA_TEST_REAL_LOG="$PWD/.tools/real.log"
rm -f "$AURA_TEST_REAL_LOG"

status=0
go test "${race[@]}" -count=1 -timeout 40m "$@" ./... || status=$?

servers=(gopls)
if [ "$CGO_ENABLED" = 1 ]; then
	servers+=(rust-analyzer pyright-langserver typescript-language-server roslyn-lsp)
else
	echo "test: no C compiler: the languages that tree-sitter reads were not tested"
fi
touch "$AURA_TEST_REAL_LOG"
for server in "${servers[@]}"; do
	ran=$(sed -n "s/^$server //p" "$AURA_TEST_REAL_LOG" | sort -u | wc -l)
	echo "tests that ran against the real $server: $ran"
	if [ "$ran" -eq 0 ]; then
		echo "test: no test ran against the real $server" >&2
		status=1
	fi
done
exit "$status"
