#!/bin/sh
# last.sh: the last stage is not a call, but the script is.
dpl-run --call dump -- pg_dump |
	dpl-run --call gzip -- gzip |
	{ perl line.pl >backup/part && mv backup/part backup/latest.sql.gz; }
