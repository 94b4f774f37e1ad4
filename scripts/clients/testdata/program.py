"""program.py WHAT: what a program with dpl.py can come to."""
import pathlib
import signal
import sys
import time

import dpl

what = sys.argv[1]


def told(*_):
    print("cleaned up after 3", flush=True)
    sys.exit(3)


def main():
    if what == "inner":
        with dpl.call() as call:
            print(call.op, call.participant, len(dpl.status(call.op)["operation"]["stack"]))
        return
    if what == "refused":
        with dpl.call(None, "--lock-timeout=50ms", op="over"):
            return
    if what in ("aborted", "TERM"):
        signal.signal(signal.SIGTERM, told)
    with dpl.call("main", "--interval=50ms", "--lock-timeout=50ms", op="job", tmp=True, signal=signal.SIGTERM) as call:
        if what == "arguments":
            call.run(["sh", "-c", 'printf "<%s>" "$@" && touch "$0/x"', call.tmp, "a  b", "c\nd", "*", "", "$x", "it's"])
        elif what == "call fails":
            call.run(["sh", "-c", "exit 9"])
        elif what == "exits 7":
            sys.exit(7)
        elif what == "throws":
            raise ValueError("no good")
        elif what == "nested":
            call.run([sys.executable, __file__, "inner"])
        elif what == "begins twice":
            with dpl.call("main", op="job"):
                pass
        elif what == "beats":
            while True:
                call.beat()
        else:
            pathlib.Path("started").touch()
            while not pathlib.Path("go").exists():
                time.sleep(0.02)


try:
    main()
except dpl.Error as error:
    print(type(error).__name__, flush=True)
    sys.exit(error.status)
