//go:build linux

package main

import (
	"fmt"
	"path/filepath"
	"strconv"
)

// The statements of one transaction each, in which they stand between BEGIN IMMEDIATE and COMMIT.
var sqlOf = map[string]string{
	heartbeat: `UPDATE frame SET lastHeartbeat = strftime('%Y-%m-%dT%H:%M:%fZ') WHERE callId = 'call-1';`,
	push: `INSERT INTO frame VALUES('new', 'worker-new', 1, strftime('%Y-%m-%dT%H:%M:%fZ'), strftime('%Y-%m-%dT%H:%M:%fZ'), 'active');
UPDATE operation SET lastHeartbeat = strftime('%Y-%m-%dT%H:%M:%fZ');`,
	pop: `DELETE FROM frame WHERE callId = 'new'; UPDATE operation SET lastHeartbeat = strftime('%Y-%m-%dT%H:%M:%fZ');`,
}

const sqlTables = `PRAGMA journal_mode = %s;
CREATE TABLE operation(operationId TEXT PRIMARY KEY, revision INTEGER, state TEXT, lastHeartbeat TEXT);
CREATE TABLE frame(callId TEXT PRIMARY KEY, participantId TEXT, pid INTEGER, startTime TEXT, lastHeartbeat TEXT, state TEXT);
INSERT INTO operation VALUES('op', 0, 'running', strftime('%%Y-%%m-%%dT%%H:%%M:%%fZ'));
WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < %d)
INSERT INTO frame SELECT 'call-' || i, 'worker-' || i, 1, strftime('%%Y-%%m-%%dT%%H:%%M:%%fZ'), strftime('%%Y-%%m-%%dT%%H:%%M:%%fZ'), 'active' FROM n;`

func journalFull(b *bench, place string, frames int) (func(string) []string, error) {
	return b.sqlite(place, frames, "DELETE")
}

func walFull(b *bench, place string, frames int) (func(string) []string, error) {
	return b.sqlite(place, frames, "WAL")
}

// sqlite is a table of frames, and a process for each transaction.
func (b *bench) sqlite(place string, frames int, journal string) (func(string) []string, error) {
	file := sqliteFile(b, place)
	_, err := b.prepare(b.tools.sqlite, "-batch", "-bail", file,
		fmt.Sprintf(sqlTables, journal, frames))
	return func(work string) []string {
		return []string{b.tools.sqlite, "-batch", "-bail", "-cmd", ".timeout 60000", file,
			"PRAGMA synchronous = FULL; BEGIN IMMEDIATE; " +
				sqlOf[work] + " UPDATE operation SET revision = revision + 1; COMMIT;"}
	}, err
}

func sqliteFile(b *bench, place string) string { return filepath.Join(b.work, place+".db") }

// sqliteRevision returns how many transactions there have been.
func (b *bench) sqliteRevision(place string) (int64, error) {
	out, err := b.prepare(b.tools.sqlite, "-batch", sqliteFile(b, place),
		"SELECT revision FROM operation")
	if err != nil {
		return 0, err
	}
	return strconv.ParseInt(out, 10, 64)
}
