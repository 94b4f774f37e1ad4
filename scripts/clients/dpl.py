"""dpl.py: a Python program takes part in a call chain. Needs Python 3.9 and the dpl commands, nothing else.

    import dpl

    with dpl.call("build", op="build-42", tmp=True) as call:        # popped at the end, as failed after an exception
        call.run(["./compile", "main.c", f"{call.tmp}/main.o"])     # a call below it
        for file in files:
            call.beat()                                             # raises dpl.Aborted when it is time to clean up
            work(file)

    try:
        dpl.wait("night", timeout=3600, state="completed") or print("the backup has failed")
    except dpl.TimedOut:
        print("it takes long today")
    for event in dpl.watch("night"):
        print(event["type"], event.get("callId"))

The call is alive as long as the process; its end is seen at once. A thread sends heartbeats while the block runs. When the
operation is aborted or fails elsewhere, call.stopped is set and, with signal=signal.SIGTERM, this process gets that signal,
once. A command of DPL that fails raises the exception of its exit status.

A call belongs to the process that made it. A child of os.fork or of multiprocessing that leaves the block leaves the call
as it is, and may not send heartbeats for it or end it; it may run commands below it, and make calls of its own.
"""
from __future__ import annotations

import contextlib
import json
import os
import re
import subprocess
import sys
import threading
from typing import Any, Dict, Iterator, List, Optional, Sequence, Set, Tuple, Type, Union


class Error(Exception):
    """A command of DPL has failed; status is its exit status."""

    def __init__(self, status: int, message: str):
        super().__init__(message)
        self.status = status


class Aborted(Error):
    """3: the operation is aborted or in cleanup: clean up and pop."""


class Over(Error):
    """4: the operation is over."""


class DeclaredCrashed(Error):
    """5: the call was declared crashed; popping still works."""


class Usage(Error):
    """64: wrong arguments or ids."""


class Corrupt(Error):
    """65: a file of the ledger is not valid."""


class NotFound(Error):
    """66: no such ledger, operation, call, group or service."""


class Unavailable(Error):
    """69: the supervisor or the process is dead."""


class Busy(Error):
    """75: another process held the lock too long; nothing has changed, try again."""


class Refused(Error):
    """76: refused by the protocol: the operation is not running, knows the call already, and so on."""


class NotPermitted(Error):
    """77: somebody else owns the ledger or may write to it."""


class TimedOut(Error):
    """124: it was not so in time."""


ERRORS: Dict[int, Type[Error]] = {
    3: Aborted, 4: Over, 5: DeclaredCrashed, 64: Usage, 65: Corrupt, 66: NotFound, 69: Unavailable, 75: Busy, 76: Refused,
    77: NotPermitted, 124: TimedOut,
}


