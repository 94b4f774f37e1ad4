#!/bin/sh
# container.sh CRONTAB: be the first process of a container that is cron, with that table alone.
set -e
mount -t tmpfs -o mode=755 dpl-operated /run
mount -t tmpfs -o mode=700 dpl-operated /var/spool/cron/crontabs
mount -t tmpfs dpl-operated /etc/cron.d
mount --bind /dev/null /etc/crontab
test ! -e boot_id || mount --bind boot_id /proc/sys/kernel/random/boot_id
crontab "$1"
exec cron -f
