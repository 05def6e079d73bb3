package watch

// Stall keeps notifications of the root from being taken off the kernel's
// queue until the returned func is called.
func Stall(r *Root) (release func()) {
	r.mu.Lock()
	return r.mu.Unlock
}

// Pretend has file systems be remote as name says. It is to be called before Add.
func Pretend(w *Watcher, name func(path string) string) { w.remote = name }
