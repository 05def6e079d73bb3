package api

// IndexQuery is the input of index.
type IndexQuery struct {
	Request
	Action string `json:"action" default:"status" enum:"status|rebuild|verify" doc:"status tells what the index holds, rebuild reads every file anew, verify compares it with such a reading and lists the differences"`
}

// IndexReport is the answer of index.
type IndexReport struct {
	Success      bool           `json:"success"` // verify found no difference
	Action       string         `json:"action"`
	Root         string         `json:"root"`
	Files        int            `json:"files"`
	Symbols      int            `json:"symbols"`         // declarations, locals included
	Pending      int            `json:"pending"`         // files that are not looked at yet
	Failed       []IndexProblem `json:"failed"`          // files that cannot be read or parsed, the first hundred
	Saved        *SavedIndex    `json:"saved,omitempty"` // absent when nothing is saved
	Milliseconds int64          `json:"milliseconds"`    // that rebuild or verify took
	Differences  []IndexProblem `json:"differences"`     // verify: the first hundred
	Total        int            `json:"total"`           // differences in all
	Warnings     []string       `json:"warnings"`
}

// SavedIndex is the file in which an index outlives the daemon.
type SavedIndex struct {
	File    string `json:"file"`
	Saving  bool   `json:"saving"` // it takes what is read
	Bytes   int64  `json:"bytes"`
	Loaded  int    `json:"loaded"`  // files that it held when the workspace was opened
	Waiting int    `json:"waiting"` // files that are not written yet
}

// IndexProblem is one file with what is wrong.
type IndexProblem struct {
	File   string `json:"file"`
	Detail string `json:"detail"`
}

// IndexProgress is the data of an event of kind index: it comes from time to
// time while files are indexed, and when none waits any more.
type IndexProgress struct {
	Pending int `json:"pending"` // files that are not looked at yet
}

func indexSpecs() []Spec {
	return []Spec{{
		Name: "index", Group: "Daemon", Summary: "The index of the workspace's symbols: its state, made anew, or checked",
		Long:       "The index is kept in Aura's cache folder and follows every change by itself. Its answers are checked against the files, so that rebuild is never needed for them to be right; it is for a cache that was lost or could not be written.",
		Example:    "auractl index\nauractl index verify",
		Positional: []string{"action"}, Input: IndexQuery{}, Output: IndexReport{},
	}}
}
