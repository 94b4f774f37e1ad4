#!/bin/sh
# sendmail.sh: keep each mail of cron in a file of its own, which appears whole.
mails=$(dirname "$(readlink -f "$0")")/mails
new=$(mktemp "$mails/.XXXXXXXX")
cat >"$new"
mv "$new" "$mails/${new##*/.}"
