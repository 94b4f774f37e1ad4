//go:build linux

package main

import (
	"encoding/binary"
	"fmt"
	"io"
	"os"
)

// The format of dm-log-writes, as written by QEMU's blklogwrites: a superblock, then for each
// request a sector that describes it and the data it wrote. All numbers are little endian.
const (
	magic   = 0x6a736677736872
	sector  = 512
	flush   = 1
	discard = 4
)

// A request is one write, discard or flush that a disk has seen.
type request struct {
	offset, size int64
	flags        uint64
	at           int64 // where in the log its data is
}

func (r request) flushes() bool { return r.flags&flush != 0 }

// entries returns how many requests are in the log.
func entries(path string) (int64, error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	return superblock(f)
}

func superblock(f io.ReaderAt) (int64, error) {
	var block [28]byte
	if _, err := f.ReadAt(block[:], 0); err != nil {
		return 0, err
	}
	if got := binary.LittleEndian.Uint64(block[:]); got != magic {
		return 0, fmt.Errorf("log: magic number %#x, want %#x", got, magic)
	}
	if got := binary.LittleEndian.Uint32(block[24:]); got != sector {
		return 0, fmt.Errorf("log: sectors of %d bytes, want %d", got, sector)
	}
	return int64(binary.LittleEndian.Uint64(block[16:])), nil
}

// readLog returns all requests.
func readLog(f io.ReaderAt) ([]request, error) {
	n, err := superblock(f)
	if err != nil {
		return nil, err
	}

	all := make([]request, n)
	at := int64(sector)
	for i := range all {
		var head [24]byte
		if _, err := f.ReadAt(head[:], at); err != nil {
			return nil, err
		}

		r := request{
			offset: int64(binary.LittleEndian.Uint64(head[:])) * sector,
			size:   int64(binary.LittleEndian.Uint64(head[8:])) * sector,
			flags:  binary.LittleEndian.Uint64(head[16:]),
			at:     at + sector,
		}

		at = r.at
		if r.flags&discard == 0 {
			at += r.size
		}

		all[i] = r
	}

	return all, nil
}
