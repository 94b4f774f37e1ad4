//go:build linux

package main

import (
	"bytes"
	"errors"
	"io"
	"maps"
	"os"

	"golang.org/x/sys/unix"
)

const pageSize = 4096

type page [pageSize]byte

// pages is the content of a disk; a page that is missing is zero.
type pages map[int64]*page

// apply does a request. Pages are never changed in place: others may share them.
func (p pages) apply(r request, log io.ReaderAt) error {
	for done := int64(0); done < r.size; {
		n, at := (r.offset+done)/pageSize, (r.offset+done)%pageSize
		size := min(pageSize-at, r.size-done)
		changed := new(page)
		if old := p[n]; old != nil {
			*changed = *old
		}

		if r.flags&discard != 0 {
			clear(changed[at : at+size])
		} else if _, err := log.ReadAt(changed[at:at+size], r.at+done); err != nil {
			return err
		}

		if p[n] = changed; *changed == (page{}) {
			delete(p, n)
		}

		done += size
	}

	return nil
}

// A rebuilder makes the disk as it was at points of the log, which must not go back.
type rebuilder struct {
	log      io.ReaderAt
	requests []request
	flushed  pages // after the last flush before the point
	since    int   // the first request after that
	current  pages // at the point
	at       int
}

func newRebuilder(log io.ReaderAt) (*rebuilder, error) {
	requests, err := readLog(log)
	return &rebuilder{log: log, requests: requests, flushed: pages{}, current: pages{}}, err
}

// to goes on to the point before request n.
func (b *rebuilder) to(n int) error {
	for ; b.at < n; b.at++ {
		r := b.requests[b.at]
		if err := b.current.apply(r, b.log); err != nil {
			return err
		}
		if r.flushes() {
			b.flushed, b.since = maps.Clone(b.current), b.at+1
		}
	}

	return nil
}

// some returns the disk at the point, without those requests since the last flush for which keep
// returns false.
func (b *rebuilder) some(keep func() bool) (pages, error) {
	p := maps.Clone(b.flushed)
	for _, r := range b.requests[b.since:b.at] {
		if keep() {
			if err := p.apply(r, b.log); err != nil {
				return nil, err
			}
		}
	}

	return p, nil
}

// put makes the content of a sparse file that of p. It touches only what differs.
func (p pages) put(f *os.File) error {
	there := map[int64]bool{}
	buffer := make([]byte, 1<<20)
	for from := int64(0); ; {
		begin, end, err := extent(f, from)
		if errors.Is(err, unix.ENXIO) {
			break
		}
		if err != nil {
			return err
		}

		for at := begin; at < end; at += int64(len(buffer)) {
			if err := p.putRange(f, at, buffer[:min(int64(len(buffer)), end-at)],
				there); err != nil {
				return err
			}
		}

		from = end
	}

	for n, content := range p {
		if !there[n] {
			if _, err := f.WriteAt(content[:], n*pageSize); err != nil {
				return err
			}
		}
	}

	return nil
}

// extent returns the next part of a sparse file that is no hole.
func extent(f *os.File, from int64) (begin, end int64, err error) {
	if begin, err = unix.Seek(int(f.Fd()), from, unix.SEEK_DATA); err != nil {
		return 0, 0, err
	}
	begin -= begin % pageSize
	end, err = unix.Seek(int(f.Fd()), begin, unix.SEEK_HOLE)
	return begin, (end + pageSize - 1) / pageSize * pageSize, err
}

func (p pages) putRange(f *os.File, at int64, buffer []byte, there map[int64]bool) error {
	if _, err := f.ReadAt(buffer, at); err != nil && err != io.EOF {
		return err
	}

	for i := 0; i < len(buffer); i += pageSize {
		n := (at + int64(i)) / pageSize
		content := p[n]
		if there[n] = true; content == nil {
			err := unix.Fallocate(int(f.Fd()), unix.FALLOC_FL_PUNCH_HOLE|unix.FALLOC_FL_KEEP_SIZE,
				n*pageSize, pageSize)
			if err != nil {
				return err
			}
		} else if !bytes.Equal(content[:], buffer[i:i+pageSize]) {
			if _, err := f.WriteAt(content[:], n*pageSize); err != nil {
				return err
			}
		}
	}

	return nil
}
