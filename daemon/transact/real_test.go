package transact

import (
	"context"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/auralsp/aura/adapters"
	"github.com/auralsp/aura/adapters/golang"
	"github.com/auralsp/aura/daemon/api"
	"github.com/auralsp/aura/daemon/validate"
	"github.com/auralsp/aura/lspclient/change"
)

// goModule is a module with a library, a program, a test and an example.
func goModule() map[string]string {
	return map[string]string{
		"go.mod":          "module example.com/m\n\ngo 1.24\n",
		"lib/lib.go":      "package lib\n\n// Old is renamed.\ntype Old struct{ N int }\n\nfunc (o Old) Add(n int) Old { return Old{o.N + n} }\n",
		"lib/lib_test.go": "package lib\n\nimport \"testing\"\n\nfunc TestAdd(t *testing.T) {\n\tif (Old{1}).Add(1) != (Old{2}) {\n\t\tt.Fail()\n\t}\n}\n",
		"lib/ex_test.go":  "package lib_test\n\nimport \"example.com/m/lib\"\n\nfunc ExampleOld_Add() { _ = lib.Old{}.Add(1) }\n",
		"main.go":         "package main\n\nimport \"example.com/m/lib\"\n\nfunc main() { println(lib.Old{}.Add(1).N) }\n",
	}
}

// real is a request whose build is that of the real language.
func (w *world) real(s change.Set) Request {
	req := w.request(s)
	req.Plan = func(ctx context.Context) (*Draft, error) {
		seq, err := w.view.Barrier(ctx)
		if err != nil {
			return nil, err
		}
		current := w.view.Snapshot(seq)
		return &Draft{Change: s, Snapshot: current, Complete: true, Source: "server", Build: func(ctx context.Context, files []change.File) (validate.Request, error) {
			planned, err := current.With(s)
			if err != nil {
				return validate.Request{}, err
			}
			units, err := validate.Units(ctx, []adapters.Adapter{golang.New()}, current, planned, files)
			return validate.Request{Units: units, Current: current, Planned: planned, Env: append(os.Environ(), "GOFLAGS=", "GOWORK=off"),
				Renamed: []validate.Renamed{{Old: "Old", New: "New"}}}, err
		}}, nil
	}
	return req
}

// rename gives Old its new name in some files of the module.
func rename(files map[string]string, in ...string) map[string]string {
	out := make(map[string]string)
	for _, name := range in {
		out[name] = strings.ReplaceAll(files[name], "Old", "New")
	}
	return out
}

func TestE20_RealBuild(t *testing.T) {
	all := []string{"lib/lib.go", "lib/lib_test.go", "lib/ex_test.go", "main.go"}
	for _, test := range []struct {
		name   string
		rename []string
		broken string // file that must be named
		text   string
	}{
		{"whole", all, "", ""},
		{"a use in another package is left", all[:3], "main.go", "undefined: lib.Old"},
		{"a use in a test is left", []string{"lib/lib.go", "lib/ex_test.go", "main.go"}, "lib/lib_test.go", "undefined: Old"},
		{"a use in an example is left", []string{"lib/lib.go", "lib/lib_test.go", "main.go"}, "lib/ex_test.go", "undefined: lib.Old"},
	} {
		t.Run(test.name, func(t *testing.T) {
			both(t, goModule(), func(t *testing.T, w *world, where string) {
				before, times := w.tree()
				req := w.real(w.set(rename(goModule(), test.rename...)))
				if test.broken == "" {
					v := w.must(req).Validation
					if !v.Success || v.Where != where || !strings.Contains(v.Command, "go build") || !strings.Contains(v.Command, "go vet") {
						t.Errorf("validation %+v", v)
					}
					return
				}
				e := w.refused(req, api.ValidationFailed)
				taken(t, w, where, before, times, times["main.go"])
				v := e.Details.(failure).Validation
				if len(v.NewErrors) == 0 || v.NewErrors[0].File != test.broken || !strings.Contains(v.NewErrors[0].Message, test.text) || v.NewErrors[0].Line == 0 {
					t.Errorf("new errors %+v", v.NewErrors)
				}
			})
		})
	}
}

func TestE21_RealBuildThatWasBroken(t *testing.T) {
	files := goModule()
	files["main.go"] += "\nvar wrong int = lib.Old{}\n"                              // an error that names the symbol
	files["other/other.go"] = "package other\n\nvar x = nope\n"                      // and one that does not
	files["lib/vet_test.go"] = "package lib\n\nfunc f(Old) int { return missing }\n" // which only vet meets
	both(t, files, func(t *testing.T, w *world, where string) {
		in := rename(files, "lib/lib.go", "lib/lib_test.go", "lib/ex_test.go", "lib/vet_test.go", "main.go")
		in["main.go"] = "// One line more.\n" + in["main.go"]
		res := w.must(w.real(w.set(in)))
		if v := res.Validation; !v.Success || v.PreExisting < 3 || v.Where != where {
			t.Errorf("validation %+v", v)
		}
		e := w.refused(w.real(w.set(map[string]string{"lib/more.go": "package lib\n\nvar y = unknown\n"})), api.ValidationFailed)
		v := e.Details.(failure).Validation
		want := []api.Problem{{File: "lib/more.go", Line: 3, Column: 9, Message: "undefined: unknown"}}
		if diff := cmp.Diff(want, v.NewErrors); diff != "" {
			t.Errorf("new errors (-want +got):\n%s", diff)
		}
	})
}
