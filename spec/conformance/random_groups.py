#!/usr/bin/env python3
"""Write N random vectors of groups (spec §12) into DIR/groups: random_groups.py N DIR [SEED].

Each has the result of groups.py for one verb, or of observing.py for a wait or watch, on a random
group, or on the result of the verb before. The same arguments give the same files. At the end it
prints how often each verb, refusal, action, alert and change of state occurred. If another
implementation disagrees, the specification decides which is right.
"""
import collections
import copy
import pathlib
import random
import re
import sys

import groups
import run
import sightings
from document import READINESS, Number, Refused, format_time, parse, write
from random_vectors import INODES, NOTES, START, STRANGE, UNKNOWN, integers, places_in, without

THRESHOLD = 1000
PROCESS_MEMBERS = ('pid', 'hostId', 'bootId', 'pidNamespace', 'startTicks')
AGES = (0, 0, 1, 200, 500, 999, 1000, 1001, 2000, 5000, 60_000, -1, -500, -1000, -1001, 666, 667,
        -667)
DELAYS = (0, 1, 999, 1000, 1001, 4999, 5000, 5001, 20_000, -1, -2000)
HOSTS = ('host-1', ) * 6 + ('host-2', '')
BOOTS = ('boot-2', ) * 6 + ('boot-1', '')
NAMESPACES = ('41', ) * 6 + ('42', '')
START_IDS = ('00000000000000a1', '00000000000000a2')
PIDS, IDS, OWNERS = range(100, 106), 'abcde', ('me', 'me', 'me', 'you', None)
EXIT_STATUSES = ({'success': [42]}, {'tempfail': [42, 'unknown']}, {'persistent': [1, '42-43']},
                 {'terminal': ['SIGHUP', 'unknown'], 'failure': [0]}, {'persistent': ['unknown']},
                 {'success': [1], 'terminal': ['1-2']})
RESTARTS = ('permanent', 'transient', 'transient', 'temporary')
CLASSES = ('success', 'tempfail', 'hostLost', 'persistent', 'terminal', 'odd')
REASONS = ('exited', 'rebooted', 'stale', 'startFailed', 'stopped', 'timeout', 'odd')
CODES = ('exited', 'killed', 'dumped')
BLOCKS = ('a: missing', 'b: dead', 'c: stopped', 'process elsewhere')
CODES_OF_RULES = ('sandbox', 'lint', 'lint-long')
MATCHES = ('sandbox', 'lint', 'lint*', 'lint-long', '*')
GROUPS, PARENTS = ('h', 'i'), ('f/a', 'f/a', 'f/b')
ACTIONS = ('log', 'notify', 'warn', 'pause', 'reap', 'reap')
ENTRY_DEFAULTS = {
    'order': 0, 'startInfo': None, 'pid': None, 'lastHeartbeat': None, 'dependencies': [], 'readiness': 'ready',
    'note': '', 'restartAttempts': 0, 'lastRestartAttempt': None, 'killTimeoutMs': 5000,
    'restart': 'permanent', 'dependenciesCompleted': [], 'retries': 0, 'persistentRow': 0,
    'restarts': [], 'generation': 0, 'onDead': 'alert', 'significant': False,
    'attempt': 0, 'starting': False, 'restartPending': False, 'startAgain': False,
    'spent': {}, 'spentTotal': {}, 'violations': [], 'pausedMs': 0, 'removeAfterStop': False,
    'alertOn': 'all', 'heartbeats': False
}
REGISTRY_DEFAULTS = {
    'protocolVersion': 1, 'revision': 0, 'owner': None, 'alertSeq': 0, 'pendingAlerts': [],
    'events': []
}
ORCHESTRATOR_DEFAULTS = {
    'protocolVersion': 1, 'revision': 0, 'orchestratorPid': None, 'orchestratorHeartbeat': None,
    'heartbeatIntervalMs': 2000, 'stalenessThresholdMs': 10000, 'periodMs': 0
}
POLICY_DEFAULTS = {
    'jitterPercent': 0,
    'maxAttempts': 5, 'backoffIntervalsMs': [0, 1000, 5000, 15000, 60000], 'resetAfterMs': 300000
}


def brief_entry(key, plain):
    plain = without(
        plain,
        ENTRY_DEFAULTS | {'supervisorId': key, 'restartable': plain['startInfo'] is not None})
    for name in {'startInfo', 'startedWith'} & plain.keys():
        usual = {
            'args': [], 'workingDirectory': '/', 'environment': {}, 'readiness': 'ready',
            'logMaxBytes': 10 << 20, 'logKeep': 3, 'logCompress': False
        }
        plain[name] = without(plain[name], usual)
        policy = without(plain[name].pop('restartPolicy'), POLICY_DEFAULTS)
        plain[name] |= {'restartPolicy': policy} if policy else {}
    return plain


def brief(name, value):
    """Return the JSON value of a decoded file without members that have their default, or None."""
    if value is None:
        return None
    if name == 'orchestrator':
        return without(groups.ORCHESTRATOR[1](value), ORCHESTRATOR_DEFAULTS)
    plain = without(parse(groups.encode_registry(value)), {})
    plain['supervisors'] = {
        key: brief_entry(key, integers(entry)) for key, entry in plain['supervisors'].items()
    }
    return without(integers(plain), REGISTRY_DEFAULTS)


def full(name, value):
    return value and parse(run.FILES[name][1](value))


