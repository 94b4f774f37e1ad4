"""program.py WHAT: use dpl.py in the way, or end in the way, that WHAT names."""
import fcntl
import json
import multiprocessing
import os
import pathlib
import pickle
import signal
import subprocess
import sys
import threading
import time

import dpl

what = sys.argv[1]


def clean_up(*_):
    print("cleaned up after 3", flush=True)
    sys.exit(3)


class Alarm(OSError):  # as TimeoutError is one
    pass


def alarm(*_):
    raise Alarm("of a signal handler")


def interrupt(lock):
    """While a command waits for lock, let a signal handler raise Alarm in the main thread. Then
    release lock."""
    signal.signal(signal.SIGALRM, alarm)
    lock.touch()
    file = open(lock)
    fcntl.flock(file, fcntl.LOCK_EX)
    inode = f":{os.fstat(file.fileno()).st_ino} "

    def wait():
        def waits():
            return any("->" in line and inode in line for line in open("/proc/locks"))

        while not waits():
            time.sleep(0.02)
        signal.pthread_kill(threading.main_thread().ident, signal.SIGALRM)
        # The main thread waits for the command again, once the handler has raised.
        while signal.SIGALRM in signal.sigpending():
            time.sleep(0.02)
        raised.wait()
        file.close()

    raised, finish = threading.Event(), dpl._Command.finish
    complete = dpl._Command.complete

    def finishes(command, **stop):
        raised.set()
        finish(command, **stop)

    def completes(command):
        raised.set()
        complete(command)

    dpl._Command.finish, dpl._Command.complete = finishes, completes
    thread = threading.Thread(target=wait)
    thread.start()
    return thread


def claimed():
    queue = json.loads(pathlib.Path(os.environ["DPL_LEDGER"], "queues/q.json").read_text())
    return [[task["taskId"], task.get("state"), task.get("attempts")] for task in queue["tasks"]]


def interrupted():
    ledger = pathlib.Path(os.environ["DPL_LEDGER"])
    if what.startswith("claim"):
        subprocess.run(["dpl-queue", "q", "--create"], check=True)
        subprocess.run(["dpl-enqueue", "q", "--id", "a", "--", "true"], stdout=subprocess.DEVNULL, check=True)
        thread = interrupt(ledger / "queues/q.json.lock")
        try:
            dpl.claim("q", wait="waits" in what)
        except Alarm as error:
            print(error)
        thread.join()
        print(json.dumps(claimed()))
        return
    lock = ledger / "operations/job.json.lock"
    try:
        if "push" in what:
            subprocess.run(["dpl-push", "--op", "other", "--participant", "p"], check=True,
                           stdout=subprocess.DEVNULL)
            thread = interrupt(lock)
        with dpl.call("main", op="job"):
            if "pop" in what:
                thread = interrupt(lock)
    except Alarm as error:
        print(error)
    thread.join()


def signalled():
    """Get 2000 signals, each just when the main thread begins to wait."""
    handled = []
    for _ in range(2000):
        begin, done = threading.Event(), threading.Event()
        signal.signal(signal.SIGTERM, lambda *_: (handled.append(1), done.set()))

        def send():
            begin.wait()
            dpl._raise_signal(signal.SIGTERM)

        thread = threading.Thread(target=send)
        thread.start()
        begin.set()
        done.wait()
        thread.join()
    print(len(handled))


class Mute(Exception):
    def __str__(self):
        raise ValueError("no text")


