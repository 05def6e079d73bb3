package edit

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/auralsp/aura/daemon/api"
	"github.com/auralsp/aura/lspclient/change"
	"github.com/auralsp/aura/lspclient/text"
)

// journalFile returns the path of the only journal of the bed's state.
func (b *bed) journalFile() string {
	b.t.Helper()
	found, err := filepath.Glob(filepath.Join(b.state, "*", journalName))
	must(b.t, err)
	if len(found) != 1 {
		b.t.Fatalf("journals: %v", found)
	}
	return found[0]
}

// journalBed has three committed transactions and a closed engine.
func journalBed(t *testing.T) (b *bed, records []*rawRecord) {
	b = newBed(t, map[string]string{"a.txt": "0\n"})
	for i := range 3 {
		b.mustApply(b.edit("a.txt", fmt.Sprintf("%d\n", i+1)))
	}
	b.close()
	content, err := os.ReadFile(b.journalFile())
	must(t, err)
	r, err := newJournalReader(bytes.NewReader(content), int64(len(content)))
	must(t, err)
	for {
		rec, err := r.next()
		if errors.Is(err, errEnd) {
			break
		}
		must(t, err)
		records = append(records, rec)
	}
	if len(records) != 9 {
		t.Fatalf("%d records of three transactions", len(records))
	}
	return b, records
}

func (b *bed) spoil(fn func(content []byte) []byte) {
	b.t.Helper()
	content, err := os.ReadFile(b.journalFile())
	must(b.t, err)
	must(b.t, os.WriteFile(b.journalFile(), fn(content), 0o600))
}

func (b *bed) history() int {
	b.t.Helper()
	h, err := b.e.History(context.Background(), b.root, 0)
	must(b.t, err)
	return len(h)
}

// The last record is cut off, or half of it never reached the disk: it is as
// if it had not been written, and the rest counts.
func TestE31_TornTailIsIgnored(t *testing.T) {
	_, records := journalBed(t)
	last := records[len(records)-1]
	for cut := int64(0); cut < last.size(); cut += 7 {
		b, records := journalBed(t)
		last := records[len(records)-1]
		b.spoil(func(content []byte) []byte {
			if cut%2 == 0 {
				return content[:last.off+cut]
			}
			clear(content[last.off+cut : last.off+last.size()]) // the size was written, the rest was not
			return content
		})
		b.open()
		// The third transaction lost its COMMITTED: it is taken back.
		if got := b.history(); got != 2 {
			t.Errorf("cut at %d: %d transactions, want 2", cut, got)
		}
		if got := b.read("a.txt"); got != "2\n" {
			t.Errorf("cut at %d: the file holds %q", cut, got)
		}
		b.mustApply(b.edit("a.txt", "again\n"))
		b.close()
		b.open()
		if got := b.history(); got != 3 {
			t.Errorf("cut at %d: %d transactions after one more, want 3", cut, got)
		}
	}
}

// A record that was safe on the disk is damaged: nothing is written in this
// workspace until the user has looked, and the journal is left as it is.
func TestE31_DamagedMiddleLocksTheWorkspace(t *testing.T) {
	spoils := map[string]func(content []byte, records []*rawRecord) []byte{
		"bit flipped in a payload": func(c []byte, r []*rawRecord) []byte { c[r[1].off+int64(recordHead)+2] ^= 1; return c },
		"bit flipped in a length":  func(c []byte, r []*rawRecord) []byte { c[r[3].off+5] ^= 1; return c },
		"magic overwritten":        func(c []byte, r []*rawRecord) []byte { c[r[2].off] = 'x'; return c },
		"record zeroed":            func(c []byte, r []*rawRecord) []byte { clear(c[r[2].off : r[2].off+r[2].size()]); return c },
		"record left out":          func(c []byte, r []*rawRecord) []byte { return slices.Delete(c, int(r[2].off), int(r[3].off)) },
		"records exchanged": func(c []byte, r []*rawRecord) []byte {
			one, two := bytes.Clone(c[r[2].off:r[3].off]), bytes.Clone(c[r[5].off:r[6].off])
			copy(c[r[2].off:], two)
			copy(c[r[5].off:], one)
			return c
		},
		"header":          func(c []byte, r []*rawRecord) []byte { c[0] = 'x'; return c },
		"unknown version": func(c []byte, r []*rawRecord) []byte { c[len(journalMagic)] = 99; return c },
		"empty":           func(c []byte, r []*rawRecord) []byte { return nil },
	}
	for name, fn := range spoils {
		t.Run(name, func(t *testing.T) {
			b, records := journalBed(t)
			b.spoil(func(content []byte) []byte { return fn(content, records) })
			damaged, err := os.ReadFile(b.journalFile())
			must(t, err)
			before := diskTree(t, b.root)
			b.open()
			must(t, b.e.Recover(context.Background(), b.root))
			_, err = b.begin(b.edit("a.txt", "x\n"))
			if api.CodeOf(err) != api.PermissionDenied || !strings.Contains(err.Error(), "auractl doctor") {
				t.Errorf("Begin: %v", err)
			}
			if _, err := b.undo(strings.Repeat("a", 32)); api.CodeOf(err) != api.PermissionDenied {
				t.Errorf("Undo: %v", err)
			}
			if _, err := b.e.History(context.Background(), b.root, 0); api.CodeOf(err) != api.PermissionDenied {
				t.Errorf("History: %v", err)
			}
			report, err := b.e.Doctor(context.Background(), b.root)
			must(t, err)
			if report.Locked == "" || !strings.Contains(strings.Join(report.Steps, "\n"), b.journalFile()) {
				t.Errorf("doctor: %+v", report)
			}
			if now, _ := os.ReadFile(b.journalFile()); !bytes.Equal(now, damaged) {
				t.Error("the damaged journal was changed")
			}
			if diff := cmp.Diff(before, diskTree(t, b.root)); diff != "" {
				t.Errorf("the tree changed (-want +got):\n%s", diff)
			}
			// The steps of the doctor help.
			b.close()
			must(t, os.Rename(b.journalFile(), b.journalFile()+".damaged"))
			b.open()
			b.mustApply(b.edit("a.txt", "x\n"))
		})
	}
}

