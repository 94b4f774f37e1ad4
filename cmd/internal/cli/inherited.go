package cli

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/dpl-project/dpl/fileops"
	"github.com/dpl-project/dpl/protocol"
)

const unset = "unset DPL_OP DPL_RUN DPL_CALL DPL_PARTICIPANT DPL_TMP"

// cure returns a way to fix err, or "" if none is known.
func (env *Env) cure(err error) string {
	known := cure(err)
	if path, ok := errors.AsType[*fs.PathError](err); ok && known == "" &&
		errors.Is(err, fs.ErrPermission) && env.isOfLedger(path.Path) {
		return "run this as the owner of the ledger, or set --ledger or $DPL_LEDGER to another"
	}

	if env.inherited && errors.Is(err, protocol.ErrNotRunning) && env.isCalled() {
		return "" // another call has failed, and the caller stops this one
	}

	for _, over := range []error{fileops.ErrArchived, protocol.ErrOver, protocol.ErrNotRunning,
		fileops.ErrNotFound} {
		if !env.inherited || !errors.Is(err, over) {
			continue
		}
		if known != "" {
			known += "; "
		}
		return known + "$DPL_OP of this shell names it: " + unset + " to work outside of it"
	}

	return known
}

// isCalled reports whether the call that has started this process, $DPL_CALL, is still part of the
// operation.
func (env *Env) isCalled() bool {
	l, err := env.Open()
	if err != nil {
		return false
	}
	op, _, err := l.ReadOperation(os.Getenv("DPL_OP"))
	f := op.Frame(os.Getenv("DPL_CALL"))
	return err == nil && f != nil && f.State.Live()
}

// isOfLedger reports whether path is the ledger, inside it, or a directory in which it would be
// created.
func (env *Env) isOfLedger(path string) bool {
	dir, err := env.Dir()
	if err == nil {
		dir, err = filepath.Abs(dir)
	}
	inside := strings.HasPrefix(path, dir+string(filepath.Separator))
	return err == nil && (path == dir || inside ||
		strings.HasPrefix(dir, path+string(filepath.Separator)))
}

// NoteOver warns that the operation op, which is over, came from $DPL_OP and not from a flag.
func (env *Env) NoteOver(op string) {
	if env.inherited {
		env.Warnf("%s: it is over: $DPL_OP of this shell names it: %s to work outside of it", op,
			unset)
	}
}

// NoteInherited warns that a command applies only to op, if op is over or never existed, there are
// other operations, and op came from $DPL_OP and not from a flag.
func (env *Env) NoteInherited(l *fileops.Ledger, op string) {
	if !env.inherited {
		return
	}
	if now, _, err := l.ReadOperation(op); err == nil && !now.State.Terminal() {
		return
	}

	ids, err := l.IDs()
	if err == nil && (len(ids) > 1 || len(ids) == 1 && ids[0] != op) {
		env.Warnf("%s: only this operation, which has ended: $DPL_OP names it: %s for all", op,
			unset)
	}
}
