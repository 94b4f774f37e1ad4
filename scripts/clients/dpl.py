"""dpl.py: Python programs make calls of an operation, and do the tasks of queues. Needs Python 3.9
and the dpl commands.

    import dpl

    # A call: the end of the block pops it, and an exception fails it. --reuse begins the next run of
    # an operation that has ended.
    with dpl.call("build", "--reuse", op="build", tmp=True) as call:
        call.run(["./compile", "main.c", f"{call.tmp}/main.o"])  # a call below it
        for file in files:
            call.heartbeat()  # raises dpl.Aborted when it is time to clean up
            work(file)

    try:
        dpl.wait("night", timeout=3600, state="completed") or print("the backup has failed")
    except dpl.TimedOut:
        print("it takes long today")
    for event in dpl.watch("night"):
        print(event["type"], event.get("callId"))

    # A queue: the end of the block settles the task as done, and an exception as failed.
    dpl.enqueue("letters", text="to Ada", key="letter 17")
    while task := dpl.claim("letters", wait=True):
        with task:
            send(task.spec["text"])

The call is alive as long as the process, and others see at once when the process ends. A thread
sends heartbeats while the block runs. When the operation is aborted or fails elsewhere,
call.stopped is set, and call.error says why. With signal=signal.SIGTERM this process also gets that
signal, once. A command of DPL that fails raises the exception of its exit status.

A relative $DPL_LEDGER means a directory below the working directory at the import of this module,
also after os.chdir.

A call belongs to the process that made it. A child of os.fork or of multiprocessing that leaves the
block does not end the call, and cannot send heartbeats for it. It can run commands below the call,
and make its own calls.
"""
from __future__ import annotations

import contextlib
import json
import os
import re
import signal as signals
import subprocess
import sys
import threading
import time
from typing import Any, Callable, Dict, Iterator, List, Optional, Sequence, Set, Tuple, Type, Union


class Error(Exception):
    """A command of DPL failed; status is its exit status."""

    def __init__(self, status: int, message: str):
        super().__init__(status, message)
        self.status = status

    def __str__(self) -> str:
        return str(self.args[1])


class Aborted(Error):
    """3: the operation is aborted or in cleanup: clean up and pop. operation is its id. cause has
    the facts of what ended it: call, and where they are known evidence, status or signal, and
    reason. It is None if no call did. The message says the same."""

    operation: Optional[str] = None
    cause: Optional[Dict[str, Any]] = None


class Over(Error):
    """4: the operation is over."""


class DeclaredCrashed(Error):
    """5: the call was declared crashed; it can still be popped."""


class Lost(DeclaredCrashed):
    """5: the claim of a task is over: stop working on it."""


class Halted(Error):
    """3: the queue is halted."""


class Usage(Error):
    """64: wrong arguments or ids."""


class Corrupt(Error):
    """65: a file of the ledger is not valid."""


class NotFound(Error):
    """66: no such ledger, operation, call, group or service."""


class Unavailable(Error):
    """69: the supervisor or the process is dead."""


class Busy(Error):
    """75: another process held the lock for too long; nothing has changed, try again."""


class Refused(Error):
    """76: refused by the protocol: the operation is not running, has had the call, and so on."""


class NotPermitted(Error):
    """77: another user owns the ledger or may write to it."""


class TimedOut(Error):
    """124: the state did not come, or the command did not end, in time."""


ERRORS: Dict[int, Type[Error]] = {
    3: Aborted, 4: Over, 5: DeclaredCrashed, 64: Usage, 65: Corrupt, 66: NotFound, 69: Unavailable,
    75: Busy, 76: Refused, 77: NotPermitted, 124: TimedOut,
}