class Call:
    """An open call: its ids op, id and participant, tmp (its directory, or None), env (the environment in which a child
    joins in), and stopped, an Event that is set when it is told to clean up, or that it is over or declared crashed."""

    def __init__(self, pushed: Dict[str, Any], env: Dict[str, str]):
        self.op: str = pushed["operationId"]
        self.id: str = pushed["callId"]
        self.participant: str = pushed["participantId"]
        self.tmp: Optional[str] = pushed["tmp"]
        self.env = {**env, "DPL_OP": self.op, "DPL_CALL": self.id, "DPL_PARTICIPANT": self.participant}
        if self.tmp:
            self.env["DPL_TMP"] = self.tmp
        self.stopped = threading.Event()
        self._pid = os.getpid()
        self._deaf = False  # to signals, for it will know by itself why it is to end

    def beat(self, *flags: str) -> None:
        """Beat, with any flags of dpl-heartbeat, such as "--cleaning". Raises Aborted, Over or DeclaredCrashed."""
        self._check_process()
        try:
            _run(["dpl-heartbeat", *self._ids(), "--pid", str(os.getpid()), *flags], self.env)
        except (Aborted, Over, DeclaredCrashed):
            self.stopped.set()
            raise

    def run(self, command: Sequence[str], *flags: str, **options: Any) -> "subprocess.CompletedProcess[Any]":
        """Run command as a call below this one, with flags of dpl-run, such as "--timeout=10m", and options of Popen; with
        stdout=subprocess.PIPE, what is returned has its output. Raises CalledProcessError if it fails, whatever its exit
        status, unless a flag like "--ok=0,1" says that this is success; Aborted if something else failed the operation,
        Over, DeclaredCrashed or TimedOut if it was stopped; Error if it cannot be run, or dpl-run itself fails."""
        self._deaf = True
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
                    child.terminate()  # not kill, as subprocess.run does: dpl-run stops the command, and pops
                    child.wait()
                    raise
            account = _account(reader, child.returncode)
        finally:
            os.close(reader)
            os.close(writer)
        if account["by"] != "command":
            raise _error(child.returncode, f"dpl-run: {command[0]}: {account['reason']}")
        ran = subprocess.CompletedProcess(list(command), child.returncode, *output)
        if not account["ok"]:
            ran.check_returncode()
        self._deaf = False
        return ran

    def end(self, failure: str = "") -> None:
        """Pop the call, as failed if a failure is given. The end of the with block does it."""
        self._check_process()
        pop = ["dpl-pop", *self._ids(), *(["--fail", "--reason", f"call {self.id}: {failure}"] if failure else [])]
        for _ in range(2):  # who has done its work is not to be taken for dead only because the ledger is busy
            with contextlib.suppress(Busy):
                _run(pop, self.env)
                return
        _run(pop, self.env)

    def _check_process(self) -> None:
        if os.getpid() != self._pid:
            raise Usage(64, f"{self.op}: call {self.id} belongs to process {self._pid}, which made it, not to this one")

    def _ids(self) -> List[str]:
        return ["--op", self.op, "--call", self.id]

    def _beat_on(self, ended: threading.Event, signal: Optional[int]) -> None:
        interval = 1.5
        with contextlib.suppress(Error):
            interval = status(self.op)["operation"]["heartbeatIntervalMs"] / 1000
        while not ended.wait(interval):
            try:
                self.beat()
            except Error as error:
                if not self.stopped.is_set() or ended.is_set():
                    continue  # what may pass
                if signal and not self._deaf:
                    os.kill(os.getpid(), signal)
                    signal = None
                if not isinstance(error, Aborted):
                    return


_open: Set[Tuple[int, str, str]] = set()  # by process: a forked child has none of its parent's

# Nothing may fork between the making of a pipe and the start of the command that gets it: the forked child would hold the
# pipe open, and the reader, such as the thread that beats, would wait for that child.
_starting = threading.RLock()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_starting.acquire, after_in_parent=_starting.release, after_in_child=_starting.release)


@contextlib.contextmanager
def call(
    name: Optional[str] = None, *flags: str, op: Optional[str] = None, participant: Optional[str] = None, tmp: bool = False,
    signal: Optional[int] = None,
) -> Iterator[Call]:
    """Take part in the operation op ($DPL_OP, else a new one) with the call name (else one is made up), by participant (the
    name of this program), with any flags of dpl-push; tmp gives it a directory of its own, which goes with it.

    An exception fails the call, also SystemExit with a status, and goes on. Raises what dpl-push and dpl-pop do, such as
    Busy, and Refused where the operation is not running.
    """
    participant = participant or re.sub(r"[^A-Za-z0-9._:-]|\.(?=\.)", "-", os.path.basename(sys.argv[0])).lstrip("._:-")[:60] or "python"
    push = ["dpl-push", "--json", "--pid", str(os.getpid()), "--participant", participant]
    push += ["--op", op] if op else []
    push += ["--call", name] if name else []
    pushed = json.loads(_run([*push, *(["--tmp"] if tmp else []), *flags]))
    self = Call(pushed, dict(os.environ))
    key = (self._pid, self.op, self.id)
    if key in _open:  # to dpl-push this is the same push again, which is fine
        raise Refused(76, f"{self.op}: call {self.id} is open in this process")
    _open.add(key)
    ended = threading.Event()
    beats = threading.Thread(target=self._beat_on, args=(ended, signal), daemon=True)
    beats.start()
    try:
        yield self
    except BaseException as error:
        if os.getpid() != self._pid:
            raise
        self._deaf = True
        failure = _failure(error)
        try:
            self.end(failure if "--no-fail-on-crash" not in flags else "")
        except Error as unpopped:
            print(unpopped, file=sys.stderr)  # what went wrong first is what the caller wants to know
        raise
    else:
        if os.getpid() == self._pid:
            self._deaf = True
            self.end()
    finally:
        if os.getpid() == self._pid:
            _open.discard(key)
            ended.set()
            beats.join()


