package doctor

import (
	"fmt"

	"github.com/dpl-project/dpl/fileops"
)

const sshfs = "fuse.sshfs"

// place reports whether the ledger commits as its file system requires (spec §17).
func (p *checkup) place() []finding {
	return []finding{placement(p.survey.Network, p.survey.Ledger.Config().Commit)}
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