func TestE31_StateOfAnotherUserLocksTheWorkspace(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root, to give files away")
	}
	for _, what := range []string{"journal", "folder"} {
		b, _ := journalBed(t)
		p := b.journalFile()
		if what == "folder" {
			p = filepath.Dir(p)
		}
		must(t, os.Chown(p, 65534, 65534))
		b.open()
		if _, err := b.begin(b.edit("a.txt", "x\n")); api.CodeOf(err) != api.PermissionDenied || !strings.Contains(err.Error(), "another user") {
			t.Errorf("%s of another user: %v", what, err)
		}
	}
}

func TestStateIsForTheUserAlone(t *testing.T) {
	b, _ := journalBed(t)
	modes := func() string {
		var list []string
		must(t, filepath.WalkDir(b.state, func(_ string, entry os.DirEntry, err error) error {
			if err != nil {
				return err
			}
			info, err := entry.Info()
			list = append(list, fmt.Sprintf("%s %04o", info.Name(), info.Mode().Perm()))
			return err
		}))
		return strings.Join(list[2:], ", ")
	}
	want := "identity 0600, journal 0600, lock 0600"
	if got := modes(); got != want {
		t.Errorf("modes: %s", got)
	}
	must(t, os.Chmod(b.journalFile(), 0o644))
	must(t, os.Chmod(filepath.Dir(b.journalFile()), 0o755))
	b.open()
	must(t, b.e.Recover(context.Background(), b.root))
	if got := modes(); got != want {
		t.Errorf("modes after they were loosened: %s", got)
	}
	if info, err := os.Stat(filepath.Dir(b.journalFile())); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("folder: %v, %v", info.Mode(), err)
	}
}

// A repository ships what looks like Aura's own: it is neither believed nor
// removed.
func TestE32_RepositoryShipsAJournal(t *testing.T) {
	donor, _ := journalBed(t)
	journal, err := os.ReadFile(donor.journalFile())
	must(t, err)
	id := strings.Repeat("ab", 16)
	fakes := map[string]string{
		".aura/journal": string(journal), ".aura/identity": "{}", ".aura/" + id + "/0": "evil\n", ".aura/" + id + "/.gitignore": "*\n",
		".git/aura/" + id + "/0": "evil\n", ".git/aura/journal": string(journal),
	}
	files := map[string]string{"a.txt": "a\n"}
	for rel, content := range fakes {
		files[rel] = content
	}
	b := newBed(t, files)
	must(t, b.e.Recover(context.Background(), b.root))
	if got := b.history(); got != 0 {
		t.Errorf("%d transactions of a repository are believed", got)
	}
	token := b.mustApply(b.edit("a.txt", "A\n"))
	_, err = b.undo(token)
	must(t, err)
	b.close()
	b.open()
	must(t, b.e.Recover(context.Background(), b.root))
	for rel, content := range fakes {
		if got := b.read(rel); got != content {
			t.Errorf("%s was changed", rel)
		}
	}
	// A staging folder that is a link leads nowhere.
	outside := filepath.Join(filepath.Dir(b.root), "outside")
	must(t, os.Mkdir(outside, 0o755))
	must(t, os.RemoveAll(b.path(".git")))
	must(t, os.RemoveAll(b.path(".aura")))
	must(t, os.Symlink(outside, b.path(".aura")))
	if _, err = b.begin(b.edit("a.txt", "A\n")); api.CodeOf(err) != api.StaleContent || b.read("a.txt") != "a\n" {
		t.Errorf("with a link for a staging folder: %v", err)
	}
	if names, _ := os.ReadDir(outside); len(names) != 0 {
		t.Errorf("outside has %v", names)
	}
}