class Call:
    """An open call: its ids op, id and participant, tmp (its directory, or None), env (the
    environment for children that make calls below it), stopped, an Event that is set when the call
    should clean up, or when it is over or declared crashed, and error, which then says why: it is
    Aborted, Over or DeclaredCrashed."""

    def __init__(self, pushed: Dict[str, Any], env: Dict[str, str]):
        self.op: str = pushed["operationId"]
        self.id: str = pushed["callId"]
        self.participant: str = pushed["participantId"]
        self.tmp: Optional[str] = pushed["tmp"]
        self._run_id: str = pushed.get("runId") or ""
        ids = {"DPL_OP": self.op, "DPL_CALL": self.id, "DPL_PARTICIPANT": self.participant}
        ids["DPL_RUN"] = self._run_id
        outer = {k: v for k, v in env.items() if k not in ("DPL_TMP", "DPL_HANDLE")}
        self.env = {**outer, **ids}
        if self.tmp:
            self.env["DPL_TMP"] = self.tmp
        if pushed.get("traceparent"):  # an older dpl-push has none
            self.env["TRACEPARENT"] = pushed["traceparent"]
        self.stopped = threading.Event()
        self.error: Optional[Error] = None
        self._pid = os.getpid()
        self._popped = False
        self._unpopped: Optional[BaseException] = None  # why it could not be popped
        # It gets no signal while it will learn by itself why it should end: while commands run below
        # it; after one has failed, until a heartbeat shows that the operation goes on; and at its end.
        self._running: List[Any] = []
        self._deaf: Any = None  # the last failure

    def heartbeat(self, *flags: str) -> None:
        """Send a heartbeat, with any flags of dpl-heartbeat, such as "--cleaning".

        Raises Aborted, Over or DeclaredCrashed."""
        self._check_process()
        try:
            _run(["dpl-heartbeat", *self._ids(), "--pid", str(os.getpid()), *flags], self.env)
        except (Aborted, Over, DeclaredCrashed) as error:
            self.error = self._explained(error)
            self.stopped.set()
            raise self.error from None

    def run(
        self, command: Sequence[str], *flags: str, **options: Any
    ) -> "subprocess.CompletedProcess[Any]":
        """Run command as a call below this one, with flags of dpl-run, such as "--timeout=10m", and
        options of Popen. With stdout=subprocess.PIPE the result has its output.

        Raises CalledProcessError if the command fails, whatever its exit status, unless a flag such
        as "--ok=0,1" makes that success; Aborted if something else failed the operation; Over,
        DeclaredCrashed or TimedOut if dpl-run stopped it; Error if it cannot be run, or if dpl-run
        itself fails."""
        self._running.append(command)
        try:
            return self._run_below(command, flags, options)
        except BaseException as error:
            # A failure that is tolerated says nothing of the operation.
            tolerated = "--no-fail-on-crash" in flags
            if not (tolerated and isinstance(error, subprocess.CalledProcessError)):
                self._deaf = error
            raise
        finally:
            self._running.pop()

    def _run_below(
        self, command: Sequence[str], flags: Sequence[str], options: Dict[str, Any]
    ) -> "subprocess.CompletedProcess[Any]":
        reader, writer = os.pipe()
        try:
            child = _start(
                ["dpl-run", *flags, f"--status-fd={writer}", "--", *command],
                **{"env": self.env, **options, "pass_fds": (*options.get("pass_fds", ()), writer)},
            )
            with child:
                try:
                    output = child.communicate()
                except BaseException:
                    child.terminate()  # not kill, as subprocess.run does: dpl-run must stop and pop
                    child.wait()
                    raise
            account = _account(reader, child.returncode)
        finally:
            os.close(reader)
            os.close(writer)
        if account["by"] != "command":
            error = _error(child.returncode, f"dpl-run: {command[0]}: {account['reason']}")
            raise self._explained(error)
        ran = subprocess.CompletedProcess(list(command), child.returncode, *output)
        if not account["ok"]:
            ran.check_returncode()
        return ran

    def end(self, failure: str = "") -> None:
        """Pop the call, as failed if a failure is given. The end of the with block does it.

        Raises Aborted if it has popped a call that did not fail, and the operation has been aborted
        or has failed elsewhere."""
        state = self._pop(failure)
        if not failure and state not in ("running", "completed"):
            raise self._explained(Aborted(3, f"operation {self.op} is {state}"))

    def _pop(self, failure: str) -> str:
        """Pop the call, and return the state of the operation after that."""
        self._check_process()
        failed = ["--fail", f"--reason={_argument(f'call {self.id}: {failure}')}"] if failure else []
        ending = _end(["dpl-pop", "--json", *self._ids(), *failed], self.env)
        self._popped, self._unpopped = ending.error is None, ending.error
        ending.check()
        return str(json.loads(ending.answer)["state"])

    def _explained(self, error: Error) -> Error:
        """Return error, or if it is Aborted, one that says what ended the operation."""
        if not isinstance(error, Aborted):
            return error
        message, cause = str(error), None
        with contextlib.suppress(Exception):
            shown = json.loads(_run(["dpl-status", "--op", self.op, "--json"], self.env))["operation"]
            for change in shown["transitions"] if shown.get("runId", "") == self._run_id else []:
                if change["from"] == "running":
                    how = "was aborted" if change["to"] == "aborted" else "failed"
                    message = f"operation {self.op} {how}: {change.get('reason', '')}"
                    cause = change.get("cause")
        explained = Aborted(error.status, message)
        explained.operation, explained.cause = self.op, cause
        return explained

    def _check_process(self) -> None:
        if os.getpid() != self._pid:
            owner = f"process {self._pid}, which made it, not to this one"
            raise Usage(64, f"{self.op}: call {self.id} belongs to {owner}")

    def _ids(self) -> List[str]:
        return ["--op", self.op, "--call", self.id]

    def _send_heartbeats(self, ended: threading.Event, signal: Optional[int]) -> None:
        interval = 1.5
        with contextlib.suppress(Exception):
            shown = json.loads(_run(["dpl-status", "--op", self.op, "--json"], self.env))
            interval = shown["operation"]["heartbeatIntervalMs"] / 1000
        while not ended.wait(interval):
            failure = self._deaf
            try:
                self.heartbeat()
                if failure is self._deaf and not ended.is_set():
                    self._deaf = None  # the operation goes on
            except Error as error:
                if not self.stopped.is_set() or ended.is_set():
                    continue  # it may work next time
                if signal and self._deaf is None and not self._running:
                    _raise_signal(signal)
                    signal = None
                if not isinstance(error, Aborted):
                    return
            except Exception:
                continue  # such as ENOENT while the commands are replaced, or EAGAIN


