package validate

import "context"

// ShadowMain does nothing on this platform.
func ShadowMain() {}

func (s *shadow) run(context.Context, string, []staged, command) (result, error) {
	return result{}, noShadow("this platform has no private mounts")
}
