#!/usr/bin/env bash
# Aura on a real module: install a pinned gopls, rename an exported type that is
# used in many files, look at the diff, build and test the result, take it back.
#
# Needs bin/auractl (make build), Go and nothing else; no C compiler. All state
# is below demo/, the server below .tools/, so that nothing of the user's own
# Aura is seen or changed.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

module=github.com/spf13/cobra
version=v1.10.2
old=Command
new=Instruction

if [ -t 1 ] || [ -z "${NO_COLOR:-}" ]; then color=always bold=$'\e[1m' plain=$'\e[0m'; else color=never bold= plain=; fi
step() { printf '\n%s== %s%s\n' "$bold" "$*" "$plain"; }
# run shows a command as a user would type it, then runs it.
show() { printf '%s$ %s%s\n' "$bold" "$*" "$plain"; }
run() {
	show "$@"
	"$@"
}

top=$PWD
export CGO_ENABLED=0
# The Go command's caches stay where they are; everything else of the user is
# replaced.
GOCACHE=$(go env GOCACHE) GOMODCACHE=$(go env GOMODCACHE)
export GOCACHE GOMODCACHE
export PATH="$top/bin:$PATH"
export XDG_DATA_HOME="$top/.tools/data"
export XDG_CACHE_HOME="$top/demo/cache" XDG_CONFIG_HOME="$top/demo/config" XDG_STATE_HOME="$top/demo/state" XDG_RUNTIME_DIR="$top/demo/run"

# What an earlier run left: its daemon first.
if [ -d demo/run ]; then auractl stop -q >/dev/null 2>&1 || true; fi
chmod -R u+w demo 2>/dev/null || true
rm -rf demo
mkdir -p demo .tools
mkdir -m 700 demo/run
trap 'auractl stop -q >/dev/null 2>&1 || true' EXIT

# fingerprint hashes names, modes and bytes of the module; .aura holds what an
# undo needs and is no part of it.
fingerprint() {
	(
		cd "$top/demo/cobra"
		find . -name .aura -prune -o -printf '%P %y %m %l\n' | LC_ALL=C sort
		find . -name .aura -prune -o -type f -print0 | LC_ALL=C sort -z | xargs -0 sha256sum
	) | sha256sum | cut -d ' ' -f 1
}

step "A real module from the Go module proxy: $module $version"
source=$(cd demo && go mod download -json "$module@$version" | sed -n 's/^[[:space:]]*"Dir": "\(.*\)",*$/\1/p')
cp -R "$source" demo/cobra
chmod -R u+w demo/cobra
cd demo/cobra
go mod download
before=$(fingerprint)
echo "fingerprint of the tree: $before"

step "Aura installs the pinned server into the checkout's tool folder"
run auractl install gopls
run auractl trust .
run auractl doctor --color "$color"

step "Every reference to $old, and whether that is all of them"
run auractl references "$old" --limit 5 --color "$color"

step "The rename as a diff; nothing is written yet"
# One of cobra's tests compiles a program that it holds in a string.
rename=(auractl rename "$old" "$new" --include-strings --color "$color")
show "${rename[@]}" --preview
"${rename[@]}" --preview >../rename.diff
head -n 60 ../rename.diff
echo "… $(wc -l <../rename.diff) lines in all, in demo/rename.diff"
[ "$(fingerprint)" = "$before" ] || { echo "demo: the preview changed the tree" >&2; exit 1; }

step "The rename"
show "${rename[@]}"
"${rename[@]}" >../rename.out
head -n 8 ../rename.out
echo "… $(wc -l <../rename.out) lines in all, in demo/rename.out"
changed=$(fingerprint)
[ "$changed" != "$before" ] || { echo "demo: the rename changed nothing" >&2; exit 1; }
grep -q "^type $new struct" command.go || { echo "demo: type $new is not there" >&2; exit 1; }

step "It builds, vets and passes its own tests"
run go build ./...
run go vet ./...
# Some of them need a file that may not be written, which root always may.
skip=()
if [ "$(id -u)" = 0 ]; then skip=(-skip '^TestFail'); fi
run go test "${skip[@]}" ./...

step "And back"
run auractl history --limit 3 --color "$color"
show auractl undo --last
auractl undo --last --color "$color" >../undo.out
head -n 3 ../undo.out
after=$(fingerprint)
echo "before:       $before"
echo "after rename: $changed"
echo "after undo:   $after"
[ "$after" = "$before" ] || { echo "demo: the tree is not as before" >&2; exit 1; }
run go build ./...

step "The tree is byte for byte as before"
run auractl stop
