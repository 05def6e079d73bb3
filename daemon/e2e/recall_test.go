package e2e

import (
	"cmp"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"text/tabwriter"

	"golang.org/x/tools/txtar"

	"github.com/auralsp/aura/adapters/registry"
	"github.com/auralsp/aura/daemon/api"
	"github.com/auralsp/aura/lspclient/lsptest"
)

// Small purpose-made workspaces by default, for every run of the tests; `make
// recall` takes large real projects.
var (
	recallLang      = flag.String("recall.lang", "", "language to compare in: go, rust, python, typescript, csharp; all when empty")
	recallDir       = flag.String("recall.dir", "", "folder of a project in it; a small one of testdata when empty")
	recallQuestions = flag.Int("recall.questions", 40, "questions of each sort, those with the most answers first")
	recallMisses    = flag.Int("recall.misses", 15, "misses and extras to list of each operation")
)

// answerKey is what an independent reader of a language says of a folder: which
// declarations answer each question.
type answerKey map[inquiry]map[string]bool

// inquiry is an operation with what it asks for; the answer's entries are
// written file:line:name.
type inquiry struct{ operation, of string }

// sorts are the operations and fields that the sorts of a truth's facts stand for.
var sorts = map[string]struct{ operation, field string }{
	"type":      {"list_types", ""},
	"attribute": {"by_attribute", "attributeName"},
	"base":      {"derived_types", "symbolName"},
	"result":    {"by_signature", "returnType"},
	"parameter": {"by_signature", "parameterType"},
}

// readers say what is true in each language, in lines of sort, file, line, name
// and value.
func readers() map[string]func(t *testing.T, dir string) string {
	return map[string]func(t *testing.T, dir string) string{
		"go":   goFacts,
		"rust": rustFacts,
		"python": func(t *testing.T, dir string) string {
			return facts(t, "python3", filepath.Join(recallScripts(t), "python.py"), dir)
		},
		"typescript": func(t *testing.T, dir string) string {
			return facts(t, "node", filepath.Join(recallScripts(t), "typescript.js"), typescriptModule(t), dir)
		},
		"csharp": csharpFacts,
	}
}

