package golang

import "github.com/auralsp/aura/adapters"

// Recipes implements adapters.Adapter.
func (a *Adapter) Recipes() adapters.Recipes { return adapters.Recipes{} }
