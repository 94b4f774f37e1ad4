#!/usr/bin/env python3
"""Write N random vectors (spec §7) into DIR: random_vectors.py N DIR [SEED].

Each has the result of protocol.py for one verb, or of observing.py for a wait or watch, on an
operation that a random walk of verbs and manual edits has led to. The same arguments give the same
files. Let the runner of another implementation judge them; if it disagrees, the specification
decides which is right.
"""
import copy
import json
import pathlib
import random
import re
import sys

import observing
import protocol
import run
import sightings
from document import (FRAME_STATES, OPERATION, READINESS, STATES, Number, Refused, decode,
                      format_time, parse, write)

START = 1768905000000  # 2026-01-20T10:30:00Z
THRESHOLD = 1000
STEPS = (0, 0, 1, 1, 200, 499, 500, 999, 1000, 1001, 2000, 9000, 10000, 10001, 3600_000, 3600_001,
         666, 667, -500, -1001, -3600_000)
HOSTS, NAMESPACES = ('host-1', 'host-1', 'host-1', 'host-2', ''), ('41', '41', '41', '42', '')
BOOTS, INODES = ('boot-2', 'boot-2', 'boot-1', ''), (71, 71, 71, 72, 0)
PIDS, CALLS, PARTICIPANTS, SUPERVISORS = range(100, 105), 'abcdef', 'pqr', 'stu'
RUNS, STARTS = ('1' * 16, '1' * 16, '2' * 16), ('0f1e2d3c', '4b5a6978')
FILES = ('directory', '2049:131:11:1768905000000000000:1768905000000000001')
NOTES = ('', 'at 50 %', 'é "\\\n')
UNKNOWN = (Number('1.0'), Number('-0'), Number('12345678901234567890'), None, [],
           {'b': Number('1E+2'), 'a': [True, {}]}, 'é\n')

OPERATION_DEFAULTS = {
    'protocolVersion': 1, 'revision': 0, 'aborted': False, 'heartbeatIntervalMs': 1500,
    'stalenessThresholdMs': 10000, 'terminalAt': None, 'terminalHeartbeats': 0,
    'supervisorHeartbeats': {}, 'transitions': [], 'events': []
}
RARE_IN_FRAME = {
    'description': '', 'readiness': 'ready', 'note': '', 'failOnCrash': True, 'heartbeats': False,
    'resources': [], 'foundResources': [], 'leftResources': []
}
FRAME_DEFAULTS = RARE_IN_FRAME | {
    'pid': 0, 'state': 'active', 'supervisorId': None, 'supervisorHandle': None
}
SUPERVISOR_DEFAULTS = {
    'pid': 0, 'status': 'alive', 'orphanPolicy': 'crash', 'heartbeats': False
}


def without(plain, defaults):
    return {name: value for name, value in plain.items()
            if name not in defaults or value != defaults[name]}


def brief(operation):
    """Return the JSON value of a decoded operation without members that have their default."""
    plain = without(OPERATION[1](operation), OPERATION_DEFAULTS)
    plain['stack'] = [
        without(frame, FRAME_DEFAULTS | {'startTime': frame['lastHeartbeat']})
        for frame in plain['stack']
    ]
    if 'supervisorHeartbeats' in plain:
        plain['supervisorHeartbeats'] = {
            key: without(entry, SUPERVISOR_DEFAULTS)
            for key, entry in plain['supervisorHeartbeats'].items()
        }
    return plain


def usual(operation):
    """Return the JSON value of a decoded operation, with the members that most writers write."""
    plain = OPERATION[1](operation)
    return plain | {'stack': [without(frame, RARE_IN_FRAME) for frame in plain['stack']]}


LAYOUTS = (brief, usual, OPERATION[1])

TRACEPARENTS = tuple(version + '-' + trace + '-' + span + '-' + flags
                     for version, trace, span, flags in (
                         ('00', 'a1' * 16, 'b2' * 8, '01'), ('00', 'a1' * 16, 'c3' * 8, '00'),
                         ('01', 'd4' * 16, 'b2' * 8, 'ff-more'), ('00', 'A1' * 16, 'b2' * 8, '01'),
                         ('00', '0' * 32, 'b2' * 8, '01'), ('00', 'a1' * 16, '0' * 16, '01'),
                         ('ff', 'a1' * 16, 'b2' * 8, '01'), ('00', 'a1' * 16, 'b2' * 8, '01-')))


