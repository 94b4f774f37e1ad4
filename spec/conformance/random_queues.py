#!/usr/bin/env python3
"""Write N random vectors of queues (spec §40) into DIR/queues: random_queues.py N DIR [SEED].

Each has the result of queues.py for one verb on a queue that a random walk of verbs and manual edits
has led to. The same arguments give the same files. It prints how often what has happened. Let the
runner of another implementation judge the vectors, as those of random_vectors.py.
"""
import collections
import copy
import pathlib
import random
import sys

import queues
import run
import sightings
from document import Number, Refused, format_time, parse, write
from protocol import beat_of
from random_vectors import STRANGE, TRACEPARENTS, UNKNOWN, integers, places_in, without

START = 1768905000000  # 2026-01-20T10:30:00Z
STEPS = (0, 0, 1, 999, 1000, 1001, 5000, 30000, 60000, 3600_000, -500, -3600_000)
SPANS = (0, 1, 1000, 5000, 30000, 60000)
TASKS, GROUPS, PARTICIPANTS, CALLS, PIDS = 'abcdefgh', 'gh', ('w1', 'w2', 'w3'), 'mn', range(100, 104)
HOSTS, NAMESPACES, BOOTS = ('h1', 'h1', 'h1', 'h2', ''), ('41', '41', '42', ''), ('b2', 'b2', 'b1', '')
SAID = queues.ENDS + ('failed', ) * 6 + ('blocked', 'uncertain') * 3
RULES = ('notStarted', 'blocked', 'dead:1', 'dead:2', 'failures:2', 'failures:3')
PEOPLE = ('operator', 'ada', 'policy')
QUESTIONS = 'ask/a', 'ask.ada/b', 'ask/a', 'a', 'q/a', ''
SCOPES, ASKED = ('task q/a', 'operation o.1'), ('why?', 'é' * 120, 'x' * 200)
KEYED = [queues.key_id(f'{scope}\n{key}') for scope in SCOPES for key in 'kl']
ASKER_NAMES = [name for name in queues.ASKER.fields if name not in ('at', 'beat')]
SPECS = ({'argv': ['true']}, {}, {'text': 'x' * 400}, {'n': Number('1.50'), 'é': [None, '"\\\n']}, 'text')
DEFAULTS = {
    '': {'protocolVersion': 1, 'halts': [], 'closed': False, 'removed': False, 'deadSinceResume': 0,
         'failuresInRow': 0, 'ended': []},
    'tasks': {'state': 'waiting', 'priority': 0, 'key': '', 'after': [], 'attempts': 0, 'tries': 0,
              'charged': 0, 'lastEpoch': 0, 'lastStatus': 0, 'lastReason': '', 'lastJudged': False,
              'lastRanMs': 0, 'sameError': 0, 'reason': '', 'question': '', 'alerted': False},
    'ended': {'lastEpoch': 0, 'lastStatus': 0, 'lastReason': '', 'lastJudged': False,
              'lastRanMs': 0},
    'ask': {'user': '', 'scope': '', 'signed': False},
    'askers': {'user': '', 'pid': 0, 'epoch': 0},
    'decision': {'user': '', 'answer': '', 'self': False, 'unchecked': False}
}


def full(queue):
    return queues.QUEUE[1](queue)


def brief(queue):
    """Return the JSON value of a decoded queue without most members that have their default."""
    value = full(queue)
    value['counters'] = {name: inner for name, inner in value['counters'].items()
                         if inner or name not in queues.COUNTERS.fields}
    for name in ('tasks', 'ended'):
        value[name] = [without(entry, DEFAULTS[name]) for entry in value[name]]
    value['ended'] = [without(entry, {'lastAt': entry['at']}) for entry in value['ended']]
    for entry in value['tasks']:
        if 'ask' in entry:
            entry['ask'] = without(entry['ask'], DEFAULTS['ask'])
            entry['ask']['askers'] = [without(asker, DEFAULTS['askers'])
                                      for asker in entry['ask']['askers']]
    for entry in value['ended']:
        if 'decision' in entry:
            entry['decision'] = without(entry['decision'], DEFAULTS['decision'])
    return without(value, DEFAULTS[''])


