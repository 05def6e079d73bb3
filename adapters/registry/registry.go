// Package registry is the list of the languages that Aura knows.
//
// It owns the list and nothing else, and starts no goroutines.
package registry

import (
	"github.com/auralsp/aura/adapters"
	"github.com/auralsp/aura/adapters/bash"
	"github.com/auralsp/aura/adapters/c"
	"github.com/auralsp/aura/adapters/csharp"
	"github.com/auralsp/aura/adapters/golang"
	"github.com/auralsp/aura/adapters/java"
	"github.com/auralsp/aura/adapters/php"
	"github.com/auralsp/aura/adapters/python"
	"github.com/auralsp/aura/adapters/ruby"
	"github.com/auralsp/aura/adapters/rust"
	"github.com/auralsp/aura/adapters/typescript"
)

// Languages returns every language, in the order in which doctor lists them:
// those with a server, then those that are read by their grammar alone.
func Languages() []adapters.Adapter {
	return []adapters.Adapter{
		golang.New(), rust.New(), python.New(), typescript.New(), csharp.New(),
		java.New(), c.New(), ruby.New(), php.New(), bash.New(),
	}
}