class World:
    """A group as it changes, and what its observers see."""

    def __init__(self, dice):
        self.dice, self.now, self.monotonic = dice, START, 100_000
        self.linked = self.chance(0.4)  # §18 applies to the ledger
        self.exited = {pid for pid in PIDS if self.chance(0.4)}
        self.files = {'orchestrator': self.orchestrator() if self.chance(0.85) else None,
                      'supervisors': self.registry() if self.chance(0.95) else None}

    def chance(self, probability):
        return self.dice.random() < probability

    def one(self, values):
        return self.dice.choice(list(values))

    def optional(self, probability, **members):
        return members if self.chance(probability) else {}

    def ago(self, *milliseconds):
        return format_time(self.now - self.one(milliseconds or DELAYS))

    def process(self):
        """Return a process, mostly one that the observer can check."""
        process = {
            'pid': self.one(PIDS), 'hostId': 'host-1', 'bootId': 'boot-2', 'pidNamespace': '41',
            'startTicks': self.one((5, 5, 6))
        } | self.optional(0.4, pidfdInode=self.one(INODES))
        if self.chance(0.35):
            process |= self.one(({'hostId': self.one(HOSTS[-2:])}, {'bootId': self.one(BOOTS[-2:])},
                                 {'pidNamespace': self.one(NAMESPACES[-2:])},
                                 {'pidNamespace': '42'}, {'hostId': 'host-2', 'bootId': 'boot-1'}))
        return process

    def recall(self, process):
        """Return process as others may have found it: perhaps with another inode, or none."""
        inodes = (process.get('pidfdInode', 0), ) * 9 + INODES
        return ({name: process[name] for name in PROCESS_MEMBERS}
                | self.optional(0.7, pidfdInode=self.one(inodes)))

    def heartbeat(self, member='lastHeartbeat'):
        ms = self.one(AGES[:6] if self.chance(0.5) else AGES)
        at = format_time(self.now - ms)
        result = {member: at}
        if self.chance(0.5):
            milliseconds = max(0, self.monotonic - (ms if self.chance(0.8) else self.one(AGES)))
            result['beat'] = {
                'bootId': self.one(BOOTS), 'monotonicMs': milliseconds,
                'at': at if self.chance(0.9) else self.ago()
            }
        return result

    def grace(self, heartbeat):
        """Return a grace, mostly one that counts."""
        at = self.heartbeat('at')
        return ({'of': heartbeat if self.chance(0.8) else self.ago(), **at}
                | self.optional(0.1, remark=1))

    def start_info(self):
        policy = {'maxAttempts': self.one((-1, 0, 1, 2, 3, 5)),
                  'backoffIntervalsMs': self.one(([0], [0, 1000], [1000, 5000], [0, 0, 0, 20000])),
                  'resetAfterMs': self.one((0, 1000, 5000, 300000))}
        policy |= self.optional(0.3, intensity=self.one((0, 1, 2)), intensityPeriodMs=5000)
        policy |= self.optional(0.2, jitterPercent=self.one((1, 50, 100)))
        policy |= self.optional(0.2, deadlineMs=self.one((1000, 20000)))
        policy |= self.optional(0.2, backoff={'initialMs': self.one((1, 1000)),
                                              'factor': self.one((1, 2, 5)), 'maxMs': 5000})
        if self.chance(0.12):
            return {'group': self.one(GROUPS), **self.optional(0.8, restartPolicy=policy),
                    **self.optional(0.2, runtimeMaxMs=1000)}
        return {
            'command': self.one(('/bin/x', 'y')), **self.optional(0.2, args=['-a', '']),
            **self.optional(0.2, environment={'A': 'b', 'B': ''}),
            **self.optional(0.1, environment={'PATH': '/bin'}),
            **self.optional(0.1, environmentFile=self.one(('/run/a.env', '/b'))),
            **self.optional(0.2, readiness=self.one(READINESS)),
            **self.optional(0.8, restartPolicy=policy),
            **self.optional(0.2, exitStatus=self.one(EXIT_STATUSES)),
            **self.optional(0.1, logMaxBytes=self.one((0, 65536))),
            **self.optional(0.1, logKeep=self.one((1, 9))),
            **self.optional(0.2, logEveryMs=self.one((60000, 86400000))),
            **self.optional(0.2, logCompress=self.one((True, False))),
            **{name: self.one((1, 1000, 5000)) for name in groups.CLOCKS if self.chance(0.2)},
            **self.optional(0.5, budget={'gpu': 9} | self.amounts((0, 1, 1000))),
            **self.optional(0.3, umask=self.one(('0022', '077', '0000'))),
            **self.optional(0.1, nofileSoft=64, nofileHard=self.one((64, 4096))),
            **self.optional(0.1, nice=self.one((0, -5, 19)), oomScoreAdj=self.one((0, -1000))),
            **self.optional(0.3, softSignal=self.one(tuple(groups.SOFT_SIGNALS))),
            **self.optional(0.2, budgetAction=self.one(('terminal', 'restart'))),
            **self.optional(0.2, preflight=['sh', '-c', '']),
            **self.optional(0.1, preflightTimeoutMs=self.one((1, 10000))),
            **self.optional(0.2, finish=['git', 'diff']),
            **self.optional(0.1, finishTimeoutMs=self.one((1, 10000))),
            **self.optional(0.4, health=['sh', '-c', 'true']),
            **self.optional(0.2, healthEveryMs=self.one((1, 1000, 5000))),
            **self.optional(0.1, healthTimeoutMs=1000),
            **self.optional(0.3, healthFailures=self.one((1, 2))),
            **self.optional(0.2, healthStartMs=self.one((1, 1000, 5000)))
        }

    def amounts(self, tokens=(0, 1, 1000, 1001, 2**62)):
        """Return some amounts of what a service spends."""
        usual = {'tokens': self.one(tokens), 'usd': self.one((5, 2**61))}
        rare = {'cpuMs': self.one((1, 1000, 1001)), 'rssKb': self.one((1, 2048))}
        return ({name: n for name, n in usual.items() if self.chance(0.7)}
                | {name: n for name, n in rare.items() if self.chance(0.3)})

    def alert(self, seq):
        return {
            'seq': seq, 'type': 'supervisorDead', 'supervisorId': 'a', 'message': '1 attempt',
            'timestamp': self.ago()
        }

    def span(self):
        return {'at': self.ago(), 'until': self.ago(0, 1, -1, -1, -60_000)} | self.optional(0.5, by='ann')

    def hung(self):
        """Return a service without restarts left, while a process that a pass started exists."""
        restartable, pid = self.chance(0.5), self.one(PIDS)
        state = self.one(('failed', 'failed', 'restartScheduled', 'running'))
        entry = {
            'state': state,
            'startInfo': self.start_info() | {'restartPolicy': {'maxAttempts': self.one((0, 1))}},
            'restartable': restartable, 'restartAttempts': self.one((1, 2)),
            'pid': pid, 'lastHeartbeat': self.ago(2000, 5000), 'startedAt': self.ago(5000, 9000),
            'attempt': 1, 'startId': self.one(START_IDS),
            'process': {'pid': pid, 'hostId': 'host-1', 'bootId': 'boot-2', 'pidNamespace': '41',
                        'startTicks': 5}
        }
        if state != 'running':
            entry |= {'failedAt': self.ago(0, 1000)}
            entry |= self.optional(0.6, termSentAt=self.ago(0, 999, 4999, 5000))
            entry |= self.optional(0.2, nextAttemptAt=self.ago())
            entry |= self.optional(0.2, blockedBy=self.one(BLOCKS))
        entry |= self.optional(0.3, killTimeoutMs=self.one((0, 1000)))
        return entry | self.optional(0.6, heartbeats=True)

    def nested(self, state):
        """Return a service that is a group, and has begun."""
        policy = {'maxAttempts': self.one((0, 1, 5)), 'backoffIntervalsMs': self.one(([0], [1000]))}
        entry = {'state': state, 'startInfo': {'group': self.one(GROUPS), 'restartPolicy': policy},
                 'lastHeartbeat': self.ago(), 'startedAt': self.ago(), 'attempt': 1,
                 'generation': self.one((1, 2, 3)), 'restart': self.one(RESTARTS)}
        entry |= self.optional(0.5, readiness='starting') | self.optional(0.5, runningSince=self.ago())
        entry |= self.optional(0.3, onDead='escalate') | self.optional(0.5, restartAttempts=1)
        if 'restartAttempts' in entry:
            entry['lastRestartAttempt'] = self.ago()
        if state == 'shuttingDown':
            entry |= {'stopRequestedAt': self.ago()} | self.optional(0.5, startAgain=True)
            entry |= self.optional(0.6, termSentAt=self.ago())
        return entry

    def lasting(self):
        """Return a service that runs in a process that exists, paused or near its budget."""
        pid, at = self.one(PIDS), self.ago()
        budget = {'cpuMs': 1000, 'rssKb': 2048, 'tokens': 1000}
        entry = {'state': 'running', 'startInfo': self.start_info() | {'budget': budget}, 'pid': pid,
                 'lastHeartbeat': self.ago(0, 1000, 5000), 'startedAt': self.ago(5000, 9000),
                 'attempt': 1, 'startId': self.one(START_IDS), 'runningSince': self.ago(1000, 4999),
                 'process': {'pid': pid, 'hostId': 'host-1', 'bootId': 'boot-2',
                             'pidNamespace': '41', 'startTicks': 5}}
        entry['startInfo'].pop('group', None)
        entry['startInfo'].setdefault('command', 'y')
        entry |= self.optional(0.6, spent={name: self.one((n // 2, n * 4 // 5, n, n + 1))
                                           for name, n in budget.items()})
        if self.chance(0.7):
            entry['paused'] = ({'at': at} | self.optional(0.6, beat=self.beat_of(at))
                               | self.optional(0.5, **{'continue': True}))
            entry |= self.optional(0.3, pausedMs=1000) | self.optional(0.3, heartbeats=True)
            entry |= self.optional(0.3, asked={'runtime': self.ask()})
        return entry

    def entry(self, state):
        if state in ('failed', 'restartScheduled', 'running') and self.chance(0.12):
            return self.hung()
        if state in ('running', 'shuttingDown') and self.chance(0.15):
            return self.nested(state)
        if state == 'running' and self.chance(0.2):
            return self.lasting()
        entry = {'state': state, **self.optional(0.75, startInfo=self.start_info()),
                 **self.optional(0.1, restartable=self.chance(0.5))}
        if self.chance(0.7):
            process = self.process()
            entry |= {
                'pid': process['pid'] if self.chance(0.95) else self.one(PIDS), 'process': process
            }
        elif self.chance(0.3):
            entry['pid'] = self.one(PIDS)
        entry |= self.heartbeat() if self.chance(0.9) else {}
        if 'lastHeartbeat' in entry:
            entry |= self.optional(0.2, grace=self.grace(entry['lastHeartbeat']))
        entry |= self.optional(
            0.45, dependencies=[self.one(self.ids) for _ in range(self.one((1, 1, 2)))])
        entry |= self.optional(0.6, order=self.one((1, 1, 2, 3, 2**61 - 1, 2**61)))
        entry |= self.optional(0.15, readiness=self.one(READINESS))
        entry |= self.optional(0.1, note=self.one(NOTES))
        entry |= self.optional(0.4, restart=self.one(RESTARTS))
        if entry.get('restart', 'permanent') != 'permanent':
            entry |= self.optional(0.4, significant=True)
        entry |= self.optional(0.2, onDead='escalate')
        if state in ('stopped', 'shuttingDown'):
            entry |= self.optional(0.5, stoppedBy='user')
        entry |= self.optional(0.15, dependenciesCompleted=[self.one(self.ids)])
        entry |= self.optional(0.2, retries=self.one((0, 1, 9, 10)))
        entry |= self.optional(
            0.2, restarts=[self.ago() for _ in range(self.one((1, 2, 3)))])
        entry |= self.optional(0.2, persistentRow=self.one((1, 2)))
        entry |= self.optional(0.2, firstFailedAt=self.ago())
        entry |= self.optional(0.6, restartAttempts=self.one((0, 1, 1, 2, 3, 5)))
        entry |= self.optional(0.4, killTimeoutMs=self.one((0, 1, 1000)))
        entry |= self.optional(0.4, heartbeats=True) | self.optional(0.2, alertOn='final')
        entry |= self.optional(0.15, silence=self.span())
        entry |= self.optional(0.2, maintenance=self.span() | self.optional(0.3, start=True))
        entry |= self.optional(0.3, keepEndedMs=self.one((1, 1000, 3600000)))
        entry |= self.optional(0.6, startedAt=self.ago(), attempt=self.one((0, 1, 2)))
        if 'startedAt' in entry and self.chance(0.4):
            entry['startedBeat'] = self.beat_of(entry['startedAt'])
        if self.chance(0.15):
            entry['progressAt'] = self.ago()
            entry |= self.optional(0.5, progressBeat=self.beat_of(entry['progressAt']))
        if self.chance(0.25):
            entry['asked'] = {clock: self.ask() for clock in self.dice.sample(
                ('runtime', 'progress', 'violation', 'budget:tokens', 'odd'), self.one((1, 2)))}
        if self.chance(0.6):
            entry['health'] = (self.optional(0.7, passed=True) | self.optional(0.6, failures=self.one((1, 2, 3, 3)))
                               | self.optional(0.4, output='é')
                               | self.optional(0.3, cannotRun={'at': self.ago(), 'message': 'é'}
                                               | self.optional(0.5, trouble=self.chance(0.7))))
        if self.chance(0.25):
            at = self.ago()
            entry['paused'] = ({'at': at} | self.optional(0.5, beat=self.beat_of(at))
                               | self.optional(0.4, **{'continue': True}))
        entry |= self.optional(0.15, pausedMs=self.one((1, 1000, 60000, 9223372036854)))
        entry |= self.optional(0.8 if 'group' in (entry.get('startInfo') or {}) else 0.1,
                               generation=self.one((1, 2, 2**61)))
        entry |= self.optional(0.9, startId=self.one(START_IDS)) if 'startedAt' in entry else {}
        entry |= self.optional(0.5, keeper=self.process()) if 'startId' in entry else {}
        entry |= self.optional(0.5, logDevice=2049, logInode=self.one((1, 2**63 - 1))) if 'startId' in entry else {}
        entry |= self.optional(0.1, startedWith=self.start_info())
        usual = {
            'running': {'runningSince': 0.6, 'starting': 0.4, 'stopFor': 0.15},
            'failed': {'failedAt': 0.9, 'termSentAt': 0.3, 'stopFor': 0.3}, 'restartScheduled': {
                'failedAt': 0.9, 'nextAttemptAt': 0.9, 'termSentAt': 0.3, 'blockedBy': 0.1,
                'restartCause': 0.3
            },
            'waitingForDependencies': {'restartCause': 0.2, 'blockedBy': 0.5, 'restartPending': 0.5, 'termSentAt': 0.2},
            'registered': {'termSentAt': 0.2, 'restartPending': 0.1},
            'shuttingDown': {'stopRequestedAt': 0.9, 'startAgain': 0.4, 'termSentAt': 0.5,
                             'removeAfterStop': 0.2}
        }.get(state, {})
        for name in ('starting', 'restartCause', 'runningSince', 'failedAt', 'nextAttemptAt', 'restartPending',
                     'blockedBy', 'stopFor', 'stopRequestedAt', 'startAgain', 'termSentAt', 'ended',
                     'removeAfterStop', 'lastExit'):
            if self.chance(usual.get(name, {'ended': 0.2, 'lastExit': 0.5}.get(name, 0.03))):
                entry[name] = self.member(name)
        entry |= self.optional(0.8 if 'budget' in (entry.get('startInfo') or {}) else 0.2,
                               spent=self.amounts())
        entry |= self.optional(0.3, spentTotal=self.amounts())
        if 'startId' in entry and self.chance(0.2):
            entry['goneSince'] = self.ago(0, 9999, 10_000, 10_001, -1)
            entry |= self.optional(0.5, goneBeat=self.beat_of(entry['goneSince']))
        entry |= self.optional(0.2, violations=[
            {'at': self.ago(), 'code': self.one(CODES_OF_RULES), 'action': 'log'}
        ] * self.one((1, 15, 16, 17)))
        if 'termSentAt' in entry and self.chance(0.5):
            entry['termSentBeat'] = self.beat_of(entry['termSentAt'])
        return entry

    def ask(self):
        at = self.ago()
        return ({'at': at} | self.optional(0.5, beat=self.beat_of(at))
                | self.optional(0.2, answered=True) | self.optional(0.1, note=Number('2.50')))

    def beat_of(self, at):
        milliseconds = max(0, self.monotonic - self.one(DELAYS))
        beat = {
            'bootId': self.one(BOOTS), 'monotonicMs': milliseconds,
            'at': at if self.chance(0.9) else self.ago()
        }
        return beat | self.optional(0.1, note=Number('2.50'))

    def exit_(self):
        found = {'at': self.ago(), 'reason': self.one(REASONS)}
        found |= self.optional(0.2, detail='é')
        found |= self.optional(0.4, code=self.one(CODES), status=self.one((0, 1, 42, 64, 75, 300)))
        found |= self.optional(0.4, **{'class': self.one(CLASSES)})
        found |= self.used() | self.optional(0.2, note=self.one(NOTES))
        return found | self.optional(0.2, error='é')

    def used(self):
        """Return members about what a process has used."""
        return (self.optional(0.2, cpuMs=self.one((0, 1, 70))) | self.optional(0.1, maxRssKb=900)
                | self.optional(0.1, oomKilled=True)
                | self.optional(0.2, finishStatus=self.one(('0', '1', '125', 'SIGKILL', 'unknown'))))

    def exits(self):
        """Return exit records (§19) of services, mostly of their current process."""
        found = {}
        for key, entry in self.entries().items():
            start = entry.get('startId', self.one(START_IDS))
            process = entry.get('process') if self.chance(0.95) else self.process()
            record = {
                'supervisorId': key if self.chance(0.95) else self.one(IDS), 'startId': start,
                'phase': self.one(('reserved', 'exec', 'exec', 'ended', 'ended')),
                'pid': entry['pid'] or 0
            }
            if process:
                record['process'] = self.recall(process)
            if record['phase'] == 'ended':
                record |= {'at': self.ago(), 'reason': self.one(('exited',) * 5 + ('startFailed', 'preflight', 'preflight'))}
                record |= self.optional(0.8, code=self.one(CODES), status=self.one((0, 1, 42, 75)))
                record |= self.used() | self.optional(0.3, keeperSignalled=True)
            found[start] = ({'record': record}
                            | self.optional(0.7 * (record['phase'] == 'ended'), complete=True))
            found[start] = {'unreadable': True} if self.chance(0.05) else found[start]
        return found

    def member(self, name):
        if name in ('starting', 'restartPending', 'startAgain', 'removeAfterStop'):
            return True
        if name == 'restartCause':
            return self.one(self.ids)
        if name == 'blockedBy':
            return self.one(BLOCKS)
        if name == 'lastExit':
            return self.exit_() if self.chance(0.9) else {'at': self.ago()}
        if name == 'stopFor':
            return ({'reason': self.one(('timeout', 'timeout', 'violation')),
                     'then': self.one(('restart', 'restart', 'dead', 'park', 'stopped'))}
                    | self.optional(0.8, detail='runtime') | self.optional(0.1, note=Number('2.50')))
        if name == 'ended':
            return self.exit_() | {'reason': 'exited'}
        return self.ago()

    def registry(self):
        keys = self.dice.sample(IDS, self.one((0, 1, 2, 3, 3, 4, 5)))
        self.ids = [*keys, *keys, *keys, *IDS, 'z']
        weights = {
            'running': 4, 'registered': 2, 'waitingForDependencies': 2, 'failed': 3,
            'restartScheduled': 2, 'dead': 1, 'shuttingDown': 2, 'stopped': 1,
            'completed': 1
        }
        states = self.dice.choices(list(weights), list(weights.values()), k=len(keys))
        seq = self.one((0, 1, 4))
        value = {
            'revision': self.one((0, 7)), 'owner': self.one(OWNERS), 'alertSeq': seq,
            'supervisors': {key: self.entry(state) for key, state in zip(keys, states)},
            'pendingAlerts': [
                self.alert(number) for number in range(max(1, seq - self.one((0, 1, 2))), seq + 1)
            ]
        }
        value |= self.optional(0.5, supervision=self.supervision(keys))
        value |= self.optional(0.2, alertsGiven=self.one((0, 1, 3)))
        value |= self.optional(0.2, alertTries={
            'seq': self.one((1, 2, 4)), 'tries': self.one((1, 1, 2, 6, 7, 9)),
            'at': self.ago(-1, 0, 59_999, 60_000, 60_001, 120_000, 3_600_000)})
        value |= self.optional(0.1, alertsLost=self.one(([1], [*range(1, 17)])))
        value |= self.optional(
            0.1, events=[{'type': 'odd', 'note': Number('1.0')}] * self.one((1, 63, 64)))
        value |= self.optional(0.2, revision=7, events=self.events(self.one((1, 3, 63, 64))))
        if self.chance(0.15):
            unknown = copy.deepcopy(self.one(UNKNOWN))
            self.one([value, *value['supervisors'].values()])[self.one(('x', 'note~/'))] = unknown
        inner = [entry[name] for entry in value['supervisors'].values()
                 for name in ('beat', 'ended', 'lastExit', 'process') if name in entry]
        if inner and self.chance(0.15):
            self.one(inner)['remark'] = Number('2.50')
        return groups.decode_registry(write(value))

    def supervision(self, keys):
        chosen = [key for key in keys if self.chance(0.5)]
        limit = self.limit()
        limit |= self.optional(0.7, restarts=sorted(self.ago() for _ in range(self.one((1, 2)))))
        limit |= self.optional(0.3, state='ending', reason='odd') or self.optional(
            0.1, state='ended', reason='intensity', message='é', endedAt=self.ago())
        limit |= self.optional(0.5, autoShutdown=self.one(groups.AUTO_SHUTDOWN))
        limit |= self.optional(0.5, onExit=self.one(groups.ON_EXIT))
        limit |= self.optional(0.3, log=self.one(groups.LOG))
        return (self.optional(0.8, strategy=self.one(groups.STRATEGIES)) | self.optional(0.6, **limit)
                | self.optional(0.6 if chosen else 0, set=chosen) | self.optional(0.7, rules=self.rules())
                | self.optional(0.2, parent=self.one(PARENTS), generation=self.one((1, 2)))
                | self.optional(0.3, window=self.one((1, 2, 3))) | self.optional(0.1, blocked='a: é')
                | self.optional(0.2, short='b: no memory')
                | self.optional(0.1, note=1))

    def rules(self):
        return [{'match': self.one(MATCHES), 'action': self.one(ACTIONS)}
                for _ in range(self.one((0, 1, 2, 4)))]

    def limit(self):
        return {'intensity': self.one((0, 1, 2)), 'intensityPeriodMs': self.one((1, 1000, 5000)),
                'onIntensity': self.one(groups.ON_INTENSITY)}

    def events(self, count):
        """Return events up to revision 7, some without a revision or in another order."""
        found = []
        for at in range(count):
            type_ = self.one(('supervisorState', 'supervisorReadiness', 'odd'))
            event = {
                'revision': max(1, 7 - (count - at) // 3), 'at': self.ago(), 'type': type_,
                'supervisorId': self.one(self.ids)
            }
            event |= self.optional(0.8, **{'from': self.one(groups.STATES)})
            event |= self.optional(0.8, to=self.one(READINESS))
            event |= self.optional(0.5, by='me', reason='exited')
            event |= self.optional(0.1, note=Number('1.0'))
            found.append(without(event, {'revision': 7} if self.chance(0.02) else {}))
        if self.chance(0.1):
            self.dice.shuffle(found)
        return found

    def orchestrator(self):
        value = {
            'orchestrationGroupId': run.GROUP,
            'state': self.one(('running', ) * 4 + ('starting', 'shuttingDown', 'stopped')),
            'stalenessThresholdMs': THRESHOLD if self.chance(0.95) else 500
        }
        value |= self.heartbeat('orchestratorHeartbeat') if self.chance(0.8) else {}
        value |= self.optional(0.5, revision=4, orchestratorPid=9, periodMs=self.one((0, 2000)))
        value |= self.optional(0.3, hostId=self.one(HOSTS)) | self.optional(0.2, failover=True)
        if self.chance(0.3):
            times = {key: self.ago() for key in self.dice.sample(IDS, 2)}
            value['checks'] = {key: {'at': at} | self.optional(0.5, beat=self.beat_of(at))
                               for key, at in times.items()}
        value |= self.optional(0.1, note=Number('1.50'))
        return groups.decode_orchestrator(write(value))

    def seen(self):
        elapsed = self.one((0, 0, 1, 200, 500, 1000, 1001, 5000))
        self.now += elapsed + (0 if self.chance(0.95) else self.one((-2000, 5000)))
        self.monotonic += elapsed
        if self.chance(0.3):
            self.exited ^= {self.one([*PIDS, 1000])}
        seen = {'now': format_time(self.now)}
        if self.chance(0.95):
            seen |= {'hostId': 'host-1', 'bootId': 'boot-2', 'pidNamespace': '41'}
            if self.chance(0.1):
                seen |= {
                    'hostId': self.one(HOSTS), 'bootId': self.one(BOOTS),
                    'pidNamespace': self.one(NAMESPACES)
                }
            elif self.chance(0.06):
                seen['pidNamespace'] = '42'
            seen |= self.optional(0.8,
                                  bootedAt=format_time(self.now - self.one((0, 400, 1500, 90_000))))
            seen |= self.optional(
                0.7, monotonicMs=max(1, self.monotonic - (0 if self.chance(0.95) else 50_000)))
            seen['exited'] = sorted(self.exited)
            seen |= self.optional(0.15, unseen=[self.one(PIDS)])
            seen |= self.optional(0.1, kept=[{'supervisorId': self.one(IDS),
                                             'startId': self.one(START_IDS), 'pid': 77}])
            seen['survivors'] = sorted(pid for pid in self.exited if self.chance(0.4))
            uses = {str(pid): {'cpuMs': self.one((0, 999, 1000, 1001, 1200)), 'rssKb': self.one((0, 1, 2048))}
                    for pid in PIDS}
            seen |= self.optional(0.7, uses=uses)
        seen |= self.optional(0.2, watch=self.one(('awake', 'awake', 'woken')))
        if self.linked:
            seen['sightings'] = self.sightings()
        return {name: value for name, value in seen.items() if value not in ('', [])}

    def sightings(self):
        """Return sightings of times in the files; some are missing or of another reading."""
        kept = []
        for at, beat in groups.times(self.files['orchestrator'], self.files['supervisors']):
            if at is not None and self.chance(0.8):
                boot, milliseconds, _ = sightings.key(at, beat if self.chance(0.95) else None)
                kept.append({
                    'bootId': boot, 'monotonicMs': milliseconds + (0 if self.chance(0.95) else 1),
                    'at': format_time(at),
                    'firstSeenMs': max(0, self.monotonic - self.one(AGES + DELAYS))
                })
        by_key = {(one['bootId'], one['monotonicMs'], one['at']): one for one in kept}
        return {'bootId': self.one(BOOTS), 'seen': list(by_key.values())}

    # Verbs

    def entries(self):
        return self.files['supervisors']['supervisors'] if self.files['supervisors'] else {}

    def known(self):
        return self.one(self.entries() if self.entries() and self.chance(0.95) else IDS)

    def identity(self):
        """Return the arguments pid and process, one of them, or neither."""
        if self.chance(0.4):
            return {}
        recorded = [entry['process'] for entry in self.entries().values() if 'process' in entry]
        process = self.one(recorded) if recorded and self.chance(0.5) else self.process()
        process = self.recall(process)
        return ({'pid': process['pid']}
                | self.optional(0.8, process=process | {'bootId': process['bootId'] or 'boot-2'}))

    def register_again(self):
        """Let a waiting service register itself once more, mostly with its recorded process."""
        waiting = [key for key, entry in self.entries().items()
                   if entry['state'] == 'waitingForDependencies']
        if not waiting:
            return None
        key = self.one(waiting)
        known, who = self.entries()[key].get('process'), {'supervisor': key}
        if known and known['bootId'] and self.chance(0.7):
            who |= {'pid': known['pid'], 'process': self.recall(known)}
        else:
            who |= self.identity()
        return (who | self.optional(0.1, dependencies=[self.one(IDS + 'z')])
                | self.optional(0.2, readiness=self.one(READINESS)))

    def register(self):
        again = self.register_again() if self.chance(0.3) else None
        if again:
            return again
        who = {'supervisor': self.one(IDS)} | self.optional(0.3, by='user')
        who |= {'request': True} if self.chance(0.4) else self.identity()
        who |= self.optional(0.4, startInfo=self.start_info())
        who |= self.optional(0.1, restartable=self.chance(0.5))
        who |= self.optional(0.5,
                             dependencies=[self.one(IDS + 'z') for _ in range(self.one((0, 1, 2)))])
        who |= self.optional(0.2, readiness=self.one(READINESS))
        who |= self.optional(0.2, restart=self.one(RESTARTS))
        who |= self.optional(0.1, significant=self.chance(0.7))
        who |= self.optional(0.1, onDead=self.one(('alert', 'escalate')))
        who |= self.optional(0.3, resume=True)
        who |= self.optional(0.1, dependenciesCompleted=[self.one(IDS + 'z')])
        who |= self.optional(0.2, heartbeats=self.chance(0.7))
        who |= self.optional(0.1, alertOn=self.one(('all', 'final')))
        who |= self.optional(0.1, keepEndedMs=1000)
        return who | self.optional(0.1, killTimeoutMs=1000) | self.optional(0.15, fresh=True)

    def registerAll(self):
        """Return the arguments of registerAll: mostly what entries already say, with a change."""
        services = {}
        for key in self.dice.sample(IDS, self.one((0, 1, 2, 2, 3))):
            entry = groups.SERVICE[1](self.entries().get(key, {'startInfo': None}))
            info = entry['startInfo'] if entry.get('startInfo') else self.start_info()
            info = {name: value for name, value in info.items() if name in groups.START_INFO.fields}
            declared = {name: entry[name] for name in groups.DECLARATION.fields
                        if name in entry and self.chance(0.9)} | {'startInfo': info}
            declared |= self.optional(0.1, dependencies=[self.one(IDS + 'z')])
            declared |= self.optional(0.1, startInfo=self.start_info())
            services[key] = declared | self.optional(0.03, x=1)
        given = {'services': services} | self.optional(0.5, prune=True)
        settings = self.optional(0.7, strategy=self.one(groups.STRATEGIES))
        settings |= self.optional(0.5, **self.limit()) | self.optional(0.4, rules=self.rules())
        settings |= self.optional(0.3, window=self.one((1, 2)))
        settings |= self.optional(0.3, autoShutdown=self.one(groups.AUTO_SHUTDOWN))
        settings |= self.optional(0.3, onExit=self.one(groups.ON_EXIT))
        settings |= self.optional(0.2, log=self.one(groups.LOG))
        given |= self.optional(0.3, supervision=settings)
        given |= self.optional(0.3, resume=True)
        return given | self.optional(0.3, environment={'PATH': self.one(('/bin', '/usr/bin'))})

    def tidy(self):
        return {}

    def resume(self):
        return {}

    def remove(self):
        return {'supervisor': self.known()}

    def beat(self):
        said = (self.optional(0.1, heartbeats=True) | self.optional(0.2, progress=True)
                | self.optional(0.25, readiness=self.one(READINESS))
                | self.optional(0.15, note=self.one(NOTES))
                | self.optional(0.2, spend=self.amounts()))
        return {'supervisor': self.known()} | self.identity() | said

    def report(self):
        said = (self.optional(0.4, start=self.one(START_IDS)) | self.optional(0.3, spend=self.amounts())
                | self.optional(0.8, violation=self.one(CODES_OF_RULES))
                | self.optional(0.4, detail='main.go:7'))
        return {'supervisor': self.known(), 'by': 'test'} | said

    def continue_(self):
        return {'supervisor': self.known(), 'by': 'test'}

    def end(self):
        """Return the arguments of end, mostly with the recorded process."""
        key = self.known()
        known, do = self.entries().get(key, {}).get('process'), {'supervisor': key}
        if known and known['bootId'] and self.chance(0.7):
            do |= {'pid': known['pid'], 'process': self.recall(known)}
        else:
            do |= self.identity()
        do |= self.optional(0.9, code=self.one(CODES), status=self.one((0, 1, 42, 75)))
        do |= self.optional(0.4, cpuMs=self.one((0, 1200)), maxRssKb=4096)
        return do | self.optional(0.2, error=self.one(NOTES))

    def wait(self):
        running = [key for key, entry in self.entries().items() if entry['state'] == 'running']
        return {
            'for': self.one(('ready', 'ready', 'ended')),
            'supervisor': self.one(running) if running and self.chance(0.6) else self.known()
        }

    def watch(self):
        value = self.files['supervisors'] or {'revision': 5, 'events': []}
        entries = value['events'][:1] * 3 + value['events'] + [value]
        near = max(0, self.one(entries).get('revision', 0) + self.one((-2, -1, -1, 0, 0, 1)))
        return self.optional(0.8, since=self.one((near,) * 8 + (0, 2**63 - 1)))

    def shutdown(self):
        exits = self.exits() if self.chance(0.5) else {}
        return self.family() | ({'exits': exits} if exits else {})

    def family(self):
        if self.chance(0.15):
            return {'all': True}
        needed = [key for entry in self.entries().values() for key in entry['dependencies']
                  if key in self.entries()]
        who = self.one(needed) if needed and self.chance(0.6) else self.known()
        return {'supervisor': who} | self.optional(0.5, only=True)

    def restart(self):
        do = self.shutdown()
        return do | (self.optional(0.5, completed=True) if 'all' in do else {})

    def pass_(self):
        do = self.optional(0.2, owner='you')
        do |= self.optional(0.1, state=self.one(('starting', 'running')))
        seq = self.files['supervisors']['alertSeq'] if self.files['supervisors'] else 0
        do |= self.optional(0.4, lastAlert=max(0, seq + self.one((-2, -1, 0, 0, 1, 5))))
        do |= self.optional(0.3, failover=True) | self.optional(0.2, hook=True)
        do |= self.optional(0.2, pid=7)
        do |= self.optional(0.1, stalenessThresholdMs=self.one((500, 5000)))
        do |= self.optional(0.05, heartbeatIntervalMs=200)
        do |= self.optional(0.1, strategy=self.one(groups.STRATEGIES))
        do |= self.optional(0.1, window=self.one((0, 1, 2)))
        do |= self.optional(0.1, room=self.one((0, 1, 2)))
        do |= self.optional(0.2, started=[key for key in self.entries() if self.chance(0.5)])
        do |= self.optional(0.1, autoShutdown=self.one(groups.AUTO_SHUTDOWN))
        do |= self.optional(0.1, onExit=self.one(groups.ON_EXIT))
        do |= self.optional(0.1, log=self.one(groups.LOG))
        if self.chance(0.2):
            do['prompt'] = self.optional(0.9, supervisorId=self.known(),
                                         startId=self.one(START_IDS))
        do |= self.optional(0.1, **self.one((self.limit(), self.limit(), {'intensityPeriodMs': 0})))
        do |= self.optional(0.1, rules=self.rules())
        do['checks'] = [{'supervisorId': key} | self.optional(0.5, passed=True) | self.optional(0.3, output='é')
                        | self.optional(0.3, cannotRun='no such program')
                        | {name: entry[name] for name in ('startId', ) if name in entry}
                        for key, entry in self.entries().items() if self.chance(0.5)]
        starts = {}
        for key in self.entries() if self.chance(0.7) else ():
            process = self.process() | {'bootId': 'boot-2'}
            spawned = {'pid': process['pid'], 'process': process}
            spawned |= self.optional(0.9, startId=self.one(START_IDS))
            spawned |= self.optional(0.5, keeper=self.process())
            spawned |= self.optional(0.5, logDevice=2049, logInode=self.one((1, 2**63 - 1)))
            failed = {'error': 'no such file'} | self.optional(0.5, short=True)
            starts[key] = failed if self.chance(0.2) else spawned
        exits = self.exits() if self.chance(0.5) else {}
        do |= self.optional(0.9, children={group: self.child() for group in GROUPS})
        return (do | ({'starts': starts} if starts else {}) | ({'exits': exits} if exits else {}))

    def child(self):
        """Return what is seen of another group, mostly as one of these services."""
        own = [(key, entry['generation']) for key, entry in self.entries().items()
               if 'group' in (entry['startInfo'] or {})]
        key, generation = self.one(own or [('a', 1)])
        child = {'parent': f'{run.GROUP}/{key}', 'generation': max(1, generation - self.one((0, 0, 0, 1)))}
        child = self.one((child, child, child, {}, {'parent': 'x/y', 'generation': 1}))
        child |= self.one((
            {}, {}, {'state': 'ending', 'reason': 'intensity'},
            {'state': 'ended', 'reason': self.one(('intensity', 'requested', 'autoShutdown')),
             'message': 'é', 'endedAt': self.ago()}, {'state': 'ended'}))
        return child | self.optional(0.4, ready=True) | self.optional(0.1, unreadable='é')

    def beginGroup(self):
        return {'parent': self.one(PARENTS), 'generation': self.one((1, 2, 3))}

    endGroup = beginGroup

    def checkLinks(self):
        names = [f'{group}/{service}' for group in ('f', 'g', 'h', 'i') for service in 'ab']
        links = {name: self.one('fghij') for name in names if self.chance(0.35)}
        becomes = [{'supervisor': service} | self.optional(0.8, group=self.one('fghij'))
                   for service in self.dice.sample('abc', self.one((1, 1, 2, 3)))]
        return {'services': becomes, 'links': links}

    def result(self):
        starting = [key for key, entry in self.entries().items()
                    if entry['starting'] and entry['state'] == 'running']  # the pass holds the lock
        # "me" makes an edit that names no actor (§12).
        ours = self.files['supervisors'] and self.files['supervisors']['owner'] == 'me'
        failed = {key: 'exec: é' for key in starting if ours and self.chance(0.4)}
        seq = self.files['supervisors']['alertSeq'] if self.files['supervisors'] else 0
        appended = self.optional(0.9, appended=self.one((seq, max(0, seq - 1), 0)))
        kind = self.one(({}, {'short': sorted(failed)}, {'terminal': sorted(failed)}))
        return appended | ({'failed': failed} | kind if failed else {})

    def give(self):
        lines, at = [], self.ago()
        for seq in range(1, self.one((0, 1, 2, 4, 8)) + 1):
            at = at if self.chance(0.7) else self.ago()
            line = {'seq': seq, 'type': self.one(('supervisorFailed', 'supervisorRestarted') * 3
                                                 + ('supervisorDead', 'hostRebooted')),
                    'supervisorId': self.one('aab'), **self.optional(0.1, silenced=True), 'message': 'é', 'timestamp': at}
            lines.append(without(line, {'supervisorId': 'b'}))
        return {'lines': lines} | self.optional(0.3, prompted=True)

    def silence(self):
        return {'supervisor': self.known()} | self.optional(0.5, forMs=self.one((1, 60_000, 604_800_000)))

    maintain = silence

    def logsCut(self):
        return {'cuts': [{'supervisorId': key, 'bytes': self.one((1, 65536))}
                         for key in (*self.entries(), 'gone') if self.chance(0.5)]}

    def given(self):
        return {'seq': self.one((1, 2, 3, 4, 5))} | self.optional(0.6, again=True)

    def step(self, last):
        """Make one vector, and go on with the group that results from it."""
        verbs = (('pass', ) * 10 + ('register', ) * 5 + ('registerAll', ) * 3 + ('beat', 'end', 'report') * 3
                 + ('continue', ) * 2 + ('shutdown', 'restart', 'remove', 'tidy', 'resume', 'wait', 'watch', 'beginGroup',
                    'endGroup', 'checkLinks') * 2 + ('result', 'give', 'given', 'silence', 'maintain', 'logsCut'))
        verb = 'result' if last == 'pass' and self.chance(0.5) else self.one(verbs)
        if verb in ('pass', 'result', 'give', 'given', 'watch') and not any(self.files.values()):
            verb = 'register'  # without files there is no threshold for a pass
        layout = brief if self.chance(0.7) else full
        sections = {'pass': '11', 'result': '11', 'give': '11', 'given': '11', 'logsCut': '11', 'silence': '30', 'maintain': '30', 'wait': '13', 'watch': '14', 'registerAll': '31',
                    'tidy': '30', 'report': '27', 'continue': '27', 'resume': '23', 'beginGroup': '24', 'endGroup': '24',
                    'checkLinks': '24'}
        vector = {
            'comment': 'A random group.', 'section': sections.get(verb, '10'),
            'given': {name: layout(name, value) for name, value in self.files.items()},
            'seen': self.seen(),
            'do': {'verb': verb} | getattr(self, {'pass': 'pass_', 'continue': 'continue_'}.get(verb, verb))()
        }
        if verb == 'watch' and self.chance(0.9):
            del vector['seen']
        parsed = parse(write(vector))
        if 'sightings' in vector.get('seen', ()):
            parsed['remembered'] = None
        got = run.suite_of(True, parsed).reality(parsed)
        if 'then' in got:
            self.files = got['then']
            got['then'] = {name: layout(name, value) for name, value in got['then'].items()}
        return vector | {name: value for name, value in got.items() if value not in (0, [], False)}


def corrupted(dice, files):
    """Return a vector of decode: the text of one file with one change."""
    name = dice.choice([name for name, value in files.items() if value])
    decode, value = run.FILES[name][0], dice.choice((brief, full))(name, files[name])
    if dice.random() < 0.1:
        value['protocolVersion'] = 2
    inner, member = dice.choice(list(places_in(value)))
    how = dice.randrange(12)
    if how == 0:
        text = write(value)[:dice.randrange(len(write(value)))]
    elif how == 1:
        text = write(value) + dice.choice('\n\t x{}]1')
    elif how == 2 and isinstance(inner, dict):
        text = write(value).replace(f'"{member}":', f'"{member}": 0, "{member}":', 1)
    elif how == 3 and isinstance(inner, dict):
        del inner[member]
        text = write(value)
    else:
        inner[member] = copy.deepcopy(dice.choice(STRANGE + groups.STATES))
        text = write(value)
    vector = {
        'comment': 'A file with one change.', 'section': '9', 'givenText': {name: text},
        'seen': {'now': format_time(START)}, 'do': {'verb': 'decode'}
    }
    try:
        return vector | {'then': {name: brief(name, decode(text))}}
    except Refused as refused:
        path = {'path': refused.path} if refused.word == 'corrupt' else {}
        return vector | {'refused': refused.word} | path


def elsewhere(entry, seen):
    """Return whether the process of entry is in another pid namespace of the same boot."""
    process = entry.get('process', {})
    here = all(
        process.get(name) and process.get(name) == seen.get(name) for name in ('hostId', 'bootId'))
    both = process.get('pidNamespace') and seen.get('pidNamespace')
    return bool(here and both and process['pid'] == entry.get('pid') and
                process['pidNamespace'] != seen['pidNamespace'])


def digest_of_process(vector, old, new):
    """Return what a pass or its result does about a pause, what is measured, and a group's end."""
    verb = vector['do']['verb']
    if 'paused' in old and 'paused' not in new and old['state'] == new.get('state'):
        yield f'{verb}: a pause ends'
    if verb == 'pass':
        measured = [name for name in ('cpuMs', 'rssKb')
                    if old.get('spent', {}).get(name, 0) < new.get('spent', {}).get(name, 0)]
        if measured:
            yield f'pass: measures {", ".join(measured)}'
        if new.get('lastExit') != old.get('lastExit') and new.get('lastExit', {}).get('reason') == 'ended':
            yield f'pass: a group has ended, {old["state"]} → {new["state"]}'
        if 'group' in (old.get('startInfo') or {}) and new.get('readiness') != old.get('readiness'):
            yield 'pass: readiness of a group'


def digest_of_entries(vector):
    """Return what happens to each service in a vector, and to the number of the last alert."""
    verb, do = vector['do']['verb'], vector['do']
    before, after = (integers((vector[end]['supervisors'] if end in vector else None) or {})
                     for end in ('given', 'then'))
    if do.get('lastAlert', 0) > before.get('alertSeq', 0) and after:
        hook = ', with a hook' if do.get('hook') else ''
        yield f'pass: alerts go on from the alerts file{hook}'
    signalled = {action.get('supervisorId') for action in vector.get('actions', ())
                 if action['action'] == 'signal'}
    for key, old in before.get('supervisors', {}).items():
        yield from digest_of_process(vector, old, after.get('supervisors', {}).get(key, {}))
        new, info = after.get('supervisors', {}).get(key, {}), old.get('startInfo')
        attempts = ((info or {}).get('restartPolicy') or {}).get('maxAttempts', 5)
        given_up = (not info or old.get('restartable') is False
                    or old.get('restartAttempts', 0) >= attempts)
        ended = old['state'] in ('running', 'failed', 'restartScheduled')
        if key in signalled and given_up and ended:
            yield f'{verb}: given up, and told to end'
        if elsewhere(old, vector['seen']):
            if verb == 'pass' and new.get('blockedBy') == 'process elsewhere':
                yield f'{verb}: blocked by a process in another pid namespace'
            if vector.get('refused') == 'otherProcess' and do.get('supervisor') == key:
                yield f'{verb}: otherProcess for one in another pid namespace'
        if new.get('state') == 'stopped' != old['state'] and 'process' in new:
            yield f'{verb}: stopped, and keeps its process'
        if (verb == 'register' and key == do['supervisor'] and 'request' not in do
                and old['state'] == 'waitingForDependencies'):
            stays = new.get('state') == 'waitingForDependencies'
            state = 'refused'
            if new:
                state = 'waits on' if stays else new['state']
                state += ', blocked' if stays and 'blockedBy' in new else ''
            yield f'register: waiting → {state}'
        if 'termSentAt' in old and new and 'termSentAt' not in new:
            yield f'{verb}: {old["state"]} → {new["state"]} drops termSentAt'


def digest(vector):
    """Return what happens in a vector, as words to be counted."""
    verb = vector['do']['verb']
    yield f'verb {verb}'
    end = next((name for name in ('standby', 'unchanged') if name in vector), 'changed')
    end = vector.get('outcome') or end
    if verb == 'watch':
        kinds = {line['type'] for line in vector.get('lines', ())}
        end = ('gap and ' if 'gap' in kinds else '') + ('lines' if kinds - {'gap'} else 'none')
    end = f'refused {vector["refused"]}' if 'refused' in vector else end
    yield f'{verb}: {end}' + (f', status {vector["status"]}' if 'status' in vector else '')
    for action in vector.get('actions', ()):
        signal = 'to' in action
        if 'group' in action:
            yield f'action {action["action"]}'
            continue
        how = f'{action["signal"]} to {action["to"]}' if signal else f'for {action["reason"]}'
        yield f'action {action["action"]} {how}'
    if verb == 'give':
        yield f'give: {len(vector.get("gives", ()))} of {len(vector["do"]["lines"])}'
    if verb in ('decode', 'wait', 'watch', 'give'):
        return
    yield from digest_of_entries(vector)
    if 'then' not in vector:
        return
    before, after = (integers(vector[end]['supervisors'] or {}) for end in ('given', 'then'))
    removed = set(before.get('supervisors', ())) - set(after.get('supervisors', ()))
    for _ in vector.get('removed', ()):
        yield f'{verb}: removed'
    for planned in vector.get('plan', ()):
        yield f'{verb}: {planned["action"]}' + (', after stop' if 'afterStop' in planned else '')
    if removed and verb == 'register':
        yield 'register: fresh'
    old = before.get('alertSeq', 0)
    for alert in after.get('pendingAlerts', ()):
        if alert['seq'] > old:
            yield f'alert {alert["type"]} ' + re.sub(r'\d+ attempts|attempt \d+|^\w: |^from \w+',
                                                     '…', alert['message'])
    for event in after.get('events', ()):
        if event.get('revision') == after.get('revision', 0) > before.get('revision', 0):
            reason = re.sub(r'\d+', 'N', event.get('reason', '-'))
            what = 'readiness' if event.get('type') == 'supervisorReadiness' else 'event'
            yield f'{verb} {what} {event.get("from", "-")} → {event.get("to", "-")}, {reason}'


def main(words):
    count, directory = int(words[0]), pathlib.Path(words[1]) / 'groups'
    dice = random.Random(int(words[2]) if len(words) > 2 else 0)
    directory.mkdir(parents=True, exist_ok=True)
    counts, left, last = collections.Counter(), 0, None
    for number in range(count):
        if left == 0:
            world, left, last = World(dice), dice.choice((1, 1, 2, 4, 12)), None
        left -= 1
        if dice.random() < 0.08 and any(world.files.values()):
            vector = corrupted(dice, world.files)
        else:
            vector = world.step(last)
        last = vector['do']['verb']
        (directory / f'{last}-{number:06}.json').write_text(write(vector) + '\n')
        counts.update(digest(vector))
    for what, many in sorted(counts.items()):
        print(f'{many:7} {what}')


if __name__ == '__main__':
    main(sys.argv[1:])
