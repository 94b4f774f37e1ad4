"""Tests of the second implementation: python3 -m unittest discover spec/conformance (or run this file)."""
import contextlib
import fcntl
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

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import dpl  # noqa: E402
import ledger  # noqa: E402
import random_vectors  # noqa: E402
import run  # noqa: E402
from document import Refused, decode, encode, format_time, read_time  # noqa: E402

T0 = '2026-01-20T10:30:00.000Z'
FRAME = {'participantId': 'cli', 'callId': 'make', 'lastHeartbeat': T0}


def operation(**members):
    return {'operationId': 'build', 'state': 'running', 'lastHeartbeat': T0, 'stack': [FRAME]} | members


def corrupt_place(text):
    try:
        decode(text if isinstance(text, (str, bytes)) else json.dumps(text), 'build')
    except Refused as refused:
        return refused.path if refused.word == 'corrupt' else refused.word
    return None


class Decode(unittest.TestCase):
    def test_refusals_name_the_place(self):
        good = json.dumps(operation())
        cases = [
            ('', ''), ('{', ''), (good[:-1], ''), (good + '{}', ''), ('[]', ''), ('null', ''), (good.encode() + b'\xff', ''),
            (good.replace('"cli"', '"cli", "pid": NaN'), ''), ('\ufeff' + good, ''),
            (good.replace('"callId"', '"callId": "a", "callId"'), '/stack/0/callId'),
            (good.replace('"make"', '"make", "x/~y": {"a": 1, "b": 2, "a": 1}'), '/stack/0/x~1~0y/a'),
            (operation(stack={}), '/stack'), (operation(stack=[1]), '/stack/0'), (operation(revision='1'), '/revision'),
            (operation(revision=1.0), '/revision'), (operation(revision=True), '/revision'), (operation(aborted=0), '/aborted'),
            (operation(aborted=None), '/aborted'), (operation(state='done'), '/state'),
            (operation(operationId='other'), '/operationId'),
            (operation(stack=[FRAME | {'state': 'dead'}]), '/stack/0/state'),
            (operation(stack=[FRAME | {'callId': '../x'}]), '/stack/0/callId'),
            (operation(stack=[FRAME | {'callId': 'a' * 129}]), '/stack/0/callId'),
            (operation(stack=[FRAME | {'callId': 'a\n'}]), '/stack/0/callId'),
            (operation(stack=[FRAME | {'resources': ['/a', 1]}]), '/stack/0/resources/1'),
            (operation(stack=[FRAME | {'process': {'pid': '1'}}]), '/stack/0/process/pid'),
            (operation(stack=[FRAME, FRAME]), '/stack/1/callId'), (operation(stack=[{'callId': 'x'}]), '/stack/0/participantId'),
            (operation(lastHeartbeat='2026-01-20T10:30:00'), '/lastHeartbeat'),
            (operation(lastHeartbeat='2026-02-30T10:30:00Z'), '/lastHeartbeat'),
            (operation(lastHeartbeat='2026-01-20 10:30:00Z'), '/lastHeartbeat'),
            (operation(supervisorHeartbeats={'s': {'supervisorId': 't', 'lastHeartbeat': T0}}),
             '/supervisorHeartbeats/s/supervisorId'),
            (operation(supervisorHeartbeats={'a~/': {'lastHeartbeat': T0}}), '/supervisorHeartbeats/a~0~1'),
            (operation(stalenessThresholdMs=0), '/stalenessThresholdMs'), (operation(revision=-1), '/revision'),
            (operation(protocolVersion=0), '/protocolVersion'), (operation(lastHeartbeat='2026-01-20t10:30:00z'), '/lastHeartbeat'),
            (operation(protocolVersion=2, state='new'), 'newerVersion'), (operation(protocolVersion='1'), '/protocolVersion'),
            (operation(), None), (operation(protocolVersion=1), None)]
        for text, place in cases:
            with self.subTest(text=text):
                self.assertEqual(corrupt_place(text), place)

    def test_times(self):
        for text, want in [('2026-01-20T12:30:00+02:00', T0), ('2026-01-20T10:30:00.0009999999Z', T0),
                           ('2026-01-19T23:00:00.5-11:30', '2026-01-20T10:30:00.500Z')]:
            self.assertEqual(format_time(read_time(text)), want)

    def test_unknown_members_survive(self):
        odd = '{"z": 1.0, "a": [1e400, -0, 12345678901234567890123, 1E+2], "q": {"y": {}, "x": [], "s": "\\ud800é\\u0000"}}'
        text = json.dumps(operation(revision=7, stack=[FRAME | {'beat': {'monotonicMs': 1, 'at': T0, 'bootId': '', 'odd': 1}}]))
        text = text.replace('{"operationId"', '{"zz": %s, "operationId"' % odd).replace('"odd": 1', '"odd": %s' % odd)
        once = encode(decode(text))
        for number in ('1.0', '1e400', '-0', '12345678901234567890123', '1E+2'):
            self.assertEqual(once.count(f' {number}'), 2, number)
        self.assertEqual(encode(decode(once)), once)
        self.assertEqual([json.loads(once)['zz'], list(json.loads(once)['zz'])], [json.loads(odd), ['z', 'a', 'q']])
        self.assertTrue(once.startswith('{\n  "protocolVersion": 1,\n  "operationId": "build",\n  "revision": 7,\n'))
        self.assertTrue(once.endswith('}\n'))
        self.assertEqual(list(json.loads(once))[-1], 'zz')


