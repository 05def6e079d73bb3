#!/usr/bin/env bash
# Puts the language servers that tests need into .tools/bin of the checkout.
#
# `auractl install` installs them, once for a user, into a cache keyed by the
# platform and the Go version; every checkout links to it, so that a second
# checkout needs no network. With names as arguments, only those servers.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
top=$PWD

cache="${XDG_CACHE_HOME:-$HOME/.cache}/aura/tools/$(go env GOOS)-$(go env GOARCH)-$(go env GOVERSION)"
servers=("$@")
[ $# -gt 0 ] || servers=(gopls rust-analyzer pyright typescript-language-server roslyn-lsp)
mkdir -p "$cache" .tools/bin

# Nothing to do when the same versions were linked before and are still there.
key=$(cat scripts/tools.sh adapters/*/engine.go | sha256sum | cut -d ' ' -f 1)
if [ "$(cat .tools/key 2>/dev/null)" = "$cache $key ${servers[*]}" ]; then
	whole=yes
	for program in .tools/bin/*; do
		target=$(sed -n 's/^exec "\(.*\)" "\$@"$/\1/p' "$program" 2>/dev/null | head -n 1)
		[ -z "$target" ] || [ -x "$target" ] || whole=no
	done
	[ $whole = no ] || exit 0
fi

# One checkout at a time fills the cache; the others then find it full.
exec 9>"$cache/lock"
flock 9

# The installer runs beside a user's own Aura, not in it.
world=$(mktemp -d)
export XDG_DATA_HOME="$cache" XDG_STATE_HOME="$world/state" XDG_CONFIG_HOME="$world/config" XDG_RUNTIME_DIR="$world/run"
mkdir -m 700 "$world/run"
trap '"$world/bin/auractl" stop -q >/dev/null 2>&1 || true; rm -rf "$world"' EXIT
tools="$cache/aura/tools"

auractl() {
	if [ ! -x "$world/bin/auractl" ]; then
		CGO_ENABLED=0 go build -o "$world/bin/" ./cmd/aurad ./cmd/auractl
	fi
	(cd "$world" && PATH="$world/bin:$PATH" XDG_CACHE_HOME="$world/cache" bin/auractl "$@") 9>&-
}

# link puts a program of the cache into the checkout under its own name. A
# script that runs it, as programs look for what belongs to them beside themselves.
link() {
	printf '#!/bin/sh\nexec "%s" "$@"\n' "$1" >".tools/bin/${2:-$(basename "$1")}.new"
	chmod +x ".tools/bin/${2:-$(basename "$1")}.new"
	mv -f ".tools/bin/${2:-$(basename "$1")}.new" ".tools/bin/${2:-$(basename "$1")}"
}

failed=()
for server in "${servers[@]}"; do
	case $server in
	gopls)
		auractl install gopls && cp "$tools/bin/gopls" .tools/bin/gopls.new && mv -f .tools/bin/gopls.new .tools/bin/gopls || failed+=("$server")
		;;
	rust-analyzer)
		# The build that recorded answers are of; where it cannot be had, rustup's,
		# whose answers differ in details from version to version.
		if [ -x "$tools/bin/rust-analyzer" ]; then
			link "$tools/bin/rust-analyzer"
		elif packed=$(ls "$top"/../shared/rust-analyzer/rust-analyzer-*-linux-x86_64.zst 2>/dev/null | tail -n 1) && [ -n "$packed" ]; then
			mkdir -p "$tools/bin"
			zstd -dqf "$packed" -o "$tools/bin/rust-analyzer.new"
			chmod +x "$tools/bin/rust-analyzer.new"
			mv -f "$tools/bin/rust-analyzer.new" "$tools/bin/rust-analyzer"
			link "$tools/bin/rust-analyzer"
		elif auractl install rust-analyzer && bin=$(rustup which rust-analyzer 2>/dev/null); then
			link "$bin"
		else
			failed+=("$server")
		fi
		;;
	pyright)
		auractl install pyright && link "$tools/pyright/node_modules/.bin/pyright-langserver" && link "$tools/pyright/node_modules/.bin/pyright" || failed+=("$server")
		;;
	typescript-language-server)
		auractl install typescript-language-server && link "$tools/typescript-language-server/node_modules/.bin/typescript-language-server" &&
			link "$tools/typescript-language-server/node_modules/.bin/tsc" || failed+=("$server")
		;;
	roslyn-lsp)
		if [ -x "$tools/dotnet/bin/roslyn-lsp" ] || "$top/../shared/csharp/install.sh" "$tools/dotnet" 9>&-; then
			link "$tools/dotnet/bin/roslyn-lsp"
			link "$tools/dotnet/bin/dotnet"
		else
			failed+=("$server")
		fi
		;;
	*)
		echo "tools: no server is called $server" >&2
		exit 2
		;;
	esac
done

if [ ${#failed[@]} -gt 0 ]; then
	echo "tools: not installed: ${failed[*]}; auractl doctor says what each needs" >&2
	exit 1
fi
echo "$cache $key ${servers[*]}" >.tools/key
