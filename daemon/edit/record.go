package edit

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
)

// recordType says what a record of the journal means.
type recordType uint8

const (
	recIntent    recordType = iota + 1 // what a transaction is about to do
	recApplied                         // all of it is in place (for people who read the journal)
	recCommitted                       // the promise: it stays
	recAborted                         // it was taken back
	recConflict                        // it was taken back but for some paths
	recDropped                         // it can no longer be undone
)

// The journal is a header and records, one after the other, little endian:
//
//	magic u32, length of payload u32, type u8, durable u64, chain u32,
//	transaction [16]byte, payload, checksum u32
//
// The checksum (CRC32C) covers all before it. chain is the checksum of the
// record before, so that none can be left out or moved. durable is the length
// of the journal that was known to be on the disk when the record was written:
// it tells damage in a part that was once safe, which is an error, from a tail
// that was being written when the power went, which is not.
const (
	journalMagic   = "AURAEDIT"
	journalVersion = 1
	headerSize     = len(journalMagic) + 4

	recordMagic    = 0x63655241 // "ARec"
	recordHead     = 4 + 4 + 1 + 8 + 4 + len(txID{})
	recordOverhead = recordHead + 4
	maxPayload     = 64 << 20
)

// castagnoli makes the table anew; the package hash/crc32 keeps it once.
func castagnoli() *crc32.Table { return crc32.MakeTable(crc32.Castagnoli) }

func checksum(p []byte) uint32 { return crc32.Checksum(p, castagnoli()) }

func journalHeader() []byte {
	return binary.LittleEndian.AppendUint32([]byte(journalMagic), journalVersion)
}

// rawRecord is a record with its payload not yet decoded.
type rawRecord struct {
	kind    recordType
	tx      txID
	payload []byte
	off     int64 // where it begins
	durable int64
	sum     uint32
}

// size returns the bytes that the record takes in the journal.
func (r *rawRecord) size() int64 { return int64(recordOverhead + len(r.payload)) }

// appendRecord appends the record to b and returns b and its checksum.
func appendRecord(b []byte, r *rawRecord, chain uint32) ([]byte, uint32) {
	start := len(b)
	b = binary.LittleEndian.AppendUint32(b, recordMagic)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(r.payload)))
	b = append(b, byte(r.kind))
	b = binary.LittleEndian.AppendUint64(b, uint64(r.durable))
	b = binary.LittleEndian.AppendUint32(b, chain)
	b = append(b, r.tx[:]...)
	b = append(b, r.payload...)
	sum := checksum(b[start:])
	return binary.LittleEndian.AppendUint32(b, sum), sum
}

// Errors of reading a journal.
var (
	errVersion = errors.New("unknown version of the journal")
	errDamaged = errors.New("journal is damaged")
	// errEnd says that there are no more records.
	errEnd = errors.New("end of the journal")
	// errNoRecord says that no valid record begins at an offset.
	errNoRecord = errors.New("no record")
)

// journalReader reads records from a journal of a given size.
type journalReader struct {
	src   io.ReaderAt
	size  int64
	off   int64 // of the next record
	chain uint32
}

func newJournalReader(src io.ReaderAt, size int64) (*journalReader, error) {
	head := make([]byte, headerSize)
	if _, err := src.ReadAt(head, 0); err != nil && err != io.EOF {
		return nil, err
	}
	if size < int64(headerSize) || string(head[:len(journalMagic)]) != journalMagic {
		return nil, fmt.Errorf("%w: it does not begin with %q", errDamaged, journalMagic)
	}
	if v := binary.LittleEndian.Uint32(head[len(journalMagic):]); v != journalVersion {
		return nil, fmt.Errorf("%w: %d, this Aura knows %d", errVersion, v, journalVersion)
	}
	return &journalReader{src: src, size: size, off: int64(headerSize), chain: checksum(head)}, nil
}

// next returns the next record, errEnd after the last one, or errDamaged.
func (r *journalReader) next() (*rawRecord, error) {
	rec, chain, err := r.at(r.off)
	if err == nil && chain == r.chain {
		r.off += rec.size()
		r.chain = rec.sum
		return rec, nil
	}
	if err != nil && !errors.Is(err, errNoRecord) {
		return nil, err
	}
	at, err := r.wasDurable()
	if err != nil {
		return nil, err
	}
	if at >= 0 {
		return nil, fmt.Errorf("%w at byte %d: a record at byte %d was written after it", errDamaged, r.off, at)
	}
	return nil, errEnd
}

// at reads the record at an offset whatever its chain.
func (r *journalReader) at(off int64) (*rawRecord, uint32, error) {
	var head [recordHead]byte
	if off+int64(recordOverhead) > r.size {
		return nil, 0, errNoRecord
	}
	if _, err := r.src.ReadAt(head[:], off); err != nil && err != io.EOF {
		return nil, 0, err
	}
	n := binary.LittleEndian.Uint32(head[4:])
	if binary.LittleEndian.Uint32(head[:]) != recordMagic || n > maxPayload ||
		off+int64(recordOverhead)+int64(n) > r.size {
		return nil, 0, errNoRecord
	}
	whole := make([]byte, recordOverhead+int(n))
	if _, err := r.src.ReadAt(whole, off); err != nil && err != io.EOF {
		return nil, 0, err
	}
	body := whole[:len(whole)-4]
	rec := &rawRecord{
		kind:    recordType(head[8]),
		durable: int64(binary.LittleEndian.Uint64(head[9:])),
		payload: body[recordHead:],
		off:     off,
		sum:     binary.LittleEndian.Uint32(whole[len(whole)-4:]),
	}
	copy(rec.tx[:], head[21:])
	if checksum(body) != rec.sum || rec.kind < recIntent || rec.kind > recDropped {
		return nil, 0, errNoRecord
	}
	return rec, binary.LittleEndian.Uint32(head[17:]), nil
}

// wasDurable looks behind the point where reading stopped for a record that
// was written when that point was already on the disk. It returns the offset
// of such a record, or -1: then what follows is a tail that was lost.
func (r *journalReader) wasDurable() (int64, error) {
	const step = 64 << 10
	buf := make([]byte, step+3)
	for off := r.off; off < r.size; off += step {
		n, err := r.src.ReadAt(buf[:min(int64(len(buf)), r.size-off)], off)
		if err != nil && err != io.EOF {
			return -1, err
		}
		for i := 0; ; i++ {
			found := bytes.Index(buf[min(i, n):n], binary.LittleEndian.AppendUint32(nil, recordMagic))
			if found < 0 {
				break
			}
			i += found
			rec, _, err := r.at(off + int64(i))
			if err == nil && rec.durable > r.off {
				return off + int64(i), nil
			}
			if err != nil && !errors.Is(err, errNoRecord) {
				return -1, err
			}
		}
	}
	return -1, nil
}
