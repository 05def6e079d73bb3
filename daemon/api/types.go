package api

// Struct tags of inputs, read by Fields, Decode, InputSchema and the command line:
//
//	json     the field's name
//	doc      one line of help
//	default  its value when it is absent
//	required "true": it must be there
//	enum     the values allowed, separated by "|", matched without regard to case
//	min      the least value of a number
//	also     other names under which it is accepted, separated by ","
//	cli      "-": no flag; "path": a path, which the command line takes relative to its own folder;
//	         "symbol": FILE:LINE:COL is accepted in its place

// Request holds the fields that every operation takes.
type Request struct {
	Workspace   string `json:"workspace,omitempty" doc:"absolute folder of the workspace; wins over initialize" cli:"-"`
	Session     string `json:"session,omitempty" doc:"name of the session" cli:"-"`
	ProjectPath string `json:"projectPath,omitempty" also:"solutionPath" doc:"solution, module, crate or tsconfig to use; default the nearest to the file" cli:"path"`
}

// Address names a symbol: by name, by position or by id.
type Address struct {
	SymbolName     string `json:"symbolName,omitempty" also:"fullName,fullyQualifiedName,typeName,methodName,memberName,propertyName" doc:"bare or qualified name: Save, Order.Save, pkg/path.Type.Method" cli:"symbol"`
	SymbolID       string `json:"symbolId,omitempty" doc:"stable id from an earlier answer"`
	ContainingType string `json:"containingType,omitempty" doc:"type that declares the symbol"`
	SymbolKind     string `json:"symbolKind,omitempty" doc:"type, method, function, property, field, parameter, variable, constant, namespace, or an exact answered kind"`
	FilePath       string `json:"filePath,omitempty" doc:"file that declares it, or with line and column the place of a use" cli:"path"`
	Line           int    `json:"line,omitempty" min:"1" doc:"1-based line"`
	Column         int    `json:"column,omitempty" min:"1" doc:"1-based column in UTF-8 bytes, anywhere on the name"`
}

// Mutation holds the fields that every mutating operation takes.
type Mutation struct {
	Preview             bool   `json:"preview,omitempty" doc:"show the change and write nothing"`
	ValidateCompilation bool   `json:"validateCompilation" default:"true" doc:"build the project and refuse new errors"`
	RollbackOnError     bool   `json:"rollbackOnError" default:"true" doc:"put everything back when new errors appear"`
	IdempotencyKey      string `json:"idempotencyKey,omitempty" doc:"a retry with the same key gets the recorded answer and writes nothing" cli:"-"`
}

// Trust says how much an answer can be believed; every answer carries it.
type Trust struct {
	Source   string   `json:"source"`          // server, graph, syntax, text or mixed
	Complete bool     `json:"complete"`        // false: places may be missing, warnings say why
	Stale    bool     `json:"stale,omitempty"` // the file on disk was newer
	Warnings []string `json:"warnings"`
	// Unserved is why no language server was asked, where one would have been.
	Unserved Code `json:"unserved,omitempty"`
}

// Location is a place in a file. Lines and columns are 1-based, columns count
// UTF-8 bytes, EndColumn is exclusive.
type Location struct {
	File      string `json:"file"` // relative to the workspace with "/", absolute outside it
	Line      int    `json:"line"`
	Column    int    `json:"column"`
	EndLine   int    `json:"endLine"`
	EndColumn int    `json:"endColumn"`
	Context   string `json:"context,omitempty"` // the line's text, trimmed
}

// Range is a Location within a file that is named elsewhere.
type Range struct {
	Line      int `json:"line"`
	Column    int `json:"column"`
	EndLine   int `json:"endLine"`
	EndColumn int `json:"endColumn"`
}

// SymbolRef says which symbol an answer is about.
type SymbolRef struct {
	SymbolID string `json:"symbolId"`
	Name     string `json:"name"`
	Kind     string `json:"kind"`
	File     string `json:"file"`
	Line     int    `json:"line"`
}

// Place is one entry of an answer that lists places.
type Place struct {
	Location
	SymbolID      string `json:"symbolId,omitempty"`  // of the symbol it belongs to, when several matched
	BodyRange     *Range `json:"bodyRange,omitempty"` // definition: the whole declaration
	IsDeclaration bool   `json:"isDeclaration,omitempty"`
	UsageKind     string `json:"usageKind,omitempty"` // call, read, write, import, type
	Source        string `json:"source,omitempty"`    // when the answer is mixed
}

