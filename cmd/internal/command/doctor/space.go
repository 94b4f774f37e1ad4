package doctor

import (
	"fmt"
	"slices"
	"strings"
)

// A volume describes the space on a file system.
type volume struct {
	device         uint64
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
	l := p.survey.Ledger
	logs := []string{l.LogsDir()}
	for _, f := range p.files {
		if f.Registry != nil {
			logs = append(logs, l.GroupLogs(f.ID))
		}
		if f.Operation != nil || f.Registry != nil || f.Orchestrator != nil || f.Queue != nil {
			largest = max(largest, f.Info.Size)
		}
	}
	found, known := []finding{v.judge(uint64(largest))}, []uint64{v.device}
	for _, dir := range logs {
		v, err := volumeOf(dir)
		if err != nil || slices.Contains(known, v.device) {
			continue // a group may have no logs
		}
		known = append(known, v.device)
		found = append(found, v.judgeLogs(strings.TrimPrefix(dir, p.dir()+"/")))
	}
	return found
}

const (
	kibibyte = 1 << 10
	mebibyte = 1 << 20
)

// judge reports whether there is enough space. Each edit writes a new file beside the one it
// replaces, of which largest is the size of the largest, and a line to a record.
func (v volume) judge(largest uint64) finding {
	free := v.words()
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

// judgeLogs reports whether services can write their logs to dir, which is on a disk of its own.
func (v volume) judgeLogs(dir string) finding {
	switch {
	case v.readOnly:
		return problem.about(dir, "the file system is mounted read-only", "mount it for writing")
	case v.free < 8*kibibyte, v.ofThem > 0 && v.inodes < 1:
		return problem.about(dir, "only "+v.words()+" are free", "make room: logs lose lines, and "+
			"services may not start")
	case v.free < 64*mebibyte:
		return warning.about(dir, "only "+v.words()+" are free", "make room: logs may soon lose lines")
	}
	return ok.about(dir, v.words()+" are free", "")
}

// words says what is free.
func (v volume) words() string {
	free := fmt.Sprintf("%d MiB", v.free/mebibyte)
	if v.free < mebibyte {
		free = fmt.Sprintf("%d bytes", v.free)
	}
	if v.ofThem > 0 {
		free += fmt.Sprintf(" and %d inodes", v.inodes)
	}
	return free
}
