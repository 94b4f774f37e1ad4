#!/bin/sh
# to.sh: every stage is a call, and DPL publishes.
dpl-run --call dump -- pg_dump |
	dpl-run --call gzip -- gzip |
	dpl-run --call upload --to backup/latest.sql.gz -- perl line.pl
