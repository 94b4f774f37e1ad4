#!/bin/sh
# service.sh: the command of each service. It writes down its start: SERVICE START PID.
echo "$DPL_SERVICE $DPL_START $$" >>starts

redis() { redis-cli -s redis.sock "$@" 2>/dev/null; }

case $DPL_SERVICE in
redis) exec redis-server --port 0 --unixsocket redis.sock --save '' ;;
migrate)
	until redis ping >/dev/null; do sleep 0.1; done
	echo "$DPL_START" >>migrated
	;;
web)
	rm -f healthy
	exec python3 -m http.server "$1" --bind 127.0.0.1 --directory www
	;;
worker) while :; do redis incr jobs >/dev/null; sleep 1; done ;;
flaky)
	n=$(od -An -N1 -tu1 /dev/urandom)
	sleep $((3 + n % 6))
	case $((n % 3)) in
	0) exit 0 ;;
	1) exit 1 ;;
	2) exit 75 ;;
	esac
	;;
noisy)
	while :; do
		echo "all is well"
		if test -e flood && rm flood; then
			cat /dev/zero
			echo >flooded
		fi
		sleep 1
	done
	;;
esac