// Places is the answer of definition, type_definition, references and usages.
type Places struct {
	Operation  string      `json:"operation"`
	Symbol     *SymbolRef  `json:"symbol,omitempty"`
	Candidates []Candidate `json:"candidates,omitempty"`
	Locations  []Place     `json:"locations"`
	Total      int         `json:"total"`
	Truncated  bool        `json:"truncated"`
	Trust
}

// SymbolEntry is one entry of an answer that lists symbols.
type SymbolEntry struct {
	SymbolID     string        `json:"symbolId"`
	Name         string        `json:"name"`
	Kind         string        `json:"kind"`
	Container    string        `json:"container,omitempty"`
	Signature    string        `json:"signature,omitempty"`
	Visibility   string        `json:"visibility,omitempty"`
	Attributes   []string      `json:"attributes,omitempty"`
	Depth        int           `json:"depth,omitempty"`        // callers, callees
	FromSymbolID string        `json:"fromSymbolId,omitempty"` // callers, callees: the level above
	Ranges       []Location    `json:"ranges,omitempty"`       // callers, callees: the calls
	Children     []SymbolEntry `json:"children,omitempty"`     // outline
	Source       string        `json:"source,omitempty"`
	Location
}

// Symbols is the answer of callers, callees, implementations, derived_types,
// supertypes and outline.
type Symbols struct {
	Operation  string        `json:"operation"`
	Symbol     *SymbolRef    `json:"symbol,omitempty"`
	Candidates []Candidate   `json:"candidates,omitempty"`
	Symbols    []SymbolEntry `json:"symbols"`
	Total      int           `json:"total"`
	Truncated  bool          `json:"truncated"`
	Trust
}

// Hunk is one changed part of a file.
type Hunk struct {
	StartLine int      `json:"startLine"` // 1-based, of the old file
	OldLines  []string `json:"oldLines"`
	NewLines  []string `json:"newLines"`
}

// FileChange is what a preview shows of one file.
type FileChange struct {
	File    string `json:"file"`
	Kind    string `json:"kind"` // modify, create, delete, rename
	NewFile string `json:"newFile,omitempty"`
	Hunks   []Hunk `json:"hunks"`
}

// Problem is one error of a build or of a server's diagnostics.
type Problem struct {
	File     string `json:"file"`
	Line     int    `json:"line"`
	Column   int    `json:"column"`
	Code     string `json:"code"`
	Message  string `json:"message"`
	Severity string `json:"severity,omitempty"` // inspect diagnostics: error, warning, information, hint
}

// Validation says what the check of a change found.
type Validation struct {
	Success     bool      `json:"success"`
	Where       string    `json:"where,omitempty"` // shadow, place; empty when no build ran
	ErrorCount  int       `json:"errorCount"`
	NewErrors   []Problem `json:"newErrors"`
	Skipped     string    `json:"skipped,omitempty"` // why no build ran
	Quick       string    `json:"quick,omitempty"`   // passed, or why the quick check was skipped
	TimedOut    bool      `json:"timedOut,omitempty"`
	Command     string    `json:"command,omitempty"`
	DurationMs  int64     `json:"durationMs,omitempty"`
	PreExisting int       `json:"preExistingErrors,omitempty"` // errors that were there before
}

// FileMove is a renamed file.
type FileMove struct {
	From string `json:"from"`
	To   string `json:"to"`
}

// ChangeDetail is one changed line.
type ChangeDetail struct {
	File   string `json:"file"`
	Line   int    `json:"line"`
	Change string `json:"change"` // "old → new"
}

// EditResult is the answer of every mutating operation.
type EditResult struct {
	Success        bool           `json:"success"`
	Operation      string         `json:"operation"`
	Preview        bool           `json:"preview,omitempty"`
	Changes        []FileChange   `json:"changes,omitempty"` // preview only
	FilesModified  []string       `json:"filesModified"`
	FilesCreated   []string       `json:"filesCreated"`
	FilesDeleted   []string       `json:"filesDeleted"`
	FilesRenamed   []FileMove     `json:"filesRenamed"`
	ChangesApplied int            `json:"changesApplied"`
	Details        []ChangeDetail `json:"details"`
	UndoToken      string         `json:"undoToken,omitempty"`
	NewSymbolID    string         `json:"newSymbolId,omitempty"`
	Validation     *Validation    `json:"validation,omitempty"`
	Complete       bool           `json:"complete"`
	Source         string         `json:"source"`
	Warnings       []string       `json:"warnings"`
}

func (m Mutation) previews() bool { return m.Preview }
