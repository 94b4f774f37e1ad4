package audit

import (
	"fmt"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/fileops"
	"github.com/dpl-project/dpl/protocol/audit"
)

// head prints the head of the record in one line.
func (c *auditor) head(env *cli.Env, object fileops.Audited) error {
	chain, err := object.Chain()
	if err == nil && chain.Seq == 0 {
		err = fileops.ErrNoRecord
	}
	if err != nil {
		return err
	}
	if env.JSON() {
		env.PrintJSON(cli.Object{{"seq", chain.Seq}, {"head", chain.Head}})
		return nil
	}
	fmt.Fprintf(env.Stdout, "%s %d %s\n", c.Object.name(), chain.Seq, chain.Head)
	return nil
}

// at prints the object as it was at a revision.
func (c *auditor) at(env *cli.Env, object fileops.Audited) error {
	state, want := audit.State{Shape: object.Shape, LeftOut: object.LeftOut}, int64(c.At)
	var first, last, there int64 // revisions
	_, err := read(object, func(l audit.Line) {
		if first == 0 && l.Revision > 0 {
			first = l.Revision
		}
		last = l.Revision
		if l.Revision <= want && last >= there {
			there = l.Revision
			state.Replay(l)
		}
	})
	switch {
	case err != nil:
		return err
	case want > last:
		return fmt.Errorf("%w: revision %d has not come yet: the last one is %d", fileops.ErrNoRecord,
			want, last)
	case !state.Known || there == 0:
		return fmt.Errorf("%w: of revision %d: the record begins with revision %d", fileops.ErrNoRecord,
			want, first)
	}

	text, err := object.Layout(state.Text())
	if err != nil {
		return fmt.Errorf("revision %d, as the record has it: %w", there, err)
	}
	fmt.Fprint(env.Stdout, text)
	return nil
}

// seal begins a new part of the log.
func (c *auditor) seal(env *cli.Env, object fileops.Audited) error {
	if env.DryRun() {
		return nil
	}
	path, err := object.Seal()
	if path != "" && err == nil {
		env.NoteCommit()
		if env.JSON() {
			env.PrintJSON(cli.Object{{"sealed", path}})
		} else {
			fmt.Fprintln(env.Stdout, path)
		}
	}
	return err
}

// turn switches the record on or off.
func (c *auditor) turn(env *cli.Env, object fileops.Audited) error {
	if env.DryRun() {
		return nil
	}
	err := object.Switch(c.On)
	if err == nil {
		env.NoteCommit()
		if env.JSON() {
			env.PrintJSON(cli.Object{{"on", c.On}})
		}
	}
	return err
}

// mostNote is the size of the largest text that is kept.
const mostNote = 16 << 20

// note adds a note about a text.
func (c *auditor) note(env *cli.Env, l *fileops.Ledger, object fileops.Audited) error {
	text, err := c.Data.Read(mostNote)
	if err != nil {
		return fmt.Errorf("--data: %w", err)
	}
	if env.DryRun() {
		return nil
	}
	if _, err := object.Chain(); err != nil {
		return err
	}

	note, err := l.AddNote(string(c.Note), string(c.Task), text)
	if err == nil {
		err = object.Note(note)
	}
	if err != nil {
		return err
	}
	env.NoteCommit()
	if env.JSON() {
		env.PrintJSON(cli.Object{{"kind", note.Kind}, {"size", note.Size}, {"sha256", note.Hash}})
	} else {
		fmt.Fprintln(env.Stdout, note.Hash)
	}
	return nil
}
