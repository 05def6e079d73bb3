package e2e

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/auralsp/aura/daemon/api"
)

// A few by default, for every run of the tests.
var (
	switchN    = flag.Int("switch.n", 6, "how often the other tag is checked out")
	switchSeed = flag.Uint64("switch.seed", 1, "seed of what the clients ask and when the tag is switched")
)

// TestF05_SwitchingTags has four clients ask while git switches between two
// tags of a real module. An answer that was asked for and given while one tag
// stood is that tag's, whole, or says that it is not; in one that a checkout
// came between, each place holds in one of the tags what the answer says.
func TestF05_SwitchingTags(t *testing.T) {
	for name, server := range map[string]bool{"server": true, "graph": false} {
		t.Run(name, func(t *testing.T) { newSwitching(t, server).run(t) })
	}
}

// tags are the two versions of the repository.
var tags = [2]string{"v1.8.0", "v1.10.2"}

// switching is a workspace whose tag changes.
type switching struct {
	w         *world
	questions []enquiry
	texts     [2]map[string][]string // lines of each tag's files
	truths    [2][]truth             // of each question, told while nothing moved

	mu       sync.Mutex // guards what follows
	epoch    int        // odd while git is at work
	tag      int
	strict   int // answers that one tag stood around
	between  int // answers that a checkout came between
	flagged  int // answers that said of themselves that they are not whole
	answered [clients]int
}

const clients = 4

// enquiry is one question.
type enquiry struct {
	method string
	params map[string]any
	name   string // what stands at each place of an answer that does not say it
}

// truth is what an answer says: places, or why there are none.
type truth struct {
	Places []string
	Code   api.Code
	Whole  bool
}

func newSwitching(t *testing.T, server bool) *switching {
	dir := repository(t, "github.com/spf13/cobra", tags[:])
	s := &switching{w: newWorld(t, dir)}
	if !server {
		s.w.stop(t)
		for i, v := range s.w.env {
			if strings.HasPrefix(v, "PATH=") {
				s.w.env[i] = "PATH=" + withoutServer(t, s.w)
			}
		}
	}
	named := func(method, name string) enquiry {
		params := map[string]any{"symbolName": name, "limit": all, "workspace": dir}
		return enquiry{method, params, name[strings.LastIndexByte(name, '.')+1:]}
	}
	s.questions = []enquiry{
		named("aura_definition", "Command.ExecuteC"),
		named("aura_references", "Command.ExecuteC"),
		named("aura_find_usages", "ShellCompDirectiveNoFileComp"),
		named("aura_symbol", "Command.Traverse"),
		named("aura_definition", "CompletionFunc"), // of the newer tag alone
		named("aura_find_usages", "ArbitraryArgs"),
		{method: "aura_outline", params: map[string]any{"filePath": "command.go", "limit": all, "workspace": dir}},
		{method: "aura_outline", params: map[string]any{"filePath": "completions.go", "limit": all, "workspace": dir}},
	}
	for i, tag := range tags {
		s.checkout(t, tag)
		s.texts[i] = lines(t, dir)
		// Both tags are told by daemons that know no other.
		s.w.stop(t)
		s.w.ok(t, "outline", "command.go")
		for _, q := range s.questions {
			s.truths[i] = append(s.truths[i], s.settle(t, s.w.dial(t), q, i))
		}
	}
	s.tag = 1
	return s
}

// repository makes a git repository in which each version of a module is a tag.
func repository(t *testing.T, name string, versions []string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "repo")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	git(t, dir, "init", "--quiet")
	for _, version := range versions {
		source := module(t, name+"@"+version)
		for path := range lines(t, dir) {
			if err := os.Remove(filepath.Join(dir, path)); err != nil {
				t.Fatal(err)
			}
		}
		if err := copyTree(source, dir); err != nil {
			t.Fatal(err)
		}
		if err := gocmd(dir, "mod", "download"); err != nil {
			t.Fatal(err)
		}
		git(t, dir, "add", "--all")
		git(t, dir, "commit", "--quiet", "--message", version)
		git(t, dir, "tag", version)
	}
	return dir
}

// lines reads all files.
func lines(t *testing.T, dir string) map[string][]string {
	t.Helper()
	out := map[string][]string{}
	for path, e := range snapshot(t, dir) {
		if e.mode.IsRegular() {
			out[path] = strings.Split(read(t, filepath.Join(dir, path)), "\n")
		}
	}
	return out
}

func (s *switching) checkout(t *testing.T, tag string) {
	git(t, s.w.ws, "checkout", "--quiet", tag)
}

func (s *switching) run(t *testing.T) {
	stop := make(chan struct{})
	var asking sync.WaitGroup
	for i := range clients {
		c := s.w.dial(t)
		asking.Go(func() { s.ask(c, i, stop) })
	}
	r := rand.New(rand.NewPCG(*switchSeed, 0))
	for n := range *switchN {
		s.move(func() { s.epoch++ })
		s.checkout(t, tags[n%2])
		s.move(func() { s.epoch++; s.tag = n % 2 })
		if r.IntN(3) > 0 { // else the next comes at once
			s.everybodyAsked(t)
		}
	}
	s.everybodyAsked(t)
	close(stop)
	asking.Wait()
	c := s.w.dial(t)
	for i, q := range s.questions {
		if got := s.settle(t, c, q, s.tag); !t.Failed() {
			if diff := cmp.Diff(s.truths[s.tag][i], got); diff != "" {
				t.Errorf("at the end: %s %v at %s (-want +got):\n%s", q.method, q.params, tags[s.tag], diff)
			}
		}
	}
	if r := s.w.index(t, "verify"); !r.Success || r.Pending != 0 || r.Files == 0 {
		t.Errorf("at the end the index of %d files differs from a new reading in %d: %v", r.Files, r.Total, r.Differences)
	}
	t.Logf("%d switches: %d answers while one tag stood, %d with a checkout between, %d flagged", *switchN, s.strict, s.between, s.flagged)
	if s.strict-s.flagged < len(s.questions) || s.between == 0 {
		t.Error("hardly anything was asked: that proves little")
	}
}

