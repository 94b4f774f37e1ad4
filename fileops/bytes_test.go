package fileops

import (
	"encoding/json"
	"io"

	"github.com/dpl-project/dpl/fileops/store"
	"github.com/dpl-project/dpl/protocol"
)

// Edit changes the bytes of one operation, whatever they mean: an edit without a codec.
func (l *Ledger) Edit(id string, mode Mode, change func(tx *byteTx) error) error {
	return l.hold(l.operationDocument(id), mode, func(e *edit) error {
		tx := &byteTx{edit: e}
		if err := change(tx); err != nil {
			return err
		}
		if tx.over {
			return e.archive()
		}

		_, err := e.commit(tx.changes, tx.heartbeat)
		return err
	})
}

// content is bytes that can be written more than once.
type content []byte

func (c content) WriteTo(w io.Writer) (int64, error) {
	n, err := w.Write(c)
	return int64(n), err
}

// byteTx is an edit of bytes in progress. Its effects are carried out when change has returned.
type byteTx struct {
	*edit
	changes   []change
	heartbeat bool
	over      bool
}

// Data returns the operation as it is, nil if it does not exist.
func (tx *byteTx) Data() []byte { return tx.files[0].Base.Data }

func (tx *byteTx) Replace(data []byte, heartbeat bool) {
	var head struct{ Revision int64 }
	json.Unmarshal(data, &head)
	size := func(size int64, _ string) error { return operations.checkSize(protocol.Operation{}, size) }
	tx.changes = []change{{0, store.Contents{WriterTo: content(data), Revision: head.Revision, Check: size}}}
	tx.heartbeat, tx.over = heartbeat, false
}

func (tx *byteTx) Archive()                  { tx.changes, tx.over = nil, true }
func (tx *byteTx) Discard(path string) error { return tx.effects.discard(path, nil) }
func (tx *byteTx) DiscardTmp(call string) {
	tx.effects.spent = append(tx.effects.spent,
		call)
}
func (tx *byteTx) MakeTmp(call string) (string, error) { return tx.effects.makeTmp(call) }