class Runner(unittest.TestCase):
    def test_fails_on_what_it_does_not_know(self):
        vector = {'comment': 'c', 'section': '5.4', 'given': operation(state='failed', stack=[]), 'seen': {'now': T0},
                  'do': {'verb': 'abort', 'by': 'x'}, 'refused': 'over'}
        cases = [({'refused': 'noCall'}, '+    "over"'), ({'refused': 'over', 'more': 1}, 'unknown member in the vector: more'),
                 ({'seen': {'now': T0, 'pid': 1}}, 'unknown member in seen: pid'), ({'unchanged': True}, 'exactly one of'),
                 ({'do': {'verb': 'abort', 'who': 'x'}}, 'unknown member in do: who'), ({'do': {'verb': 'abo'}}, 'unknown verb abo')]
        with tempfile.TemporaryDirectory() as directory:
            path = pathlib.Path(directory) / 'abort-x.json'
            for change, want in cases:
                path.write_text(json.dumps(vector | change))
                self.assertIn(want.replace('    ', ''), '\n'.join(run.difference(path)))
            path.write_text(json.dumps(vector))
            self.assertEqual(run.difference(path), [])
        with contextlib.redirect_stdout(io.StringIO()):
            self.assertEqual(run.main([]), 1)


class RandomVectors(unittest.TestCase):
    def test_the_same_seed_gives_the_same_vectors(self):
        with tempfile.TemporaryDirectory() as directory, contextlib.redirect_stdout(io.StringIO()):
            first, second = pathlib.Path(directory) / 'first', pathlib.Path(directory) / 'second'
            random_vectors.main(['100', str(first), '7'])
            random_vectors.main(['100', str(second), '7'])
            self.assertEqual({path.name: path.read_text() for path in first.iterdir()},
                             {path.name: path.read_text() for path in second.iterdir()})
            self.assertEqual(len(list(first.iterdir())), 100)
            self.assertEqual(run.main([str(path) for path in first.iterdir()]), 0)


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
        self.assertEqual(err.getvalue().count('\n'), 1 if err.getvalue().startswith('dpl.py: build: ') else 0, err.getvalue())
        return out.getvalue()

    def push(self, call, *words, status=0):
        return self.dpl('push', f'--call={call}', '--participant=cli', *words, status=status)

    def read(self):
        return json.loads(self.dpl('status'))

    def leftovers(self):
        return [name for name in os.listdir(self.path / 'operations') if '~' in name]


def push_and_pop(path, name):
    place = ledger.Ledger(path, create=True)
    for turn in range(25):
        for verb, rest in (('push', {'participant': name}), ('pop', {'keepOpen': True})):
            place.edit('build', verb, ledger.observe, 15, call=f'{name}-{turn}', **rest)


