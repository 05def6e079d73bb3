package api

// Undo is the input of undo.
type Undo struct {
	Request
	UndoToken string `json:"undoToken" required:"true" doc:"token that the change answered with; history lists them"`
}

// History is the input of history.
type History struct {
	Request
	Limit int `json:"limit" default:"20" min:"1" doc:"most transactions to answer with"`
}

// Transaction is one change of the workspace, as the journal holds it.
type Transaction struct {
	UndoToken string   `json:"undoToken,omitempty"` // absent when it cannot be undone any more
	Operation string   `json:"operation"`
	Summary   string   `json:"summary,omitempty"` // in words: Command → Cmd2
	Time      string   `json:"time"`              // RFC 3339
	Client    string   `json:"client"`
	Session   string   `json:"session,omitempty"`
	State     string   `json:"state"`            // committed, undone, aborted
	Undoes    string   `json:"undoes,omitempty"` // of an undo: the token that it used up
	Files     []string `json:"files"`
}

// Transactions is the answer of history, newest first.
type Transactions struct {
	Operation    string        `json:"operation"`
	Transactions []Transaction `json:"transactions"`
	Total        int           `json:"total"`
	Truncated    bool          `json:"truncated"`
	Trust
}

func changeSpecs() []Spec {
	return []Spec{
		{
			Name: "undo", Group: "Changes", Summary: "Put back what a change wrote",
			Long: "Refused as UNDO_CONFLICT, with nothing changed, when a file has been edited since. An undo answers with its\n" +
				"own token, which redoes the change.",
			Example:    "auractl undo 01JD2Z8K\nauractl undo --last",
			Positional: []string{"undoToken"}, Input: Undo{}, Output: EditResult{}, Tier: ApplyTier,
		},
		{
			Name: "history", Group: "Changes", Summary: "Changes that Aura made to this workspace, newest first",
			Input: History{}, Output: Transactions{},
		},
	}
}
