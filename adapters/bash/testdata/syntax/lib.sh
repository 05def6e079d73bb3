#!/bin/bash
# A lib.
source ./lib.sh
. "$DIR/other.sh"
readonly MAX=10
export PATH="/bin:$PATH"
declare -A map=([a]=1)
name=value
# Saves.
save() {
  local x=1 y
  echo "hi $x ${name:-d} $(date +%s)"
  for f in *.txt; do cat "$f"; done
  read -r line
  helper "$x"
}
function helper { return 0; }
function both() ( sub )
alias ll='ls -l'
cat <<EOF
hello $name
EOF
if [[ $1 == x ]]; then save; fi
case $1 in a) helper;; esac
arr+=(1)
