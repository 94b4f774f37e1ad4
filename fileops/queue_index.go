package fileops

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/fnv"
	"io"
	"io/fs"
	"slices"

	"github.com/dpl-project/dpl/fileops/disk"
	"github.com/dpl-project/dpl/fileops/jsonl"
	"github.com/dpl-project/dpl/protocol/queue"
)

// The index of the tasks of a queue that ended long ago says of each block of their log, of some
// thousand lines, which tasks are certainly not in it: so a new task costs no reading of all that
// were ever done. It is only a help: without it, or with one that does not fit the log, the log is
// read.
//
// It begins with indexMagic and the inode of the log. Then each block has its end in the log, the
// last bytes of the block, and a filter of rows: each id and keyId sets some bits of one row.
// Numbers are big-endian.
const (
	indexMagic = "dplidx2\n"
	indexHead  = int64(len(indexMagic) + 8)

	blockLog   = 1 << 20 // bytes of the log in a block, at least
	blockLast  = 256
	filterRow  = 64
	filterRows = 256
	indexBlock = 8 + blockLast + filterRow*filterRows
)

// filterPlace returns the row of an id, and the bits in it.
func filterPlace(id string) (row int64, bits [7]uint16) {
	h := fnv.New64a()
	io.WriteString(h, id)
	sum := h.Sum64()
	mix := (sum ^ sum>>31) * 0x9E3779B97F4A7C15
	for i := range bits {
		bits[i] = uint16(mix>>(9*i)) % (8 * filterRow)
	}
	return int64(sum % filterRows), bits
}

// eachEnded calls do with the lines whose id or keyId is only, or if that is "", with all lines,
// from last to first; and perhaps with others.
func (l *Ledger) eachEnded(id, only string, do func(jsonl.Line) bool) error {
	if only == "" || l.store.Leased() {
		return l.endedLog(id).EachWith(only, nil, do)
	}
	return l.endedLog(id).EachWith(only, func(log disk.File, info disk.Info) []jsonl.Part {
		index, has, err := l.fs.OpenFile(l.EndedIndex(id), l.fs.Open)
		if err != nil {
			return []jsonl.Part{{From: 0, To: info.Size}}
		}
		defer index.Close()
		return mayHave(log, info, index, has.Size, only)
	}, do)
}

// mayHave returns the parts of log that may have the task id, according to index.
func mayHave(log disk.File, info disk.Info, index disk.File, size int64, id string) (parts []jsonl.Part) {
	row, bits := filterPlace(id)
	end := int64(0)
	for at := indexHead; at+indexBlock <= size && indexes(index, info); at += indexBlock {
		to, ok := blockEnd(log, info, index, at)
		if !ok || to <= end {
			break
		}
		filter := make([]byte, filterRow)
		if _, err := index.ReadAt(filter, at+8+blockLast+row*filterRow); err != nil {
			break
		}
		if !slices.ContainsFunc(bits[:], func(b uint16) bool { return filter[b/8]&(1<<(b%8)) == 0 }) {
			parts = append(parts, jsonl.Part{From: end, To: to})
		}
		end = to
	}
	parts = append(parts, jsonl.Part{From: end, To: info.Size})
	slices.Reverse(parts)
	return parts
}

// indexes reports whether index is one of the log that info describes.
func indexes(index disk.File, info disk.Info) bool {
	head := make([]byte, indexHead)
	_, err := index.ReadAt(head, 0)
	return err == nil && bytes.Equal(head, headOf(info))
}

func headOf(info disk.Info) []byte {
	return binary.BigEndian.AppendUint64([]byte(indexMagic), info.ID.Inode)
}

// blockEnd returns the end of a block of log, which index has at an offset. It returns false if the
// log has other bytes there: it was set back since.
func blockEnd(log disk.File, info disk.Info, index disk.File, at int64) (end int64, ok bool) {
	var head [8 + blockLast]byte
	if _, err := index.ReadAt(head[:], at); err != nil {
		return 0, false
	}
	end = int64(binary.BigEndian.Uint64(head[:]))
	if end < blockLast || end > info.Size {
		return 0, false
	}
	var last [blockLast]byte
	_, err := log.ReadAt(last[:], end-blockLast)
	return end, err == nil && bytes.Equal(last[:], head[8:])
}

// indexEnded adds a block to the index of the tasks of a queue that ended long ago, if the lines
// that it does not know are many. The caller has the lock of the queue, and these lines are
// durable. It writes the index anew, so that a kill or a power cut leaves the old one or the new
// one.
func (l *Ledger) indexEnded(id string) error {
	if l.store.Leased() {
		return nil
	}
	log, info, err := l.fs.OpenFile(l.EndedPath(id), l.fs.Open)
	if err != nil || info.Size < blockLog {
		if err == nil {
			err = log.Close()
		}
		return err
	}
	defer log.Close()

	text, end, err := l.readIndex(id, log, info)
	if err != nil || info.Size-end < blockLog {
		return err
	}
	for info.Size-end >= blockLog {
		block, next, err := indexOf(log, end, min(info.Size-end, 2*blockLog))
		if err != nil || next == end {
			return err
		}
		text, end = append(text, block...), next
	}
	return l.fs.WriteOver(l.EndedIndex(id), func(f disk.File) error {
		if _, err := f.Write(text); err != nil {
			return err
		}
		return l.fs.SyncFile(f)
	})
}

// readIndex returns the index as far as it fits log, and the end of its last block there.
func (l *Ledger) readIndex(id string, log disk.File, info disk.Info) (text []byte, end int64, err error) {
	index, has, err := l.fs.OpenFile(l.EndedIndex(id), l.fs.Open)
	if errors.Is(err, fs.ErrNotExist) {
		return headOf(info), 0, nil
	}
	if err != nil {
		return nil, 0, err
	}
	defer index.Close()

	at := indexHead
	for at+indexBlock <= has.Size && indexes(index, info) {
		to, ok := blockEnd(log, info, index, at)
		if !ok || to <= end {
			break
		}
		at, end = at+indexBlock, to
	}
	if end == 0 {
		return headOf(info), 0, nil
	}
	text = make([]byte, at)
	_, err = index.ReadAt(text, 0)
	return text, end, err
}

// indexOf returns a block about the complete lines of log in some bytes, and their end.
func indexOf(log disk.File, from, size int64) (block []byte, end int64, err error) {
	text := make([]byte, size)
	if _, err := log.ReadAt(text, from); err != nil {
		return nil, from, err
	}
	text = text[:bytes.LastIndexByte(text, '\n')+1]
	if len(text) < blockLast {
		return nil, from, nil
	}

	end = from + int64(len(text))
	block = binary.BigEndian.AppendUint64(make([]byte, 0, indexBlock), uint64(end))
	block = append(block, text[len(text)-blockLast:]...)
	filter := make([]byte, filterRow*filterRows)
	for line := range bytes.Lines(text) {
		ended, err := queue.DecodeRemembered(string(bytes.TrimSuffix(line, []byte("\n"))))
		if err != nil {
			continue // no task is found there
		}
		for _, id := range []string{ended.ID, ended.KeyID} {
			if id == "" {
				continue
			}
			row, bits := filterPlace(id)
			for _, b := range bits {
				filter[row*filterRow+int64(b/8)] |= 1 << (b % 8)
			}
		}
	}
	return append(block, filter...), end, nil
}