def main():
    if what.endswith("interrupted"):
        return interrupted()
    if what == "signalled":
        return signalled()
    if what == "sentence":
        subprocess.run(["dpl-queue", "q", "--create"], check=True)
        try:
            dpl.claim("nope")
        except dpl.NotFound as error:
            print(error)
        return
    if what == "another directory":
        os.mkdir("below")
        os.chdir("below")
    if what == "inner":
        with dpl.call() as call:
            print(call.op, call.participant, len(dpl.status(call.op)["operation"]["stack"]))
        return
    if what == "refused":
        with dpl.call(None, "--lock-timeout=50ms", op="over"):
            return
    if what in ("aborted", "TERM", "aborted after a tolerated failure"):
        signal.signal(signal.SIGTERM, clean_up)
    flags = "--interval=50ms", "--lock-timeout=50ms"
    with dpl.call("main", *flags, op="job", tmp=True, signal=signal.SIGTERM) as call:
        if what == "arguments":
            call.run(["sh", "-c", 'printf "<%s>" "$@" && touch "$0/x"', call.tmp,
                      "a  b", "c\nd", "*", "", "$x", "it's"])
        elif what == "call fails":
            call.run(["sh", "-c", "exit 9"])
        elif what == "call exits as dpl-run may":
            for status in 3, 4, 5, 124, 125, 126:
                try:
                    call.run(["sh", "-c", f"exit {status}"], "--no-fail-on-crash")
                except subprocess.CalledProcessError as error:
                    print(error.returncode)
            print(call.run(["sh", "-c", "exit 3"], "--ok=2-4").returncode)
        elif what == "call is stopped":
            call.run(["sleep", "600"], "--timeout=50ms")
        elif what == "call hides a failure":
            call.run(["sh", "-c", "dpl-run -- false || true"])
        elif what == "cannot be run":
            call.run(["/"])
        elif what == "forks":
            child = os.fork()
            if child == 0:
                for act in call.heartbeat, call.end:
                    try:
                        act()
                    except dpl.Usage as error:
                        print(type(error).__name__, flush=True)
                call.run(["echo", "below"])
                sys.exit(7)
            os.waitpid(child, 0)
            fork = multiprocessing.get_context("fork")
            worker = fork.Process(target=call.run, args=(["echo", "below"],))
            worker.start()
            worker.join()
            print(dpl.status("job")["operation"]["state"], flush=True)
        elif what == "child leaves":
            child = os.fork()
            if child:
                os.waitpid(child, 0)
                print(dpl.status("job")["operation"]["state"], flush=True)
        elif what == "forks while it sends heartbeats":
            call.children = []
            for _ in range(300):
                child = os.fork()
                if child == 0:
                    signal.signal(signal.SIGTERM, signal.SIG_DFL)
                    signal.pause()
                call.children.append(child)
        elif what == "aborted after a tolerated failure":
            try:
                call.run(["false"], "--no-fail-on-crash")
            except subprocess.CalledProcessError:
                pass
            pathlib.Path("started").touch()
            threading.Event().wait()
        elif what == "says why":
            subprocess.run(["dpl-abort", "--reason", "enough"], env=call.env)
            signal.signal(signal.SIGTERM, lambda *_: None)
            call.stopped.wait()
            print(type(call.error).__name__, call.error, call.error.operation)
        elif what == "ends of an aborted operation":
            subprocess.run(["dpl-abort", "--reason", "enough"], env=call.env)
        elif what == "another directory":
            call.heartbeat()
            call.run(["true"])
        elif what == "throws without text":
            raise Mute
        elif what == "throws without stderr":
            os.environ["PATH"] = call.env["PATH"] = "/nowhere"
            sys.stderr.close()
            raise ValueError("no good")
        elif what == "exits with a text":
            sys.exit("")
        elif what == "exits 7":
            sys.exit(7)
        elif what == "heartbeats go on":  # after one that could not be sent
            missed, heartbeat = threading.Event(), call.heartbeat

            def miss():
                call.heartbeat = heartbeat
                missed.set()
                raise FileNotFoundError("dpl-heartbeat")

            call.heartbeat = miss
            missed.wait()
            last = stack = dpl.status("job")["operation"]["stack"]
            while stack == last:
                time.sleep(0.02)
                stack = dpl.status("job")["operation"]["stack"]
            print("sent", flush=True)
        elif what == "cause":
            call.run(["sh", "-c", "dpl-run --call bad -- sh -c 'exit 9' || true"])
        elif what == "throws odd text":
            raise ValueError("\udcff\0" + 200000 * "x")
        elif what == "throws":
            raise ValueError("no good")
        elif what == "nested":
            call.run([sys.executable, __file__, "inner"])
        elif what == "begins twice":
            with dpl.call("main", op="job"):
                pass
        else:
            pathlib.Path("started").touch()
            while not pathlib.Path("go").exists():
                time.sleep(0.02)
    for child in getattr(call, "children", []):  # live children did not delay the end of the call
        os.kill(child, signal.SIGTERM)
        os.waitpid(child, 0)


try:
    main()
except dpl.Error as error:
    if what == "cause":
        again = pickle.loads(pickle.dumps(error))
        print(again, again.operation, again.status, again.cause)
    print(type(error).__name__, flush=True)
    sys.exit(error.status)
