package doctor

import (
	"fmt"

	"github.com/dpl-project/dpl/fileops"
)

const sshfs = "fuse.sshfs"

// place reports whether the ledger commits as its file system requires (spec §17).
func (p *checkup) place() []finding {
	found := []finding{placement(p.survey.Network, p.survey.Ledger.Config().Commit)}
	return append(found, lasting(keptBy(p.dir()))...)
}

// A keep is a file system that does not keep a ledger for long.
type keep int

const (
	onDisk     keep = iota
	inMemory        // a tmpfs
	onOverlay       // such as the root of a container
	onVolatile      // an overlay that ignores fsync
)

// lasting reports what ends the ledger besides its deletion.
func lasting(on keep) []finding {
	const own = "the ledger is on an overlay, such as the root of a container: it ends with the " +
		"container, and nobody outside sees it"
	switch on {
	case inMemory:
		return []finding{note.about("", "the ledger is in memory (tmpfs): it ends with the machine, "+
			"or the container", "")}
	case onOverlay:
		return []finding{note.about("", own, "use a volume")}
	case onVolatile:
		return []finding{note.about("", own+"; fsync does nothing there (volatile)", "use a volume")}
	}
	return nil
}

// placement judges a ledger with the given way to commit, on a file system that FS.Network calls
// network.
func placement(network, commit string) finding {
	switch {
	case network == sshfs:
		return problem.about("", "sshfs shares no locks between hosts",
			"put the ledger on a file system that does")
	case network != "" && commit == fileops.CommitRename:
		text := fmt.Sprintf("several hosts can use this file system (%s), and commits by rename "+
			"lose edits there", network)
		return problem.about("", text,
			`stop all commands on all hosts, then write "commit": "link" into ledger.json, and `+
				"never change it back (dpl cannot check that no other host has the ledger open)")
	case network != "":
		text := fmt.Sprintf("several hosts can use the file system (%s), and it commits by link",
			network)
		return ok.about("", text, "")
	case commit == "":
		return ok.about("", "only this machine can use the file system", "")
	}

	return ok.about("", "only this machine can use the file system, and it commits by "+commit, "")
}