class Walk:
    """An operation as it changes, and the world that its observers see."""

    def __init__(self, dice):
        self.dice, self.operation, self.exited = dice, None, set()
        self.now, self.monotonic = START, 100_000
        self.hand_edits = dice.random() < 0.5

        # What each host remembers; None: §18 does not apply to the ledger.
        self.kept = {} if dice.random() < 0.4 else None

    def chance(self, probability):
        return self.dice.random() < probability

    def one(self, values):
        return self.dice.choice(list(values))

    def process(self):
        return {
            'pid': self.one(PIDS), 'hostId': self.one(HOSTS), 'bootId': self.one(BOOTS),
            'pidNamespace': self.one(NAMESPACES), 'startTicks': self.one((7, 7, 8))
        } | self.optional(0.4, pidfdInode=self.one(INODES))

    def seen(self):
        """Return what the next observer sees, as in a vector.

        The wall clock may be set, but the monotonic clock is not.
        """
        step = self.one(STEPS)
        self.now += step
        self.monotonic += abs(step) if self.chance(0.8) else self.one(STEPS[:10])
        if self.chance(0.1):
            self.exited ^= {self.one(PIDS)}
        seen = {'now': format_time(self.now)}
        if self.chance(0.8):
            seen |= {
                'hostId': self.one(HOSTS), 'bootId': self.one(BOOTS),
                'pidNamespace': self.one(NAMESPACES)
            }
            if self.chance(0.8):
                booted = START
                if self.chance(0.5):
                    booted = self.now + self.one((-5000, -1000, -1, 0, 1))
                seen['bootedAt'] = format_time(booted)
            if self.chance(0.7):
                seen['monotonicMs'] = max(1, self.monotonic - (0 if self.chance(0.9) else 50_000))
            seen['exited'] = sorted(self.exited)
            seen |= self.optional(0.15, unseen=[self.one(PIDS)])
        seen |= self.optional(0.2, watch=self.one(('awake', 'awake', 'woken')))
        if self.kept is not None:
            seen['sightings'] = self.sightings(seen)
        return {name: value for name, value in seen.items() if value not in ('', [])}

    def sightings(self, seen):
        """Return the sightings of the observer's host, sometimes others that are possible.

        Those may be of another boot or time, or incomplete.
        """
        kept = copy.deepcopy(self.kept.get(seen.get('hostId')))
        if not kept or self.chance(0.5):
            keys = dict.fromkeys(sightings.key(at, beat)
                                 for at, beat in protocol.times(self.operation) if at is not None)
            kept = {'bootId': seen.get('bootId', ''), 'seen': [self.sighting(*key) for key in keys]}
        if self.chance(0.1):
            kept['bootId'] = self.one(BOOTS)
        if kept['seen'] and self.chance(0.3):
            self.spoil(kept['seen'])
        return kept

    def sighting(self, boot, milliseconds, at):
        return {'bootId': boot, 'monotonicMs': milliseconds, 'at': format_time(at),
                'firstSeenMs': max(0, self.monotonic - self.one((*STEPS[:12], -1)))}

    def spoil(self, kept):
        one, how = self.one(kept), self.dice.randrange(5)
        if how == 0:
            kept.remove(one)
        elif how < 4:
            one['firstSeenMs'] = max(0, self.monotonic - self.one(STEPS))
        else:
            one['monotonicMs'] += 1

    def remember(self, vector):
        """Keep what the host of vector's observer remembers after it."""
        if 'remembered' in vector:
            self.kept[vector['seen'].get('hostId')] = integers(vector['remembered'])

    def identity(self):
        """Return the arguments pid and process, one of them, or neither."""
        if self.chance(0.5):
            return {}
        frames = [entry for entry in self.entries() if 'process' in entry] if self.operation else []
        recorded = frames and self.chance(0.5)
        process = copy.deepcopy(self.one(frames)['process']) if recorded else self.process()
        process['bootId'] = process['bootId'] or 'boot-2'
        process = {name: process[name]
                   for name in ('pid', 'hostId', 'bootId', 'pidNamespace', 'startTicks')}
        process |= self.optional(0.4, pidfdInode=self.one(INODES))
        if process['pid'] and self.chance(0.8):
            return {'pid': process['pid'], 'process': process}
        return {'pid': self.one(PIDS)}

    def entries(self):
        return [*self.operation['stack'], *self.operation['supervisorHeartbeats'].values()]

    def optional(self, probability, **arguments):
        return arguments if self.chance(probability) else {}

    def push(self):
        arguments = {'participant': self.one(PARTICIPANTS), 'call': self.one(CALLS)}
        arguments |= self.identity()
        arguments |= self.optional(0.5, supervisor=self.one(SUPERVISORS))
        arguments |= self.optional(
            0.4, caller=self.known('callId', CALLS)
            if self.operation and self.chance(0.9) else self.one(CALLS))
        arguments |= self.optional(0.2, handle='h 1')
        arguments |= self.optional(0.2, description=self.one(('one', 'é "\\\n', '\x7f')))
        arguments |= self.optional(0.15, readiness=self.one(READINESS))
        arguments |= self.optional(0.3, traceparent=self.one(TRACEPARENTS))
        arguments |= self.optional(0.3, resources=['/r/1', '/r/2'])
        arguments |= self.optional(0.2, foundResources=[{'path': '/r/2', 'file': self.one(FILES)}])
        arguments |= self.optional(0.4, startId=self.one(STARTS))
        arguments |= self.optional(0.5, newRunId=self.one(RUNS))
        arguments |= self.optional(0.3, begin=self.chance(0.9)) | self.run()
        arguments |= self.optional(0.3, failOnCrash=self.chance(0.2))
        arguments |= self.optional(0.2, heartbeats=self.chance(0.8))
        arguments |= self.optional(0.2, orphanPolicy=self.one(('crash', 'keep')))
        arguments |= self.optional(0.9 if self.operation is None else 0.1,
                                   stalenessThresholdMs=THRESHOLD)
        return arguments | self.optional(0.03, heartbeatIntervalMs=200)

    def heartbeat(self):
        actor = self.one(({'participant': self.one(PARTICIPANTS)},
                          {'participant': self.known('participantId', PARTICIPANTS)},
                          {'call': self.known('callId', CALLS)}, {}))
        if not actor or self.chance(0.2):
            actor['supervisor'] = self.known('supervisorId', SUPERVISORS) or 's'
            actor |= self.optional(0.2, heartbeats=True)
        actor |= self.optional(0.2, readiness=self.one(READINESS))
        actor |= self.optional(0.1, note=self.one(NOTES))
        return actor | self.identity() | self.optional(0.1, cleaning=True) | self.run()

    def run(self):
        """Return the argument run, mostly that of the operation, or none."""
        own = self.operation and self.operation.get('runId')
        other = self.one(RUNS) if self.operation else 'none'
        return self.optional(0.4 if own else 0.03,
                             run=own if own and self.chance(0.9) else other)

    def end(self):
        """Return how a call ended."""
        end = self.one(({}, {'status': self.one((0, 1, 255))}, {'signal': 'SIGKILL'}))
        return end | self.optional(0.2, reason='too hot')

    def known(self, member, otherwise):
        return self.one([frame[member] for frame in self.operation['stack']] or otherwise)

    def pop(self):
        return ({'call': self.known('callId', CALLS)} | self.optional(0.2, fail=True) | self.end()
                | self.optional(0.2, keepOpen=True) | self.optional(0.2, deleteResources=True)
                | self.run())

    def abort(self):
        return {'by': 'user'} | self.optional(0.3, reason='tired') | self.run()

    def fail(self):
        call = self.known('callId', CALLS) if self.chance(0.8) else self.one(CALLS)
        return {'call': call, 'by': 'test'} | self.end() | self.run()

    def cleanup(self):
        return {'by': 'janitor'}

    def calls(self):
        frame = self.one(self.operation['stack'] or [{'callId': 'a', 'supervisorId': 's'}])
        own = frame['supervisorId'] if frame['supervisorId'] and self.chance(0.9) else None
        supervisor = own or self.one(SUPERVISORS)
        others = [other['callId'] for other in self.operation['stack']
                  if other['supervisorId'] == supervisor
                  and (other['state'] not in protocol.LIVE or self.chance(0.1))]
        others += [frame['callId']] * self.chance(0.4) + ['zz'] * self.chance(0.05)
        calls = list(dict.fromkeys(others))
        self.dice.shuffle(calls)
        return {'supervisor': supervisor, 'calls': calls}

    def ack(self):
        return self.calls() | self.identity()

    def claim(self):
        supervisor = self.calls()['supervisor']
        return {'supervisor': supervisor} | (self.identity() or {'pid': 100})

    unclaim = calls

    def verb(self):
        if self.operation is None:
            return 'push'
        if (self.operation['state'] == 'running' and len(self.operation['stack']) < 3
                and self.chance(0.4)):
            return 'push'
        if self.operation['state'] != 'running' and self.chance(0.2):
            return 'heartbeat'
        return self.one(('push', ) * 4 + ('heartbeat', ) * 8 + ('pop', ) * 3 +
                        ('cleanup', 'ack', 'claim') * 2 + ('unclaim', 'abort', 'fail'))

    def edit_by_hand(self):
        """Change the operation as a user, another program or an older version may have."""
        entry, operation = self.one(self.entries() or [self.operation]), self.operation
        frame, what = 'callId' in entry, self.dice.randrange(23)
        if what == 0:
            entry['lastHeartbeat'] += self.one(STEPS)
        elif what == 1 and entry is not operation:
            entry['pid'] = self.one(PIDS)
        elif what == 2 and entry is not operation:
            entry['process'] = self.process()
            entry['pid'] = entry['process']['pid'] if self.chance(0.8) else self.one(PIDS)
        elif what == 3 and entry is not operation:
            milliseconds = max(0, self.monotonic + self.one(STEPS))
            entry['beat'] = {
                'bootId': self.one(BOOTS), 'monotonicMs': milliseconds, 'at': entry['lastHeartbeat']
            }
        elif what == 4 and operation['supervisorHeartbeats']:
            del operation['supervisorHeartbeats'][self.one(operation['supervisorHeartbeats'])]
        elif what == 5 and frame and entry['state'] == 'crashed':
            entry['reportedAt'] = self.now + self.one(
                (-10 * THRESHOLD, -10 * THRESHOLD - 1, -20 * THRESHOLD))
        elif what == 6 and frame and entry['state'] == 'crashed':
            process = self.process()
            at = self.now - self.one((0, 10 * THRESHOLD, 20 * THRESHOLD))
            entry['handlingBy'] = {'pid': self.one((process['pid'], 100)), 'at': at}
            entry['handlingBy'] |= {'process': process} if self.chance(0.7) else {}
        elif what == 7 and frame and entry['state'] in protocol.LIVE:
            entry['state'] = self.one(protocol.LIVE)
        elif what == 8 and frame:
            entry['failOnCrash'] = not entry['failOnCrash']
        elif what == 9 and not frame and entry is not operation:
            entry['orphanPolicy'] = self.one(('crash', 'keep'))
            entry['status'] = self.one(('alive', 'dead'))
        elif what == 10 and operation['state'] not in protocol.TERMINAL:
            operation['state'] = self.one(('running', 'aborted', 'cleanup'))
        elif what == 11 and frame:
            entry['supervisorId'] = self.one((*SUPERVISORS, None))
        elif what == 12:
            place = self.one([entry, operation] + operation['events'] + operation['transitions'])
            place[self.one(('x', 'remark', 'note~/'))] = copy.deepcopy(self.one(UNKNOWN))
        elif what == 13 and frame and 'handlingBy' in entry:
            entry['handlingBy']['note'] = Number('2.50')
        elif what == 14 and frame and entry['state'] not in protocol.LIVE:
            entry['leftResources'] = [{'path': '/r/3', 'error': 'busy', 'note': Number('2.50')}]
        elif what == 15 and 'process' in entry:
            noted = self.one([entry['process'], entry.get('beat', entry['process'])])
            noted['note'] = Number('2.50')
        elif what == 16 and frame:
            entry['readiness'], entry['note'] = self.one(READINESS), self.one(NOTES)
        elif what == 17 and operation['events']:
            self.edit_history()
        elif what in (18, 19) and frame and entry['state'] == 'crashed':
            self.edit_report(entry)
        elif what == 20 and entry is not operation:
            entry['grace'] = self.grace(entry['lastHeartbeat'])
        elif what == 21:
            operation |= self.optional(0.8, runId=self.one(RUNS))
        elif what == 22 and frame:
            entry['startId'] = self.one(STARTS)
            entry['foundResources'] = [{'path': '/r/1', 'file': 'directory', 'x': Number('2.50')}]

    def grace(self, heartbeat):
        """Return a grace, mostly one that counts, with a beat that counts."""
        ago = self.one((0, 500, THRESHOLD, THRESHOLD + 1, -1, 2 * THRESHOLD))
        grace = {'of': heartbeat + self.one((0, 0, 0, 1)), 'at': self.now - ago}
        if self.chance(0.7):
            milliseconds = max(0, self.monotonic - ago)
            grace['beat'] = {
                'bootId': self.one(BOOTS[:3]), 'monotonicMs': milliseconds,
                'at': grace['at'] + self.one((0, 0, 0, 1))
            }
        return grace | self.optional(0.2, note=Number('2.50'))

    def edit_report(self, frame):
        """Give frame a report, or its report a beat, mostly one that counts."""
        at = frame.setdefault('reportedAt', self.now + self.one(STEPS))
        ago = self.one((0, 500, 10 * THRESHOLD, 10 * THRESHOLD + 1, -1, 20 * THRESHOLD))
        milliseconds = max(0, self.monotonic - ago)
        frame['reportedBeat'] = {
            'bootId': self.one(BOOTS[:3]), 'monotonicMs': milliseconds,
            'at': at + self.one((0, 0, 0, 1))
        }
        if self.chance(0.2):
            frame['reportedBeat']['note'] = Number('2.50')

    def edit_history(self):
        """Remove the first events, another event or a revision, or make 64 events."""
        events, how = self.operation['events'], self.dice.randrange(4)
        at = self.dice.randrange(len(events))
        if how == 0:
            del events[:at]
        elif how == 1:
            del events[at]
        elif how == 2:
            events[at].pop('revision', None)
        else:
            events[:0] = [copy.deepcopy(events[0]) for _ in range(observing.KEPT - len(events))]

    def since(self):
        """Return a revision before, in or after the events in the file."""
        operation = self.operation or {'revision': 5, 'events': [], 'transitions': []}
        entries = operation['events'][:1] * 3 + operation['events']
        entries += operation['transitions'] + [operation]
        near = max(0, self.one(entries).get('revision', 0) + self.one((-2, -1, -1, 0, 0, 1)))
        return self.optional(
            0.8, since=self.one((near, ) * 8 + (0, operation['revision'] + 100, 2**63 - 1)))

    def wait(self):
        if self.chance(0.4):
            operation = self.operation or {'events': [], 'stack': []}
            said = [event['callId'] for event in operation['events'] if 'callId' in event]
            called = [frame['callId'] for frame in operation['stack']]
            calls = self.one([calls for calls in (called, called, said) if calls] or [CALLS])
            return {'for': 'ready', 'call': self.one(calls)}
        goal = self.one(observing.GOALS + ('change',) * 2)
        return {'for': goal} | (self.since() if goal == 'change' else {})

    watch = since

    def look(self):
        """Return a vector of a reader, whose file may differ from the operation of the walk."""
        reader, verb = copy.copy(self), self.one(('wait', 'watch'))
        reader.operation = operation = copy.deepcopy(self.operation)
        if operation and self.chance(0.3):
            operation['state'], operation['aborted'] = self.one(STATES), self.chance(0.5)
        if operation and operation['events'] and self.chance(0.3):
            reader.edit_history()
        return {
            'comment': 'A random walk.', 'section': '13' if verb == 'wait' else '14',
            **reader.given(),
            **self.optional(0.1, seen={'now': format_time(self.now)}),
            'do': {'verb': verb} | getattr(reader, verb)()
        }

    def given(self):
        if self.operation and self.chance(0.7):
            return {'givenText': write(self.one(LAYOUTS)(self.operation)) + '\n'}
        return {'given': self.operation and brief(self.operation)}

    def step(self):
        """Make one vector, and continue the walk with its result."""
        if self.operation is not None and self.hand_edits:
            while self.chance(0.4):
                self.edit_by_hand()
        if self.chance(0.15):
            vector = self.look()
            return vector | end_of(vector)
        verb = self.verb()
        vector = {'comment': 'A random walk.', 'section': '5', **self.given(), 'seen': self.seen(),
                  'do': {'verb': verb} | getattr(self, verb)()}
        vector |= end_of(vector)
        self.remember(vector)
        if 'then' in vector:
            self.operation = decode(write(vector['then']))
        elif 'archived' in vector:
            self.operation = None
        return vector


