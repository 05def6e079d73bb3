package recipe

import (
	"fmt"
	"slices"

	"github.com/auralsp/aura/adapters"
)

// Command returns how a server is called: as the user's configuration says,
// else the program where it is found, with its arguments.
func Command(site adapters.Site, program string, args ...string) ([]string, error) {
	if len(site.Command) > 0 {
		return slices.Clone(site.Command), nil
	}
	if site.Look == nil {
		return nil, fmt.Errorf("%s is not configured", program)
	}
	bin, err := site.Look(program)
	if err != nil {
		return nil, err
	}
	return append([]string{bin}, args...), nil
}
