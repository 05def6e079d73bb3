# Aura's build. `make help` lists the targets.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

GO ?= go
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
LDFLAGS := -s -w -X main.version=$(VERSION)

# The linter is a Go module, so that no target needs anything but Go.
STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2

# Go keeps its caches below HOME. Without one they go into the checkout.
ifeq ($(strip $(HOME)),)
export HOME := $(CURDIR)/.tools/home
endif

# rustup looks for its toolchains below HOME; those of the cargo in PATH are
# meant, also when HOME is another one.
ifeq ($(shell cargo --version 2>/dev/null),)
ifneq ($(shell command -v cargo 2>/dev/null),)
export RUSTUP_HOME ?= $(abspath $(dir $(shell command -v cargo))../../.rustup)
endif
endif

.PHONY: help
help: ## print this list
	@awk 'BEGIN {FS = ":.*## "} /^[a-z-]+:.*## / {printf "  %-8s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

# Every language but Go is read by tree-sitter, which is C. Without a compiler
# Aura is built all the same, serves Go, and says so for the others.
CC := $(firstword $(shell $(GO) env CC))
ifndef CGO_ENABLED
export CGO_ENABLED := $(if $(shell command -v $(CC) 2>/dev/null),1,0)
endif

.PHONY: build
build: ## bin/aurad and bin/auractl; without a C compiler they serve Go only
	mkdir -p bin
	@[ "$$CGO_ENABLED" = 1 ] || echo "no cgo (C compiler: $(CC)): this build serves Go only"
	$(GO) build -trimpath -ldflags '$(LDFLAGS)' -o bin/ ./cmd/...

.PHONY: tools
tools: ## the pinned language servers in .tools/bin, from a per-user cache once installed
	scripts/tools.sh

.PHONY: test
test: tools ## every test, with the race detector where there is a C compiler
	scripts/test.sh

.PHONY: demo
demo: build ## rename a type of a real module, look at it, build it, undo it
	scripts/demo.sh

.PHONY: bench
bench: tools ## ratios against floors measured in the same run
	scripts/bench.sh

LANGUAGE ?=
MODULE ?=
N ?= 20
SEED ?= 1

.PHONY: soak
soak: tools ## rename N symbols of a real project one after another: make soak LANGUAGE=rust MODULE=semver@1.0.27 N=20 SEED=1
	$(GO) test -count=1 -timeout 4h -v -run '^TestSoak$$' ./daemon/e2e -args -soak.lang='$(LANGUAGE)' -soak.module='$(MODULE)' -soak.n=$(N) -soak.seed=$(SEED) $(SOAKFLAGS)

.PHONY: recall
recall: tools ## compare what the graph answers on large real projects with other parsers: make recall LANGUAGE=python MODULE=django@5.2.7
	scripts/recall.sh '$(LANGUAGE)' '$(MODULE)'

.PHONY: table
table: tools ## ask every operation in every language and write the README's table
	$(GO) test -count=1 -timeout 30m -run '^TestOperations$$' ./daemon/e2e -args -table='$(CURDIR)/README.md'

KILLS ?= 20

.PHONY: chaos
chaos: tools ## kill each server KILLS times under eight clients: make chaos LANGUAGE=rust KILLS=20 SEED=1
	$(GO) test -count=1 -timeout 2h -v -run '^TestChaos$$/$(LANGUAGE)' ./daemon/e2e -args -chaos.kills=$(KILLS) -chaos.seed=$(SEED)

SWITCHES ?= 50

.PHONY: switch
switch: tools ## switch between two tags of a repository SWITCHES times while four clients ask: make switch SWITCHES=50 SEED=1
	$(GO) test -count=1 -timeout 2h -v -run '^TestF05_SwitchingTags$$' ./daemon/e2e -args -switch.n=$(SWITCHES) -switch.seed=$(SEED)

FUZZTIME ?= 30s

.PHONY: fuzz
fuzz: ## every fuzz target for FUZZTIME (30s)
	scripts/fuzz.sh '$(FUZZTIME)'

.PHONY: lint
lint: ## gofmt, go vet, staticcheck; golangci-lint too where it is installed
	@unformatted=$$(git ls-files -z '*.go' | xargs -0 -r gofmt -l); \
	if [ -n "$$unformatted" ]; then printf 'not gofmt-ed:\n%s\n' "$$unformatted"; exit 1; fi
	$(GO) vet ./...
	$(GO) run $(STATICCHECK) ./...
	@if command -v golangci-lint >/dev/null; then golangci-lint run; else echo "golangci-lint is not installed: .golangci.yml was not run"; fi

.PHONY: check
check: lint build test ## all that CI runs

.PHONY: clean
clean: ## remove what the targets made; the per-user cache stays
	@chmod -R u+w demo 2>/dev/null || true
	rm -rf bin demo .tools
