#!/usr/bin/env bash
# Puts the language server that tests need into .tools/bin of the checkout.
#
# It is built once for a user, by the Go command, into a cache keyed by its
# version, the platform and the Go version; every checkout copies it from
# there, so that a second checkout needs no network.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

version=${GOPLS_VERSION:?run this by "make tools", which names the version}
key="gopls-$version-$(go env GOOS)-$(go env GOARCH)-$(go env GOVERSION)"
cache="${XDG_CACHE_HOME:-$HOME/.cache}/aura/tools/$key"
bin=.tools/bin/gopls

if [ -x "$bin" ] && [ "$(cat .tools/gopls.key 2>/dev/null)" = "$key" ]; then
	exit 0
fi

if [ ! -x "$cache/gopls" ]; then
	echo "tools: building gopls $version into the per-user cache (once, a few minutes)"
	mkdir -p "$(dirname "$cache")"
	staging=$(mktemp -d "$cache.XXXXXX")
	trap 'rm -rf "$staging"' EXIT
	# Not inside the checkout's module: its go.mod must not choose versions.
	(cd "$staging" && env -u GOFLAGS CGO_ENABLED=0 GOBIN="$staging" go install "golang.org/x/tools/gopls@$version")
	"$staging/gopls" version >/dev/null
	# Another checkout may have been faster; either result is the same.
	mkdir -p "$cache"
	mv -f "$staging/gopls" "$cache/gopls"
fi

mkdir -p .tools/bin
cp "$cache/gopls" "$bin.new"
mv -f "$bin.new" "$bin"
echo "$key" >.tools/gopls.key
echo "tools: $("$bin" version | tail -n 1 | tr -s ' ')"
