package validate

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/auralsp/aura/adapters"
)

// shelf is a folder of kept folders, for projects that are there.
type shelf struct {
	testing.TB
	v *Validator
}

// kept makes the folder of a project with so many bytes in it, last used so long ago.
func (s shelf) kept(name string, size int, ago time.Duration) {
	s.Helper()
	project := filepath.Join(s.TempDir(), name)
	if err := os.Mkdir(project, 0o700); err != nil {
		s.Fatal(err)
	}
	c := s.command(project)
	_, err := s.v.folders.real(s.Context(), c, func(c command) (result, error) {
		write(s, filepath.Join(c.kept, "deep", "made"), strings.Repeat("x", size))
		return result{}, nil
	})
	then := time.Now().Add(-ago)
	if err == nil {
		err = os.Chtimes(filepath.Join(filepath.Dir(c.kept), keptOf), then, then)
	}
	if err != nil {
		s.Fatal(err)
	}
}

func (s shelf) command(project string) command {
	ck := adapters.Check{Dir: project, Argv: []string{"build"}, Kept: []string{"KEPT"}}
	return command{argv: ck.Argv, dir: project, kept: s.v.folders.path(ck, ck.Argv), drops: true}
}

// names returns the projects whose folders are there.
func (s shelf) names() []string {
	s.Helper()
	all, err := s.v.folders.list(s.Context())
	if err != nil {
		s.Fatal(err)
	}
	out := map[string]bool{}
	for _, f := range all {
		out[filepath.Base(f.of)] = true
	}
	var names []string
	for _, n := range []string{"old", "big", "mid", "new"} {
		if out[n] {
			names = append(names, n)
		}
	}
	return names
}

// TestTidy_Bounds has four folders, each used later than the one before it.
func TestTidy_Bounds(t *testing.T) {
	for _, c := range []struct {
		name string
		r    Retention
		want []string
	}{
		{"nothing is over", Retention{Age: time.Hour * 24, Bytes: 1 << 30}, []string{"old", "big", "mid", "new"}},
		{"by age", Retention{Age: time.Hour, Bytes: 1 << 30}, []string{"mid", "new"}},
		{"by size, least recently used first", Retention{Age: time.Hour * 24, Bytes: 2 << 20}, []string{"mid", "new"}},
		{"the latest stays", Retention{Age: time.Hour * 24, Bytes: 1}, []string{"new"}},
		{"but not for ever", Retention{Age: time.Second / 2, Bytes: 1 << 30}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := shelf{t, newValidator(t)}
			s.kept("old", 100<<10, 3*time.Hour)
			s.kept("big", 4<<20, 2*time.Hour)
			s.kept("mid", 100<<10, time.Minute)
			s.kept("new", 100<<10, time.Second)
			left, err := s.v.Tidy(t.Context(), c.r)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, s.names()); diff != "" {
				t.Errorf("folders that stay (-want +got):\n%s", diff)
			}
			now, err := s.v.Built(t.Context())
			if diff := cmp.Diff(now, left); err != nil || diff != "" {
				t.Errorf("Tidy says that something else is left than Built finds (-found +said):\n%s%v", diff, err)
			}
		})
	}
}

func TestTidy_GoesWithItsProject(t *testing.T) {
	s := shelf{t, newValidator(t)}
	s.kept("old", 1, time.Minute)
	s.kept("new", 1, time.Second)
	all, err := s.v.folders.list(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range all {
		if filepath.Base(f.of) == "new" {
			os.RemoveAll(f.of)
		}
	}
	if _, err := s.v.Tidy(t.Context(), Retention{Age: time.Hour, Bytes: 1 << 30}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"old"}, s.names()); diff != "" {
		t.Error(diff)
	}
}

// TestTidy_LeavesWhatIsUsed tidies while a check of this process, and then one
// of another process of the user, uses a folder that is over every bound.
func TestTidy_LeavesWhatIsUsed(t *testing.T) {
	one := newValidator(t)
	other, err := New(Options{Spawner: spawner(t), Dir: t.TempDir(), Built: one.folders.dir})
	if err != nil {
		t.Fatal(err)
	}
	s := shelf{t, one}
	project := t.TempDir()
	nothing := Retention{Bytes: 0}
	run := func(c command) (result, error) {
		for _, v := range []*Validator{one, other} {
			if _, err := v.Tidy(t.Context(), nothing); err != nil {
				t.Error(err)
			}
		}
		if _, err := os.Stat(c.kept); err != nil {
			t.Errorf("the folder of a check was removed while it ran: %v", err)
		}
		return result{}, nil
	}
	for _, f := range []func() (result, error){
		func() (result, error) { return one.folders.real(t.Context(), s.command(project), run) },
		func() (result, error) { return one.folders.plan(t.Context(), s.command(project), run, run) },
	} {
		if _, err := f(); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := one.Tidy(t.Context(), nothing); err != nil {
		t.Fatal(err)
	}
	// What is gone was not filled: the next plan is preceded by the real tree.
	filled := false
	real := func(c command) (result, error) { filled = true; return result{}, nil }
	planned := func(c command) (result, error) {
		if _, err := os.Stat(c.kept); err != nil {
			t.Error(err)
		}
		return result{}, nil
	}
	one.folders.real(t.Context(), s.command(project), func(command) (result, error) { return result{}, nil })
	if _, err := other.Tidy(t.Context(), nothing); err != nil {
		t.Fatal(err)
	}
	for range 2 { // the first one finds it gone
		if _, err := one.folders.plan(t.Context(), s.command(project), planned, real); err != nil {
			t.Fatal(err)
		}
	}
	if !filled {
		t.Error("the real tree was not built again into a folder that another daemon removed")
	}
}

// TestTidy_WhileManyCheck removes folders all the time while checks use them:
// each finds the folder there to its end.
func TestTidy_WhileManyCheck(t *testing.T) {
	one := newValidator(t)
	s := shelf{t, one}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var tidying, checking sync.WaitGroup
	tidying.Go(func() {
		for ctx.Err() == nil {
			if _, err := one.Tidy(ctx, Retention{}); err != nil && ctx.Err() == nil {
				t.Error(err)
			}
		}
	})
	for i := range 4 {
		project := t.TempDir()
		checking.Go(func() {
			for n := range 50 {
				path := fmt.Sprintf("%d-%d", i, n)
				_, err := one.folders.real(ctx, s.command(project), func(c command) (result, error) {
					if err := os.WriteFile(filepath.Join(c.kept, path), nil, 0o600); err != nil {
						return result{}, err
					}
					_, err := os.Stat(filepath.Join(c.kept, path))
					return result{}, err
				})
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	checking.Wait()
	stop()
	tidying.Wait()
}
