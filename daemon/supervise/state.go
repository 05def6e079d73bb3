package supervise

import "fmt"

// State is where an instance is in its life.
type State uint8

// The states of an instance.
const (
	Absent       State = iota // no process, and none wanted
	Starting                  // the command is being resolved and started
	Initializing              // the process runs, the handshake is under way
	Warming                   // it answers, but what it knows is not whole yet
	Ready                     // its answers are whole
	Draining                  // it is being stopped on purpose
	Crashed                   // it ended by itself; what follows is being decided
	Backoff                   // waiting before it is started again
	Failed                    // it crashed too often; it stays down until asked for or until the window has passed
)

// String returns the word that status prints.
func (s State) String() string {
	return [...]string{
		"absent", "starting", "initializing", "warming", "ready",
		"draining", "crashed", "backoff", "failed",
	}[s]
}

// running reports whether the state has a process.
func (s State) running() bool { return s >= Initializing && s <= Draining }

// event is what moves an instance from state to state.
type event uint8

const (
	wanted      event = iota // a lease needs it
	spawned                  // the process was started
	refused                  // it could not be started at all: nothing ran, so nothing crashed
	initialized              // the handshake is done
	settled                  // the driver says that answers are whole
	loading                  // the driver says that they are not
	died                     // the process or its connection ended, whoever ended it
	stop                     // it shall end: idle, closing, replaced
	retry                    // the restart policy grants another start
	giveUp                   // the restart policy does not
	due                      // the back-off is over
	asked                    // a person asks to try again
)

func (e event) String() string {
	return [...]string{
		"wanted", "spawned", "refused", "initialized", "settled", "loading",
		"died", "stop", "retry", "giveUp", "due", "asked",
	}[e]
}

// next is the whole life of an instance: the state that follows, and whether
// the event means anything in this state. An event that means nothing leaves
// the state as it is.
func next(s State, e event) (State, bool) {
	switch e {
	case wanted:
		if s == Absent {
			return Starting, true
		}
	case spawned:
		if s == Starting {
			return Initializing, true
		}
	case refused:
		if s == Starting {
			return Absent, true
		}
	case initialized:
		if s == Initializing {
			return Warming, true
		}
	case settled:
		if s == Warming {
			return Ready, true
		}
	case loading:
		if s == Ready {
			return Warming, true
		}
	case died:
		switch s {
		case Initializing, Warming, Ready:
			return Crashed, true
		case Draining:
			return Absent, true
		}
	case stop:
		switch s {
		case Initializing, Warming, Ready:
			return Draining, true
		case Starting, Backoff, Failed:
			return Absent, true
		}
	case retry:
		if s == Crashed {
			return Backoff, true
		}
	case giveUp:
		if s == Crashed {
			return Failed, true
		}
	case due:
		if s == Backoff {
			return Starting, true
		}
	case asked:
		switch s {
		case Absent, Backoff, Failed:
			return Starting, true
		}
	default:
		panic(fmt.Sprintf("supervise: unknown event %d", e))
	}
	return s, false
}