func recallScripts(t *testing.T) string {
	dir, err := filepath.Abs(filepath.Join("..", "..", "scripts", "recall"))
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestRecall compares what the graph answers, without any server, with what a
// parser that Aura does not use says of the same files.
func TestRecall(t *testing.T) {
	for _, lang := range slices.Sorted(maps.Keys(readers())) {
		if *recallLang != "" && *recallLang != lang {
			continue
		}
		t.Run(lang, func(t *testing.T) {
			dir := cmp.Or(*recallDir, graphWorkspace(t, lang))
			want := readKey(t, readers()[lang](t, dir))
			rows := compareKey(t, withoutServers(t, dir), want, extensionsOf(lang))
			t.Logf("recall and precision of %s in %s\n%s", lang, filepath.Base(dir), recallTable(rows))
			for _, r := range rows {
				if r.right == 0 {
					t.Errorf("%s found nothing", r.operation)
				}
				if *recallDir == "" && (r.right != r.true || r.right != r.found) {
					t.Errorf("%s: %d of %d found, and %d that are none", r.operation, r.right, r.true, r.found-r.right)
				}
				list := func(what string, all []string) {
					for _, m := range all[:min(len(all), *recallMisses)] {
						t.Logf("%s: %s: %s", r.operation, what, m)
					}
				}
				list("missed", r.missed)
				list("extra", r.extra)
			}
		})
	}
}

// extensionsOf returns those of a language's files: those of others may be in the answers.
func extensionsOf(lang string) []string {
	for _, l := range registry.Languages() {
		if l.Language().ID == lang {
			return l.Language().Extensions
		}
	}
	return nil
}

// withoutServers makes a user whose settings name programs that are not there.
func withoutServers(t *testing.T, dir string) *world {
	w := newStranger(t, dir)
	var config strings.Builder
	for _, l := range registry.Languages() {
		for _, e := range l.Engines() {
			fmt.Fprintf(&config, "[servers.%s]\ncommand = [%q]\n", e.ID, filepath.Join(w.dir, "none"))
		}
	}
	write(t, filepath.Join(w.dir, "config", "aura", "config.toml"), config.String())
	return w
}

// graphWorkspace unpacks the purpose-made workspace of a language.
func graphWorkspace(t *testing.T, lang string) string {
	archive, err := txtar.ParseFile(filepath.Join("..", "..", "testdata", "inspect", lang+"-graph.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "src")
	for _, f := range archive.Files {
		if !strings.HasPrefix(f.Name, "request/") && !strings.HasPrefix(f.Name, "want/") {
			write(t, filepath.Join(dir, f.Name), string(f.Data))
		}
	}
	return dir
}

// facts runs a reader, which may complain of files that it cannot parse.
func facts(t *testing.T, argv ...string) string {
	t.Helper()
	return done(t, ".", []string{"PYTHONWARNINGS=ignore"}, argv...)
}

// readKey makes questions of facts. Of bases only those are asked about of
// which the folder declares exactly one.
func readKey(t *testing.T, lines string) answerKey {
	declared := map[string]int{}
	out := answerKey{}
	var rows [][]string
	for line := range strings.Lines(lines) {
		f := strings.Split(strings.TrimRight(line, "\r\n"), "\t")
		if len(f) != 5 {
			t.Logf("the reader says: %s", strings.TrimSpace(line))
			continue
		}
		rows = append(rows, f)
		if f[0] == "type" {
			declared[f[3]]++
		}
	}
	for _, f := range rows {
		if f[0] == "base" && declared[f[4]] != 1 {
			continue
		}
		s, ok := sorts[f[0]]
		if !ok {
			t.Fatalf("no sort of fact: %q", f)
		}
		q := inquiry{s.operation, s.field + "=" + f[4]}
		if out[q] == nil {
			out[q] = map[string]bool{}
		}
		out[q][filepath.ToSlash(f[1])+":"+f[2]+":"+f[3]] = true
	}
	return out
}

// recallRow sums up the questions of one operation.
type recallRow struct {
	operation                     string
	questions, true, found, right int
	missed, extra                 []string
	incomplete                    int
}

func compareKey(t *testing.T, w *world, want answerKey, extensions []string) []recallRow {
	byOperation := map[string][]inquiry{}
	for q := range want {
		operation := q.operation + " " + strings.Split(q.of, "=")[0]
		byOperation[operation] = append(byOperation[operation], q)
	}
	var rows []recallRow
	for _, operation := range slices.Sorted(maps.Keys(byOperation)) {
		list := byOperation[operation]
		slices.SortFunc(list, func(a, b inquiry) int {
			return cmp.Or(cmp.Compare(len(want[b]), len(want[a])), cmp.Compare(a.of, b.of))
		})
		r := recallRow{operation: strings.TrimSpace(operation)}
		for _, q := range list[:min(len(list), *recallQuestions)] {
			got, complete := answered(t, w, q, extensions)
			r.questions++
			r.true += len(want[q])
			r.found += len(got)
			if !complete {
				r.incomplete++
			}
			for place := range want[q] {
				if got[place] {
					r.right++
				} else {
					r.missed = append(r.missed, q.of+" "+place)
				}
			}
			for place := range got {
				if !want[q][place] {
					r.extra = append(r.extra, q.of+" "+place)
				}
			}
		}
		slices.Sort(r.missed)
		slices.Sort(r.extra)
		rows = append(rows, r)
	}
	return rows
}

// answered asks one question and returns all declarations of the answer.
func answered(t *testing.T, w *world, q inquiry, extensions []string) (map[string]bool, bool) {
	field, of, _ := strings.Cut(q.of, "=")
	params := map[string]any{"operation": q.operation, "limit": 1_000_000}
	if field != "" {
		params[field] = of
	}
	tool := "code.inspect"
	if q.operation == "derived_types" {
		tool, params["symbolKind"] = "code.navigate", "type"
	}
	var out api.Listing
	if refusal := w.call(t, tool, params, &out); refusal != nil {
		t.Logf("%s %s: %v", q.operation, q.of, refusal)
		return nil, false
	}
	got := map[string]bool{}
	add := func(l api.Location, name string) {
		if slices.Contains(extensions, filepath.Ext(l.File)) {
			got[l.File+":"+strconv.Itoa(l.Line)+":"+name] = true
		}
	}
	for _, s := range out.Symbols {
		add(s.Location, s.Name)
		for _, d := range s.Declarations {
			add(d, s.Name)
		}
	}
	return got, out.Complete
}

func recallTable(rows []recallRow) string {
	var b strings.Builder
	tab := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tab, "operation\tquestions\ttrue\tfound\trecall\tprecision\tincomplete answers")
	for _, r := range rows {
		fmt.Fprintf(tab, "%s\t%d\t%d\t%d\t%s\t%s\t%d\n", r.operation, r.questions, r.true, r.found, share(r.right, r.true), share(r.right, r.found), r.incomplete)
	}
	if err := tab.Flush(); err != nil {
		return err.Error()
	}
	return b.String()
}

func share(part, of int) string {
	if of == 0 {
		return "-"
	}
	return fmt.Sprintf("%.2f%%", 100*float64(part)/float64(of))
}

// typescriptModule returns the compiler's library beside the tsc that is used.
func typescriptModule(t *testing.T) string {
	module, err := os.ReadFile(lsptest.Tool(t, "tsc"))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(module), `exec "`)
	bin, _, _ := strings.Cut(rest, `"`)
	return filepath.Join(filepath.Dir(filepath.Dir(bin)), "typescript", "lib", "typescript.js")
}

// csharpFacts builds the reader against the compiler that is beside dotnet.
func csharpFacts(t *testing.T, dir string) string {
	dotnet := lsptest.Tool(t, "dotnet")
	base := ""
	for line := range strings.Lines(done(t, ".", nil, dotnet, "--info")) {
		if _, path, ok := strings.Cut(line, "Base Path:"); ok {
			base = strings.TrimSpace(path)
		}
	}
	program := t.TempDir()
	source := read(t, filepath.Join(recallScripts(t), "Truth.cs"))
	write(t, filepath.Join(program, "Truth.cs"), source)
	var references strings.Builder
	for _, name := range []string{"Microsoft.CodeAnalysis", "Microsoft.CodeAnalysis.CSharp"} {
		fmt.Fprintf(&references, "<Reference Include=%q><HintPath>%s</HintPath></Reference>", name, filepath.Join(base, "Roslyn", "bincore", name+".dll"))
	}
	write(t, filepath.Join(program, "Truth.csproj"), `<Project Sdk="Microsoft.NET.Sdk">
  <PropertyGroup>
    <OutputType>Exe</OutputType>
    <TargetFramework>net10.0</TargetFramework>
    <Nullable>enable</Nullable>
    <ImplicitUsings>enable</ImplicitUsings>
  </PropertyGroup>
  <ItemGroup>`+references.String()+`</ItemGroup>
</Project>
`)
	done(t, program, nil, dotnet, "build", "-v", "quiet", "--nologo", "-o", "out")
	return facts(t, dotnet, filepath.Join(program, "out", "Truth.dll"), dir)
}