class World:
    """A queue as it changes, and the world that its observers see."""

    def __init__(self, dice):
        self.dice, self.queue, self.exited = dice, None, set()
        self.asks = dice.random() < 0.35
        self.now, self.monotonic = START, 1_000_000
        self.hand_edits, self.shared = dice.random() < 0.4, dice.random() < 0.2
        self.kept, self.made = None, 0

    def chance(self, probability):
        return self.dice.random() < probability

    def one(self, values):
        return self.dice.choice(list(values))

    def some(self, values, most=3):
        return [self.one(values) for _ in range(self.dice.randrange(most))]

    def optional(self, probability, **arguments):
        return arguments if self.chance(probability) else {}

    def process(self):
        return {'pid': self.one(PIDS), 'hostId': self.one(HOSTS), 'bootId': self.one(BOOTS),
                'pidNamespace': self.one(NAMESPACES), 'startTicks': self.one((7, 7, 8))}

    def seen(self):
        step = self.one(STEPS)
        self.now += step
        self.monotonic += abs(step) if self.chance(0.8) else self.one(STEPS[:10])
        if self.chance(0.05 if self.asks else 0.15):
            self.exited ^= {self.one(PIDS)}
        seen = {'now': format_time(self.now)}
        if self.chance(0.8):
            seen |= {'hostId': self.one(HOSTS), 'bootId': self.one(BOOTS),
                     'pidNamespace': self.one(NAMESPACES), 'exited': sorted(self.exited),
                     'bootedAt': format_time(START if self.chance(0.6) else
                                             self.now + self.one((-5000, -1, 0, 1)))}
            seen |= self.optional(0.8, monotonicMs=self.monotonic)
            seen |= self.optional(0.1, unseen=[self.one(PIDS)])
        claims = [task['claim'] for task in (self.queue or {'tasks': []})['tasks']
                  if 'call' in task.get('claim', {})]
        calls = {f'{claim.get("operation", "")}/{claim["call"]}':
                 self.one(('open', 'over', 'crashed')) for claim in claims if self.chance(0.15)}
        calls |= {f'{asker.get("operation", "")}/{asker["call"]}': self.one(('open', 'over', 'crashed'))
                  for asker in self.askers() if 'call' in asker and self.chance(0.15)}
        if self.chance(0.2):  # perhaps of who claims next
            calls |= {f'{self.one(("o.1", "o.2", ""))}/{self.one(CALLS)}': self.one(('over', 'crashed'))}
        seen |= {'calls': calls} if calls else {}
        seen |= self.others()
        seen |= self.optional(0.2, past={self.one('fgh'): self.past()})
        seen |= self.optional(0.2, pastKeys={self.one(KEYED): self.past() | {'taskId': self.one('fgh')}})
        seen |= self.optional(0.2, recorded=False)
        if self.shared:
            seen['sightings'] = self.sightings(seen)
        return {name: value for name, value in seen.items() if value not in ('', [])}

    def others(self):
        """Return what is seen of other queues (§50)."""
        tasks = self.queue['tasks'] if self.queue else ()
        names = [task['question'] for task in tasks if task['state'] == 'blocked' and task['question']]
        questions = {name: self.question() for name in [*names, 'ask/a'] if self.chance(0.85)}
        parked = {f'{asker["queue"]}/{asker["task"]}': self.parked(asker)
                  for asker in self.askers() if 'task' in asker and self.chance(0.95)}
        return ({'questions': questions} if names or self.chance(0.1) else {}) | (
            {'parked': parked} if parked else {})

    def question(self):
        if self.chance(0.6):
            return None if self.chance(0.2) else {}
        return {'end': self.one(queues.TASK_ENDS)} | self.optional(0.5, answer='yes')

    def parked(self, asker):
        if self.chance(0.8):
            return {'epoch': asker['epoch']}
        asked = [f'{self.queue["queueId"]}/{task["taskId"]}' for task in self.queue['tasks']]
        question = {'question': self.one(asked)}
        return self.one((None, {}, {'epoch': 99}, question, question))

    def askers(self):
        tasks = self.queue['tasks'] if self.queue else ()
        return [asker for task in tasks for asker in task.get('ask', {}).get('askers', ())]

    def past(self):
        return {'end': self.one(queues.TASK_ENDS), 'spec': queues.hash_of(self.one(SPECS))}

    def sightings(self, seen):
        if self.kept and self.chance(0.6):
            return self.kept
        keys = dict.fromkeys(sightings.key(at, beat) for at, beat in queues.times(self.queue))
        return {'bootId': seen.get('bootId', ''), 'seen': [
            {'bootId': boot, 'monotonicMs': ms, 'at': format_time(at),
             'firstSeenMs': max(0, self.monotonic - self.one(STEPS[:10]))} for boot, ms, at in keys]}

    def known(self, state=None):
        tasks = [task for task in self.queue['tasks'] if state in (None, task['state'])]
        return self.one(tasks) if tasks and self.chance(0.95) else None

    def name(self, state=None):
        task = self.known(state) if self.queue else None
        return task['taskId'] if task else self.one(TASKS)

    # Arguments

    def enqueue(self):
        return {'tasks': [self.new() for _ in range(self.one((0, 1, 1, 1, 2, 3, 5)))]}

    def new(self):
        name, same = self.one(TASKS), self.known() if self.queue and self.chance(0.2) else None
        if self.chance(0.7):
            self.made += 1
            name = f't{self.made}'
        spec = same['spec'] if same and self.chance(0.5) else self.one(SPECS)
        spec = spec if isinstance(spec, dict) else self.one(SPECS)
        new = {'id': same['taskId'] if same else name, 'spec': spec}
        new |= self.optional(0.2, key='k') | self.optional(0.3, priority=self.one((-2, 0, 1, 3)))
        new |= self.optional(0.4, after=[self.name(), *self.some(TASKS, 2)])
        new |= self.optional(0.3, group=self.one(GROUPS))
        new |= self.optional(0.2, delayMs=self.one(SPANS)) | self.optional(0.2, expiresMs=self.one(SPANS))
        new |= self.optional(0.15, notBefore=format_time(self.now + self.one(STEPS)))
        new |= self.optional(0.1, traceparent=self.one(TRACEPARENTS))
        return new | self.optional(0.2, maxAttempts=self.one((1, 2))) | self.optional(0.2, replace=True)

    def claim(self):
        claim = {'participant': self.one(PARTICIPANTS)} | self.optional(0.3, call=self.one(CALLS))
        if self.chance(0.7):
            process = self.process()
            claim |= {'pid': self.one((process['pid'],) * 5 + (100,)), 'process': process}
        claim |= self.optional(0.3, keeper=self.process()) | self.optional(0.2, task=self.name())
        claim |= self.optional(0.5, operation=self.one(('o.1', 'o.2')))
        return claim | self.optional(0.1, deadlineMs=self.one(SPANS[1:]))

    def settle(self):
        task = (self.known('claimed') or self.known()) if self.queue else None
        if task is None and self.queue and self.queue['ended']:
            task = self.one(self.queue['ended'])
        task = task or {'taskId': self.one(TASKS), 'lastEpoch': 1}
        epoch = task.get('claim', {}).get('epoch', task['lastEpoch'])
        end = task.get('lastEnd') if self.chance(0.2) else None
        do = {'task': task['taskId'], 'end': end or self.one(SAID)}
        do['epoch'] = epoch if self.chance(0.9) else max(0, epoch + self.one((-1, 1, -9)))
        do |= self.optional(0.4, status=self.one((0, 1, 2))) | self.optional(0.3, reason=self.one('xy'))
        do |= self.optional(0.4, question=self.one(QUESTIONS)) | self.optional(0.4, delayMs=self.one(SPANS))
        return do | self.optional(0.2, later=True)

    def unclaim(self):
        do = self.settle()
        return {'task': do['task'], 'epoch': do['epoch']}

    def pass_(self):
        return {}

    remove = pass_

    def control(self):
        do = self.optional(0.5, by=self.one(PEOPLE)) | self.optional(0.3, create=True)
        do |= self.optional(0.5, policy=self.policy()) | self.optional(0.2, goal=self.one(('', 'ship')))
        do |= self.optional(0.1, goalDone=True) | self.optional(0.1, close=self.chance(0.4))
        do |= self.optional(0.15, permits=self.one(
            ({'all': True}, {'add': 1}, {'set': 0}, {'set': 3}, {'add': 2**61})))
        do |= self.optional(0.6, resume=True)
        halt = {'reason': self.one('xy')} | self.optional(0.3, details='d') | self.optional(0.4, now=True)
        return do | self.optional(0.25, halt=halt)

    def policy(self):
        kinds = {'slots': (0, 1, 2), 'maxAttempts': (1, 2, 4), 'backoffMs': ([], [0, 1000, 5000], [1000]),
                 'onDeadDependency': ('wait', 'cancel'), 'haltOn': (RULES[:1], RULES[1:3], RULES[2:], []),
                 'depth': (0, 4), 'ageAfterMs': (0, 1000), 'rememberForMs': (604800000, 0)}
        return {name: self.one(values) for name, values in kinds.items() if self.chance(0.25)}

    def redrive(self):
        return {'all': True} if self.chance(0.5) else {'tasks': [self.name('dead'), *self.some(TASKS, 2)]}

    def cancel(self):
        return ({'tasks': [self.name(), *self.some(TASKS, 2)]} | self.optional(0.3, by='ada')
                | self.optional(0.3, reason='late'))

    def alerted(self):
        queue = self.queue or {'halts': [], 'tasks': []}
        if queue['halts'] and self.chance(0.5):
            halt = self.one(queue['halts'])
            return {'by': halt['by'], 'reason': halt['reason'] if self.chance(0.9) else 'z'}
        task = self.known('dead') if self.queue else None
        task = task or {'taskId': self.one(TASKS), 'lastEpoch': 1}
        return {'task': task['taskId'], 'epoch': task['lastEpoch'] if self.chance(0.9) else 0}

    def asker(self):
        asker = {'participant': self.one(PARTICIPANTS)} | self.optional(0.3, user='ada')
        if self.chance(0.5):
            process = self.process()
            asker |= {'pid': self.one((process['pid'],) * 5 + (100,)), 'process': process}
        asker |= self.optional(0.3, waiter=self.process()) | self.optional(0.3, call=self.one(CALLS))
        asker |= self.optional(0.3, operation=self.one(('o.1', 'o.2')))
        task = {'queue': self.one(('q', 'r')), 'task': self.one('ab')}
        asker |= self.optional(0.3, origin=self.optional(0.5, process=self.process()) | self.optional(0.3, **task)
                               | self.optional(0.3, operation=self.one(('o.1', 'o.2')))
                               | self.optional(0.3, participant=self.one(PARTICIPANTS)))
        task |= self.optional(0.5, epoch=self.one((1, 2)))
        return asker | (task if self.chance(0.25) else self.optional(0.1, queue='q'))

    def ask(self):
        asked = self.known('open') if self.queue and self.chance(0.3) else None
        asker = copy.deepcopy(self.one(asked['ask']['askers'])) if asked else self.asker()
        full_ = queues.ASKER[1](asker | {'at': 0}) if asked else asker
        asker = {name: value for name, value in full_.items() if name in ASKER_NAMES}
        self.made += 1
        do = {'id': self.which() if self.queue and self.chance(0.05) else f'q{self.made}',
              'nonce': f'{self.made:032x}', 'kind': self.one(queues.KINDS), 'spec': self.one(SPECS[:4]), 'text': self.one(ASKED),
              'expiresMs': self.one((0, 1000, 60000, 10**9, 10**9)), 'asker': asker}
        if self.chance(0.6):
            do |= {'scope': self.one(SCOPES), 'key': self.one('kl')}
            do |= self.optional(0.8, spec=SPECS[0]) | self.optional(0.7, kind='permission')
            do |= self.optional(0.2, discounted=self.which() if self.queue else 'f')
        do |= self.optional(0.2, signed=True)
        rule = {'end': self.one(('allowed', 'denied')), 'file': '/r', 'hash': queues.hash_of({}),
                'number': self.one((1, 7))} | self.optional(0.5, reason='x')
        return do | (self.optional(0.15, ruled=rule) if do['kind'] == 'permission' else {})

    def which(self):
        """Return the id of a question: one that is open, or has ended, or was never asked."""
        ended = self.queue['ended'] if self.queue else ()
        return self.one(ended)['taskId'] if ended and self.chance(0.2) else self.name('open')

    def answer(self):
        name = self.which()
        task = queues.find(self.queue, name) if self.queue else None
        kind = task['ask']['kind'] if task and 'ask' in task else 'permission'
        end = self.one(('denied', 'allowed' if kind == 'permission' else 'answered'))
        do = {'id': name, 'end': end if self.chance(0.9) else self.one(queues.DECIDED)}
        do |= self.optional(0.6, by=self.one((*PEOPLE, 'w1'))) | self.optional(0.3, text='yes')
        do |= self.optional(0.8, whole=True)
        if task and 'ask' in task:
            shown = queues.shown_hash(self.queue['queueId'], task)
            do |= self.optional(0.9, shown=shown if self.chance(0.95) else queues.hash_of({}))
        do |= self.optional(0.4, signature={'at': format_time(self.now), 'text': 's'})
        do |= self.optional(0.2, user='u')
        do |= self.optional(0.1, operation=self.one(('o.1', 'o.2'))) | self.optional(0.3, allowSelf=True)
        do |= self.optional(0.2, queue=self.one(('q', 'r')), task=self.one('ab'))
        processes = [self.process(), *filter(None, (
            self.one(task['ask']['askers']).get(self.one(('process', 'waiter')))
            for task in (task,) if task and 'ask' in task))]
        return do | self.optional(0.3, processes=[queues.PROCESS[1](one) for one in processes])

    def taken(self):
        ended = self.queue['ended'] if self.queue else ()
        if not ended:
            return {'ended': {'taskId': 'f', 'end': 'allowed', 'spec': queues.hash_of({}),
                              'at': format_time(self.now)}}
        entry = queues.ENDED[1](self.one(ended))
        if self.chance(0.2):
            entry['end'] = self.one(queues.TASK_ENDS)
        return {'ended': entry}

    def withdraw(self):
        asker = self.ask()['asker']
        return {'id': self.which(), 'asker': asker}

    def hold(self):
        return {'task': self.one(self.queue['tasks'])['taskId']}

    def verb(self):
        if self.asks and (not self.queue or self.chance(0.9)):
            verbs = ('ask',) * 6 + ('answer',) * 4 + ('withdraw', 'pass', 'pass', 'cancel', 'control', 'taken')
            return self.one(verbs + ('remove',) * self.chance(0.2)) if self.queue else 'ask'
        if (not self.queue or self.queue['removed']) and self.chance(0.9):
            return 'enqueue'
        if self.queue and self.queue['halts'] and self.chance(0.3):
            return 'control'
        verbs = (('enqueue',) * 5 + ('claim',) * 6 + ('settle',) * 8 + ('unclaim', 'pass', 'control') * 2
                 + ('redrive', 'cancel', 'alerted'))
        verbs += ('remove',) * self.chance(0.3)
        return self.one(verbs + (('hold',) * 2 if self.queue and self.queue['tasks'] else ()))

    def edit_by_hand(self):
        queue, what = self.queue, self.dice.randrange(11)
        task = self.one(queue['tasks'] or [queue])
        if what == 0:
            decisions = [ended['decision'] for ended in queue['ended'] if 'decision' in ended]
            rules = [decision['rule'] for decision in decisions if 'rule' in decision]
            place = self.one([queue, queue['policy'], queue['counters'], task, *queue['halts'],
                              *queue['ended'], *decisions, *rules, *self.askers(),
                              *filter(None, map(task.get, ('claim', 'delay', 'expiry', 'ask')))])
            place[self.one(('x', 'note~/'))] = copy.deepcopy(self.one(UNKNOWN))
        elif what == 1 and 'claim' in task:
            task['claim'][self.one(('process', 'keeper'))] = self.process()
        elif what == 2 and 'claim' in task:
            task['claim'] |= {'at': self.now + self.one(STEPS)}
        elif what == 3:
            queue['ended'][:0] = [
                {'taskId': f'e{at}', 'end': 'done', 'spec': queues.hash_of({}), 'lastEpoch': 0,
                 'lastStatus': 0, 'lastReason': '', 'lastJudged': False, 'lastAt': START,
                 'lastRanMs': 0, 'at': START}
                for at in range(self.one((62, 65, 0, 0)) - len(queue['ended']))]
            queue['counters']['done'] = len(queue['ended'])
        elif what == 4 and task is not queue:
            task['tries'], task['attempts'] = self.one((0, 4, 19)), 19
        elif what == 5 and task is not queue:
            timer = {'at': self.now - self.one(SPANS), 'forMs': self.one(SPANS[1:])}
            beat = {'bootId': self.one(BOOTS), 'monotonicMs': max(0, self.monotonic - self.one(SPANS)),
                    'at': timer['at'] + self.one((0, 0, 1))}
            task[self.one(('delay', 'expiry'))] = timer | self.optional(0.8, beat=beat)
        elif what == 6 and task is not queue:
            task['after'] = self.some(TASKS)
        elif what == 7:
            queue['queueId'] = self.one(('ask', 'ask.ada') if self.asks else ('q', 'mail.bob'))
        elif what == 8 and task is not queue and task['state'] in ('waiting', 'dead'):
            task['state'] = self.one(('waiting', 'dead', 'blocked'))
            task['question'] = self.one(QUESTIONS)
        elif what == 9 and 'ask' in task:
            asker = self.one(task['ask']['askers'])
            asker[self.one(('process', 'waiter'))] = self.process()
        elif what == 10 and task is not queue and task['state'] == 'blocked':
            task['lastEnd'] = 'uncertain'

    def step(self):
        """Make one vector, and continue the walk with its result."""
        if self.queue and self.hand_edits:
            while self.chance(0.3):
                self.edit_by_hand()
        verb = self.verb()
        value = self.queue and self.one((brief, full))(self.queue)
        given = {'given': value}
        if self.queue and self.chance(0.5):
            given = {'givenText': write(value) + '\n'}
        vector = {'comment': 'A random walk.', 'section': '33', **given, 'seen': self.seen(),
                  'do': {'verb': verb} | getattr(self, 'pass_' if verb == 'pass' else verb)()}
        vector |= end_of(vector)
        self.kept = integers(vector.get('remembered'))
        if 'then' in vector:
            self.queue = queues.decode(write(vector['then']))
        return vector


