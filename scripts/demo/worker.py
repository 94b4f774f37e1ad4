#!/usr/bin/env python3
"""worker.py CALL [CALLEE...]: a worker of the demo.

It takes part in $DPL_OP as CALL. It calls CALLEE and waits for it; without one it works until the
file `go` appears. It changes the ledger only with the commands, and prints each as it was typed.
"""
import json
import os
import pathlib
import subprocess
import sys
import time

call, callee = sys.argv[1], sys.argv[2:]
sys.stdout.reconfigure(line_buffering=True)


def run(*command):
    print('worker.py $', *command)
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    print(f'worker.py: exit status {done.returncode}')
    return done


pushed = run('dpl-push', '--json', '--participant', 'worker.py', '--call', call,
             '--pid', str(os.getpid()), '--tmp', '--resource', f'work/{call}.txt')
if pushed.returncode != 0:
    sys.exit(1)
scratch = pathlib.Path(json.loads(pushed.stdout)['tmp'])
(scratch / 'scratch').write_text(f'scratch of {call}\n')
result = pathlib.Path(f'work/{call}.txt')
result.write_text(f'half a result of {call}\n')

if callee:
    failed = subprocess.run(callee).returncode not in (0, 3)
else:
    failed = False
    deadline = time.monotonic() + 60
    while not os.path.exists('go') and time.monotonic() < deadline:
        time.sleep(0.02)

status = run('dpl-heartbeat', '--call', call).returncode
if status == 3:  # aborted or in cleanup
    run('dpl-heartbeat', '--call', call, '--cleaning')
    result.unlink()
    run('dpl-pop', '--call', call)
elif status == 0 and not failed:
    result.write_text(f'result of {call}\n')
    status = run('dpl-pop', '--call', call).returncode
elif status == 0:
    run('dpl-pop', '--call', call, '--fail')
    status = 1
sys.exit(status)