def status(op: str) -> Dict[str, Any]:
    """Return what dpl-status --json says of op."""
    return json.loads(_run(["dpl-status", "--op", op, "--json"]))


def wait(op: Union[str, Sequence[str]], *flags: str, state: str = "terminal", timeout: Optional[float] = None) -> bool:
    """Wait for op, or all of several, to come to state, with any flags of dpl-wait. Return whether it has; False as soon as it
    cannot any more. Raises TimedOut after timeout seconds."""
    ops = [op] if isinstance(op, str) else op
    limit = [] if timeout is None else ["--timeout", f"{timeout}s"]
    try:
        _run(["dpl-wait", *(f"--op={one}" for one in ops), "--for", state, *limit, *flags])
    except Error as error:
        if error.status != 1:
            raise
        return False
    return True


def watch(op: str, since: Optional[int] = None) -> Iterator[Dict[str, Any]]:
    """Yield what happens in op, as dpl-watch prints it, until op ends."""
    command = ["dpl-watch", "--op", op, *([] if since is None else ["--since", str(since)])]
    pid = os.getpid()
    with _start(command, stdout=subprocess.PIPE, text=True) as watcher:
        assert watcher.stdout
        try:
            for line in watcher.stdout:
                yield json.loads(line)
        finally:
            if os.getpid() == pid:  # in a forked child it is the parent's
                watcher.terminate()  # does nothing if it has ended
    if watcher.returncode > 0:
        raise _error(watcher.returncode, f"dpl-watch: {op}: exit status {watcher.returncode}")


def _failure(error: BaseException) -> str:
    """Return what is wrong by error, "" if nothing is."""
    if isinstance(error, SystemExit):
        return "" if error.code in (None, 0) else f"exit status {error.code}"
    if isinstance(error, GeneratorExit):
        return ""
    return f"{type(error).__name__}: {error}"


def _run(command: List[str], env: Optional[Dict[str, str]] = None) -> str:
    """Run a command of DPL, and return what it prints."""
    pipe = subprocess.PIPE
    with _start(command, env=env, stdin=subprocess.DEVNULL, stdout=pipe, stderr=pipe, text=True) as ran:
        try:
            stdout, stderr = ran.communicate()
        except BaseException:
            ran.kill()
            raise
    if ran.returncode:
        raise _error(ran.returncode, stderr.strip() or f"{command[0]}: exit status {ran.returncode}")
    return stdout


def _start(command: Sequence[str], **options: Any) -> "subprocess.Popen[Any]":
    with _starting:
        return subprocess.Popen(command, **options)


def _account(reader: int, status: int) -> Dict[str, Any]:
    """Return what dpl-run, which has ended, has written to the pipe reader. It was killed if it wrote nothing."""
    os.set_blocking(reader, False)
    line = b""
    with contextlib.suppress(BlockingIOError):
        line = os.read(reader, 65536)
    return json.loads(line or "null") or {"by": "dpl-run", "ok": False, "reason": f"exit status {status}"}


def _error(status: int, message: str) -> Error:
    return ERRORS.get(status, Error)(status, message)
