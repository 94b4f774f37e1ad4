"""Tests of the second implementation: run python3 spec/conformance/test_dpl.py."""
import contextlib
import errno
import fcntl
import functools
import io
import json
import multiprocessing
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import unittest.mock

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import audit  # noqa: E402
import dpl  # noqa: E402
import groups  # noqa: E402
import ledger  # noqa: E402
import queues  # noqa: E402
import random_groups  # noqa: E402
import random_vectors  # noqa: E402
import run  # noqa: E402
from document import Refused, decode, encode, format_time, parse, read_time  # noqa: E402

T0 = '2026-01-20T10:30:00.000Z'
FRAME = {'participantId': 'cli', 'callId': 'make', 'lastHeartbeat': T0}


def operation(**members):
    usual = {'operationId': 'build', 'state': 'running', 'lastHeartbeat': T0, 'stack': [FRAME]}
    return usual | members


def corrupt_place(text):
    try:
        decode(text if isinstance(text, (str, bytes)) else json.dumps(text), 'build')
    except Refused as refused:
        return refused.path if refused.word == 'corrupt' else refused.word
    return None


class Decode(unittest.TestCase):
    def test_refusals_name_the_place(self):
        good = json.dumps(operation())
        cases = [('', ''), ('{', ''), (good[:-1], ''), (good + '{}', ''), ('[]', ''), ('null', ''),
                 (good.encode() + b'\xff', ''), (good.replace('"cli"', '"cli", "pid": NaN'), ''),
                 ('\ufeff' + good, ''),
                 (good.replace('"callId"', '"callId": "a", "callId"'), '/stack/0/callId'),
                 (good.replace('"make"',
                               '"make", "x/~y": {"a": 1, "b": 2, "a": 1}'), '/stack/0/x~1~0y/a'),
                 (operation(stack={}), '/stack'), (operation(stack=[1]), '/stack/0'),
                 (operation(revision='1'), '/revision'), (operation(revision=1.0), '/revision'),
                 (operation(revision=True), '/revision'), (operation(aborted=0), '/aborted'),
                 (operation(aborted=None), '/aborted'), (operation(state='done'), '/state'),
                 (operation(operationId='other'), '/operationId'),
                 (operation(stack=[FRAME | {'state': 'dead'}]), '/stack/0/state'),
                 (operation(stack=[FRAME | {'callId': '../x'}]), '/stack/0/callId'),
                 (operation(stack=[FRAME | {'callId': 'a' * 129}]), '/stack/0/callId'),
                 (operation(stack=[FRAME | {'callId': 'a\n'}]), '/stack/0/callId'),
                 (operation(stack=[FRAME | {'resources': ['/a', 1]}]), '/stack/0/resources/1'),
                 (operation(stack=[FRAME | {'process': {'pid': '1'}}]), '/stack/0/process/pid'),
                 (operation(stack=[FRAME, FRAME]), '/stack/1/callId'),
                 (operation(stack=[{'callId': 'x'}]), '/stack/0/participantId'),
                 (operation(lastHeartbeat='2026-01-20T10:30:00'), '/lastHeartbeat'),
                 (operation(lastHeartbeat='2026-02-30T10:30:00Z'), '/lastHeartbeat'),
                 (operation(lastHeartbeat='2026-01-20 10:30:00Z'), '/lastHeartbeat'),
                 (operation(supervisorHeartbeats={'s': {'supervisorId': 't', 'lastHeartbeat': T0}}),
                  '/supervisorHeartbeats/s/supervisorId'),
                 (operation(supervisorHeartbeats={'a~/': {'lastHeartbeat': T0}}),
                  '/supervisorHeartbeats/a~0~1'),
                 (operation(stalenessThresholdMs=0), '/stalenessThresholdMs'),
                 (operation(revision=-1), '/revision'),
                 (operation(protocolVersion=0), '/protocolVersion'),
                 (operation(lastHeartbeat='2026-01-20t10:30:00z'), '/lastHeartbeat'),
                 (operation(protocolVersion=2, state='new'), 'newerVersion'),
                 (operation(protocolVersion='1'), '/protocolVersion'), (operation(), None),
                 (operation(protocolVersion=1), None)]
        for text, place in cases:
            with self.subTest(text=text):
                self.assertEqual(corrupt_place(text), place)

    def test_times(self):
        for text, want in [('2026-01-20T12:30:00+02:00', T0),
                           ('2026-01-20T10:30:00.0009999999Z', T0),
                           ('2026-01-19T23:00:00.5-11:30', '2026-01-20T10:30:00.500Z')]:
            self.assertEqual(format_time(read_time(text)), want)

    def test_unknown_members_survive(self):
        odd = ('{"z": 1.0, "a": [1e400, -0, 12345678901234567890123, 1E+2], '
               '"q": {"y": {}, "x": [], "s": "\\ud800é\\u0000"}}')
        text = json.dumps(
            operation(
                revision=7,
                stack=[FRAME | {'beat': {'monotonicMs': 1, 'at': T0, 'bootId': '', 'odd': 1}}]))
        text = text.replace('{"operationId"',
                            '{"zz": %s, "operationId"' % odd).replace('"odd": 1', '"odd": %s' % odd)
        once = encode(decode(text))
        for number in ('1.0', '1e400', '-0', '12345678901234567890123', '1E+2'):
            self.assertEqual(once.count(f' {number}'), 2, number)
        self.assertEqual(encode(decode(once)), once)
        self.assertEqual(
            [json.loads(once)['zz'], list(json.loads(once)['zz'])],
            [json.loads(odd), ['z', 'a', 'q']])
        self.assertTrue(
            once.startswith(
                '{\n  "protocolVersion": 1,\n  "operationId": "build",\n  "revision": 7,\n'))
        self.assertTrue(once.endswith('}\n'))
        self.assertEqual(list(json.loads(once))[-1], 'zz')


