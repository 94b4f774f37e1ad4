package doctor

import (
	"fmt"
)

// A volume describes the space on a file system.
type volume struct {
	free           uint64 // bytes, for this user
	inodes, ofThem uint64 // free inodes, and all; all is 0 if the file system does not count them
	readOnly       bool
}

// space reports whether edits will fail, or soon may, for lack of space.
func (p *checkup) space() []finding {
	v, err := volumeOf(p.dir())
	if err != nil {
		return []finding{note.about("", "free space is unknown: "+err.Error(), "")}
	}

	var largest int64
	for _, f := range p.files {
		if f.Operation != nil || f.Registry != nil || f.Orchestrator != nil || f.Queue != nil {
			largest = max(largest, f.Info.Size)
		}
	}
	return []finding{v.judge(uint64(largest))}
}

const (
	kibibyte = 1 << 10
	mebibyte = 1 << 20
)

// judge reports whether there is enough space. Each edit writes a new file beside the one it
// replaces, of which largest is the size of the largest, and a line to a record.
func (v volume) judge(largest uint64) finding {
	free := fmt.Sprintf("%d MiB", v.free/mebibyte)
	if v.free < mebibyte {
		free = fmt.Sprintf("%d bytes", v.free)
	}
	if v.ofThem > 0 {
		free += fmt.Sprintf(" and %d inodes", v.inodes)
	}

	switch few := v.ofThem > 0; {
	case v.readOnly:
		return problem.about("", "the file system is mounted read-only", "mount it for writing")
	case v.free < 8*kibibyte+largest, few && v.inodes < 1:
		return problem.about("", "only "+free+" are free", "make room: edits fail with status 74")
	case v.free < 64*mebibyte+4*largest, few && v.inodes < 1000:
		return warning.about("", "only "+free+" are free", "make room: edits may soon fail")
	}

	return ok.about("", free+" are free", "")
}
