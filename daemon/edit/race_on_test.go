//go:build race

package edit

// raceEnabled says that the race detector is on, whose shadow memory counts as
// resident.
const raceEnabled = true
