package supervise

import (
	"encoding/json"
	"time"
)

// Status describes one instance for people and for doctor.
type Status struct {
	ID        string        `json:"id"` // short, stable for the same project, engine, settings and environment
	Engine    string        `json:"engine"`
	Language  string        `json:"language"`
	Root      string        `json:"root"`
	Purpose   string        `json:"purpose,omitempty"`
	State     string        `json:"state"`
	Since     time.Time     `json:"since"` // of the state
	Waiting   string        `json:"waiting,omitempty"`
	Parked    string        `json:"parked,omitempty"` // why it was stopped while nobody used it
	Complete  bool          `json:"complete"`         // its answers are whole
	Argv      []string      `json:"argv"`
	Notes     []string      `json:"notes,omitempty"` // what was chosen for the project, and why
	PID       int           `json:"pid,omitempty"`
	Server    string        `json:"server,omitempty"`  // as it names itself
	Version   string        `json:"version,omitempty"` // as it names it
	Leases    int           `json:"leases"`
	Queued    int           `json:"queued"`
	Running   int           `json:"running"`
	Starts    int           `json:"starts"`
	Crashes   int           `json:"crashes"` // within the window of the restart policy
	Panics    int           `json:"panics,omitempty"`
	Memory    int64         `json:"memory,omitempty"` // PSS of it and all that it started, bytes
	CPU       time.Duration `json:"cpu,omitempty"`
	LastError string        `json:"lastError,omitempty"`
	Stderr    string        `json:"stderr,omitempty"` // the end of it
}

// shortVersion is the version that a server gives itself as people read it.
// Some send all that they know of their build as a JSON object.
func shortVersion(said string) string {
	var build struct{ Version string }
	if json.Unmarshal([]byte(said), &build) == nil && build.Version != "" {
		return build.Version
	}
	if r := []rune(said); len(r) > 80 {
		return string(r[:80])
	}
	return said
}