def integers(value):
    """Return the JSON value with an int for each number that is written as an integer."""
    if isinstance(value, Number) and re.fullmatch(r'0|-?[1-9]\d*', value.text):
        return int(value.text)
    if isinstance(value, dict):
        return {name: integers(inner) for name, inner in value.items()}
    return [integers(inner) for inner in value] if isinstance(value, list) else value


def places_in(value):
    """Return each (object or array, name or index) inside value."""
    for name in list(value) if isinstance(value, dict) else range(len(value)):
        yield value, name
        if isinstance(value[name], (dict, list)):
            yield from places_in(value[name])


STRANGE = (None, True, '', 'alive', 'dead', 'crash', 'b', '..', 'a/b', [], {},
           [None], {'x': 1}, -1, 0, 1, 2**63 - 1, 2**63, Number('1.0'), Number('1e3'),
           format_time(START), '2026-01-20T10:30:00+23:59', '2026-01-20T10:30:00',
           '2026-01-20t10:30:00Z', '2026-01-20T10:30:60Z', '2026-01-20T24:00:00Z',
           '2026-02-29T10:30:00Z', '2026-01-20T10:30:00.Z', '2026-01-20T10:30:00,5Z',
           '2026-01-20T10:30:00.1234567899Z', '2026-1-20T10:30:00Z', '2026-01-20T1:30:00Z',
           '2026-01-20T10:30:00z', '2026-01-20T10:30:00+24:00', '2026-01-20T10:30:00+0100',
           '2026-01-20T10:30:00-00:00', *FRAME_STATES, *READINESS)


