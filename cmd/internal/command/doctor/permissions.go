package doctor

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/dpl-project/dpl/fileops"
	"github.com/dpl-project/dpl/fileops/disk"
	"github.com/dpl-project/dpl/fileops/layout"
	"github.com/dpl-project/dpl/fileops/survey"
)

// permissions reports files that commands refuse because others may have written them, and those
// that this user may not use as commands do.
func (p *checkup) permissions() (found []finding) {
	if err := p.survey.Refusal; errors.Is(err, fileops.ErrPermission) && !p.barred() {
		text, cure := reason(err, p.dir())
		found = append(found, problem.about("", text, cure))
	}
	for _, f := range p.survey.Files {
		switch {
		case f.Distrust != nil:
			found = append(found, p.untrusted(f))
		case f.Path == p.dir() && f.Info.Mode&0o055 != 0 && !p.survey.Ledger.Config().Shared &&
			os.Geteuid() >= 0:
			text := fmt.Sprintf("others may read it (mode %04o)", f.Info.Mode.Perm())
			found = append(found, note.about("", text, "chmod 700 it"))
		}
	}

	return found
}

// barred reports whether permissions reports a file that commands refuse.
func (p *checkup) barred() bool {
	return slices.ContainsFunc(p.survey.Files,
		func(f survey.Found) bool { return f.Distrust != nil })
}

// reason returns why commands refuse what is at path, and what to do.
func reason(err error, path string) (text, cure string) {
	text, cure, _ = strings.Cut(strings.TrimPrefix(err.Error(),
		path+": "+fileops.ErrPermission.Error()+": "), ": ")
	return text, cure
}

func (p *checkup) untrusted(f survey.Found) finding {
	text, cure := reason(f.Distrust, f.Path)
	result := problem.about(p.survey.Name(f), text, cure)
	result.fixable = p.tightens(f)

	switch {
	case result.fixable:
		result.cure += ", or --fix"
	case p.survey.Ours(f):
		result.cure = "others may have written commands, or paths to delete, into it: read it, " +
			"then chmod go-w it or move it away"
	}

	return result
}

// tightens reports whether --fix removes the write permission of others from f. It does so only for
// directories, whose files are judged one by one, and for empty lock files. Others may have written
// into any other file what to delete, run or signal after a crash, so a person must read it first.
func (p *checkup) tightens(f survey.Found) bool {
	return p.survey.Ours(f) && (f.Kind == layout.Directory || f.Kind == layout.LockFile &&
		f.Info.Size == 0)
}

// parents reports the directories above the ledger that let others replace it.
func (p *checkup) parents() (found []finding) {
	euid := os.Geteuid()
	if euid < 0 {
		return nil
	}

	for _, dir := range p.survey.Above {
		if cause := replaceable(dir.Info, euid); cause != "" {
			found = append(found, warning.about(dir.Path, cause,
				"chmod go-w it, or move the ledger"))
		}
	}

	return found
}

// replaceable returns why users other than root can rename entries of a directory, or "".
func replaceable(dir disk.Info, euid int) string {
	switch {
	case dir.UID != 0 && dir.UID != euid:
		return fmt.Sprintf("its owner, uid %d, can replace the ledger's directory", dir.UID)
	case dir.Mode&0o022 != 0 && dir.Mode&fs.ModeSticky == 0:
		return fmt.Sprintf("others may write to it (mode %04o), and so can replace the ledger's "+
			"directory", dir.Mode.Perm())
	}
	return ""
}