func (s *switching) move(change func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change()
}

// everybodyAsked waits until each client has an answer that it asked for since.
func (s *switching) everybodyAsked(t *testing.T) {
	t.Helper()
	s.mu.Lock()
	before := s.answered
	s.mu.Unlock()
	until(t, patience, "an answer for each client", func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		for i, n := range s.answered {
			if n < before[i]+2 { // the first may have been asked for before
				return t.Failed()
			}
		}
		return true
	})
}

// ask is one client.
func (s *switching) ask(c *conn, client int, stop chan struct{}) {
	r := rand.New(rand.NewPCG(*switchSeed, uint64(client)+1))
	for !c.t.Failed() {
		select {
		case <-stop:
			return
		default:
		}
		i := r.IntN(len(s.questions))
		var at, after, tag int
		s.move(func() { at, tag = s.epoch, s.tag })
		got, trust := s.put(c, s.questions[i])
		s.move(func() { after = s.epoch })
		moved := at != after || at%2 == 1
		s.judge(c.t, i, got, trust, tag, moved)
		s.move(func() {
			s.answered[client]++
			if moved {
				s.between++
			} else {
				s.strict++
			}
			if !trust.Complete || trust.Stale {
				s.flagged++
			}
		})
	}
}

// judge holds an answer to what was there.
func (s *switching) judge(t testing.TB, i int, got truth, trust api.Trust, tag int, moved bool) {
	q := s.questions[i]
	what := fmt.Sprintf("%s %v", q.method, q.params)
	flagged := !trust.Complete || trust.Stale
	switch want := s.truths[tag][i]; {
	case moved && got.Code == api.Internal, moved && got.Code == api.InvalidArgument:
		t.Errorf("%s during a checkout: %s %q", what, got.Code, got.Places)
	case moved:
		for _, p := range got.Places {
			if !s.holds(0, p) && !s.holds(1, p) {
				t.Errorf("%s during a checkout: neither tag has %q", what, p)
			}
		}
	case got.Code == api.StaleContent:
	case flagged && want.Whole:
		for _, p := range got.Places {
			if !slices.Contains(want.Places, p) && !(trust.Stale && s.holds(1-tag, p)) {
				t.Errorf("%s at %s: %q is told, though not as all: %q", what, tags[tag], p, trust.Warnings)
			}
		}
	default:
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s at %s, told as whole (-want +got):\n%s", what, tags[tag], diff)
		}
	}
}

// settle asks until the answer is whole, and holds it to the tag's text.
func (s *switching) settle(t *testing.T, c *conn, q enquiry, tag int) truth {
	t.Helper()
	var got truth
	until(t, patience, "a whole answer", func() bool {
		var trust api.Trust
		got, trust = s.put(c, q)
		return trust.Complete || trust.Source != "server" // without a server it gets no better
	})
	for _, p := range got.Places {
		if !s.holds(tag, p) {
			t.Fatalf("%s %v at %s: there is no %q", q.method, q.params, tags[tag], p)
		}
	}
	return got
}

// put asks one question.
func (s *switching) put(c *conn, q enquiry) (truth, api.Trust) {
	var answer struct {
		Locations []api.Place
		Symbols   []api.SymbolEntry
		Symbol    *api.SymbolRef
		api.Trust
	}
	if refusal := c.do(q.method, q.params, &answer); refusal != nil {
		return truth{Code: refusal.Code, Whole: true}, api.Trust{Complete: true}
	}
	out := truth{Places: []string{}, Whole: answer.Complete && !answer.Stale}
	for _, p := range answer.Locations {
		out.Places = append(out.Places, place(p.Location, q.name))
	}
	var walk func([]api.SymbolEntry)
	walk = func(list []api.SymbolEntry) {
		for _, e := range list {
			out.Places = append(out.Places, place(e.Location, e.Name))
			walk(e.Children)
		}
	}
	walk(answer.Symbols)
	slices.Sort(out.Places)
	return out, answer.Trust
}

// place is file, line, columns, text of the line, and the name that stands there.
func place(l api.Location, name string) string {
	return fmt.Sprintf("%s\x00%d\x00%d\x00%d\x00%s\x00%s", l.File, l.Line, l.Column, l.EndColumn, l.Context, name)
}

// holds reports whether a tag has a place.
func (s *switching) holds(tag int, p string) bool {
	var line, from, to int
	part := strings.Split(p, "\x00")
	for i, n := range []*int{&line, &from, &to} {
		if _, err := fmt.Sscan(part[i+1], n); err != nil {
			return false
		}
	}
	text := s.texts[tag][part[0]]
	if line < 1 || line > len(text) || from < 1 || to < from || to > len(text[line-1])+1 {
		return false
	}
	content, context, name := text[line-1], part[4], part[5]
	context, cut := strings.CutSuffix(context, "…")
	content, here := strings.TrimSpace(content), content[from-1:to-1]
	return here == name && (content == context || context == "" || cut && strings.HasPrefix(content, context))
}