def _raise_signal(number: int) -> None:
    """Send this process a signal, from another thread than the main one.

    The main thread runs the handler between two instructions. If it is just about to wait for a
    lock, the wait does not end for a signal that came before. So the signal is repeated until the
    main thread has run something, and its handler before that. The handler runs once."""
    ran, main = threading.Event(), threading.main_thread()
    try:
        import ctypes

        @ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)
        def runs(_: Any) -> int:
            ran.set()
            return 0

        _raised.append(runs)  # it must exist when it is called
        ctypes.pythonapi.Py_AddPendingCall(runs, None)
    except (ImportError, AttributeError):  # not CPython
        ran.set()
    os.kill(os.getpid(), number)
    while main.is_alive() and not ran.wait(0.1):
        signals.pthread_kill(main.ident, number)  # type: ignore[arg-type]


_raised: List[Any] = []

_open: Set[Tuple[int, str, str]] = set()  # by process: a forked child has none of its parent's

# No thread may fork between making a pipe and starting the command that gets it: the child would
# hold the pipe open, and its reader, such as the thread that sends heartbeats, would wait for it.
_starting = threading.RLock()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_starting.acquire,
        after_in_parent=_starting.release,
        after_in_child=_starting.release,
    )


@contextlib.contextmanager
def call(
    name: Optional[str] = None,
    *flags: str,
    op: Optional[str] = None,
    participant: Optional[str] = None,
    tmp: bool = False,
    signal: Optional[int] = None,
) -> Iterator[Call]:
    """Make a call of the operation op, with any flags of dpl-push.

    By default op is $DPL_OP or a new operation, name is made up, and participant is the name of
    this program. tmp gives the call its own directory, which is deleted with it.

    An exception, and SystemExit with a status, fails the call and is raised again. Raises the
    errors of dpl-push and dpl-pop, such as Busy, or Refused if the operation is not running. The end
    of the block raises Aborted if the operation has been aborted or has failed elsewhere.
    """
    program = os.path.basename(sys.argv[0])
    program = re.sub(r"[^A-Za-z0-9._:-]|\.(?=\.)", "-", program).lstrip("._:-")[:60]
    push = ["dpl-push", "--json", "--pid", str(os.getpid())]
    push += ["--participant", participant or program or "python"]
    push += ["--op", op] if op else []
    push += ["--call", name] if name else []
    env, pid = _environment(), os.getpid()
    opened: List[Call] = []
    ended = threading.Event()

    def made(answer: str) -> None:
        call = Call(json.loads(answer), env)
        key = (pid, call.op, call.id)
        if key in _open:  # dpl-push takes this for the same push again
            raise Refused(76, f"{call.op}: call {call.id} is open in this process")
        _open.add(key)
        opened.append(call)

    pushing = _Command([*push, *(["--tmp"] if tmp else []), *flags], env, made)
    beats: List[threading.Thread] = []
    try:
        pushing.result()
        self = opened[0]
        beating = threading.Thread(target=self._send_heartbeats, args=(ended, signal), daemon=True)
        beating.start()
        beats.append(beating)
        yield self
        if os.getpid() == pid and not self._popped:
            self._deaf = "its end"
            ended.set()
            self.end()
    except BaseException as error:
        if os.getpid() == pid:
            ended.set()
            failure = "" if "--no-fail-on-crash" in flags else _failure(error)
            with _reported():  # the caller wants to know the first error
                # A signal handler may have raised it, before there was a call or while it ended.
                pushing.finish()
                for pushed in opened:
                    pushed._deaf = error
                    if not pushed._popped and error is not pushed._unpopped:
                        pushed._pop(failure)
        raise
    finally:
        if os.getpid() == pid:
            ended.set()
            _open.difference_update({(pid, pushed.op, pushed.id) for pushed in opened})
            for beating in beats:
                beating.join()


