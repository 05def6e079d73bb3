package supervise

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"

	"github.com/auralsp/aura/adapters"
	"github.com/auralsp/aura/daemon/api"
	"github.com/auralsp/aura/lspclient/proc"
)

// ErrMoved says that a file is no longer what the server had when it answered:
// ask again, then give up with STALE_CONTENT.
var ErrMoved = errors.New("file changed since the server answered")

// ServerDetails are the details of SERVER_* errors.
type ServerDetails struct {
	Server  string `json:"server"`
	Root    string `json:"root,omitempty"`
	Install string `json:"install,omitempty"` // command that installs it
	Missing bool   `json:"missing,omitempty"` // its program was not found
	Exit    string `json:"exit,omitempty"`    // how it ended
	Stderr  string `json:"stderr,omitempty"`  // the end of what it wrote, at most 4 KiB
}

// stderrShown is how much of a server's standard error an error carries.
const stderrShown = 4 << 10

// unavailable is the error of a server that cannot be started.
func unavailable(e adapters.Engine, err error) *api.Error {
	var have *api.Error
	if errors.As(err, &have) {
		return have
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return ended(err, "starting "+e.ID)
	}
	out := api.Errorf(api.ServerUnavailable, "%s cannot be started: %v%s", e.ID, err, installHint(e))
	out.Details = ServerDetails{Server: e.ID, Install: e.Install, Missing: errors.Is(err, exec.ErrNotFound)}
	return out
}

// disabled is the error of a server that the user does not want.
func disabled(e adapters.Engine) *api.Error {
	out := api.Errorf(api.ServerUnavailable, "%s is not used, as servers.%s.disabled is set in the configuration", e.ID, e.ID)
	out.Details = ServerDetails{Server: e.ID, Missing: true}
	return out
}

// Missing reports whether an error of Lease says that the server's program was
// not found, or is not to be used.
func Missing(err error) bool {
	var e *api.Error
	if !errors.As(err, &e) {
		return false
	}
	d, ok := e.Details.(ServerDetails)
	return ok && d.Missing
}

func installHint(e adapters.Engine) string {
	if e.Install == "" {
		return "; see `auractl doctor`"
	}
	if e.Recipe.Client == "" {
		return "; to install it: " + e.Install
	}
	return fmt.Sprintf("; install it with `auractl install %s` or `%s`", e.ID, e.Install)
}

// exitedEarly is the error of a server that ended before its handshake was done.
func exitedEarly(e adapters.Engine, root string, st proc.Status, cause error, stderr []byte) *api.Error {
	how := st.String()
	if cause != nil {
		how += ": " + cause.Error()
	}
	out := api.Errorf(api.ServerUnavailable, "%s does not run: %s%s%s", e.ID, how, lastLine(stderr), installHint(e))
	out.Details = ServerDetails{Server: e.ID, Root: root, Install: e.Install, Exit: st.String(), Stderr: shown(stderr)}
	return out
}

// crashed is the error of a request that ended with its server.
func crashed(e adapters.Engine, root, what, how string, stderr []byte) *api.Error {
	out := api.Errorf(api.ServerCrashed, "%s ended while it worked on %s (%s)%s; it is started again, ask again or see `auractl logs`",
		e.ID, what, how, lastLine(stderr))
	out.Details = ServerDetails{Server: e.ID, Root: root, Exit: how, Stderr: shown(stderr)}
	return out
}

func timedOut(e adapters.Engine, root, method string, limit time.Duration, verdict string) *api.Error {
	out := api.Errorf(api.ServerTimeout, "%s did not answer %s within %s%s", e.ID, method, words(limit), verdict)
	out.Details = ServerDetails{Server: e.ID, Root: root}
	return out
}

// notYet is the error of a caller that does not wait until the server has loaded.
func notYet(e adapters.Engine, within time.Duration, waiting string) *api.Error {
	out := api.Errorf(api.ServerTimeout, "%s was not ready within %d ms (%s); ask again later, or with a longer wait", e.ID, within.Milliseconds(), waiting)
	out.Details = ServerDetails{Server: e.ID}
	return out
}

func neverReady(e adapters.Engine, root, waiting string) *api.Error {
	out := api.Errorf(api.ServerTimeout,
		"%s has not said that it knows the project (%s) and may miss places, so nothing was changed; "+
			"try again when auractl status shows it ready, look at what it would change with --preview, or run auractl restart %s", e.ID, waiting, e.ID)
	out.Details = ServerDetails{Server: e.ID, Root: root}
	return out
}

func errClosing() *api.Error {
	return api.Errorf(api.ServerUnavailable, "the server is stopped, as its workspace is closed or the daemon stops; run the command again")
}

// ended maps the end of a caller's context.
func ended(err error, during string) *api.Error {
	if errors.Is(err, context.DeadlineExceeded) {
		return api.Errorf(api.Timeout, "the time given to this request ran out while %s; give it more with --timeout", during)
	}
	return api.Errorf(api.Cancelled, "cancelled while %s", during)
}

func shown(stderr []byte) string {
	return strings.ToValidUTF8(string(stderr[max(0, len(stderr)-stderrShown):]), "\uFFFD")
}

// lastLine is the last line of standard error that says something, as part of a message.
func lastLine(stderr []byte) string {
	lines := strings.Split(strings.TrimSpace(shown(stderr)), "\n")
	last := strings.TrimSpace(lines[len(lines)-1])
	if last == "" {
		return ""
	}
	if len(last) > 300 {
		last = strings.ToValidUTF8(last[:300], "") + "…"
	}
	return fmt.Sprintf(": %q", last)
}
