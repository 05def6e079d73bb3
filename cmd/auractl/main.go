// Command auractl is Aura's command line. Commands, flags and help come from
// the Specs of package api; what they do happens in the daemon, which it starts
// when none runs. It holds no cgo, no database and no logic of operations; the
// view_*.go files print an answer type for people.
//
// Goroutines: a timer draws the progress line of a call; stop waits for it.
package main

import (
	"os"
)

// version is set by the linker.
var version = "dev"

func main() {
	os.Exit(newApp().run(os.Args[1:]))
}