def status(op: str) -> Dict[str, Any]:
    """Return what dpl-status --json says of op."""
    return json.loads(_run(["dpl-status", "--op", op, "--json"]))  # type: ignore[no-any-return]


def wait(
    op: Union[str, Sequence[str]],
    *flags: str,
    state: str = "terminal",
    timeout: Optional[float] = None,
) -> bool:
    """Wait until op, or each of several, is in state, with any flags of dpl-wait.

    Returns False as soon as that has become impossible. Raises TimedOut after timeout seconds."""
    ops = [op] if isinstance(op, str) else op
    limit = [] if timeout is None else ["--timeout", f"{timeout}s"]
    try:
        ours = f"--pid={os.getpid()}"  # it ends with this process
        _run(["dpl-wait", *(f"--op={one}" for one in ops), "--for", state, ours, *limit, *flags])
    except Error as error:
        if error.status != 1:
            raise
        return False
    return True


def watch(op: str, since: Optional[int] = None) -> Iterator[Dict[str, Any]]:
    """Yield what happens in op, as dpl-watch prints it, until op ends."""
    command = ["dpl-watch", "--op", op, *([] if since is None else ["--since", str(since)])]
    pid = os.getpid()
    options: Dict[str, Any] = {"stdout": subprocess.PIPE, "encoding": "utf-8"}
    with _start(command, env=_environment(), **options) as watcher:
        assert watcher.stdout
        try:
            for line in watcher.stdout:
                yield json.loads(line)
        finally:
            if os.getpid() == pid:  # in a forked child it belongs to the parent
                watcher.terminate()  # does nothing if it has ended
    if watcher.returncode > 0:
        raise _error(watcher.returncode, f"dpl-watch: {op}: exit status {watcher.returncode}")