def end_of(vector):
    """Return the members of vector that state its result."""
    parsed = parse(write(vector))
    edits = vector['do']['verb'] not in ('decode', 'hold')
    if 'sightings' in vector['seen'] and edits:
        parsed |= {'remembered': None}
    got = run.QUEUES.reality(parsed)
    if 'then' in got:
        got['then'] = brief(got['then'])
    return {name: value for name, value in got.items()
            if value != [] or name in ('holds', 'claimed')}


def corrupted(dice, queue):
    """Return a vector of decode: the text of queue with one change."""
    value = dice.choice((brief, full))(queue)
    inner, name = dice.choice(list(places_in(value)))
    if dice.random() < 0.2 and isinstance(inner, dict):
        del inner[name]
    else:
        inner[name] = copy.deepcopy(dice.choice(STRANGE + (3, 'dead', 'dead:2', 'done', 'a.b', 'cancel')))
    vector = {'comment': 'A file with one change.', 'section': '33', 'givenText': write(value),
              'seen': {'now': format_time(START)}, 'do': {'verb': 'decode'}}
    try:
        return vector | {'then': brief(queues.decode(vector['givenText']))}
    except Refused as refused:
        path = {'path': refused.path} if refused.word == 'corrupt' else {}
        return vector | {'refused': refused.word} | path


