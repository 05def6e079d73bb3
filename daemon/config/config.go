package config

// Config is every setting. The tags are read by Load and Values:
//
//	toml     key in its table
//	default  value when neither file, environment nor flag gives one
//	min      least value of a number
//	enum     values allowed, separated by "|"
//	doc      one line
type Config struct {
	Daemon   Daemon            `toml:"daemon"`
	Validate Validate          `toml:"validate"`
	Journal  Journal           `toml:"journal"`
	Trust    Trust             `toml:"trust"`
	Limits   Limits            `toml:"limits"`
	Search   Search            `toml:"search"`
	Servers  map[string]Server `toml:"servers"` // by engine: [servers.gopls]
}

// Daemon is how aurad runs.
type Daemon struct {
	IdleStopMinutes   int    `toml:"idle_stop_minutes" default:"60" min:"0" doc:"stop the daemon when no client was connected for so long; 0 never"`
	ServerIdleMinutes int    `toml:"server_idle_minutes" default:"30" min:"0" doc:"stop a language server that was not asked for so long; 0 never"`
	LogLevel          string `toml:"log_level" default:"info" enum:"debug|info|warn|error" doc:"least level that the log holds"`
}

// Validate is how a change is checked.
type Validate struct {
	BuildTimeoutSeconds int                 `toml:"build_timeout_seconds" default:"30" min:"1" doc:"longest build at the gate, and for diagnostics"`
	EditTimeoutSeconds  int                 `toml:"edit_timeout_seconds" default:"300" min:"1" doc:"longest build of a change"`
	KeepDays            int                 `toml:"keep_days" default:"14" min:"1" doc:"how long what a build made is kept for the next one after its last use"`
	KeepMegabytes       int                 `toml:"keep_megabytes" default:"10000" min:"1" doc:"size of what builds made and is kept; the least recently used goes first, the latest stays"`
	Shadow              bool                `toml:"shadow" default:"true" doc:"build the planned tree in a private overlay where the kernel allows it"`
	Fallback            Fallback            `toml:"fallback"`
	Commands            map[string][]string `toml:"commands" doc:"build command of a language, in place of its own"`
}

// Fallback is the check of files that no project holds.
type Fallback struct {
	Command []string `toml:"command" doc:"command that is run at the workspace root"`
}

// Journal is how long undo is kept: the first bound that is reached counts.
type Journal struct {
	KeepDays         int `toml:"keep_days" default:"14" min:"1" doc:"age of the oldest transaction that can be undone"`
	KeepTransactions int `toml:"keep_transactions" default:"200" min:"1" doc:"transactions kept for each workspace"`
	KeepMegabytes    int `toml:"keep_megabytes" default:"500" min:"1" doc:"size of the journal of each workspace"`
}

// Trust is what the user grants for good.
type Trust struct {
	Roots []string `toml:"roots" doc:"folders that are trusted with all that lies below them"`
}

// Limits bound what clients, files and servers may cost.
type Limits struct {
	Connections       int `toml:"connections" default:"256" min:"1" doc:"clients at once"`
	QueuedRequests    int `toml:"queued_requests" default:"512" min:"1" doc:"requests of one client that wait or run"`
	FrameMegabytes    int `toml:"frame_megabytes" default:"64" min:"1" doc:"largest request"`
	OutboundMegabytes int `toml:"outbound_megabytes" default:"16" min:"1" doc:"answers that wait for a client that does not read"`
	FileMegabytes     int `toml:"file_megabytes" default:"16" min:"1" doc:"largest file that is edited"`
	TransactionFiles  int `toml:"transaction_files" default:"10000" min:"1" doc:"most files of one change"`
	Crashes           int `toml:"crashes" default:"5" min:"1" doc:"crashes of a language server within crash_seconds after which it stays down"`
	CrashSeconds      int `toml:"crash_seconds" default:"300" min:"1" doc:"how long a crash of a language server counts"`
	LoadingSeconds    int `toml:"loading_seconds" default:"60" min:"1" doc:"how long a language server may load without a word before it is asked all the same; its answers are marked incomplete then, and it changes nothing"`
	MemoryMegabytes   int `toml:"memory_megabytes" default:"0" min:"0" doc:"memory of all language servers together; 0 is half of the machine's"`
}

// Search is how code is searched.
type Search struct {
	Embeddings Embeddings `toml:"embeddings"`
}

// Embeddings is an endpoint that makes vectors of texts. It is off without a url;
// parts of the workspace's files are sent there.
type Embeddings struct {
	URL            string `toml:"url" default:"" doc:"OpenAI-compatible endpoint, up to the version: http://localhost:11434/v1; searches then send parts of files there to rank them by meaning too"`
	Model          string `toml:"model" default:"" doc:"model that makes the vectors"`
	APIKeyEnv      string `toml:"api_key_env" default:"" doc:"name of the daemon's environment variable that holds the key"`
	TimeoutSeconds int    `toml:"timeout_seconds" default:"5" min:"1" doc:"longest wait for the endpoint, after which words alone rank"`
	Candidates     int    `toml:"candidates" default:"50" min:"1" doc:"how many of the best parts by words are ranked by meaning"`
	CacheMegabytes int    `toml:"cache_megabytes" default:"64" min:"1" doc:"size of the file that keeps vectors"`
}

// Server is the user's settings for one engine.
type Server struct {
	Command  []string       `toml:"command" doc:"program and arguments, in place of the search"`
	Disabled bool           `toml:"disabled" default:"false" doc:"never start the engine"`
	Settings map[string]any `toml:"settings" doc:"settings handed to the server as they are"`
	Trace    bool           `toml:"trace" default:"false" doc:"write down what Aura and the engine say to each other; auractl logs --server NAME --trace shows it"`
}
