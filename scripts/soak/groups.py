#!/usr/bin/env python3
"""groups.py BIN SECONDS [SEED]: disturb a group of five services, and check that it recovers.

For SECONDS, passes and processes of services are killed, and services are stopped and restarted.
At no time may two processes run the same service. Afterwards, all five must run, as the processes
that the ledger names; each alert must be in its file once, in order; and after dpl-shutdown no
process of a service may be left. Linux only.
"""
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

SERVICE = """#!/bin/sh
[ "$DPL_SERVICE" != c ] || trap '' TERM
dpl-heartbeat --every 0.1s --while-pid $$ --signal TERM 2>/dev/null &
while :; do sleep 0.2; done
"""
IDS = ['a', 'b', 'c', 'd', 'e']
DEPENDENCIES = {'b': 'a', 'c': 'b', 'e': 'd'}


def run(*command):
    """Return the output of command. It may fail, for example because a pass holds the lock."""
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                          check=False).stdout


def processes(ledger):
    """Return the live processes of the ledger's services: (pid, id, command, session)."""
    found = []
    for pid in filter(str.isdigit, os.listdir('/proc')):
        try:
            with open(f'/proc/{pid}/environ', 'rb') as file:
                entries = file.read().split(b'\0')
            with open(f'/proc/{pid}/stat', encoding='utf-8') as file:
                name, _, rest = file.read().rpartition(')')
        except OSError:
            continue  # it has ended
        variables = dict(entry.split(b'=', 1) for entry in entries if b'=' in entry)
        state, _, _, session = rest.split()[:4]
        service = variables.get(b'DPL_SERVICE')
        if variables.get(b'DPL_LEDGER') == ledger.encode() and service and state not in 'ZX':
            found.append((int(pid), service.decode(), name.partition('(')[2], int(session)))
    return found


def leaders(ledger):
    """Return the pids of the session leaders among these processes, by service id."""
    found = {}
    for pid, key, _, session in processes(ledger):
        if pid == session:
            found.setdefault(key, []).append(pid)
    return found


def registry(ledger):
    with open(f'{ledger}/g.supervisors.json', encoding='utf-8') as file:
        return json.load(file)['supervisors']


def kill(chance, pids):
    """Kill one of the processes, if there are any."""
    if pids:
        try:
            os.kill(chance.choice(pids), signal.SIGKILL)
        except ProcessLookupError:
            pass


def disturb(chance, ledger, passes, done):
    """Do one random thing to the group, and count it in done."""
    weights = {'pass': 50, 'kill pass': 15, 'kill': 2, 'hang': 3,
               'shutdown': 1, 'restart': 2, 'register': 3, 'rest': 20}
    what = chance.choices(list(weights), list(weights.values()))[0]
    done[what] = done.get(what, 0) + 1
    if what == 'pass' and len(passes) < 6:
        passes.append(subprocess.Popen(['dpl-orchestrate'], stdout=subprocess.DEVNULL,
                                       stderr=subprocess.DEVNULL))
    elif what == 'kill pass' and passes:
        time.sleep(chance.random() * 0.01)
        chance.choice(passes).kill()
    elif what == 'kill':
        kill(chance, [pid for pids in leaders(ledger).values() for pid in pids])
    elif what == 'hang':  # a service without heartbeats
        kill(chance, [pid for pid, _, command, _ in processes(ledger)
                      if command == 'dpl-heartbeat'])
    elif what == 'shutdown':
        run('dpl-shutdown', '--service', chance.choice(IDS))
    elif what == 'restart':
        run('dpl-restart', '--service', chance.choice(IDS))
    elif what == 'register':
        run('dpl-register', '--request', '--no-pass', '--service', chance.choice(IDS))
    elif what == 'rest':
        time.sleep(0.05)


def settle(ledger):
    """Make passes until all services run, for up to a minute, and return whether they do."""
    end = time.monotonic() + 60
    while time.monotonic() < end:
        for key, entry in registry(ledger).items():
            if entry['state'] in ('stopped', 'dead'):
                run('dpl-register', '--request', '--no-pass', '--service', key)
        run('dpl-orchestrate')
        entries, live = registry(ledger), leaders(ledger)
        if all(entries[key]['state'] == 'running' and live.get(key) == [entries[key].get('pid')]
               for key in IDS):
            return True
        time.sleep(0.3)
    return False


def soak(ledger, service, seconds, chance):
    """Disturb the group for some seconds, and return what went wrong, one line each."""
    for key in IDS:
        depends = ['--depends-on', DEPENDENCIES[key]] if key in DEPENDENCIES else []
        run('dpl-register', '--request', '--no-pass', '--service', key, '--backoff', '0,0.1s',
            '--max-attempts', '1000000', '--kill-timeout', '0.5s', *depends, '--', service)
    run('dpl-orchestrate', '--staleness', '1s', '--interval', '0.1s')

    wrong, passes, done = [], [], {}
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        passes = [one for one in passes if one.poll() is None]
        disturb(chance, ledger, passes, done)
        wrong += [f'{key} runs as {pids}'
                  for key, pids in leaders(ledger).items() if len(pids) > 1]
    for one in passes:
        one.wait()
    print(f'groups: {done}')

    if not settle(ledger):
        wrong.append('not all run in the end:\n' + run('dpl-status', '--group', 'g'))
    with open(f'{ledger}/g.alerts.jsonl', encoding='utf-8') as file:
        numbers = [json.loads(line)['seq'] for line in file]
    if not numbers or numbers != list(range(1, len(numbers) + 1)):
        wrong.append(f'numbers of the alerts: {numbers}')

    for key in IDS:
        run('dpl-shutdown', '--service', key, '--wait')
    if left := leaders(ledger):
        wrong.append(f'after dpl-shutdown there are {left}')
    return wrong


def main():
    binaries, seconds = os.path.abspath(sys.argv[1]), float(sys.argv[2])
    seed = sys.argv[3] if len(sys.argv) > 3 else str(time.time_ns())
    directory = tempfile.mkdtemp()
    ledger, service = f'{directory}/ledger', f'{directory}/service'

    for name in [name for name in os.environ if name.startswith('DPL_')]:
        del os.environ[name]
    os.environ |= {'DPL_LEDGER': ledger, 'DPL_GROUP': 'g',
                   'PATH': binaries + ':' + os.environ['PATH']}

    with open(service, 'w', encoding='utf-8') as file:
        file.write(SERVICE)
    os.chmod(service, 0o700)
    try:
        wrong = soak(ledger, service, seconds, random.Random(seed))
    finally:
        for pids in leaders(ledger).values():
            for pid in pids:
                os.kill(pid, signal.SIGKILL)
        shutil.rmtree(directory, ignore_errors=True)
    for line in wrong:
        print(f'groups: {line}')
    if wrong:
        sys.exit(f'groups: failed with seed {seed}')
    print('groups: nothing went wrong')


if __name__ == '__main__':
    main()