def digest(vector):
    verb = vector['do']['verb']
    end = next(name for name in ('refused', 'then', 'unchanged', 'holds') if name in vector)
    yield f'{verb}: {end}' + (f' {vector[end]}' if end == 'refused' else '')
    if vector.get('verdict'):
        yield f'claim: {vector["verdict"]}'
    yield from (f'hold {hold["kind"]}' for hold in vector.get('holds', ()))
    if verb == 'settle' and end == 'then':
        yield f'settle {vector["do"]["end"]}' + (' later' if 'later' in vector['do'] else '')
    for what in ('past', 'aborts', 'written', 'remembered'):
        if vector.get(what):
            yield what
    if end == 'then' and verb != 'decode':
        for entry in vector['then']['tasks'] + vector['then'].get('ended', []):
            if 'decision' in entry:
                yield f'ended {entry["end"]}' + (' by a rule' if 'rule' in entry['decision'] else '')
            if entry['taskId'] and entry.get('question') and 'state' not in entry:
                yield 'waiting with a question'
            if entry.get('reason', '').startswith('nobody'):
                yield 'nobody has answered'
            if entry.get('lastJudged'):
                yield f'judged {entry["lastEnd"]}: {entry.get("lastReason", "")}'
        for halt in vector['then'].get('halts', ()):
            yield f'halt {halt["reason"]}' if halt.get('automatic') else 'halt'


def main(words):
    count, directory = int(words[0]), pathlib.Path(words[1]) / 'queues'
    dice = random.Random(int(words[2]) if len(words) > 2 else 0)
    directory.mkdir(parents=True, exist_ok=True)
    counts, left = collections.Counter(), 0
    for number in range(count):
        if left == 0:
            world, left = World(dice), dice.choice((20, 60, 200))
        left -= 1
        if world.queue and dice.random() < 0.08:
            vector = corrupted(dice, world.queue)
        else:
            vector = world.step()
        (directory / f'{vector["do"]["verb"]}-{number:06}.json').write_text(write(vector) + '\n')
        counts.update(digest(vector))
    for what, many in sorted(counts.items()):
        print(f'{many:7} {what}')


if __name__ == '__main__':
    main(sys.argv[1:])
