#!/bin/sh
# sendmail.sh: keep each mail of cron in a file of its own beside this one, which appears whole.
dir=$(dirname "$(readlink -f "$0")")
new=$(mktemp "$dir/.XXXXXXXX")
cat >"$new"
mv "$new" "$dir/mail.${new##*/.}"