class Runner(unittest.TestCase):
    def test_fails_on_what_it_does_not_know(self):
        vector = {
            'comment': 'c', 'section': '5.4', 'given': operation(state='failed', stack=[]),
            'seen': {'now': T0}, 'do': {'verb': 'abort', 'by': 'x'}, 'refused': 'over'
        }
        cases = [({'refused': 'noCall'}, '+    "over"'),
                 ({'refused': 'over', 'more': 1}, 'unknown member in the vector: more'),
                 ({'seen': {'now': T0, 'pid': 1}}, 'unknown member in seen: pid'),
                 ({'unchanged': True}, 'exactly one of'),
                 ({'do': {'verb': 'abort', 'who': 'x'}}, 'unknown member in do: who'),
                 ({'do': {'verb': 'abo'}}, 'unknown verb abo'),
                 ({'seen': {'now': T0, 'sightings': {'x': 1}}}, 'unknown member in sightings: x'),
                 ({'remembered': {'bootId': '', 'seen': []}}, 'remembered belongs to sightings')]
        with tempfile.TemporaryDirectory() as directory:
            path = pathlib.Path(directory) / 'abort-x.json'
            for change, want in cases:
                path.write_text(json.dumps(vector | change))
                self.assertIn(want.replace('    ', ''), '\n'.join(run.difference(path)))
            path.write_text(json.dumps(vector))
            self.assertEqual(run.difference(path), [])
        with contextlib.redirect_stdout(io.StringIO()):
            self.assertEqual(run.main([]), 1)

    def test_fails_on_what_it_does_not_know_of_groups(self):
        vector = {
            'comment': 'c', 'section': '10.3',
            'given': {'supervisors': {'supervisors': {'s': {'state': 'stopped'}}}},
            'seen': {'now': T0}, 'do': {'verb': 'beat', 'supervisor': 's'},
            'unchanged': True, 'status': 5
        }
        cases = [({'status': 0}, '-0'), ({'more': 1}, 'unknown member in the vector: more'),
                 ({'archived': True}, 'unknown member'),
                 ({'seen': {'now': T0, 'alive': []}}, 'unknown member in seen: alive'),
                 ({'refused': 'cycle'}, 'exactly one of'),
                 ({'do': {'verb': 'beat', 'supervisor': 's', 'by': 'x'}},
                  'unknown member in do: by'),
                 ({'do': {'verb': 'beatify'}}, 'unknown verb beatify'),
                 ({'given': {'operation': {}}}, 'unknown member in a pair'),
                 ({'do': {'verb': 'pass', 'starts': {'s': {'id': 1}}}, 'actions': []},
                  'unknown member in starts of s'),
                 ({'actions': [{'action': 'start', 'supervisorId': 's'}]}, 'start')]
        with tempfile.TemporaryDirectory() as directory:
            place = pathlib.Path(directory) / 'groups'
            place.mkdir()
            for change, want in cases:
                changed = vector | change
                path = place / f'{changed["do"]["verb"]}-x.json'
                path.write_text(json.dumps(changed))
                self.assertIn(want, '\n'.join(run.difference(path)))
            path = place / 'beat-x.json'
            path.write_text(json.dumps(vector))
            self.assertEqual(run.difference(path), [])

    def test_fails_on_what_it_does_not_know_of_waiting(self):
        wait = {
            'comment': 'c', 'section': '13',
            'given': operation(stack=[FRAME | {'readiness': 'starting'}]),
            'do': {'verb': 'wait', 'for': 'ready', 'call': 'make'}, 'outcome': 'pending'
        }
        watch = {'comment': 'c', 'section': '14', 'given': operation(), 'do': {'verb': 'watch'}}
        group = {
            'comment': 'c', 'section': '13',
            'given': {'supervisors': {'supervisors': {'s': {'state': 'running'}}}},
            'do': {'verb': 'wait', 'for': 'ready', 'supervisor': 's'},
            'seen': {'now': T0}, 'outcome': 'met'
        }
        cases = [
            ('.', wait, {}, ''), ('.', watch, {}, ''), ('groups', group, {}, ''),
            ('.', wait, {'seen': {'now': T0}}, ''), ('.', wait, {'outcome': 'met'}, '-"met"'),
            ('groups', group, {'outcome': 'pending'}, '-"pending"'),
            ('.', wait, {'given': None}, '+"noOperation"'),
            ('.', wait, {'refused': 'noCall'}, 'exactly one of'),
            ('.', wait, {'unchanged': True}, 'unknown member in the vector'),
            ('.', wait, {'lines': []}, 'unknown member in the vector'),
            ('.', watch, {'outcome': 'met'}, 'unknown member in the vector'),
            ('.', watch, {'lines': [{'revision': 1}]}, '"revision": 1'),
            ('.', wait, {'seen': {'now': T0, 'pid': 1}}, 'unknown member in seen'),
            ('groups', group, {'seen': None}, 'no seen'),
            ('.', wait, {'do': {'verb': 'wait', 'for': 'ready'}}, 'call belongs to ready'),
            ('.', wait, {'do': {'verb': 'wait', 'for': 'failed', 'call': 'make'}},
             'call belongs to ready'),
            ('.', wait, {'do': {'verb': 'wait', 'for': 'Failed'}}, 'unknown goal'),
            ('.', wait, {'do': wait['do'] | {'supervisor': 's'}},
             'unknown member in do: supervisor'),
            ('.', watch, {'do': {'verb': 'watch', 'for': 'failed'}}, 'unknown member in do: for'),
            ('groups', group, {'do': group['do'] | {'call': 'c'}}, 'unknown member in do: call'),
            ('groups', group, {'do': group['do'] | {'for': 'running'}}, 'unknown goal')
        ]
        with tempfile.TemporaryDirectory() as directory:
            for place, vector, change, want in cases:
                with self.subTest(change=change):
                    changed = {name: value for name, value in (vector | change).items()
                               if name != 'seen' or value}
                    path = pathlib.Path(directory) / place / f'{changed["do"]["verb"]}-x.json'
                    path.parent.mkdir(exist_ok=True)
                    path.write_text(json.dumps(changed))
                    got = '\n'.join(run.difference(path))
                    self.assertTrue(want in got if want else not got, got)


