"""safe_call.py: call somebody, and learn of success, of a crash or that it takes too long, whichever comes first.

    from safe_call import call_safely

    def ask():                                      # a request to somebody who takes part in the operation
        with open("orders", "w") as orders:
            print("compile", file=orders)
        with open("answers") as answers:
            return answers.read()

    text = call_safely(
        ask,                                        # or a command: ["./compile", "main.c"]
        on_success=lambda answer: answer,
        on_timeout=lambda: sys.exit("too late"),
        on_crash=lambda reason: sys.exit(f"crashed: {reason}"),
        timeout=30,
    )

It needs Python 3.8 and the dpl commands, nothing else.
"""
import json
import os
import queue
import subprocess
import threading
import time
from typing import Any, Callable, List, Optional, Sequence, Tuple, TypeVar, Union

T = TypeVar("T")
Outcome = Tuple[str, Any]  # "success" and the result, "timeout", or "crash" and the reason

# Exit statuses of dpl-wait and dpl-run.
IMPOSSIBLE, TIMEOUT, STOPPED, OWN = 1, 124, (3, 4, 5), (125, 126, 127)


def call_safely(
    call: Union[Callable[[], Any], Sequence[str]],
    on_success: Callable[[Any], T],
    on_timeout: Callable[[], T],
    on_crash: Callable[[str], T],
    timeout: float = 30.0,
    op: Optional[str] = None,
) -> T:
    """Call, and return the result of the one of on_success, on_timeout and on_crash that tells how that went.

    call is a command, which dpl-run runs as a call of the operation op ($DPL_OP; a new one if there is none), or a function
    that waits for the answer of somebody who takes part in op. The function runs in a thread; when it is abandoned after
    timeout seconds, or because the operation has failed, on_timeout and on_crash are where to close what it waits on, for a
    thread cannot be killed. It does not keep the program from ending. A command is stopped, and has ended.

    on_success gets what the function returns, or 0; on_crash the reason why the operation failed, be it the callee or
    somebody else, or the error of the function, or how the command ended. Raises CalledProcessError if a command of DPL
    itself fails, as where there is no operation or no such command.
    """
    op = op or os.environ.get("DPL_OP", "")
    outcome, value = _ask(call, timeout, op) if callable(call) else _run(list(call), timeout, op)
    if outcome == "success":
        return on_success(value)
    return on_timeout() if outcome == "timeout" else on_crash(value)


def _run(command: List[str], timeout: float, op: str) -> Outcome:
    """Run command as a call of op."""
    run = ["dpl-run", "--timeout", f"{timeout}s", *(["--op", op] if op else []), "--", *command]
    process = subprocess.Popen(run)
    try:
        status = process.wait()
    except BaseException:
        process.terminate()  # which stops the command
        process.wait()
        raise
    if status in (0, TIMEOUT):
        return ("timeout" if status else "success"), status
    if status in OWN:
        raise subprocess.CalledProcessError(status, run)
    reason = _reason(op) if op and status in STOPPED else ""
    return "crash", reason or f"{command[0]}: exit status {status}"


def _ask(call: Callable[[], Any], timeout: float, op: str) -> Outcome:
    """Race call against a failure of op, which may also be that it is aborted."""
    ends: "queue.SimpleQueue[tuple]" = queue.SimpleQueue()
    deadline = time.monotonic() + timeout
    watchers = []
    try:
        for state in ("cleanup", "aborted"):
            wait = ["dpl-wait", "--op", op, "--for", state, "--timeout", f"{timeout}s"]
            watchers.append(subprocess.Popen(wait, stderr=subprocess.PIPE, text=True))
            _begin(_watch, watchers[-1], ends)
        _begin(_answer, call, ends)
        while True:
            outcome, value = ends.get(timeout=max(0.0, deadline - time.monotonic()))
            if outcome != "watched":
                return outcome, value
            if value.returncode == 0:
                return "crash", _reason(op)
            if value.returncode == TIMEOUT:
                return "timeout", None
            if value.returncode != IMPOSSIBLE:  # op is completed, but the answer may be on its way
                value.check_returncode()
    except queue.Empty:
        return "timeout", None
    finally:
        for watcher in watchers:
            watcher.terminate()
            watcher.wait()


def _begin(what: Callable[..., None], *args: Any) -> None:
    threading.Thread(target=what, args=args, daemon=True).start()


def _answer(call: Callable[[], Any], ends: "queue.SimpleQueue[tuple]") -> None:
    try:
        ends.put(("success", call()))
    except Exception as error:
        ends.put(("crash", repr(error)))


def _watch(watcher: "subprocess.Popen[str]", ends: "queue.SimpleQueue[tuple]") -> None:
    _, said = watcher.communicate()
    ends.put(("watched", subprocess.CompletedProcess(watcher.args, watcher.returncode, stderr=said)))


def _reason(op: str) -> str:
    """Return why op left the state running, "" if it has not."""
    shown = subprocess.run(["dpl-status", "--op", op, "--json"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    transitions = json.loads(shown.stdout)["operation"]["transitions"] if shown.returncode == 0 else []
    return next((t["reason"] for t in transitions if t["from"] == "running"), "")
