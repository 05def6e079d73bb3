#!/usr/bin/env bash
# Runs every test and says how many ran against the real language server.
#
# A test that finds the server through lsptest.Gopls adds its name to the file
# that AURA_TEST_REAL_LOG names; none at all means that the run proved nothing
# about the real thing and fails.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

race=()
compiler=$(go env CC)
if [ "${CGO_ENABLED:-1}" = 0 ]; then
	echo "test: CGO_ENABLED=0: running without the race detector"
elif command -v "${compiler%% *}" >/dev/null; then
	race=(-race)
	export CGO_ENABLED=1
else
	echo "test: no C compiler ($compiler): running without the race detector"
	export CGO_ENABLED=0
fi

export AURA_TEST_REAL_LOG="$PWD/.tools/real.log"
export AURA_TEST_GOPLS="${AURA_TEST_GOPLS:-$PWD/.tools/bin/gopls}"
rm -f "$AURA_TEST_REAL_LOG"

status=0
go test "${race[@]}" -count=1 -timeout 25m "$@" ./... || status=$?

ran=0
if [ -f "$AURA_TEST_REAL_LOG" ]; then
	ran=$(sort -u "$AURA_TEST_REAL_LOG" | wc -l)
fi
echo "tests that ran against the real gopls: $ran"
if [ "$ran" -eq 0 ]; then
	echo "test: no test ran against the real gopls" >&2
	exit 1
fi
exit "$status"
