package supervise

// Retrust gives the instances of a workspace up that run as if it were trusted
// otherwise than it is now: those that are restricted as soon as nobody uses
// them, those that trust it at once, since they run its code. It returns how
// many there are.
func (s *Supervisor) Retrust(root string, trusted bool) int {
	n := 0
	for _, i := range s.all() {
		if i.view.Root() != root || i.want.Trusted == trusted {
			continue
		}
		n++
		i.log.Info("server is given up: the trust in its workspace has changed", "trusted", trusted)
		if trusted {
			i.supersede()
		} else {
			i.shut()
		}
	}
	return n
}