class Task:
    """A task that this process has claimed: its queue, id, epoch (the number of the claim), attempt
    (the number of claims of it), and spec, what was enqueued. It is settled once; a with block does
    it."""

    def __init__(self, claimed: Dict[str, Any], env: Optional[Dict[str, str]] = None):
        self._env = env or _environment()
        self.queue: str = claimed["queueId"]
        self.id: str = claimed["taskId"]
        self.epoch: int = claimed["epoch"]
        self.attempt: int = claimed["attempt"]
        self.spec: Dict[str, Any] = claimed["spec"]
        self.settled = False

    def done(self, *flags: str) -> None:
        """The task is done. Raises Lost if the claim is over, Refused if it was settled otherwise.
        flags are those of dpl-settle, such as "--report=FILE"."""
        self._settle("--done", *flags)

    def fail(self, reason: str = "", *flags: str) -> None:
        """The attempt failed: it counts, and the task waits for its backoff."""
        self._settle("--fail", f"--reason={_argument(reason)}", *flags)

    def release(self) -> None:
        """Give the task back; the attempt does not count."""
        self._settle("--release")

    def snooze(self, seconds: float) -> None:
        """Give the task back for some time; the attempt does not count."""
        self._settle(f"--snooze={seconds}s")

    def block(self, reason: str) -> None:
        """The task waits for a person."""
        self._settle(f"--block={_argument(reason)}")

    def unclaim(self) -> None:
        """Give the task back as if it had not been claimed: nothing of it was begun."""
        self._settle("--unclaim")

    def check(self) -> None:
        """Raise Lost if the claim is over: look right before an effect that must not happen twice."""
        try:
            _run(["dpl-claim", *self._ids(), "--check"], self._env)
        except DeclaredCrashed as error:
            self.settled = True
            raise Lost(error.status, str(error)) from None

    def _settle(self, *flags: str) -> None:
        ending = _end(["dpl-settle", *self._ids(), *flags], self._env)
        lost = isinstance(ending.error, DeclaredCrashed)
        self.settled = lost or ending.error is None
        if lost:
            ending.error = Lost(5, str(ending.error))
        ending.check()

    def _ids(self) -> List[str]:
        return ["--queue", self.queue, "--task", self.id, "--epoch", str(self.epoch)]

    def __enter__(self) -> "Task":
        return self

    def __exit__(
        self, kind: Optional[Type[BaseException]], error: Optional[BaseException], _: Any
    ) -> None:
        if self.settled:
            return
        if error is None:
            self.done()
        elif isinstance(error, Exception):
            with _reported():  # the caller wants to know the first error
                self.fail(_said(error))
        else:  # such as KeyboardInterrupt: not the fault of the task
            with _reported():
                self.release()


def enqueue(
    queue: str,
    *command: str,
    id: Optional[str] = None,
    key: Optional[str] = None,
    text: Optional[str] = None,
    flags: Sequence[str] = (),
) -> str:
    """Add a task to queue, with a command or a text, and any flags of dpl-enqueue. Returns its id.

    A task with the same id or key is not added again, even after it has ended. Raises Refused if
    another task has the id, or the queue is closed or full."""
    options = [f"--id={id}"] if id is not None else []
    options += [f"--key={key}"] if key is not None else []
    options += [f"--text={text}"] if text is not None else []
    words = ["--", *command] if command else []
    return _run(["dpl-enqueue", "--queue", queue, *options, *flags, *words]).strip()


