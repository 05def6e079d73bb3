kept() { call "$1"; }
LIMIT=1
save() {
  if [ "$1" = x ; then
    echo "open"
}
for f in
name=
function after {
