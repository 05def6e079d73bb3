#!/usr/bin/env bash
# Compares what Aura's graph answers about a large real project of each language,
# without any server, with what a parser that Aura does not use says of the same
# files, and prints recall and precision of each operation:
#
#	scripts/recall.sh [LANGUAGE [NAME@VERSION | FOLDER]]
#
# Projects come from the registry of their language, by its own client.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

declare -A project=(
	[go]=k8s.io/client-go@v0.34.1
	[rust]=tokio@1.47.1
	[python]=django@5.2.7
	[typescript]=rxjs@7.8.2
	[csharp]= # the registry of C# holds no sources: a folder, else that of the tests
)
language=${1:-} module=${2:-}
work=$(mktemp -d)
trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT

# fetch LANGUAGE NAME@VERSION puts the sources into $work/LANGUAGE.
fetch() {
	local name=${2%@*} version=${2##*@} source
	case $1 in
	go) source=$(cd "$work" && go mod download -json "$2" | sed -n 's/^[[:space:]]*"Dir": "\(.*\)",*$/\1/p') ;;
	rust)
		cargo new -q --vcs none --lib "$work/fetch"
		(cd "$work/fetch" && cargo add -q "$name@=$version" && cargo fetch -q)
		source=$(cd "$work/fetch" && cargo metadata -q --format-version 1 |
			python3 -c 'import json, os, sys; print(next(os.path.dirname(p["manifest_path"]) for p in json.load(sys.stdin)["packages"] if p["name"] == sys.argv[1]))' "$name")
		;;
	python)
		python3 -m pip download -q --disable-pip-version-check --no-deps --no-binary :all: -d "$work/sdist" "$name==$version"
		mkdir "$work/unpacked"
		tar -xzf "$work"/sdist/*.tar.gz -C "$work/unpacked" --strip-components=1
		source=$work/unpacked
		;;
	typescript)
		(cd "$work" && npm pack --silent "$2" >packed && tar -xzf "$(tail -n 1 packed)")
		mkdir -p "$work/sources"
		cp -R "$work/package/src" "$work/sources/src"
		source=$work/sources
		;;
	*)
		echo "scripts/recall.sh: pass a folder for $1" >&2
		return 1
		;;
	esac
	cp -R "$source" "$work/$1"
	chmod -R u+w "$work/$1"
}

failed=0
for l in ${language:-go rust python typescript csharp}; do
	of=${module:-${project[$l]}} arguments=(-recall.lang "$l")
	if [ -d "$of" ]; then
		arguments+=(-recall.dir "$(realpath "$of")")
	elif [ -n "$of" ]; then
		fetch "$l" "$of"
		arguments+=(-recall.dir "$work/$l")
	fi
	echo "== $l: ${of:-the workspace of the tests}"
	go test -count=1 -timeout 1h -v -run '^TestRecall$' ./daemon/e2e -args "${arguments[@]}" | grep -v '^=== \|^PASS' || failed=1
done
exit $failed