def claim(
    queue: str, *flags: str, wait: bool = False, timeout: Optional[float] = None
) -> Optional[Task]:
    """Claim a task of queue for this process, with any flags of dpl-claim.

    Returns None if none is ready, or will ever be. With wait it waits for one; raises TimedOut after
    timeout seconds. Raises Halted unless it waits, and Refused if this process has a task already."""
    limit = ["--wait"] if wait else []
    limit += [f"--timeout={timeout}s"] if timeout is not None else []
    command = ["dpl-claim", "--queue", queue, "--json", "--pid", str(os.getpid()), *limit, *flags]
    env, claimed = _environment(), []
    claiming = _Command(command, env, lambda answer: claimed.append(Task(json.loads(answer), env)))
    try:
        claiming.result()
        return claimed[0]
    except BaseException as error:
        if error is not claiming.error:  # a signal handler has raised it
            with _reported():
                claiming.finish(stop=wait)
                for task in claimed:
                    task.unclaim()
            raise
        if isinstance(error, Aborted):
            raise Halted(error.status, f"{queue} is halted") from None
        if isinstance(error, Error) and error.status in (1, 4):
            return None
        raise


def _failure(error: BaseException) -> str:
    """Return error as the reason of a failed call, or "" if it is no failure."""
    if isinstance(error, SystemExit):
        if error.code is None or isinstance(error.code, int):
            return f"exit status {int(error.code)}" if error.code else ""
        return f"exit status 1: {_said(error)}"
    if isinstance(error, GeneratorExit):
        return ""
    return _said(error)


def _said(error: BaseException) -> str:
    name = type(error).__name__
    try:
        return f"{name}: {error}"
    except Exception:  # of its __str__
        return name


def _argument(text: str) -> str:
    """Return text as an argument of a command: short enough, in UTF-8, and without NUL."""
    text = text.replace("\0", "\\x00").encode("utf-8", "backslashreplace").decode("utf-8")
    longest = 20000  # characters
    return text if len(text) <= longest else text[:longest] + " ..."


@contextlib.contextmanager
def _reported() -> Iterator[None]:
    """Print what goes wrong: it must not replace the error that is being raised."""
    try:
        yield
    except BaseException as error:
        with contextlib.suppress(BaseException):
            print(_said(error) if not isinstance(error, Error) else error, file=sys.stderr)