class RandomVectors(unittest.TestCase):
    # what the random histories show, as random_groups.py says it
    SITUATIONS = (
        'pass: standby', 'register: refused cycle', 'beat: refused otherProcess',
        'remove: refused stillRunning', 'TERM to group', 'TERM to process',
        'TERM to survivors', 'status 5', 'running → failed, stale',
        'running → failed, budget', 'supervisorNudged budget', 'running → failed, violation',
        'report: refused otherStart', 'N attempts',
        'decode: refused newerVersion', 'given up, and told to end',
        'alerts go on from the alerts file', 'waits on, blocked',
        'blocked by a process in another pid namespace',
        'otherProcess for one in another pid namespace',
        'beat readiness ready → starting', 'register readiness ready → stopping',
        'registerAll: keep', 'registerAll: change', 'registerAll: remove, after stop',
        'wait: met', 'wait: impossible', 'wait: pending', 'wait: refused noSupervisor',
        'watch: gap and lines', 'watch: lines', 'watch: none')

    def test_random_groups_pass(self):
        with tempfile.TemporaryDirectory() as directory, contextlib.redirect_stdout(io.StringIO()):
            random_groups.main(['100', directory, '20'])
            paths = sorted(pathlib.Path(directory, 'groups').iterdir())
            self.assertEqual((run.main([str(path) for path in paths]), len(paths)), (0, 100))

    @unittest.skipUnless(os.environ.get('DPL_SOAK'), 'needs DPL_SOAK=1')
    def test_random_groups_meet_all_situations(self):
        missing, seeds = set(self.SITUATIONS), iter((20, 37, 23, *range(1, 9)))  # mostly three are enough
        while missing:
            out, seed = io.StringIO(), next(seeds, None)
            self.assertIsNotNone(seed, missing)
            with tempfile.TemporaryDirectory() as directory, contextlib.redirect_stdout(out):
                random_groups.main(['300', directory, str(seed)])
                paths = sorted(pathlib.Path(directory, 'groups').iterdir())
                self.assertEqual((run.main([str(path) for path in paths]), len(paths)), (0, 300))
            missing = {what for what in missing if what not in out.getvalue()}

    def test_the_same_seed_gives_the_same_groups(self):
        texts = []
        for _ in range(2):
            out = io.StringIO()
            with tempfile.TemporaryDirectory() as directory, contextlib.redirect_stdout(out):
                random_groups.main(['30', directory, '7'])
                paths = sorted(pathlib.Path(directory, 'groups').iterdir())
                texts.append({path.name: path.read_text() for path in paths})
        self.assertEqual((texts[0], len(texts[0])), (texts[1], 30))

    def test_the_same_seed_gives_the_same_vectors(self):
        with tempfile.TemporaryDirectory() as directory, contextlib.redirect_stdout(io.StringIO()):
            first, second = pathlib.Path(directory) / 'first', pathlib.Path(directory) / 'second'
            random_vectors.main(['100', str(first), '7'])
            random_vectors.main(['100', str(second), '7'])
            self.assertEqual({path.name: path.read_text() for path in first.iterdir()},
                             {path.name: path.read_text() for path in second.iterdir()})
            self.assertEqual(len(list(first.iterdir())), 100)
            self.assertEqual(run.main([str(path) for path in first.iterdir()]), 0)


