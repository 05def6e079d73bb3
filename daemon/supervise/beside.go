package supervise

import (
	"os"
	"time"
)

// stamp is how a file or folder looked; zero when there was none.
type stamp struct{ mtime, size int64 }

func stampOf(path string) stamp {
	info, err := os.Stat(path)
	if err != nil {
		return stamp{}
	}
	return stamp{mtime: info.ModTime().UnixNano(), size: info.Size()}
}

// stamped looks at what a server reads beside the project.
func stamped(paths []string) map[string]stamp {
	out := make(map[string]stamp, len(paths))
	for _, path := range paths {
		out[path] = stampOf(path)
	}
	return out
}

// refreshed starts a server anew that has read what has changed since and of
// which no log tells: installed packages, an environment. It returns why the
// answers may be those of before, when this was done just now: something is
// being installed, and the server shall not be started for each of its files.
func (i *instance) refreshed(now time.Time) (doubt string) {
	i.mu.Lock()
	g := i.gen
	i.mu.Unlock()
	if g == nil {
		return ""
	}
	for path, was := range g.beside {
		if stampOf(path) == was {
			continue
		}
		i.mu.Lock()
		recent := now.Sub(i.renewed) < i.limits.Renew
		if !recent {
			i.renewed = now
		}
		i.mu.Unlock()
		if recent {
			return path + " is changing; what it holds is read in a moment"
		}
		i.log.Info("server is started anew", "reason", path+" has changed")
		i.renew()
		return ""
	}
	return ""
}
