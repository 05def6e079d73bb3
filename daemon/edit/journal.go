package edit

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"iter"
)

const (
	journalName = "journal"
	journalNext = "journal.next" // a shorter journal that is about to take its place

	// journalGrowth is how many bytes of zeros are put behind the last record at
	// a time: writing into bytes that exist keeps fdatasync from having to write
	// the file's size as well, which doubles its price.
	journalGrowth = 64 << 10
	// spare is kept free for each open transaction, so that the record that
	// ends it needs no new block on a full disk.
	spare = 4 << 10
)

// journal appends records to the file of one workspace. The workspace's lock
// guards it.
type journal struct {
	dir     Dir
	file    File
	end     int64 // where the next record goes
	alloc   int64 // size of the file
	durable int64 // length that is on the disk
	chain   uint32
	growth  int64 // see journalGrowth; tests take less
	open    int   // transactions without an end
	broken  error // a flush failed: what the file holds is unknown beyond durable
}

// createJournal puts a journal that holds the records in place, whole or not
// at all. placed, when not nil, hears where each record went.
func createJournal(dir Dir, growth int64, records iter.Seq2[*rawRecord, error], placed func(*rawRecord, int64)) (*journal, error) {
	if err := dir.Remove(journalNext); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	f, err := dir.Create(journalNext, 0o600)
	if err != nil {
		return nil, err
	}
	j := &journal{dir: dir, file: f, growth: growth}
	err = j.fill(records, placed)
	if err == nil {
		err = dir.Rename(journalNext, dir, journalName, Replace)
	}
	if err == nil {
		err = dir.Sync()
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return j, nil
}

func (j *journal) fill(records iter.Seq2[*rawRecord, error], placed func(*rawRecord, int64)) error {
	head := journalHeader()
	if err := j.put(head, checksum(head)); err != nil {
		return err
	}
	for r, err := range records {
		if err != nil {
			return err
		}
		// Everything before it will be on the disk when the file gets its name.
		b, chain := appendRecord(nil, &rawRecord{kind: r.kind, tx: r.tx, payload: r.payload, durable: j.end}, j.chain)
		if placed != nil {
			placed(r, j.end)
		}
		if err := j.put(b, chain); err != nil {
			return err
		}
	}
	if err := j.reserve(1); err != nil {
		return err
	}
	if err := j.file.Sync(); err != nil {
		return err
	}
	j.durable = j.end
	return nil
}

// put writes bytes at the end.
func (j *journal) put(b []byte, chain uint32) error {
	if _, err := j.file.WriteAt(b, j.end); err != nil {
		return err
	}
	j.end += int64(len(b))
	j.alloc = max(j.alloc, j.end)
	j.chain = chain
	return nil
}

// reserve makes the file long enough for n more bytes and for the ends of the
// open transactions.
func (j *journal) reserve(n int) error {
	short := j.end + int64(n) + int64(j.open)*spare - j.alloc
	if short <= 0 {
		return nil
	}
	zeros := make([]byte, (short+j.growth-1)/j.growth*j.growth)
	_, err := j.file.WriteAt(zeros, j.alloc)
	if err != nil && int64(len(zeros)) > short {
		zeros = zeros[:short] // a nearly full disk may have room for this
		_, err = j.file.WriteAt(zeros, j.alloc)
	}
	if err != nil {
		return err
	}
	j.alloc += int64(len(zeros))
	return nil
}

// append writes the records in one piece; with sync they are on the disk when
// it returns. It sets each record's offset. After an error none of them counts.
func (j *journal) append(sync bool, records ...*rawRecord) error {
	if j.broken != nil {
		return j.broken
	}
	var b []byte
	chain := j.chain
	for _, r := range records {
		if len(r.payload) > maxPayload {
			return fmt.Errorf("record of %d bytes is over the limit of %d", len(r.payload), maxPayload)
		}
		r.off, r.durable = j.end+int64(len(b)), j.durable
		b, chain = appendRecord(b, r, chain)
	}
	if err := j.reserve(len(b)); err != nil {
		return err
	}
	before, beforeChain := j.end, j.chain
	if err := j.put(b, chain); err != nil {
		return err // the next append writes over what may have arrived
	}
	if !sync {
		return nil
	}
	if err := j.file.Datasync(); err != nil {
		// A second flush could succeed with the data gone (the kernel may mark
		// failed pages clean), so that nothing beyond durable is believed.
		j.broken = fmt.Errorf("flush of the journal: %w", err)
		j.end, j.chain = before, beforeChain
		return j.broken
	}
	j.durable = j.end
	return nil
}

// records yields the records from the start to the given length.
func (j *journal) records(until int64) iter.Seq2[*rawRecord, error] {
	return func(yield func(*rawRecord, error) bool) {
		r, err := newJournalReader(j.file, until)
		for err == nil && r.off < until {
			var rec *rawRecord
			if rec, err = r.next(); err == nil && !yield(rec, nil) {
				return
			}
		}
		if err != nil {
			yield(nil, err)
		}
	}
}

// read returns the record of a transaction at an offset.
func (j *journal) read(off int64, kind recordType, tx txID) (*rawRecord, error) {
	r := &journalReader{src: j.file, size: j.end}
	rec, _, err := r.at(off)
	if err != nil {
		return nil, err
	}
	if rec.kind != kind || rec.tx != tx {
		return nil, fmt.Errorf("%w: byte %d holds another record", errDamaged, off)
	}
	return rec, nil
}

func (j *journal) close() error { return j.file.Close() }

// openJournal reads the journal and hands each record to visit. What was being
// written when the machine died is cut off.
func openJournal(dir Dir, growth int64, visit func(*rawRecord) error) (*journal, error) {
	f, err := dir.Edit(journalName)
	if err != nil {
		return nil, err
	}
	j := &journal{dir: dir, file: f, growth: growth}
	if err := j.load(visit); err != nil {
		f.Close()
		return nil, err
	}
	return j, nil
}

func (j *journal) load(visit func(*rawRecord) error) error {
	info, err := j.file.Stat()
	if err != nil {
		return err
	}
	r, err := newJournalReader(j.file, info.Size)
	if err != nil {
		return err
	}
	for {
		rec, err := r.next()
		if err != nil {
			if err == errEnd {
				break
			}
			return err
		}
		if err := visit(rec); err != nil {
			return err
		}
	}
	j.end, j.alloc, j.chain = r.off, info.Size, r.chain
	// Records that were read may still be in the page cache only, after a
	// crash of the daemon; and old bytes behind the end must not come back.
	if err := j.cutTail(); err != nil {
		return err
	}
	if err := j.file.Sync(); err != nil {
		return err
	}
	j.durable = j.end
	return nil
}

// cutTail removes what is left of unfinished records behind the end.
func (j *journal) cutTail() error {
	buf := make([]byte, j.growth)
	for off := j.end; off < j.alloc; off += j.growth {
		part := buf[:min(j.growth, j.alloc-off)]
		if n, err := j.file.ReadAt(part, off); err != nil && n < len(part) {
			return err
		}
		if len(bytes.TrimLeft(part, "\x00")) > 0 {
			j.alloc = j.end
			return j.file.Truncate(j.end)
		}
	}
	return nil
}