@unittest.skipUnless(sys.platform == 'linux', 'reads /proc')
class Identity(unittest.TestCase):
    MAIN_THREAD_ENDS = """
import ctypes, sys, threading
threading.Thread(target=sys.stdin.read).start()
ctypes.CDLL(None).pthread_exit(None)
"""

    def test_main_thread_exited(self):
        with subprocess.Popen([sys.executable, '-c', self.MAIN_THREAD_ENDS],
                              stdin=subprocess.PIPE) as process:
            start = ledger.start_ticks(process.pid)
            status = pathlib.Path(f'/proc/{process.pid}/status')
            deadline = time.monotonic() + 30
            while 'State:\tZ' not in status.read_text():
                self.assertLess(time.monotonic(), deadline)
            self.assertEqual(ledger.start_ticks(process.pid), start)
            self.assertIsNotNone(start)
            process.stdin.close()
            while ledger.start_ticks(process.pid) is not None:
                self.assertLess(time.monotonic(), deadline)

    def test_survivors_amid_exec(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        again = pathlib.Path(temporary.name) / 'again'
        again.write_text('#!/bin/sh\nexec "$0"\n')
        again.chmod(0o700)
        entry = {'supervisorId': 's', 'startId': 'b' * 16}
        marks = {'LONG': 'x' * 100_000, 'DPL_START': f'{"a" * 16},{"b" * 16}'}
        with subprocess.Popen([again], start_new_session=True, env=os.environ | marks) as leader:
            try:
                entry |= {'pid': leader.pid, 'process': ledger.process_of(leader.pid)}
                told = [ledger.carries(leader.pid, 'b' * 16, time.monotonic() + 1)
                        for _ in range(100)]
                self.assertNotIn(False, told)
                self.assertGreater(told.count(True), 50)
                # Also at times when that is unknown.
                self.assertTrue(all(ledger.survivors(entry, 0) for _ in range(150)))
            finally:
                leader.kill()

    def test_survivors_without_main_thread_or_environment(self):
        for code, variables, wanted in ((self.MAIN_THREAD_ENDS,
                                         os.environ | {'DPL_START': 'c' * 16}, True),
                                        ('import sys; sys.stdin.read()', {}, False)):
            command = [sys.executable, '-c', code]
            with self.subTest(wanted=wanted), \
                    subprocess.Popen(command, stdin=subprocess.PIPE, env=variables) as process:
                status = pathlib.Path(f'/proc/{process.pid}/status')
                deadline = time.monotonic() + 30
                while (ledger.environment(process.pid) is None
                       or wanted and 'State:\tZ' not in status.read_text()):
                    self.assertLess(time.monotonic(), deadline)
                self.assertEqual(ledger.carries(process.pid, 'c' * 16, 0), wanted)
                process.stdin.close()


class InDirectory(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.path = pathlib.Path(temporary.name) / 'ledger'
        self.file = self.path / 'operations/build.json'
        os.umask(0o022)

    def dpl(self, verb, *words, status=0):
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            got = dpl.main([verb, f'--ledger={self.path}', '--op=build', *words])
        self.assertEqual(got, status, err.getvalue())
        self.assertEqual(err.getvalue().count('\n'),
                         1 if err.getvalue().startswith('dpl.py: build: ') else 0, err.getvalue())
        return out.getvalue()

    def push(self, call, *words, status=0):
        return self.dpl('push', f'--call={call}', '--participant=cli', *words, status=status)

    def read(self):
        return json.loads(self.dpl('status'))

    def leftovers(self):
        return [name for name in os.listdir(self.path / 'operations') if '~' in name]


def push_and_pop(path, name):
    place = ledger.Ledger(path, create=True)
    # On a busy machine, a worker may be longer away than the usual threshold.
    patient = {'participant': name, 'stalenessThresholdMs': 3_600_000}
    for turn in range(25):
        for verb, rest in (('push', patient), ('pop', {'keepOpen': True})):
            place.edit('build', verb, ledger.observe, 60, call=f'{name}-{turn}', **rest)


class Files(InDirectory):
    def test_concurrent_edits_lose_nothing(self):
        workers = [
            multiprocessing.Process(target=push_and_pop, args=(self.path, f'worker{n}'))
            for n in range(8)
        ]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join(120)
        self.assertEqual([worker.exitcode for worker in workers], [0] * 8)
        got = self.read()
        self.assertEqual((got['revision'], got['stack'], got['state']), (8 * 25 * 2, [], 'running'))
        self.assertEqual([e['revision'] for e in got['events']], list(range(400 - 63, 401)))
        self.assertEqual(sorted(os.listdir(self.path / 'operations')),
                         ['build.json', 'build.json.lock'])

    def test_killed_in_mid_edit(self):
        """Before the rename SIGKILL leaves the old file, after it the new one.

        The test kills the edit before and after each step.
        """
        self.push('first')
        for number, (step, after) in enumerate(
            (step, after) for step in ('write', 'fsync', 'rename') for after in (False, True)):
            with self.subTest(step=step, after=after):
                old = self.file.read_bytes()
                code = (
                    f'import os, signal, sys; sys.path.insert(0, {str(HERE)!r}); import dpl\n'
                    f'real = os.{step}\ndef fault(*rest, **named):\n'
                    f'    if {after}: real(*rest, **named)\n'
                    f'    os.kill(os.getpid(), signal.SIGKILL)\n'
                    f'os.{step} = fault\n'
                    f'dpl.main(["push", "--ledger={self.path}", "--op=build", "--call=c{number}", '
                    f'"--participant=cli"])\n'
                )
                self.assertEqual(
                    subprocess.run([sys.executable, '-c', code]).returncode, -signal.SIGKILL)
                if (step, after) == ('rename', True):
                    self.assertEqual(
                        json.loads(self.file.read_bytes())['stack'][-1]['callId'], f'c{number}')
                else:
                    self.assertEqual(self.file.read_bytes(), old)
                self.push(f'after{number}')  # the lock was released when its holder died
        self.assertEqual(self.read()['revision'], len(self.read()['stack']))

    def test_a_refusal_leaves_the_bytes(self):
        self.push('make')
        self.file.write_text(self.file.read_text().replace('\n', ' '))
        before = self.file.read_bytes()
        self.dpl('pop', '--call=other', '--now=2030-01-01T00:00:00Z', status=66)
        self.push('make', '--pid', str(os.getpid()), status=76)
        self.push('make')
        self.assertEqual((self.file.read_bytes(), self.leftovers()), (before, []))
        self.file.write_text('{}')
        self.push('other', status=65)
        self.assertEqual(self.file.read_text(), '{}')

    def test_lock_is_flock_and_times_out(self):
        self.push('make')
        with open(f'{self.file}.lock', 'r+') as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            self.push('other', '--wait=0.1', status=75)
        self.push('other')

    def test_lock_file_that_was_replaced(self):
        """A waiter for a lock file that was removed starts again with the new one."""
        self.push('make')
        lock = open(f'{self.file}.lock', 'r+')
        fcntl.flock(lock, fcntl.LOCK_EX)
        waiting = subprocess.Popen([sys.executable, str(HERE / 'dpl.py'), 'push',
                                    f'--ledger={self.path}', '--op=build', '--call=other',
                                    '--participant=cli'])
        mine = f' {os.fstat(lock.fileno()).st_ino} '.replace(' ', ':', 1)
        deadline = time.monotonic() + 30
        while not any('->' in line and mine in line
                      for line in pathlib.Path('/proc/locks').read_text().splitlines()):
            self.assertLess(time.monotonic(), deadline, 'nobody waits')
        os.unlink(lock.name)
        lock.close()
        self.assertEqual(waiting.wait(30), 0)
        self.assertEqual([frame['callId'] for frame in self.read()['stack']], ['make', 'other'])

    def test_lock_file_that_is_removed(self):
        """An edit whose lock file is removed before its rename starts again."""
        self.push('make')
        place, tries = ledger.Ledger(self.path), []

        def observe():
            tries.append(1)
            if len(tries) == 1:
                os.unlink(f'{self.file}.lock')
                self.push('other')
            return ledger.observe()
        place.edit('build', 'push', observe, call='third', participant='cli')
        self.assertEqual([frame['callId'] for frame in self.read()['stack']],
                         ['make', 'other', 'third'])
        self.assertEqual(len(tries), 2)

    def test_host_id(self):
        for machine, name, want in (
            ('', '', 'af63a24c860189fe'),
            ('3d1219c7c4c5404aaa1f6d2a48adfda4', 'vm', '75ff6945b9d096b3'),
            ('', 'host200', '00fa9c301ea47ede'),
        ):
            self.assertEqual(ledger.host_id(machine, name), want)
        self.push('make', '--pid', str(os.getpid()))
        self.assertRegex(self.read()['stack'][0]['process']['hostId'], '^[0-9a-f]{16}$')

    def test_a_life(self):
        child = subprocess.Popen(['cat'], stdin=subprocess.PIPE)
        self.addCleanup(child.stdin.close)
        self.push('make')
        self.push('cc', '--participant=worker', '--supervisor=boss', '--handle=h 1', '--pid',
                  str(child.pid), '--readiness=stopping')
        self.assertEqual(self.read()['stack'][1]['readiness'], 'stopping')
        self.dpl('heartbeat', '--supervisor=boss')
        self.dpl('heartbeat', '--call=make', '--readiness=starting', '--note=at 50 %')
        self.assertEqual([self.read()['stack'][0][name] for name in ('readiness', 'note')],
                         ['starting', 'at 50 %'])
        child.kill()
        child.wait()
        self.dpl('heartbeat', '--participant=cli', status=3)
        self.assertEqual(self.read()['stack'][1]['evidence'], 'exited')
        report = json.loads(self.dpl('heartbeat', '--supervisor=boss', status=3))
        self.assertEqual((report['callId'], report['supervisorHandle'], report['previousState']),
                         ('cc', 'h 1', 'active'))
        self.dpl('ack', '--supervisor=boss', '--call=make', status=76)
        self.dpl('ack', '--supervisor=boss', '--call=cc')
        self.assertEqual(self.read()['stack'][1]['state'], 'cleanedUp')
        self.dpl('pop', '--call=make')
        self.assertEqual(self.read()['state'], 'failed')
        self.dpl('pop', '--call=make', status=4)
        self.push('again', '--pid', str(child.pid), status=69)
        for _ in range(3):
            self.dpl('heartbeat', '--supervisor=boss', status=4)
        self.assertEqual((os.listdir(self.path / 'operations'), os.listdir(self.path / 'archive')),
                         ([], ['build.json']))
        self.push('make', status=4)
        self.assertEqual(os.listdir(self.path / 'operations'), [])
        last = self.read()['revision']
        self.push('make', '--reuse')
        self.assertEqual(self.read()['revision'], last + 1)
        self.dpl('pop', '--call=make')
        for _ in range(3):
            self.dpl('cleanup')
        self.assertEqual(sorted(os.listdir(self.path / 'archive')), ['build.json', 'build~2.json'])
        self.assertEqual(self.read()['state'], 'completed')
        self.dpl('cleanup', status=4)

    def test_resources_and_temporary_directories(self):
        outside = self.path.parent / 'outside'
        outside.mkdir()
        (outside / 'kept').touch()
        self.push('make', '--tmp')
        run_id = self.read()['runId']
        mine = self.path / f'tmp/build/{run_id}~make/deep'
        mine.mkdir()
        (mine / 'link').symlink_to(outside)
        other = self.path / 'tmp/build/shared'
        other.mkdir()
        (self.path / 'tmp/build/way').symlink_to(outside)
        self.push('cc', f'--resource={outside}/kept', status=76)
        self.push('cc', f'--resource={self.path}/tmp/../x', status=76)
        self.push('cc', f'--resource={other}', f'--resource={self.path}/tmp/build/way/kept',
                  '--participant=worker')
        by_hand = self.read()
        by_hand['stack'][1]['lastHeartbeat'] = '2000-01-01T00:00:00Z'
        self.file.write_text(json.dumps(by_hand))
        self.dpl('heartbeat', '--participant=cli', status=3)
        self.assertEqual((self.read()['stack'][1]['evidence'], other.exists()), ('stale', True))
        of_cc = self.path / f'tmp/build/{run_id}~cc'
        of_cc.mkdir()
        self.dpl('cleanup')
        self.assertEqual((self.read()['stack'][1]['state'], other.exists()), ('cleanedUp', False))
        self.assertFalse(of_cc.exists())
        self.dpl('pop', '--call=cc')
        ended = self.read()['events'][-1]
        self.assertEqual((ended['type'], ended['from'], len(ended['leftResources'])),
                         ('callEnded', 'cleanedUp', 1))
        self.dpl('pop', '--call=make')
        self.assertEqual((os.listdir(self.path / 'tmp/build'), os.listdir(outside)),
                         (['way'], ['kept']))
        for _ in range(3):
            self.dpl('cleanup')
        self.assertEqual((os.listdir(self.path / 'tmp'), os.listdir(outside)), ([], ['kept']))

    def test_resources_that_were_there(self):
        place = self.path / 'tmp/build'
        self.push('make')
        found = {name: place / name for name in ('same', 'written', 'directory', 'gone')}
        found['directory'].mkdir(parents=True)
        for name in ('same', 'written', 'gone'):
            found[name].write_text(name)
        notes = [{'path': str(path), 'file': ledger.file_at(path)} for path in found.values()]
        found['new'] = place / 'new'
        self.push('cc', *(f'--resource={path}' for path in found.values()), '--no-fail-on-crash')
        by_hand = self.read()
        by_hand['stack'][1]['foundResources'] = notes
        self.file.write_text(json.dumps(by_hand))
        found['new'].touch()
        found['written'].write_text('WRITTEN')
        found['gone'].unlink()
        found['gone'].write_text('gone')
        self.dpl('pop', '--call=cc', '--delete-resources')
        self.assertEqual(sorted(os.listdir(place)), ['directory', 'same'])
        self.assertNotIn('leftResources', self.read()['events'][-1])

    def test_dead_call_is_replaced(self):
        self.push('make', '--tmp')
        own = self.path / f'tmp/build/{self.read()["runId"]}~make'
        (own / 'old').touch()
        by_hand = self.read()
        by_hand['stack'][0] |= {'state': 'crashed', 'failOnCrash': False}
        self.file.write_text(json.dumps(by_hand))
        self.push('make', '--tmp')
        self.assertEqual(os.listdir(own), [])

    def test_runs(self):
        self.push('make', '--run=1111', status=4)
        self.push('make')
        run_id = self.read()['runId']
        self.push('cc', '--begin', status=75)
        self.push('cc', '--run=1111', status=4)
        self.push('cc', f'--run={run_id}', '--start-id=abc')
        self.dpl('heartbeat', '--call=cc', '--run=1111', status=4)
        self.dpl('fail', '--call=cc', f'--run={run_id}', '--signal=SIGKILL')
        self.assertEqual(self.read()['transitions'][0]['cause'],
                         {'call': 'cc', 'signal': 'SIGKILL'})
        self.dpl('pop', '--call=cc', '--status=3')
        self.dpl('pop', '--call=make')
        for _ in range(3):
            self.dpl('cleanup')
        self.dpl('pop', '--call=make', '--run=1111', status=4)
        self.push('make', '--reuse')
        self.assertNotEqual(self.read()['runId'], run_id)

    def test_resources_of_others(self):
        root = pathlib.Path(os.path.realpath(self.path.parent)) / 'root'
        (root / 'inner').mkdir(parents=True)
        (root / 'mine').mkdir()
        self.push('make')
        marker = self.path / 'ledger.json'
        roots = [str(place) for place in (root, root / 'inner', root.parent)]
        marker.write_text(json.dumps(json.loads(marker.read_text()) | {'resourceRoots': roots}))
        victim = self.path / 'tmp/victim/work'
        victim.mkdir(parents=True)
        (self.path / 'tmp/build').mkdir()
        others = [
            victim, victim.parent, self.path / 'tmp/build', self.path / 'tmp', self.path,
            self.path / 'operations', self.file, root, root / 'inner'
        ]
        for place in others:
            self.push('cc', f'--resource={place}', status=76)
        with unittest.mock.patch.dict(os.environ, HOME=str(root / 'mine/home')):
            self.push('cc', f'--resource={root}/mine', status=76)
        self.push('cc', f'--resource={root}/mine', '--participant=worker')
        by_hand = self.read()
        by_hand['stack'][1]['lastHeartbeat'] = '2000-01-01T00:00:00Z'
        by_hand['stack'][1]['resources'] = [str(place) for place in (*others, root / 'mine')]
        self.file.write_text(json.dumps(by_hand))
        self.dpl('heartbeat', '--participant=cli', status=3)
        self.dpl('cleanup')
        self.assertEqual([place for place in others if not place.exists()], [])
        self.assertEqual(len(self.read()['stack'][1]['leftResources']), len(others))
        self.assertFalse((root / 'mine').exists())

    def test_ledger_marker_and_permissions(self):
        self.dpl('status', status=66)
        self.push('make')
        modes = [
            os.stat(path).st_mode & 0o7777 for path in (self.path, self.file.parent, self.file)
        ]
        self.assertEqual(modes, [0o700, 0o700, 0o600])
        marker = self.path / 'ledger.json'
        text = marker.read_text()
        for path, mode, status in ((self.file, 0o620, 77), (self.path, 0o702, 77),
                                   (marker, 0o606, 77)):
            before = path.stat().st_mode
            path.chmod(mode | before)
            self.dpl('abort', status=status)
            path.chmod(before)
        marker.write_text(text.replace('rename', 'link'))
        self.dpl('status', status=78)
        marker.write_text(text.replace('1', '2'))
        self.dpl('status', status=78)
        marker.unlink()
        self.push('other', status=78)
        self.assertFalse(marker.exists())
        for file in self.file.parent.iterdir():
            file.unlink()
        self.dpl('status', status=66)
        self.dpl('abort', status=66)
        self.push('other')

    def test_symbolic_links_are_refused(self):
        self.push('make')
        for path in (self.file, self.file.with_name('build.json.lock'), self.path / 'ledger.json'):
            with self.subTest(path=path):
                away = path.rename(self.path / 'away')
                path.symlink_to(away)
                self.push('other', status=77)
                self.dpl('abort', status=77)
                if 'lock' not in path.name:
                    self.dpl('status', status=77)
                path.unlink()
                away.rename(path)
        self.push('other')

    def test_lock_file_of_a_copied_operation(self):
        self.push('make')
        lock = self.file.with_name('build.json.lock')
        lock.unlink()
        self.dpl('abort')
        self.assertTrue(lock.exists())
        self.file.unlink()
        lock.unlink()
        self.dpl('abort', status=66)
        self.assertFalse(lock.exists())

    def test_archive_number_is_above_the_highest(self):
        for there, want in (((), 'build.json'), (('build.json',), 'build~2.json'),
                            (('build~7.json', 'build~10.json'), 'build~11.json')):
            with self.subTest(there=there):
                archive = self.path / 'archive'
                shutil.rmtree(archive, ignore_errors=True)
                self.push('make')
                archive.mkdir(exist_ok=True)
                for name in there:
                    shutil.copy(self.file, archive / name)
                self.dpl('pop', '--call=make')
                for _ in range(3):
                    self.dpl('cleanup')
                self.assertEqual(set(os.listdir(archive)) - set(there), {want})

    def test_usage(self):
        for words in (['nix'], ['pop'], ['push', '--op=x']):
            with self.assertRaises(SystemExit) as end, contextlib.redirect_stderr(io.StringIO()):
                dpl.main(words)
            self.assertEqual(end.exception.code, 64)
        self.dpl('heartbeat', status=64)
        self.push('a..b', status=64)
        self.push('make', '--now=today', status=64)


def beat_often(path, name):
    place = ledger.Ledger(path, create=True)
    place.edit_group('g', 'register', ledger.observe, 15, supervisor=name, pid=os.getpid(),
                     process=ledger.process_of(os.getpid()))
    for _ in range(24):
        place.edit_group('g', 'beat', ledger.observe, 15, supervisor=name)


class Groups(InDirectory):
    def setUp(self):
        super().setUp()
        self.registry, self.lock, self.orchestrator = (
            self.path / name for name in ('g.supervisors.json', 'g.lock', 'g.orchestrator.json'))

    def group(self, verb, supervisor, *words, status=0):
        err = io.StringIO()
        with contextlib.redirect_stderr(err):
            got = dpl.main(
                [verb, f'--ledger={self.path}', '--group=g', f'--supervisor={supervisor}', *words])
        self.assertEqual(got, status, err.getvalue())
        self.assertEqual(err.getvalue().count('\n'), 0 if status in (0, 3, 5) else 1,
                         err.getvalue())

    def entry(self, supervisor):
        return json.loads(self.registry.read_text())['supervisors'][supervisor]

    def edit_by_hand(self, supervisor, **members):
        value = json.loads(self.registry.read_text())
        value['supervisors'][supervisor] |= members
        self.registry.write_text(json.dumps(value))

    def names(self):
        return sorted(os.listdir(self.path))

    def test_concurrent_beats_lose_nothing(self):
        workers = [
            multiprocessing.Process(target=beat_often, args=(self.path, f'worker{n}'))
            for n in range(8)
        ]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join(18)
        self.assertEqual([worker.exitcode for worker in workers], [0] * 8)
        got = groups.decode_registry(self.registry.read_bytes())
        self.assertEqual((got['revision'], sorted(got['supervisors'])),
                         (8 * 25, [f'worker{n}' for n in range(8)]))
        self.assertEqual({entry['pid'] for entry in got['supervisors'].values()},
                         {worker.pid for worker in workers})
        self.assertEqual(self.names(),
                         ['g.lock', 'g.supervisors.json', 'ledger.json', 'operations'])
        self.assertEqual([os.stat(path).st_mode & 0o7777 for path in (self.registry, self.lock)],
                         [0o600, 0o600])

    def test_a_life(self):
        child = subprocess.Popen(['cat'], stdin=subprocess.PIPE)
        self.addCleanup(child.stdin.close)
        self.group('beat', 's', status=66)
        self.group('register', 's', '--pid', str(child.pid), '--start-info={"command": "cat"}',
                   '--kill-timeout-ms=0')
        self.group('register', 't', '--depends=s')
        self.group('register', 'u', '--depends=v', '--depends=t')
        self.assertEqual([self.entry(name)['state'] for name in 'stu'],
                         ['running', 'running', 'waitingForDependencies'])
        self.group('register', 's', '--depends=u', status=76)
        self.group('register', 's', '--pid', str(os.getpid()), status=76)
        self.group('beat', 's', '--pid', str(os.getpid()), status=76)
        self.group('register', 't', '--request', status=76)
        self.group('beat', 'nobody', status=66)
        before = self.entry('s')
        self.group('beat', 's', '--pid', str(child.pid))
        self.assertEqual((self.entry('s')['runningSince'], self.entry('s')['process']),
                         (before['runningSince'], before['process']))
        child.kill()
        child.wait()
        self.group('beat', 's', '--pid', str(child.pid), status=69)
        self.group('beat', 's', status=5)
        self.assertEqual(self.entry('s')['lastHeartbeat'] >= before['lastHeartbeat'], True)
        self.group('beat', 's', '--pid', str(os.getpid()), '--readiness=starting', '--note=é')
        self.assertEqual([self.entry('s')[name] for name in ('pid', 'readiness', 'note')],
                         [os.getpid(), 'starting', 'é'])
        self.group('register', 'w', '--depends=s')
        self.group('register', 's', '--readiness=ready')
        self.group('register', 'x', '--depends=s')
        self.assertEqual([self.entry(name)['state'] for name in 'wx'],
                         ['waitingForDependencies', 'running'])
        self.edit_by_hand('s', state='shuttingDown')
        self.group('beat', 's', status=3)
        self.group('register', 's', status=76)
        self.edit_by_hand('s', state='dead')
        self.group('beat', 's', status=5)
        self.group('register', 's', '--restartable=no')
        self.assertEqual((self.entry('s')['state'], self.entry('s')['restartable']),
                         ('running', False))
        self.group('register', 's', '--request', '--by=me')
        self.assertEqual(json.loads(self.registry.read_text())['events'][-1]['to'], 'running')

    def test_a_refusal_leaves_the_bytes(self):
        self.group('register', 's', '--request', status=76)
        self.assertNotIn('g.lock', self.names())
        self.group('register', 's')
        for text, status in (('{}', 65), ('', 65),
                             ('{"supervisors": {"s": {"state": "alive"}}}', 65),
                             ('{"supervisors": {}, "supervisors": {}}', 65),
                             ('{"protocolVersion": 2}', 78)):
            self.registry.write_text(text)
            self.group('register', 's', status=status)
            self.group('register', 's', '--fresh', status=status)
            self.group('beat', 's', status=status)
            self.assertEqual(self.registry.read_text(), text)
        self.registry.unlink()
        self.orchestrator.write_text('{"orchestrationGroupId": "h", "state": "running"}')
        self.group('register', 's', status=65)
        self.assertEqual(self.names(),
                         ['g.lock', 'g.orchestrator.json', 'ledger.json', 'operations'])
        self.orchestrator.write_text('{"orchestrationGroupId": "g", "state": "running"}')
        self.group('beat', 's', status=66)
        self.group('register', 's')

    def test_only_trusted_files(self):
        self.group('register', 's')
        self.orchestrator.write_text('{"orchestrationGroupId": "g", "state": "running"}')
        self.orchestrator.chmod(0o600)
        for path in (self.registry, self.orchestrator, self.lock, self.path,
                     self.path / 'ledger.json'):
            for verb in ('register', 'beat'):
                with self.subTest(path=path, verb=verb):
                    before, text = path.stat().st_mode, self.registry.read_text()
                    path.chmod(before | 0o020)
                    self.group(verb, 's', status=77)
                    path.chmod(before)
                    if path != self.path:
                        away = path.rename(self.path / 'away')
                        path.symlink_to(away)
                        self.group(verb, 's', status=77)
                        path.unlink()
                        away.rename(path)
                    self.assertEqual(self.registry.read_text(), text)
        self.group('beat', 's')

    def test_lock(self):
        self.group('register', 's')
        with open(self.lock, 'r+') as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            for verb in ('register', 'beat'):
                self.group(verb, 's', '--wait=0.1', status=75)
        self.lock.unlink()
        self.group('beat', 's')  # the group was copied without its lock file
        self.assertTrue(self.lock.exists())

    def test_killed_in_mid_edit(self):
        """Before the rename SIGKILL leaves the old file, after it the new one.

        The test kills the edit before and after each step.
        """
        self.group('register', 's')
        for number, (step, after) in enumerate(
            (step, after) for step in ('write', 'fsync', 'rename') for after in (False, True)):
            with self.subTest(step=step, after=after):
                old = self.registry.read_bytes()
                code = (
                    f'import os, signal, sys; sys.path.insert(0, {str(HERE)!r}); import dpl\n'
                    f'real = os.{step}\ndef fault(*rest, **named):\n'
                    f'    if {after}: real(*rest, **named)\n'
                    f'    os.kill(os.getpid(), signal.SIGKILL)\n'
                    f'os.{step} = fault\n'
                    f'dpl.main(["register", "--ledger={self.path}", "--group=g", '
                    f'"--supervisor=s{number}"])\n'
                )
                self.assertEqual(
                    subprocess.run([sys.executable, '-c', code]).returncode, -signal.SIGKILL)
                if (step, after) == ('rename', True):
                    self.assertEqual(self.entry(f's{number}')['state'], 'running')
                else:
                    self.assertEqual(self.registry.read_bytes(), old)
                self.group('beat', 's')  # the lock was released when its holder died

    def test_lost_answer(self):
        """After a failed rename, nothing has changed (74) if the temporary file is still there.

        Otherwise the rename may have taken effect (71).
        """
        real = os.rename

        def lost(*rest, **named):
            real(*rest, **named)
            failing()

        def failing(*_, **__):
            raise OSError(errno.EIO, 'no answer')
        self.push('make')
        self.group('register', 's')
        for edit, file in ((functools.partial(self.push, 'cc'), self.file),
                           (functools.partial(self.group, 'register', 't'), self.registry)):
            old = file.read_bytes()
            for rename, status in ((failing, 74), (lost, 71)):
                with self.subTest(file=file.name, status=status), \
                        unittest.mock.patch('os.rename', rename):
                    edit(status=status)
                    self.assertEqual(file.read_bytes() == old, status == 74)

    def test_fresh(self):
        self.group('register', 's')
        self.group('register', 't', '--fresh')
        self.assertEqual(self.entry('s')['state'], 'running')
        for number in (1, 2):
            for name in json.loads(self.registry.read_text())['supervisors']:
                self.edit_by_hand(name, lastHeartbeat='2000-01-01T00:00:00Z')
            old = self.registry.read_bytes()
            self.group('register', f'u{number}', '--fresh')
            self.assertEqual((self.path / f'archive/g~supervisors~{number}.json').read_bytes(), old)
            self.assertEqual(list(json.loads(self.registry.read_text())['supervisors']),
                             [f'u{number}'])
        self.edit_by_hand('u2', lastHeartbeat='2000-01-01T00:00:00Z')
        self.group('register', 's', '--fresh', '--request', status=76)
        self.assertEqual(len(os.listdir(self.path / 'archive')), 2)

    def test_survivors_are_no_other_process(self):
        self.group('register', 's')
        ours, other = 'd' * 16, 'e' * 16
        marks = {
            'DPL_LEDGER': str(self.path), 'DPL_GROUP': 'g', 'DPL_SUPERVISOR': 's',
            'DPL_ATTEMPT': '2'
        }
        for start, session, status in ((ours, '', 76), (ours, 'setsid', 76),
                                       (f'{other},{ours}', '', 76), (other, '', 0), ('', '', 0)):
            with self.subTest(start=start, session=session):
                leader = subprocess.Popen(
                    ['sh', '-c', f'{session} sleep 60 >/dev/null & echo $!; read wait'],
                    start_new_session=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                    env=os.environ | marks | {'DPL_START': start})
                child = int(leader.stdout.readline())
                self.edit_by_hand('s', pid=leader.pid, process=ledger.process_of(leader.pid),
                                  attempt=2, startedAt=T0, startId=ours)
                leader.communicate(b'\n')
                self.group('register', 's', status=status)
                self.group('register', 's', '--pid', str(os.getpid()), status=status)
                self.group('beat', 's', status=5 if status else 0)
                os.kill(child, signal.SIGKILL)
                deadline = time.monotonic() + 30
                while ledger.start_ticks(
                        child) is not None:  # until then the next iteration would find it
                    self.assertLess(time.monotonic(), deadline)
        self.group('register', 's')

    def test_survivors_below_a_keeper(self):
        self.group('register', 's')
        ours, other = 'd' * 16, 'e' * 16
        script = ("import ctypes, os, subprocess, sys; ctypes.CDLL(None).prctl(36, 1)\n"
                  "command = ['sh', '-c', sys.argv[1]]\n"
                  "leader = subprocess.Popen(command, start_new_session=True, env={})\n"
                  "while True:\n    try: os.wait()\n    except ChildProcessError: break")
        for keeper, child, status in ((ours, '', 76), (other, '', 0), ('', '', 0),
                                      (ours, f'DPL_START={other}', 0),
                                      (ours, f'DPL_KEEPER={other}', 0),
                                      (ours, f'DPL_START={ours}', 76)):
            with self.subTest(keeper=keeper, child=child):
                command = f'env {child} setsid sleep 60 >/dev/null & echo $$ $!; read wait'
                process = subprocess.Popen([sys.executable, '-c', script, command],
                                           stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                           env=os.environ | {'DPL_KEEPER': keeper})
                leader, child = map(int, process.stdout.readline().split())
                deadline = time.monotonic() + 30
                comm = pathlib.Path(f'/proc/{child}/comm')
                while comm.read_text() != 'sleep\n':  # until then it has the environment of sh
                    self.assertLess(time.monotonic(), deadline)
                self.edit_by_hand('s', pid=leader, process=ledger.process_of(leader), attempt=2,
                                  startedAt=T0, startId=ours, keeper=ledger.process_of(process.pid))
                process.stdin.write(b'\n')
                process.stdin.flush()
                while ledger.start_ticks_or_none(leader) is not None:
                    self.assertLess(time.monotonic(), deadline)
                self.group('register', 's', status=status)
                os.kill(child, signal.SIGKILL)
                process.communicate()
        self.group('register', 's')

    def test_the_archive_of_operations_leaves_registries(self):
        archive = self.path / 'archive'
        self.group('register', 's')
        archive.mkdir(mode=0o700)
        for number in range(30):
            path = archive / f'g~supervisors~{number + 1}.json'
            path.write_text('{"supervisors": {}}')
            os.utime(path, (0, 0))
        self.push('make')
        self.dpl('pop', '--call=make')
        for _ in range(3):
            self.dpl('cleanup')
        self.assertEqual(len(os.listdir(archive)), 31)

    def test_usage(self):
        self.group('register', 'a..b', status=64)
        self.group('register', 's', '--depends=a/b', status=64)
        self.group('beat', 's', '--now=today', status=64)
        deep = '{"command": "cat", "x": ' + '[' * 61 + ']' * 61 + '}'
        for words in (['beat',
                       '--group=g'], ['register', '--group=g', '--supervisor=s', '--start-info={}'],
                      ['register', '--group=g', '--supervisor=s', f'--start-info={deep}'
                       ], ['register', '--group=g', '--supervisor=s', '--restartable=maybe'
                           ], ['register', '--group=g', '--supervisor=s', '--kill-timeout-ms=-1']):
            with self.assertRaises(SystemExit) as end, contextlib.redirect_stderr(io.StringIO()):
                dpl.main(words)
            self.assertEqual(end.exception.code, 64, words)


class Kept(unittest.TestCase):
    """Ledgers of earlier versions stay readable (spec/compatibility.md)."""
    ledgers = [path.parent for path in HERE.parent.glob('vectors/kept/*/*/ledger.json')]
    kinds = {'*.supervisors.json': (groups.decode_registry, groups.encode_registry),
             '*.orchestrator.json': (groups.decode_orchestrator, groups.encode_orchestrator),
             'operations/*.json': (decode, encode), 'archive/*.json': (decode, encode),
             'queues/*.json': (queues.decode, queues.encode)}
    shape = {'tasks': 'taskId', 'ended': '-'}
    left_out = ['counters', *(f'tasks/*/claim/{name}' for name in ('beat', 'process', 'keeper'))]

    def missing(self, want, got, place=''):
        """Return the first place where got is not want, or lacks a member of it, or None."""
        if isinstance(want, dict) and isinstance(got, dict):
            inside = [(name, value, got.get(name)) for name, value in want.items()]
        elif isinstance(want, list) and isinstance(got, list) and len(want) == len(got):
            inside = [(str(i), *pair) for i, pair in enumerate(zip(want, got))]
        else:
            return None if want == got else place
        places = (self.missing(a, b, f'{place}/{name}') for name, a, b in inside)
        return next((found for found in places if found is not None), None)

    def test_files_are_written_with_all_that_they_say(self):
        for pattern, (read, write) in self.kinds.items():
            paths = [path for place in self.ledgers for path in place.glob(pattern)]
            self.assertTrue(paths, pattern)
            for path in paths:
                with self.subTest(path=path):
                    text = path.read_text()
                    self.assertIsNone(self.missing(json.loads(text), json.loads(write(read(text)))))

    def test_records_are_whole(self):
        for place in self.ledgers:
            for path in place.glob('queues/*.audit.jsonl'):
                sealed = sorted(path.parent.glob(path.name.replace('.audit.', '.audit~*.')))
                log = ''.join(part.read_text() for part in [*sealed, path])
                file = (path.parent / path.name.replace('.audit.jsonl', '.json')).read_bytes()
                with self.subTest(path=path):
                    self.assertFalse(audit.verify(log, parse(file), self.shape, left_out=self.left_out))


if __name__ == '__main__':
    unittest.main()