func sampleIntent() *intent {
	return &intent{
		time: -5, operation: "rename", client: "c", session: "s", key: "k", undoes: txID{1, 2}, stages: []string{".git/aura/x", "m/.aura/y"},
		files: []fileRecord{{change.Rename, "a/\xff.txt", "b.txt"}, {change.Delete, "c", ""}},
		ops: []op{
			{kind: opModify, path: "a/\xff.txt", base: text.Sum([]byte("1")), post: text.Sum([]byte("2")), ino: 1 << 60, mode: 0o4755, baseSize: 7, postSize: 8, stage: 1, slot: 3},
			{kind: opRemove, path: "d"},
		},
		mkdirs: []string{"m", "m/n"}, rmdirs: []string{"r"}, summary: "Command → Instruction",
	}
}

func TestIntentsOfTheFirstJournalsAreRead(t *testing.T) {
	in := sampleIntent()
	in.summary = ""
	written := in.encode()
	in.summary = "x"
	if !bytes.HasPrefix(in.encode(), written) {
		t.Fatal("a summary changes more than the end of the record")
	}
	if got, err := decodeIntent(written); err != nil || got.summary != "" || len(got.rmdirs) != 1 {
		t.Errorf("without a summary: %+v, %v", got, err)
	}
	if _, err := decodeIntent(append(in.encode(), 0)); !errors.Is(err, errPayload) {
		t.Errorf("with bytes after the summary: %v, want errPayload", err)
	}
}

func TestRecordsComeBackAsTheyWere(t *testing.T) {
	allow := cmp.AllowUnexported(intent{}, op{}, fileRecord{}, commitment{}, conflict{})
	in := sampleIntent()
	got, err := decodeIntent(in.encode())
	must(t, err)
	if diff := cmp.Diff(in, got, allow); diff != "" {
		t.Errorf("intent (-want +got):\n%s", diff)
	}
	c := &commitment{time: 9, token: Token{3}, bytes: 77, answer: []byte("{}")}
	gotC, err := decodeCommitment(c.encode())
	must(t, err)
	if diff := cmp.Diff(c, gotC, allow); diff != "" {
		t.Errorf("commitment (-want +got):\n%s", diff)
	}
	list := []conflict{{"a", "b", "c"}, {path: "d"}}
	gotL, err := decodeConflicts(encodeConflicts(list))
	must(t, err)
	if diff := cmp.Diff(list, gotL, allow); diff != "" {
		t.Errorf("conflicts (-want +got):\n%s", diff)
	}
	for _, bad := range []string{"../x", "/x", "", ".", "a/../b", "a\x00b"} {
		in := sampleIntent()
		in.ops[1].path = bad
		if _, err := decodeIntent(in.encode()); !errors.Is(err, errPayload) {
			t.Errorf("an op on %q is read: %v", bad, err)
		}
		in = sampleIntent()
		in.stages[0] = bad
		if _, err := decodeIntent(in.encode()); !errors.Is(err, errPayload) {
			t.Errorf("a stage %q is read: %v", bad, err)
		}
	}
}

// Whatever bytes a journal holds, reading it ends, without a panic and without
// memory beyond its size, in records or in one of the typed errors.
func FuzzE31_Journal(f *testing.F) {
	b := journalHeader()
	chain := checksum(b)
	for i, r := range []*rawRecord{
		{kind: recIntent, tx: txID{1}, payload: sampleIntent().encode()},
		{kind: recApplied, tx: txID{1}},
		{kind: recCommitted, tx: txID{1}, payload: (&commitment{token: Token{9}, answer: []byte("x")}).encode()},
		{kind: recConflict, tx: txID{2}, payload: encodeConflicts([]conflict{{"a", "b", "c"}})},
		{kind: recDropped, tx: txID{1}},
	} {
		r.durable = int64(len(b) * (i % 2))
		b, chain = appendRecord(b, r, chain)
	}
	f.Add(b)
	f.Add(b[:len(b)-5])
	f.Add(append(bytes.Clone(b), make([]byte, 100)...))
	f.Add([]byte(journalMagic))
	f.Add([]byte{})
	huge := bytes.Clone(b)
	binary.LittleEndian.PutUint32(huge[headerSize+4:], 1<<31)
	f.Add(huge)
	f.Fuzz(func(t *testing.T, content []byte) {
		r, err := newJournalReader(bytes.NewReader(content), int64(len(content)))
		if err != nil {
			if !errors.Is(err, errDamaged) && !errors.Is(err, errVersion) {
				t.Fatalf("header: %v", err)
			}
			return
		}
		w := &workspace{byID: map[txID]*entry{}}
		again := journalHeader()
		chain := checksum(again)
		for {
			rec, err := r.next()
			if err != nil {
				if !errors.Is(err, errEnd) && !errors.Is(err, errDamaged) {
					t.Fatalf("next: %v", err)
				}
				break
			}
			again, chain = appendRecord(again, rec, chain)
			if err := w.learn(rec); err != nil && !errors.Is(err, errDamaged) && !errors.Is(err, errPayload) {
				t.Fatalf("learn: %v", err)
			}
		}
		if !bytes.Equal(again, content[:len(again)]) {
			t.Fatal("the records that were read are not those that were written")
		}
	})
}
