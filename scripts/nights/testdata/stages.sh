#!/bin/sh
# stages.sh: every stage is a call, and the last one publishes.
dpl-run --call dump -- pg_dump |
	dpl-run --call gzip -- gzip |
	dpl-run --call upload -- sh -c 'perl line.pl >backup/part && mv backup/part backup/latest.sql.gz'
