"""Does tasks of the queue letters, as queue.mjs does."""
import os
import sys

sys.path.insert(0, sys.argv[1])
import dpl  # noqa: E402

first = dpl.enqueue("letters", text="to Ada", key="letter 17")
assert dpl.enqueue("letters", text="to Ada", key="letter 17") == first
try:
    dpl.enqueue("letters", text="to Eve", key="letter 17")
except dpl.Refused:
    print("refused")
dpl.enqueue("letters", "true", id="bad")

task = dpl.claim("letters")
with task:
    task.check()
    print(task.spec["text"], task.attempt)
    try:
        dpl.claim("letters")
    except dpl.Refused:
        print("has one")

try:
    with dpl.claim("letters") as task:
        print(task.id, task.spec["argv"], task.attempt)
        raise ValueError("no good")
except ValueError as error:
    print(error)

task = dpl.claim("letters", wait=True)
print(task.id, task.attempt)
task.release()
with dpl.claim("letters") as task:
    os.system("dpl-enqueue letters --cancel bad")
    try:
        task.check()
    except dpl.Lost:
        print("lost")

print(dpl.claim("letters"))
try:
    dpl.claim("letters", wait=True, timeout=0.05)
except dpl.TimedOut:
    print("timed out")
os.system("dpl-queue letters --halt lunch")
try:
    dpl.claim("letters")
except dpl.Halted as error:
    print(error)
