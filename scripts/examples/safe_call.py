"""safe_call.py: make a call, and handle its success, its timeout or a crash, whichever comes first.

    from safe_call import call_safely

    def ask():                                      # asks another participant of the operation
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
    """Make a call, and return the result of on_success, on_timeout or on_crash.

    call is a command or a function. A command becomes a call of the operation op ($DPL_OP, else a
    new one) and is stopped when it takes longer than timeout seconds or when the operation fails.

    A function waits for an answer from another participant of op. It runs in a daemon thread, which
    is abandoned on a timeout or a failure, because a thread cannot be killed: close in on_timeout
    and on_crash whatever it waits for.

    on_success gets the result of the function, or 0 for a command. on_crash gets the reason why the
    operation failed, whichever participant caused it, or the error of the function, or the exit
    status of the command. Raise CalledProcessError if a command of DPL itself fails, for example if
    there is no operation or no such command.
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
        process.terminate()  # dpl-run then stops the command
        process.wait()
        raise
    if status in (0, TIMEOUT):
        return ("timeout" if status else "success"), status
    if status in OWN:
        raise subprocess.CalledProcessError(status, run)
    reason = _reason(op) if op and status in STOPPED else ""
    return "crash", reason or f"{command[0]}: exit status {status}"


def _ask(call: Callable[[], Any], timeout: float, op: str) -> Outcome:
    """Run call until it returns, op fails or is aborted, or the time is over."""
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
            if value.returncode != IMPOSSIBLE:  # else op is completed; the answer may still come
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
    ended = subprocess.CompletedProcess(watcher.args, watcher.returncode, stderr=said)
    ends.put(("watched", ended))


def _reason(op: str) -> str:
    """Return why op left the state running, "" if it has not."""
    status = ["dpl-status", "--op", op, "--json"]
    shown = subprocess.run(status, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    if shown.returncode != 0:
        return ""
    transitions = json.loads(shown.stdout)["operation"]["transitions"]
    left = next((t for t in transitions if t["from"] == "running"), {"reason": ""})
    return left.get("cause", {}).get("reason") or left["reason"]
