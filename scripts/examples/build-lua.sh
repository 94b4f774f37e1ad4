#!/bin/sh
# build-lua.sh DIR: build and test the Lua in DIR through a queue, with a worker that cron starts.
#
# DIR is what tar unpacks from the lua5.4_*.orig.tar.gz of "apt-get source --download-only lua5.4".
#
# A task compiles one C file. The tasks that make the library, link the programs and run them wait
# for those before. All are added in one batch. A task is done once, even if its source changes
# later; farm.sh compiles again what has changed. The only worker is a line in a crontab. Whatever
# is killed, the line of the next minute goes on:
#
#	PATH=/usr/local/bin:/usr/bin:/bin
#	* * * * * dpl-work lua --jobs 2
#
#	dpl-wait --queue lua --task test    until DIR/src/lua has written its version to DIR/src/version
#	dpl-status --queue lua --why TASK   what the compiler says
#	dpl-enqueue lua --dead              try all that failed again, after a repair
set -eu
cd "${1:?usage: build-lua.sh DIR}/src"
dpl-queue lua --create --slots 2 --max-attempts 3 --backoff 0

# task ID FILE AFTER COMMAND: print a task that makes FILE when the tasks AFTER are done. COMMAND
# writes to $new, a file of this attempt alone, so FILE is never half made.
task() {
    printf '{"taskId": "%s", "after": [%s], "dir": ".", "argv": ["sh", "-c", "%s", "%s"]}\n' \
        "$1" "$3" "new=\$0.\$DPL_EPOCH; $4 && mv \$new \$0" "$2"
}

objects='' compiled=''
{
    for source in *.c; do
        name=${source%.c}
        task "cc:$name" "$name.o" '' "cc ${CFLAGS--O2} -DLUA_USE_LINUX -c -o \$new $source"
        case $name in
        lua | luac) ;;
        *) objects="$objects $name.o" compiled="$compiled${compiled:+, }\"cc:$name\"" ;;
        esac
    done

    task ar liblua.a "$compiled" "ar rcs \$new$objects"
    for program in lua luac; do
        task "ld:$program" "$program" "\"ar\", \"cc:$program\"" \
            "cc -o \$new -Wl,-E $program.o liblua.a -lm -ldl"
    done
    task test version '"ld:lua", "ld:luac"' "./luac -v && ./lua -e 'print(_VERSION)' >\$new"
} | dpl-enqueue lua