def corrupted(dice, operation):
    """Return a vector of decode: the text of operation with one change."""
    value = dice.choice(LAYOUTS)(operation)
    inner, name = dice.choice(list(places_in(value)))
    how = dice.randrange(10)
    if how == 0:
        text = write(value)[:dice.randrange(len(write(value)))]
    elif how == 1:
        text = write(value) + dice.choice('\n\t x{}]1')
    elif how == 2 and isinstance(inner, dict):
        text = write(value).replace(f'"{name}":', f'"{name}": 0, "{name}":', 1)
    elif how == 3 and isinstance(inner, dict):
        del inner[name]
        text = write(value)
    else:
        inner[name] = copy.deepcopy(dice.choice(STRANGE))
        text = write(value)
    vector = {
        'comment': 'A file with one change.', 'section': '1.3', 'givenText': text,
        'seen': {'now': format_time(START)}, 'do': {'verb': 'decode'}
    }
    try:
        return vector | {'then': brief(decode(text))}
    except Refused as refused:
        return vector | {'refused': refused.word
                         } | ({'path': refused.path} if refused.word == 'corrupt' else {})


def end_of(vector):
    """Return the members of vector that state its result."""
    vector = parse(write(vector)) | ({'remembered': None} if 'sightings' in vector.get('seen',
                                                                                       ()) else {})
    got = run.suite_of(False, vector).reality(vector)
    if 'then' in got:
        got['then'] = brief(got['then'])
    return {name: value for name, value in got.items() if value not in (0, [])}


def main(words):
    count, directory = int(words[0]), pathlib.Path(words[1])
    dice = random.Random(int(words[2]) if len(words) > 2 else 0)
    directory.mkdir(parents=True, exist_ok=True)
    walk, left = Walk(dice), 0
    for number in range(count):
        if left == 0:
            walk, left = Walk(dice), dice.choice((20, 20, 40, 200))
        left -= 1
        if walk.operation is not None and dice.random() < 0.1:
            vector = corrupted(dice, walk.operation)
        else:
            vector = walk.step()
        (directory / f'{vector["do"]["verb"]}-{number:06}.json').write_text(write(vector) + '\n')


if __name__ == '__main__':
    main(sys.argv[1:])
