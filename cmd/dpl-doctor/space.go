package main

import (
	"fmt"
)

// A volume is what a file system says of itself.
type volume struct {
	free           uint64 // bytes, for this user
	inodes, ofThem uint64 // free ones, and all; 0 of all: it does not count them
	readOnly       bool
}

// space says whether edits will fail for want of it.
func (p *checkup) space() []finding {
	v, err := volumeOf(p.dir())
	if err != nil {
		return []finding{{level: note, text: "how much space there is is not known: " + err.Error()}}
	}
	var largest int64
	for _, f := range p.survey.Files {
		largest = max(largest, f.Info.Size)
	}
	return []finding{v.judge(uint64(largest))}
}

const mebibyte = 1 << 20

// judge says whether there is room. Each edit makes a second file beside the one that it replaces, of which largest is the size
// of the largest.
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
		return finding{level: problem, text: "the file system is mounted read-only", cure: "mount it for writing"}
	case v.free < mebibyte+4*largest, few && v.inodes < 16:
		return finding{level: problem, text: "only " + free + " are free", cure: "make room: edits fail with status 74"}
	case v.free < 64*mebibyte, few && v.inodes < 1000:
		return finding{level: warning, text: "only " + free + " are free", cure: "make room before edits fail"}
	}
	return finding{level: ok, text: free + " are free"}
}
