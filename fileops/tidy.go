package fileops

import (
	"errors"
	"fmt"

	"github.com/dpl-project/dpl/fileops/disk"
)

// TidyGroup removes the services of a group that ended long ago, with their logs, and returns their
// ids (spec §30.1). It holds the group's lock, so that none of them starts while its log goes. The
// logs go before the commit: whoever is killed in between leaves the entries, and they are found
// again. While another process rotates one of the logs, it changes nothing.
func (l *Ledger) TidyGroup(id, by string) (removed []string, err error) {
	err = l.HoldGroup(id, Existing, func(tx *GroupTx) error {
		after, ended, err := tx.Value().Tidy(by, tx.Observe())
		if err != nil || len(ended) == 0 {
			return err
		}

		err = l.removeLogs(id, ended)
		if errors.Is(err, disk.ErrBusy) {
			return nil
		}
		if err != nil {
			return err
		}

		if err = tx.Commit(after); err == nil || errors.Is(err, ErrCommitted) {
			removed = ended
		}
		return err
	})
	return removed, err
}

// removeLogs deletes the logs of services.
func (l *Ledger) removeLogs(group string, services []string) (err error) {
	for _, service := range services {
		log, logErr := l.ServiceLog(group, service, nil)
		if logErr == nil {
			logErr = log.Remove()
		}
		if logErr != nil {
			err = errors.Join(err, fmt.Errorf("%s: remove the log of %q: %w", group, service,
				logErr))
		}
	}
	return err
}