class _Command:
    """A command of DPL, which runs once, in a thread of its own: there no signal handler raises an
    exception, so it is always known what the command has done. answer is what it has printed, and
    error what went wrong with it.
    made gets what it prints, in that thread."""

    def __init__(
        self, argv: Sequence[str], env: Dict[str, str], made: Optional[Callable[[str], None]] = None
    ):
        self._argv, self._env, self._made = argv, env, made
        self._lock = threading.Lock()
        self._child: Optional["subprocess.Popen[str]"] = None
        self._begun = self._stop = False
        self._done = threading.Event()
        self.answer = ""
        self._caught: Optional[BaseException] = None
        self.error: Optional[BaseException] = None

    def result(self) -> str:
        """Run the command, and return what it prints. Raises error, or what a signal handler does."""
        if threading.current_thread() is threading.main_thread():
            try:
                threading.Thread(target=self._run).start()
            except RuntimeError as error:
                if self._begun or "thread" not in str(error):  # a signal handler has raised it
                    raise
                self._run()  # there are no more threads, as in atexit
        else:
            self._run()
        self._done.wait()
        if self.error:
            raise self.error
        return self.answer

    def finish(self, stop: bool = False) -> None:
        """Wait until the command has ended, whatever signal handlers raise. If it has not begun, it
        never will. With stop, ask it to end."""
        with self._lock:
            begun, self._begun, self._stop = self._begun, True, stop
            child = self._child
        if begun and stop and child:
            child.terminate()
        while begun and not self._done.is_set():
            with contextlib.suppress(BaseException):
                self._done.wait()

    def complete(self) -> None:
        """Run the command to its end, whatever signal handlers raise. check raises it afterwards."""
        while not self._done.is_set():
            try:
                self.result()
            except BaseException as error:
                if error is not self.error:
                    self._caught = error

    def check(self) -> None:
        """Raise what a signal handler has raised, or else error."""
        if self._caught or self.error:
            raise self._caught or self.error  # type: ignore[misc]

    def _run(self) -> None:
        with self._lock:
            if self._begun:
                return
            self._begun = True
        try:
            self.answer = self._communicate()
            if self._made:
                self._made(self.answer)
        except BaseException as error:
            self.error = error
        finally:
            self._done.set()

    def _communicate(self) -> str:
        argv: Sequence[Any] = self._argv
        if os.name == "posix":  # whatever the locale is
            argv = [word.encode("utf-8", "surrogateescape") for word in argv]
        # In a session of its own, Ctrl-C in a terminal does not end it while it has something to tell.
        options: Dict[str, Any] = {"stdin": subprocess.DEVNULL, "start_new_session": True}
        options.update(stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8")
        with _start(argv, env=self._env, errors="replace", **options) as child:
            with self._lock:
                self._child = child
            if self._stop:
                child.terminate()
            stdout, stderr = child.communicate()
        if child.returncode:
            otherwise = f"{self._argv[0]}: exit status {child.returncode}"
            raise _error(child.returncode, _sentence(stderr) or otherwise)
        return str(stdout)


def _run(command: Sequence[str], env: Optional[Dict[str, str]] = None) -> str:
    """Run a command of DPL, and return what it prints."""
    running = _Command(command, env or _environment())
    try:
        return running.result()
    except BaseException as error:
        if error is not running.error:
            running.finish(stop=True)
        raise


def _end(command: Sequence[str], env: Dict[str, str]) -> _Command:
    """Run a command that ends a call or task: that must not look crashed because the ledger is busy,
    or because the commands cannot be started for a moment."""
    caught: Optional[BaseException] = None
    for pause in 0.1, 1, 0:
        ending = _Command(command, env)
        ending._caught = caught
        ending.complete()
        caught = ending._caught
        if not pause or not isinstance(ending.error, (Busy, OSError)):
            break
        if not caught:
            time.sleep(pause)
    return ending


def _sentence(stderr: str) -> str:
    """Return what a command has printed about its failure, which is JSON with --json."""
    text = stderr.strip()
    with contextlib.suppress(ValueError, KeyError, TypeError):
        error = json.loads(text[text.rfind("\n{") + 1 :])["error"]
        return f"{error['program']}: {error['message']}"
    return text


def _environment() -> Dict[str, str]:
    """Return the environment of a command, with the path of the ledger as it was at the start."""
    env = dict(os.environ)
    if env.get("DPL_LEDGER"):
        env["DPL_LEDGER"] = os.path.join(_began_in, env["DPL_LEDGER"])
    return env


_began_in = ""
with contextlib.suppress(OSError):  # the directory may have been removed
    _began_in = os.getcwd()
if os.environ.get("DPL_LEDGER"):
    os.environ["DPL_LEDGER"] = _environment()["DPL_LEDGER"]


def _start(command: Sequence[str], **options: Any) -> "subprocess.Popen[Any]":
    with _starting:
        return subprocess.Popen(command, **options)


def _account(reader: int, status: int) -> Dict[str, Any]:
    """Return what dpl-run wrote to the pipe reader before it ended. If it wrote nothing, it was
    killed."""
    os.set_blocking(reader, False)
    line = b""
    with contextlib.suppress(BlockingIOError):
        line = os.read(reader, 65536)
    killed = {"by": "dpl-run", "ok": False, "reason": f"exit status {status}"}
    return json.loads(line or "null") or killed


def _error(status: int, message: str) -> Error:
    return ERRORS.get(status, Error)(status, message)
