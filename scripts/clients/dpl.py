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
call.stopped is set. With signal=signal.SIGTERM this process also gets that signal, once. A command
of DPL that fails raises the exception of its exit status.

A call belongs to the process that made it. A child of os.fork or of multiprocessing that leaves the
block does not end the call, and cannot send heartbeats for it. It can run commands below the call,
and make its own calls.
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
    environment for children that make calls below it), and stopped, an Event that is set when the
    call should clean up, or when it is over or declared crashed."""

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
        self._pid = os.getpid()
        self._deaf = False  # to signals: it will learn by itself why it should end

    def heartbeat(self, *flags: str) -> None:
        """Send a heartbeat, with any flags of dpl-heartbeat, such as "--cleaning".

        Raises Aborted, Over or DeclaredCrashed."""
        self._check_process()
        try:
            _run(["dpl-heartbeat", *self._ids(), "--pid", str(os.getpid()), *flags], self.env)
        except (Aborted, Over, DeclaredCrashed) as error:
            self.stopped.set()
            raise self._explained(error) from None

    def run(
        self, command: Sequence[str], *flags: str, **options: Any
    ) -> "subprocess.CompletedProcess[Any]":
        """Run command as a call below this one, with flags of dpl-run, such as "--timeout=10m", and
        options of Popen. With stdout=subprocess.PIPE the result has its output.

        Raises CalledProcessError if the command fails, whatever its exit status, unless a flag such
        as "--ok=0,1" makes that success; Aborted if something else failed the operation; Over,
        DeclaredCrashed or TimedOut if dpl-run stopped it; Error if it cannot be run, or if dpl-run
        itself fails."""
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
        self._deaf = False
        return ran

    def end(self, failure: str = "") -> None:
        """Pop the call, as failed if a failure is given. The end of the with block does it."""
        self._check_process()
        failed = ["--fail", "--reason", _argument(f"call {self.id}: {failure}")] if failure else []
        pop = ["dpl-pop", *self._ids(), *failed]
        for _ in range(2):  # work that is done must not look crashed because the ledger is busy
            with contextlib.suppress(Busy):
                _run(pop, self.env)
                return
        _run(pop, self.env)

    def _explained(self, error: Error) -> Error:
        """Return error, or if it is Aborted, one that says what ended the operation."""
        if not isinstance(error, Aborted):
            return error
        message, cause = str(error), None
        with contextlib.suppress(Error, OSError):
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
        with contextlib.suppress(Error, OSError):
            interval = status(self.op)["operation"]["heartbeatIntervalMs"] / 1000
        while not ended.wait(interval):
            try:
                self.heartbeat()
            except OSError:
                continue  # such as ENOENT while the commands are replaced
            except Error as error:
                if not self.stopped.is_set() or ended.is_set():
                    continue  # it may work next time
                if signal and not self._deaf:
                    os.kill(os.getpid(), signal)
                    signal = None
                if not isinstance(error, Aborted):
                    return


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
    errors of dpl-push and dpl-pop, such as Busy, or Refused if the operation is not running.
    """
    program = os.path.basename(sys.argv[0])
    program = re.sub(r"[^A-Za-z0-9._:-]|\.(?=\.)", "-", program).lstrip("._:-")[:60]
    push = ["dpl-push", "--json", "--pid", str(os.getpid())]
    push += ["--participant", participant or program or "python"]
    push += ["--op", op] if op else []
    push += ["--call", name] if name else []
    pushed = json.loads(_run([*push, *(["--tmp"] if tmp else []), *flags]))
    self = Call(pushed, dict(os.environ))
    key = (self._pid, self.op, self.id)
    if key in _open:  # dpl-push takes this for the same push again
        raise Refused(76, f"{self.op}: call {self.id} is open in this process")
    _open.add(key)
    ended = threading.Event()
    beats = threading.Thread(target=self._send_heartbeats, args=(ended, signal), daemon=True)
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
        except (Error, OSError) as unpopped:
            print(unpopped, file=sys.stderr)  # the caller wants to know the first error
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
            if os.getpid() == pid:  # in a forked child it belongs to the parent
                watcher.terminate()  # does nothing if it has ended
    if watcher.returncode > 0:
        raise _error(watcher.returncode, f"dpl-watch: {op}: exit status {watcher.returncode}")


class Task:
    """A task that this process has claimed: its queue, id, epoch (the number of the claim), attempt
    (the number of claims of it), and spec, what was enqueued. It is settled once; a with block does
    it."""

    def __init__(self, claimed: Dict[str, Any]):
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
        self._settle(f"--block={reason}")

    def check(self) -> None:
        """Raise Lost if the claim is over: look right before an effect that must not happen twice."""
        self._command("dpl-claim", "--check")

    def _settle(self, *flags: str) -> None:
        self._command("dpl-settle", *flags)
        self.settled = True

    def _command(self, program: str, *flags: str) -> None:
        attempt = ["--task", self.id, "--epoch", str(self.epoch)]
        try:
            _run([program, "--queue", self.queue, *attempt, *flags])
        except DeclaredCrashed as error:
            self.settled = True
            raise Lost(error.status, str(error)) from None

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
            try:
                self.fail(f"{type(error).__name__}: {error}")
            except (Error, OSError) as unsettled:
                print(unsettled, file=sys.stderr)  # the caller wants to know the first error
        else:  # such as KeyboardInterrupt: not the fault of the task
            with contextlib.suppress(Error, OSError):
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
    command = ["dpl-claim", "--queue", queue, "--json", "--pid", str(os.getpid())]
    try:
        return Task(json.loads(_run([*command, *limit, *flags])))
    except Aborted as error:
        raise Halted(error.status, f"{queue} is halted") from None
    except Over:
        return None
    except Error as error:
        if error.status != 1:
            raise
        return None


def _failure(error: BaseException) -> str:
    """Return error as the reason of a failed call, or "" if it is no failure."""
    if isinstance(error, SystemExit):
        return "" if error.code in (None, 0) else f"exit status {error.code}"
    if isinstance(error, GeneratorExit):
        return ""
    return f"{type(error).__name__}: {error}"


def _argument(text: str) -> str:
    """Return text as an argument of a command: short enough, in UTF-8, and without NUL."""
    text = text.replace("\0", "\ufffd").encode("utf-8", "replace").decode("utf-8")
    longest = 20000  # characters
    return text if len(text) <= longest else text[:longest] + " ..."


def _run(command: List[str], env: Optional[Dict[str, str]] = None) -> str:
    """Run a command of DPL, and return what it prints."""
    pipe = subprocess.PIPE
    options: Dict[str, Any] = {"stdin": subprocess.DEVNULL, "stdout": pipe, "stderr": pipe}
    with _start(command, env=env, text=True, **options) as ran:
        try:
            stdout, stderr = ran.communicate()
        except BaseException:
            ran.kill()
            raise
    if ran.returncode:
        status = ran.returncode
        raise _error(status, stderr.strip() or f"{command[0]}: exit status {status}")
    return stdout


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
