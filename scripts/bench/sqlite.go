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

// The statements about tasks. A task keeps its row when it is done, as ours do.
const (
	sqlTasks = `PRAGMA journal_mode = %s;
CREATE TABLE task(id INTEGER PRIMARY KEY, name TEXT UNIQUE, state TEXT, priority INTEGER, spec TEXT, claimer INTEGER, claimedAt TEXT, endedAt TEXT);
CREATE INDEX ready ON task(state, priority, id);
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d)
INSERT INTO task SELECT i, 'task-' || i, iif(i <= %d, 'done', 'waiting'), 0, '{"argv":["true"]}', NULL, NULL, NULL FROM n;`
	sqlEnqueue = `INSERT INTO task(name, state, priority, spec) VALUES('task-%d', 'waiting', 0, '{"argv":["true"]}');`
	sqlClaim   = `UPDATE task SET state = 'claimed', claimer = 1, claimedAt = strftime('%Y-%m-%dT%H:%M:%fZ') WHERE id = (SELECT id FROM task WHERE state = 'waiting' ORDER BY priority, id LIMIT 1) RETURNING id;`
	sqlSettle  = `UPDATE task SET state = 'done', endedAt = strftime('%Y-%m-%dT%H:%M:%fZ') WHERE state = 'claimed' AND id = `
)

// sqlitePool is a table of tasks, and a process for each transaction.
func (b *bench) sqlitePool(place string, waiting int, journal string) (*pool, error) {
	file := sqliteFile(b, place)
	if _, err := b.prepare(b.tools.sqlite, "-batch", "-bail", file,
		fmt.Sprintf(sqlTasks, journal, remembered+waiting, remembered)); err != nil {
		return nil, err
	}

	argv := func(sql string) []string {
		return []string{b.tools.sqlite, "-batch", "-bail", "-cmd", ".timeout 60000", file,
			"PRAGMA synchronous = FULL; " + sql}
	}
	transaction := shell(argv("")[:6]) + ` "PRAGMA synchronous = FULL; `
	return &pool{
		enqueue: func(n int) []string {
			return argv(fmt.Sprintf(sqlEnqueue, remembered+waiting+n))
		},
		take: func(n int) [][]string {
			return [][]string{argv(sqlClaim), argv(sqlSettle + strconv.Itoa(remembered+n))}
		},
		loop: "while t=$(" + transaction + sqlClaim + `") && [ "$t" ]; do true; ` + transaction +
			sqlSettle + `$t"; done`,
		check: func(left int) error {
			out, err := b.prepare(b.tools.sqlite, "-batch", file, "SELECT count(*) FROM task "+
				"WHERE state = 'waiting' UNION SELECT count(*) FROM task WHERE state <> 'done'")
			if err == nil && out != strconv.Itoa(left) {
				err = fmt.Errorf("%s tasks wait or are not done; want %d", out, left)
			}
			return err
		},
	}, nil
}