class Files(InDirectory):
    def test_concurrent_edits_lose_nothing(self):
        workers = [multiprocessing.Process(target=push_and_pop, args=(self.path, f'worker{n}')) for n in range(8)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join(18)
        self.assertEqual([worker.exitcode for worker in workers], [0] * 8)
        got = self.read()
        self.assertEqual((got['revision'], got['stack'], got['state']), (8 * 25 * 2, [], 'running'))
        self.assertEqual([e['revision'] for e in got['events']], list(range(400 - 63, 401)))
        self.assertEqual(sorted(os.listdir(self.path / 'operations')), ['build.json', 'build.json.lock'])

    def test_killed_in_mid_edit(self):
        """SIGKILL before and after each step of an edit leaves the old file before rename, the new one after it."""
        self.push('first')
        for number, (step, after) in enumerate((step, after) for step in ('write', 'fsync', 'rename') for after in (False, True)):
            with self.subTest(step=step, after=after):
                old = self.file.read_bytes()
                code = (f'import os, signal, sys; sys.path.insert(0, {str(HERE)!r}); import dpl\n'
                        f'real = os.{step}\ndef fault(*rest, **named):\n'
                        f'    if {after}: real(*rest, **named)\n    os.kill(os.getpid(), signal.SIGKILL)\n'
                        f'os.{step} = fault\n'
                        f'dpl.main(["push", "--ledger={self.path}", "--op=build", "--call=c{number}", "--participant=cli"])\n')
                self.assertEqual(subprocess.run([sys.executable, '-c', code]).returncode, -signal.SIGKILL)
                if (step, after) == ('rename', True):
                    self.assertEqual(json.loads(self.file.read_bytes())['stack'][-1]['callId'], f'c{number}')
                else:
                    self.assertEqual(self.file.read_bytes(), old)
                self.push(f'after{number}')  # the lock went with its holder
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
        """Who waited for a lock file that was archived away meanwhile starts again with the new one."""
        self.push('make')
        lock = open(f'{self.file}.lock', 'r+')
        fcntl.flock(lock, fcntl.LOCK_EX)
        waiting = subprocess.Popen([sys.executable, str(HERE / 'dpl.py'), 'push', f'--ledger={self.path}', '--op=build',
                                    '--call=other', '--participant=cli'])
        mine = f' {os.fstat(lock.fileno()).st_ino} '.replace(' ', ':', 1)
        deadline = time.monotonic() + 5
        while not any('->' in line and mine in line for line in pathlib.Path('/proc/locks').read_text().splitlines()):
            self.assertLess(time.monotonic(), deadline, 'nobody waits')
        os.unlink(lock.name)
        lock.close()
        self.assertEqual(waiting.wait(5), 0)
        self.assertEqual([frame['callId'] for frame in self.read()['stack']], ['make', 'other'])

    def test_host_id(self):
        for machine, name, want in (('', '', 'af63a24c860189fe'), ('3d1219c7c4c5404aaa1f6d2a48adfda4', 'vm', '75ff6945b9d096b3'),
                                    ('', 'host200', '00fa9c301ea47ede')):
            self.assertEqual(ledger.host_id(machine, name), want)
        self.push('make', '--pid', str(os.getpid()))
        self.assertRegex(self.read()['stack'][0]['process']['hostId'], '^[0-9a-f]{16}$')

    def test_a_life(self):
        child = subprocess.Popen(['cat'], stdin=subprocess.PIPE)
        self.addCleanup(child.stdin.close)
        self.push('make')
        self.push('cc', '--participant=worker', '--supervisor=boss', '--handle=h 1', '--pid', str(child.pid))
        self.dpl('heartbeat', '--supervisor=boss')
        child.kill()
        child.wait()
        self.dpl('heartbeat', '--participant=cli', status=3)
        self.assertEqual(self.read()['stack'][1]['evidence'], 'exited')
        report = json.loads(self.dpl('heartbeat', '--supervisor=boss', status=3))
        self.assertEqual((report['callId'], report['supervisorHandle'], report['previousState']), ('cc', 'h 1', 'active'))
        self.dpl('ack', '--supervisor=boss', '--call=make', status=76)
        self.dpl('ack', '--supervisor=boss', '--call=cc')
        self.assertEqual(self.read()['stack'][1]['state'], 'cleanedUp')
        self.dpl('pop', '--call=make')
        self.assertEqual(self.read()['state'], 'failed')
        self.dpl('pop', '--call=make', status=4)
        self.push('again', '--pid', str(child.pid), status=69)
        for _ in range(3):
            self.dpl('heartbeat', '--supervisor=boss', status=4)
        self.assertEqual((os.listdir(self.path / 'operations'), os.listdir(self.path / 'archive')), ([], ['build.json']))
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
        mine = self.path / 'tmp/build/make/deep'
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
        (self.path / 'tmp/build/cc').mkdir()
        self.dpl('cleanup')
        self.assertEqual((self.read()['stack'][1]['state'], other.exists()), ('cleanedUp', False))
        self.assertFalse((self.path / 'tmp/build/cc').exists())
        self.dpl('pop', '--call=cc')
        ended = self.read()['events'][-1]
        self.assertEqual((ended['type'], ended['from'], len(ended['leftResources'])), ('callEnded', 'cleanedUp', 1))
        self.dpl('pop', '--call=make')
        self.assertEqual((os.listdir(self.path / 'tmp/build'), os.listdir(outside)), (['way'], ['kept']))
        for _ in range(3):
            self.dpl('cleanup')
        self.assertEqual((os.listdir(self.path / 'tmp'), os.listdir(outside)), ([], ['kept']))

    def test_ledger_marker_and_permissions(self):
        self.dpl('status', status=66)
        self.push('make')
        modes = [os.stat(path).st_mode & 0o7777 for path in (self.path, self.file.parent, self.file)]
        self.assertEqual(modes, [0o700, 0o700, 0o600])
        marker = self.path / 'ledger.json'
        text = marker.read_text()
        for path, mode, status in ((self.file, 0o620, 77), (self.path, 0o702, 77), (marker, 0o606, 77)):
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


if __name__ == '__main__':
    unittest.main()
