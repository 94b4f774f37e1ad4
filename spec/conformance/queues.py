"""Queues of tasks and questions (spec §32 to §39, §46, §47): values in, values out.

There is no clock, and there are no files.
"""
import copy
import dataclasses
import hashlib
import json
import re
from typing import Optional

import traces
from document import (ABSENT, BEAT, BOOLEAN, CHAIN, DEEPEST, HASH, HASHED, HIGHEST, ID, IDENT, INTEGER,
                      LONGEST,
                      MOMENT, POSITIVE, PROCESS, REQUIRED, REVISION, TEXT, Number, Refused, array,
                      below, corrupt, depth, duration, format_time, one_of, parse, quote, read_id, read_time,
                      record, refuse_newer, whole, write)
from protocol import age, beat_of, gone, identity, same, set_optional
from sightings import Sightings

TASK_ID = re.compile(r'[A-Za-z0-9][A-Za-z0-9_:-]{0,63}')
COUNTED = re.compile(r'(?:dead|failures):([1-9]\d{0,9})', re.ASCII)
CHARGED = ('failed', 'rejected', 'timedOut', 'silent', 'crashed', 'notStarted')
UNCHARGED = ('rebooted', 'released', 'tempfail', 'snoozed')
ENDS = ('done', *CHARGED, *UNCHARGED, 'blocked', 'uncertain', 'cancelled')
DECIDED = ('allowed', 'denied', 'answered')
TASK_ENDS = ('done', 'cancelled', 'expired', *DECIDED, 'timedOut', 'withdrawn')
MISFITS = ('permission', 'answered'), ('question', 'allowed')  # kinds, and ends they cannot have (§47.2)
LONGEST_TEXT, MOST_ASKED = 200, 16  # §46.2, §47.1
FIRST_NAMESPACE = '4026531836'  # that of the host (§47.2)
LONGEST_SPEC = 400  # in the entry of its task (§36.1)
WITHIN_ENTRY = 3  # objects and arrays around it there
MOST_ENDED, KEPT_ENDED = 64, 32  # §36.2
MOST_ENDED_QUESTIONS, KEPT_ENDED_QUESTIONS = 25, 10
LIMITS = -10**6, 10**6  # of a priority


# Files (§32, §33)

def is_queue_id(text):
    most = 64 if text.startswith(('mail.', 'ask.')) else 48
    return len(text) <= most and not text.endswith('.')


def read_queue_id(value, path):
    if not is_queue_id(read_id(value, path)):
        raise corrupt(path, f'{quote(value)} is not the id of a queue')
    return value


def read_task_id(value, path):
    if not TASK_ID.fullmatch(TEXT[0](value, path)):
        raise corrupt(path, f'{quote(value)} is not the id of a task')
    return value


def read_spec(value, path):
    return value if isinstance(value, dict) else HASHED[0](value, path)


def is_ask_queue(text):
    return text == 'ask' or text.startswith('ask.')


def asked_where(question):
    """Return whether question names a question of a queue: QUEUE/ID (§47.4)."""
    queue, _, name = question.partition('/')
    return bool(is_ask_queue(queue) and ID.fullmatch(queue) and '..' not in queue
                and is_queue_id(queue) and TASK_ID.fullmatch(name))


def read_rule(value, path):
    counted = COUNTED.fullmatch(TEXT[0](value, path))
    if value == 'dead':
        return 'dead:1'
    if value in ('notStarted', 'timedOut', 'blocked') or counted and int(counted[1]) < 2**31:
        return value
    raise corrupt(path, f'{quote(value)} halts nothing')


def read_counts(value, path):
    if not isinstance(value, dict):
        raise corrupt(path, 'not an object')
    return {name: INTEGER[0](inner, below(path, name)) for name, inner in value.items()}


def read_nonce(value, path):
    if not re.fullmatch('[0-9a-f]{32}', TEXT[0](value, path)):
        raise corrupt(path, 'not 32 hex digits')
    return value


def plain(value):
    return value


ANY = (lambda value, path: value, plain)
QUEUE_ID, TASK = (read_queue_id, str), (read_task_id, str)
SPEC, RULE, COUNTS = (read_spec, plain), (read_rule, str), (read_counts, dict)
END, SPAN, LIMIT = one_of(*ENDS), duration(0), duration(1)
POLICY_MEMBERS = {
    'slots': (INTEGER, 0), 'maxAttempts': (POSITIVE, REQUIRED), 'backoffMs': (array(SPAN), []),
    'onDeadDependency': (one_of('wait', 'cancel'), 'wait'), 'haltOn': (array(RULE), []),
    'depth': (INTEGER, 0), 'ageAfterMs': (SPAN, 0), 'rememberForMs': (SPAN, REQUIRED)
}
LAST = {
    'lastEpoch': (REVISION, 0), 'lastEnd': (END, ABSENT), 'lastStatus': (INTEGER, 0),
    'lastReason': (TEXT, ''), 'lastJudged': (BOOLEAN, False), 'lastBy': (IDENT, ABSENT),
    'lastAt': (MOMENT, ABSENT), 'lastRanMs': (SPAN, 0)
}
TIMER = record(at=(MOMENT, REQUIRED), beat=(BEAT, ABSENT), forMs=(LIMIT, REQUIRED))
INTENT = record(end=(END, REQUIRED), status=(INTEGER, 0), reason=(TEXT, ''), question=(TEXT, ''),
                delayMs=(SPAN, 0))
CLAIM = record(epoch=(REVISION, REQUIRED), at=(MOMENT, REQUIRED), beat=(BEAT, ABSENT),
               participant=(IDENT, REQUIRED), pid=(INTEGER, 0), process=(PROCESS, ABSENT),
               keeper=(PROCESS, ABSENT), operation=(IDENT, ABSENT), call=(IDENT, ABSENT),
               deadlineMs=(LIMIT, ABSENT), stop=(one_of('released', 'cancelled'), ABSENT),
               stopReason=(TEXT, ''), intent=(INTENT, ABSENT))
KINDS = 'permission', 'question'
KIND = one_of(*KINDS)
ORIGIN = record(process=(PROCESS, ABSENT), operation=(IDENT, ABSENT), queue=(QUEUE_ID, ABSENT),
                task=(TASK, ABSENT), participant=(IDENT, ABSENT))
ASKER = record(at=(MOMENT, REQUIRED), beat=(BEAT, ABSENT), participant=(IDENT, REQUIRED), user=(TEXT, ''),
               pid=(INTEGER, 0), process=(PROCESS, ABSENT), waiter=(PROCESS, ABSENT),
               operation=(IDENT, ABSENT), call=(IDENT, ABSENT), queue=(QUEUE_ID, ABSENT),
               task=(TASK, ABSENT), epoch=(REVISION, 0), origin=(ORIGIN, ABSENT))
NONCE = (read_nonce, str)
ASK = record(kind=(KIND, REQUIRED), text=(TEXT, ''), nonce=(NONCE, REQUIRED), by=(IDENT, REQUIRED),
             user=(TEXT, ''), scope=(TEXT, ''), signed=(BOOLEAN, False), askers=(array(ASKER), REQUIRED))
RULED = record(file=(TEXT, REQUIRED), hash=(HASHED, REQUIRED), number=(POSITIVE, REQUIRED))
SIGNATURE = record(at=(MOMENT, REQUIRED), text=(TEXT, REQUIRED), nonce=(NONCE, REQUIRED),
                   askedAt=(MOMENT, REQUIRED), user=(TEXT, ''), scope=(TEXT, ''), key=(TEXT, ''))
DECISION = record(kind=(KIND, REQUIRED), text=(TEXT, ''), askedBy=(IDENT, REQUIRED),
                  operation=(IDENT, ABSENT), by=(IDENT, ABSENT), user=(TEXT, ''), answer=(TEXT, ''),
                  rule=(RULED, ABSENT), self=(BOOLEAN, False), unchecked=(BOOLEAN, False),
                  shown=(HASHED, ABSENT),
                  signature=(SIGNATURE, ABSENT))
ENTRY = record(taskId=(TASK, REQUIRED), seq=(REVISION, REQUIRED),
               state=(one_of('waiting', 'claimed', 'blocked', 'dead', 'open'), 'waiting'),
               priority=(whole(*LIMITS), 0), spec=(SPEC, REQUIRED), key=(TEXT, ''),
               group=(IDENT, ABSENT), after=(array(TASK), []), enqueuedAt=(MOMENT, REQUIRED),
               traceparent=(TEXT, ABSENT), maxAttempts=(POSITIVE, ABSENT), notBefore=(MOMENT, ABSENT), delay=(TIMER, ABSENT),
               expiry=(TIMER, ABSENT), attempts=(INTEGER, 0), tries=(INTEGER, 0),
               charged=(INTEGER, 0), **LAST, sameError=(INTEGER, 0), reason=(TEXT, ''),
               question=(TEXT, ''), alerted=(BOOLEAN, False), claim=(CLAIM, ABSENT),
               ask=(ASK, ABSENT))
ENDED = record(taskId=(TASK, REQUIRED), end=(one_of(*TASK_ENDS), REQUIRED), spec=(HASHED, REQUIRED),
               keyId=(TASK, ABSENT),
               **LAST | {'lastAt': (MOMENT, lambda ended: ended['at'])},
               at=(MOMENT, REQUIRED), decision=(DECISION, ABSENT))
COUNTERS = record(**dict.fromkeys(('enqueued', 'claimed', 'done', 'dead', *TASK_ENDS[1:]),
                                  (INTEGER, 0)), ends=(COUNTS, {}), firstClaims=(INTEGER, 0),
                  **dict.fromkeys(('waitedMs', 'longestWaitMs', 'ranMs', 'longestRunMs'), (SPAN, 0)))
HALT = record(by=(TEXT, REQUIRED), reason=(TEXT, REQUIRED), details=(TEXT, ''), at=(MOMENT, ABSENT),
              automatic=(BOOLEAN, False), alerted=(BOOLEAN, False))
GOAL = record(description=(TEXT, ''), completed=(BOOLEAN, False))
QUEUE = record(**{'$schema': (TEXT, ABSENT)}, protocolVersion=(POSITIVE, 1), queueId=(QUEUE_ID, REQUIRED), revision=(REVISION, 0),
               policy=(record(**POLICY_MEMBERS), REQUIRED), goal=(GOAL, ABSENT),
               halts=(array(HALT), []), permits=(INTEGER, ABSENT), closed=(BOOLEAN, False),
               removed=(BOOLEAN, False), lastSeq=(REVISION, 0), lastEpoch=(REVISION, 0),
               deadSinceResume=(INTEGER, 0), failuresInRow=(INTEGER, 0),
               counters=(COUNTERS, lambda queue: COUNTERS[0]({}, '')),
               tasks=(array(ENTRY), REQUIRED), ended=(array(ENDED), []), audit=(CHAIN, ABSENT))


def decode(text):
    """Return the queue in text (bytes or str). Refused: corrupt, newerVersion."""
    value = parse(text)
    refuse_newer(value)
    queue = QUEUE[0](value, '')
    known, last = set(), 0
    for at, task in enumerate(queue['tasks']):
        path = f'/tasks/{at}'
        if ('claim' in task) != (task['state'] == 'claimed'):
            raise corrupt(f'{path}/claim', f'the task is {task["state"]}')
        if ('ask' in task) != (task['state'] == 'open'):
            raise corrupt(f'{path}/ask', f'the task is {task["state"]}')
        if 'ask' in task and not task['ask']['askers']:
            raise corrupt(f'{path}/ask/askers', 'nobody asks')
        for which, asker in enumerate(task.get('ask', {}).get('askers', ())):
            if 'task' in asker and 'queue' not in asker:
                raise corrupt(f'{path}/ask/askers/{which}/queue', 'missing')
        if task['taskId'] in known:
            raise corrupt(f'{path}/taskId', 'occurs twice')
        if task['seq'] <= last:
            raise corrupt(f'{path}/seq', f'not above {last}')
        known.add(task['taskId'])
        last = task['seq']
    if queue['lastSeq'] < last:
        raise corrupt('/lastSeq', f'a task has {last}')
    epochs = [entry['lastEpoch'] for entry in queue['tasks'] + queue['ended']]
    epochs += [task['claim']['epoch'] for task in queue['tasks'] if 'claim' in task]
    if queue['lastEpoch'] < max(epochs, default=0):
        raise corrupt('/lastEpoch', 'an attempt has a higher epoch')
    return queue


def encode(queue):
    return write(QUEUE[1](queue)) + '\n'


def new_policy(queue_id):
    policy = {'maxAttempts': 4, 'backoffMs': [0, 30000, 300000], 'haltOn': ['notStarted'],
              'rememberForMs': 604800000, 'slots': 0, 'onDeadDependency': 'wait', 'depth': 0,
              'ageAfterMs': 0}
    if queue_id.startswith('mail.') or is_ask_queue(queue_id):
        policy |= {'haltOn': [], 'depth': 1000}
    return {name: policy[name] for name in POLICY_MEMBERS}


def new_queue(queue_id):
    return QUEUE[0](parse(write({'queueId': queue_id, 'tasks': [],
                                 'policy': {'maxAttempts': Number('1'),
                                            'rememberForMs': Number('0')}})),
                    '') | {'policy': new_policy(queue_id)}


# Specs (§36.1)

def compact(value):
    """Return the text of a JSON value without white space between its tokens."""
    if isinstance(value, dict):
        return '{' + ','.join(f'{quote(k)}:{compact(v)}' for k, v in value.items()) + '}'
    if isinstance(value, list):
        return '[' + ','.join(map(compact, value)) + ']'
    if isinstance(value, Number):
        return value.text
    return quote(value) if isinstance(value, str) else json.dumps(value)


def hash_of(spec):
    """Return the hash of a spec, which is an object, a text that stands for one, or a hash."""
    if isinstance(spec, str) and HASH.fullmatch(spec):
        return spec
    text = compact(spec) if isinstance(spec, dict) else spec
    return 'sha256:' + hashlib.sha256((text + '\n').encode()).hexdigest()


def key_id(text):
    """Return the id of a task or question of which only a text is known (§34.1)."""
    return 'k' + hashlib.sha256(text.encode()).hexdigest()[:24]


def in_entry(spec):
    if not isinstance(spec, dict):
        return False
    text = compact(spec)
    return len(text.encode()) <= LONGEST_SPEC and depth(text) + WITHIN_ENTRY <= DEEPEST


# The world

@dataclasses.dataclass
class World:
    seen: object  # an Observation (§4.2)
    calls: dict = dataclasses.field(default_factory=dict)  # 'OPERATION/CALL' → open, over, crashed
    past: dict = dataclasses.field(default_factory=dict)  # task id → {end, spec, decision}
    pastKeys: dict = dataclasses.field(default_factory=dict)  # keyId → {taskId, end, spec}
    recorded: bool = True  # the record has the line of an answer (§47.6)
    # 'QUEUE/ID' → {end, answer}, without end: open; None: it cannot be read (§47.4)
    questions: dict = dataclasses.field(default_factory=dict)
    # 'QUEUE/TASK' → {epoch} of its claim, {question} that it is blocked on, or {}; None: unreadable
    parked: dict = dataclasses.field(default_factory=dict)


@dataclasses.dataclass
class Outcome:
    queue: Optional[dict] = None  # None: no change
    claimed: Optional[str] = None
    verdict: Optional[str] = None
    aborts: list = dataclasses.field(default_factory=list)
    written: list = dataclasses.field(default_factory=list)
    past: list = dataclasses.field(default_factory=list)
    id: Optional[str] = None  # of a question
    remembered: Optional[Sightings] = None


def times(queue):
    """Return the times of queue whose age matters, each with the beat that counts (§18)."""
    for task in queue['tasks'] if queue else ():
        askers = task.get('ask', {}).get('askers', ())
        for timed in (task.get('delay'), task.get('expiry'), task.get('claim'), *askers):
            if timed:
                yield timed['at'], beat_of(timed, 'at')


def age_of(timed, seen):
    return max(0, age(timed, seen, 'at'))


def left(timer, seen):
    """Return for how many milliseconds a timer still runs (§33.3)."""
    return max(0, timer['forMs'] - age_of(timer, seen)) if timer else 0


def start_timer(milliseconds, seen):
    if not milliseconds:
        return None
    timer = {'at': seen.now, 'forMs': milliseconds}
    set_optional(timer, 'beat', seen.beat())
    return timer


def added(sum_, span):
    return min(LONGEST, sum_ + span)


# What holds a task (§34.2)

def find(queue, task_id):
    return next((task for task in queue['tasks'] if task['taskId'] == task_id), None)


def end_of(queue, world, task_id):
    """Return the element of a task that has ended, or what is known of it, or None."""
    for entry in reversed(queue['ended']):
        if entry['taskId'] == task_id:
            return entry
    return None if find(queue, task_id) else world.past.get(task_id)


def idle(queue):
    return all(task['state'] == 'dead' for task in queue['tasks'])


def head_of(queue, group):
    members = [task for task in queue['tasks'] if task.get('group') == group]
    return next((task for task in members if task['state'] == 'claimed'), members[0])


def hold(queue, world, task):
    """Return all that holds the task with the id task, in order; of a ready one nothing."""
    entry, holds, seen = find(queue, task), [], world.seen
    if entry['state'] == 'open':
        return [{'kind': 'open', 'by': entry['ask']['askers'][0]['participant']}]
    for halt in queue['halts']:
        holds.append({'kind': 'halted', 'by': halt['by'], 'reason': halt['reason']})
    if queue.get('permits') == 0:
        holds.append({'kind': 'permits'})
    claimed, slots = claims(queue), queue['policy']['slots']
    if slots and len(claimed) >= slots:
        holds.append({'kind': 'slots', 'claimed': len(claimed)})
    if entry.get('notBefore', 0) > seen.now:
        holds.append({'kind': 'notBefore', 'until': format_time(entry['notBefore'])})
    if left(entry.get('delay'), seen):
        until = seen.now + left(entry['delay'], seen)
        holds.append({'kind': 'delay', 'until': format_time(min(until, 253402300799999))})
    for other in entry['after']:
        there, ended = find(queue, other), end_of(queue, world, other)
        state = there['state'] if there else ended['end'] if ended else 'cancelled'
        holds.append({'kind': 'after', 'task': other, 'state': state})
    if 'group' in entry:
        head = head_of(queue, entry['group'])
        if head is not entry:
            holds.append({'kind': 'group', 'task': head['taskId'], 'state': head['state']})
    if entry['state'] == 'blocked':
        question = {'task': entry['question']} if entry['question'] else {}
        reason = {'reason': entry['reason']} if entry['reason'] else {}
        holds.append({'kind': 'blocked'} | reason | question)
    if entry['state'] == 'dead':
        holds.append({'kind': 'dead'})
    if entry['state'] == 'claimed':
        holds.append({'kind': 'claimed', 'by': entry['claim']['participant']})
    return holds


def claims(queue):
    return [task for task in queue['tasks'] if task['state'] == 'claimed']


def line(queue, world):
    """Return the ready tasks in the order in which they are claimed."""
    def rank(task):
        each, waited = queue['policy']['ageAfterMs'], max(0, world.seen.now - task['enqueuedAt'])
        return task['priority'] - (min(waited, LONGEST) // each if each else 0), task['seq']
    return sorted((task for task in queue['tasks'] if not hold(queue, world, task['taskId'])),
                  key=rank)


def verdict_of(queue):
    if queue['halts']:
        return 'halted'
    completed = queue.get('goal', {}).get('completed') or queue['closed']
    return 'completed' if completed and idle(queue) else 'nothing ready'


def require(condition, word, entry=None):
    if not condition:
        refused = Refused(word, word)
        refused.entry = entry
        raise refused


class Edit:
    """One edit: a copy of the queue, changed step by step."""

    def __init__(self, queue, world):
        self.given, self.queue, self.world, self.seen = queue, copy.deepcopy(queue), world, world.seen
        self.outcome = Outcome()
        self.emptied = False  # a task has ended, died or become blocked, or waits for no question now

    @property
    def tasks(self):
        return self.queue['tasks']

    @property
    def policy(self):
        return self.queue['policy']

    def count(self, name, many=1):
        self.queue['counters'][name] += many

    def missing(self, task_id, entry=None):
        """Refuse what is to be done with a task that is not in the queue."""
        require(end_of(self.queue, self.world, task_id) is None, 'ended', entry)
        require(False, 'noTask', entry)

    def count_end(self, end):
        ends = self.queue['counters']['ends']
        ends[end] = ends.get(end, 0) + 1

    # The end of tasks and attempts

    def decide(self, task, end, /, **decision):
        """End an open task (§46.3)."""
        asked = task['ask']
        self.finish(task, end)
        decision = {'kind': asked['kind'], 'text': asked['text'], 'askedBy': asked['by'],
                    'operation': asked['askers'][0].get('operation')} | decision
        ended = self.queue['ended'][-1]
        ended['decision'] = {
            'user': '', 'answer': '', 'self': False, 'unchecked': False
        } | {name: value for name, value in decision.items() if value is not None}
        if task['key']:
            ended['keyId'] = key_id(f'{asked["scope"]}\n{task["key"]}')

    def finish(self, task, end):
        self.tasks.remove(task)
        unknown = {name: value for name, value in task.items() if name not in ENTRY.fields}
        last = {name: task[name] for name in LAST if name in task}
        self.queue['ended'].append({'taskId': task['taskId'], 'end': end,
                                    'spec': hash_of(task['spec']), 'lastAt': self.seen.now, **last,
                                    'at': self.seen.now, **unknown})
        self.count(end)
        self.emptied = True
        if end == 'done':
            for other in self.tasks:
                other['after'] = [name for name in other['after'] if name != task['taskId']]

    def halt(self, reason, details=''):
        if not any(halt['automatic'] and halt['reason'] == reason for halt in self.queue['halts']):
            self.queue['halts'].append({'by': 'policy', 'reason': reason, 'details': details,
                                        'at': self.seen.now, 'automatic': True, 'alerted': False})

    def halt_by(self, word, task, many=1, reason=''):
        details = f'task {task["taskId"]}' + (f': {reason}' if reason else '')
        for rule in self.policy['haltOn']:
            name, _, least = rule.partition(':')
            if name == word and many >= int(least or 1):
                self.halt(rule, details)

    def settle(self, task, end, status=0, reason='', question='', delayMs=0, judged=False):
        claim = task.pop('claim')
        stop, intent = claim.get('stop'), claim.get('intent')
        if stop == 'cancelled':
            end, reason = 'cancelled', claim['stopReason']
        elif intent:
            end, status, reason, question, delayMs = (
                intent[name] for name in ('end', 'status', 'reason', 'question', 'delayMs'))
        elif stop == 'released' and end in (*CHARGED, 'released'):
            end, reason = 'released', claim['stopReason']
        counters = self.queue['counters']
        self.count_end(end)
        ran = age_of(claim, self.seen)
        counters['ranMs'] = added(counters['ranMs'], ran)
        counters['longestRunMs'] = max(counters['longestRunMs'], ran)
        last = (task.get('lastEnd'), task['lastStatus'], task['lastReason'])
        repeated = task['lastEpoch'] and end in CHARGED and last == (end, status, reason)
        task['sameError'] = task['sameError'] + 1 if repeated else 0
        task.update(lastEpoch=claim['epoch'], lastEnd=end, lastStatus=status, lastReason=reason,
                    lastJudged=judged, lastBy=claim['participant'], lastAt=self.seen.now,
                    lastRanMs=ran, state='waiting', question='')
        task.pop('delay', None)
        if end == 'done':
            self.queue['failuresInRow'] = 0
            return self.finish(task, 'done')
        if end == 'cancelled':
            return self.finish(task, 'cancelled')
        if end in ('blocked', 'uncertain'):
            task.update(state='blocked', reason=reason or end, question=question)
            self.emptied = True
            return self.halt_by('blocked', task, reason=task['reason'])
        delay = 0
        if end in CHARGED:
            delay = self.charge(task)
        elif end == 'tempfail':
            delay = self.backoff(task['tries'])
        elif end == 'snoozed':
            task['tries'] = max(0, task['tries'] - 1)
            delay = delayMs
        set_optional(task, 'delay', start_timer(delay, self.seen))
        if end in ('notStarted', 'timedOut'):
            self.halt_by(end, task, reason=reason)
        self.judge_budget(task)
        if end in CHARGED:
            self.halt_by('failures', task, self.queue['failuresInRow'])

    def charge(self, task):
        """Count a failure, and return how long its task waits."""
        task['charged'] += 1
        self.queue['failuresInRow'] += 1
        return self.backoff(task['charged'])

    def backoff(self, many):
        spans = self.policy['backoffMs']
        return spans[min(many, len(spans)) - 1] if spans and many > 0 else 0

    def judge_budget(self, task):
        most = task.get('maxAttempts', self.policy['maxAttempts'])
        if task['charged'] >= most or task['tries'] >= 5 * most:
            task['state'] = 'dead'
            task.pop('delay', None)
            self.count('dead')
            self.queue['deadSinceResume'] += 1
            self.emptied = True
            self.halt_by('dead', task, self.queue['deadSinceResume'])

    # The pass (§35.2)

    def judge(self, claim):
        """Return how an attempt has ended and why, or None."""
        process, keeper = identity(claim), claim.get('keeper')
        evidence = gone(claim, claim['at'], self.seen)
        watched = keeper and keeper['bootId'] and not gone(
            {'pid': keeper['pid'], 'process': keeper}, claim['at'], self.seen)
        if evidence and not watched:
            return ('rebooted' if evidence == 'rebooted' else 'crashed'), evidence
        if not (process and self.seen.checks(process)) and 'call' in claim:
            call = self.world.calls.get(f'{claim.get("operation", "")}/{claim["call"]}')
            if call == 'crashed':
                return 'crashed', 'call crashed'
            if call == 'over':
                mail = self.queue['queueId'].startswith('mail.')
                return ('released' if mail else 'crashed'), 'call over'
        if 'deadlineMs' in claim and age_of(claim, self.seen) >= claim['deadlineMs']:
            return 'timedOut', 'deadline'
        return None

    def make_pass(self):
        for task in claims(self.queue):
            found = self.judge(task['claim'])
            if found:
                self.settle(task, found[0], reason=found[1], judged=True)
        for task in list(self.tasks):
            if task['state'] == 'open':
                self.keep_askers(task, lambda asker, task=task: not self.asker_gone(task, asker))
            elif task['state'] == 'blocked' and not is_ask_queue(self.queue['queueId']):
                self.unblock(task)
        for task in list(self.tasks):
            if 'expiry' not in task or left(task['expiry'], self.seen):
                continue
            if task['state'] == 'open':
                self.decide(task, 'timedOut')
            elif task['state'] == 'waiting' and not task['attempts']:
                self.finish(task, 'expired')
        self.cancel_hopeless()

    def asker_gone(self, task, asker):
        """Whether an asker certainly asks no longer (§47.3)."""
        if 'task' in asker:
            parked = self.world.parked.get(f'{asker["queue"]}/{asker["task"]}', {})
            question = f'{self.queue["queueId"]}/{task["taskId"]}'
            return parked is not None and parked != {'epoch': asker['epoch']} and (
                parked != {'question': question})
        process, waiter = identity(asker), asker.get('waiter')
        for one in (process, waiter):
            if one and gone({'pid': one['pid'], 'process': one}, asker['at'], self.seen):
                return True
        if 'call' not in asker or process and self.seen.checks(process):
            return False
        call = f'{asker.get("operation", "")}/{asker["call"]}'
        return self.world.calls.get(call) in ('over', 'crashed')

    def keep_askers(self, task, keep):
        askers = task['ask']['askers']
        stay = [asker for asker in askers if keep(asker)]
        if askers and not stay:
            return self.decide(task, 'withdrawn')
        task['ask']['askers'] = stay

    def unblock(self, task):
        """§47.4."""
        found = self.world.questions.get(task['question'], {'end': 'withdrawn'})
        if not asked_where(task['question']) or not found or 'end' not in found:
            return
        end = found['end']
        if task.get('lastEnd') != 'uncertain':
            task.update(state='waiting', reason='')
            if end in DECIDED:
                task['tries'] = max(0, task['tries'] - 1)
            return self.judge_budget(task)
        task['question'] = ''
        if end == 'allowed':
            task['lastEnd'] = 'done'
            self.queue['failuresInRow'] = 0
            self.finish(task, 'done')
        elif end == 'denied':
            task.update(lastEnd='rejected', state='waiting', reason='',
                        lastReason=found.get('answer') or task['lastReason'])
            set_optional(task, 'delay', start_timer(self.charge(task), self.seen))
            self.judge_budget(task)
            self.halt_by('failures', task, self.queue['failuresInRow'])
        else:
            task['reason'] = f'nobody has answered: {task["reason"]}'
            self.emptied = True

    # The end of the edit

    def cancel_hopeless(self):
        def hopeless(task):
            return task['state'] == 'waiting' and any(
                (find(self.queue, name) or {'state': 'dead'})['state'] == 'dead'
                for name in task['after'])
        again = self.policy['onDeadDependency'] == 'cancel'
        while again:
            again = False
            for task in list(self.tasks):
                if hopeless(task):
                    self.finish(task, 'cancelled')
                    again = True

    def finish_edit(self):
        self.cancel_hopeless()
        goal = self.queue.get('goal')
        stuck = all(task['state'] == 'dead' or task['state'] == 'blocked'
                    and not asked_where(task['question']) for task in self.tasks)
        if self.emptied and goal and not goal['completed'] and stuck:
            self.halt('exhausted-goal-incomplete')
        return self.close()

    def close(self, always=False):
        outcome, given = self.outcome, self.given
        changed = always or encode(self.queue) != encode(given)
        if changed:
            self.spill()
            self.queue['revision'] += 1
            require(all(self.queue[name] <= HIGHEST
                        for name in ('revision', 'lastSeq', 'lastEpoch')), 'exhausted')
            outcome.queue = self.queue
        outcome.aborts = [task['claim']['operation'] for task in claims(outcome.queue or given)
                          if 'stop' in task['claim'] and own(outcome.queue or given, task)]
        return outcome

    def spill(self):
        """§36.2."""
        before, most, kept = self.given['ended'], MOST_ENDED, KEPT_ENDED
        if is_ask_queue(self.given['queueId']):
            most, kept = MOST_ENDED_QUESTIONS, KEPT_ENDED_QUESTIONS
        if len(before) > most and not (self.given['removed'] or self.queue['removed']):
            number = sum(self.given['counters'][end] for end in TASK_ENDS) - len(before)
            leaving = len(before) - kept
            self.outcome.past = [{'seq': number + 1 + at, 'taskId': entry['taskId']}
                                 for at, entry in enumerate(before[:leaving])
                                 if 'rule' not in entry.get('decision', {})]
            del self.queue['ended'][:leaving]


# Verbs

def begin(queue, world):
    require(queue is not None and not queue['removed'], 'noQueue')
    edit = Edit(queue, world)
    edit.make_pass()
    return edit


def begin_anew(queue, world, queue_id='q'):
    """Return an edit of a queue that may not exist or be removed, and whether it is new (§37.5)."""
    new = queue is None or queue['removed']
    if queue and new:
        world = dataclasses.replace(world, past={}, pastKeys={})
    edit = Edit(queue or new_queue(queue_id), world)
    if new:
        edit.queue.update(removed=False, policy=new_policy(edit.queue['queueId']), ended=[])
    edit.make_pass()
    return edit, new


def enqueue(queue, world, tasks):
    require(not queue or not tasks or not is_ask_queue(queue['queueId']), 'onlyAsk', 0)
    edit, _ = begin_anew(queue, world)
    batch, written = {new['id'] for new in tasks}, []
    for at, new in enumerate(tasks):
        if add(edit, new, batch, at):
            written.append(new['id'])
            if not in_entry(new['spec']):
                edit.outcome.written.append(new['id'])
    refuse_cycles(edit.tasks, [new['id'] for new in tasks], written)
    outcome = edit.finish_edit()
    if written and not outcome.queue:  # a replacement by an equal entry is an edit, too
        outcome = edit.close(always=True)
    return outcome


def add(edit, new, batch, at):
    """Add or replace a task. Return False if it is known."""
    task, ended = find(edit.queue, new['id']), end_of(edit.queue, edit.world, new['id'])
    replace, hashed = new.get('replace', False), hash_of(new['spec'])
    known = task or ended
    if known and not replace:
        require(hash_of(known['spec']) == hashed, 'knownTask', at)
        return False
    if task:
        require(task['state'] == 'waiting', 'claimed', at)
    else:
        require(not ended, 'ended', at)
        require(not edit.queue['closed'], 'closed', at)
        depth = edit.policy['depth']
        require(not depth or len(edit.tasks) < depth, 'full', at)
    waits = []
    for name in new.get('after', ()):
        over = end_of(edit.queue, edit.world, name)
        require(over or name in batch or find(edit.queue, name), 'noDependency', at)
        if name not in waits and not (over and over['end'] == 'done'):
            waits.append(name)
    if not task:
        edit.queue['lastSeq'] += 1
        task = ENTRY[0]({'taskId': new['id'], 'seq': Number(str(edit.queue['lastSeq'])),
                         'spec': {}, 'enqueuedAt': format_time(edit.seen.now)}, '')
        edit.tasks.append(task)
        edit.count('enqueued')
    task.update(spec=new['spec'] if in_entry(new['spec']) else hashed, key=new.get('key', ''),
                priority=new.get('priority', 0), after=waits)
    for name in ('group', 'maxAttempts', 'notBefore'):
        set_optional(task, name, new.get(name))
    set_optional(task, 'traceparent', traces.normal(new.get('traceparent')))
    set_optional(task, 'delay', start_timer(new.get('delayMs'), edit.seen))
    set_optional(task, 'expiry', start_timer(new.get('expiresMs'), edit.seen))
    return True


def refuse_cycles(tasks, batch, written):
    waits, heads = {}, {}
    for task in tasks:
        waits[task['taskId']] = list(task['after'])
        if 'group' in task:
            waits[task['taskId']] += [heads[task['group']]] if task['group'] in heads else []
            heads[task['group']] = task['taskId']
    for at, name in enumerate(batch):
        require(name not in written or not leads_in_circle(name, waits), 'cycle', at)


def leads_in_circle(start, waits):
    """Return whether a circle can be reached from start: what is reached cannot be put in order."""
    reached, todo = {start}, [start]
    while todo:
        for name in waits.get(todo.pop(), ()):
            if name not in reached:
                reached.add(name)
                todo.append(name)
    while True:
        free = {name for name in reached if not any(
            other in reached for other in waits.get(name, ()))}
        if not free:
            return bool(reached)
        reached -= free


def claim(queue, world, participant, pid=0, process=None, keeper=None, operation=None, call=None,
          deadlineMs=None, task=None):
    edit = begin(queue, world)
    claimer = {'participant': participant, 'pid': pid}
    process = process and identity({'pid': pid, 'process': process})
    keeper = keeper and identity({'pid': keeper['pid'], 'process': keeper})
    for name, value in (('process', process), ('keeper', keeper), ('operation', operation),
                        ('call', call), ('deadlineMs', deadlineMs)):
        set_optional(claimer, name, value)
    made = {'at': edit.seen.now, **claimer, 'stopReason': ''}
    set_optional(made, 'beat', edit.seen.beat())
    require(edit.judge(made) is None, 'gone')
    require(not any(is_claimer(claimer, other['claim']) for other in claims(edit.queue)), 'holds')
    if task is not None:
        if find(edit.queue, task) is None:
            edit.missing(task)
        require(not hold(edit.queue, world, task), 'held')
        chosen = find(edit.queue, task)
    else:
        chosen = next(iter(line(edit.queue, world)), None)
    if chosen:
        take(edit, chosen, made)
    outcome = edit.finish_edit()
    if chosen:
        outcome.claimed = chosen['taskId']
    else:
        outcome.verdict = verdict_of(edit.queue)
    return outcome


def is_claimer(one, other):
    ours, theirs = identity(one), identity(other)
    return (all(one.get(name) == other.get(name) for name in ('participant', 'call', 'pid'))
            and (same(ours, theirs) if ours and theirs else ours is theirs))


def take(edit, task, claim_):
    queue, seen = edit.queue, edit.seen
    queue['lastEpoch'] += 1
    if 'permits' in queue:
        queue['permits'] -= 1
    edit.count('claimed')
    if not task['attempts']:
        counters, waited = queue['counters'], min(LONGEST, max(0, seen.now - task['enqueuedAt']))
        counters['firstClaims'] += 1
        counters['waitedMs'] = added(counters['waitedMs'], waited)
        counters['longestWaitMs'] = max(counters['longestWaitMs'], waited)
    task['state'] = 'claimed'
    task['attempts'] += 1
    task['tries'] += 1
    task.pop('notBefore', None)
    task.pop('delay', None)
    task['claim'] = {'epoch': queue['lastEpoch'], **claim_}


def settle(queue, world, task, epoch, end='', status=0, reason='', question='', delayMs=0, later=False):
    require(queue is not None and not queue['removed'], 'noQueue')
    edit = Edit(queue, world)
    entry = find(edit.queue, task)
    claim_ = entry.get('claim') if entry else None
    said = {'end': end, 'status': status, 'reason': reason, 'question': question,
            'delayMs': delayMs}
    if claim_ is None or claim_['epoch'] != epoch:
        last = entry or next((ended for ended in reversed(queue['ended'])
                              if ended['taskId'] == task), None)
        if last is None:
            require(task in world.past, 'noTask')
        require(last and epoch and epoch == last['lastEpoch'] and not last['lastJudged'], 'lost')
        require(end == last['lastEnd'], 'settled')
        return edit.close()
    if later and not end:
        claim_.pop('intent', None)
    elif later:
        claim_['intent'] = claim_.get('intent', {}) | said
    else:
        edit.settle(entry, **said)
    edit.make_pass()
    return edit.finish_edit()


def unclaim(queue, world, task, epoch):
    require(queue is not None and not queue['removed'], 'noQueue')
    edit = Edit(queue, world)
    entry = find(edit.queue, task)
    require(entry or end_of(queue, world, task), 'noTask')
    claim_ = (entry or {}).get('claim', {})
    require(claim_.get('epoch') == epoch, 'lost')
    if claim_.get('stop') == 'cancelled' or 'intent' in claim_:
        edit.settle(entry, 'released')
    else:
        del entry['claim']
        entry.update(state='waiting', attempts=max(0, entry['attempts'] - 1),
                     tries=max(0, entry['tries'] - 1))
        if 'permits' in edit.queue:
            edit.queue['permits'] = min(edit.queue['permits'] + 1, HIGHEST)
        edit.count_end('unclaimed')
    edit.make_pass()
    return edit.finish_edit()


def pass_(queue, world):
    return begin(queue, world).finish_edit()


def control(queue, world, by='operator', create=False, policy=None, goal=None, goalDone=False,
            close=None, permits=None, resume=False, halt=None):
    require(create or queue is not None and not queue['removed'], 'noQueue')
    edit, new = begin_anew(queue, world)
    changed = edit.queue
    wanted = new_policy(changed['queueId']) if create and policy else changed['policy']
    wanted = changed['policy'] | wanted | (policy or {})
    require(not create or new or wanted == changed['policy'], 'otherPolicy')
    changed['policy'] = wanted
    if goal is not None:
        changed['goal'] = changed.get('goal', {}) | {'description': goal, 'completed': False}
    if goalDone and 'goal' in changed:
        changed['goal']['completed'] = True
    if close is not None:
        changed['closed'] = close
    if permits is not None:
        change_permits(changed, permits)
    if resume:
        lift(changed, by)
    if halt is not None:
        set_halt(edit, by, **halt)
    outcome = edit.finish_edit()
    return outcome if outcome.queue or not new else edit.close(always=True)


def change_permits(queue, change):
    if 'add' in change:
        require('permits' in queue, 'notManual')
        queue['permits'] += change['add']
    elif 'set' in change:
        queue['permits'] = change['set']
    else:
        queue.pop('permits', None)
    require(queue.get('permits', 0) <= HIGHEST, 'exhausted')


def lift(queue, by):
    def lifted(halt):
        return by == 'operator' if halt['automatic'] else halt['by'] == by
    stay = [halt for halt in queue['halts'] if not lifted(halt)]
    require(not queue['halts'] or len(stay) < len(queue['halts']), 'otherHalts')
    if queue['halts'] and not stay:
        queue['deadSinceResume'] = queue['failuresInRow'] = 0
    queue['halts'] = stay


def set_halt(edit, by, reason, details='', now=False):
    fresh = {'by': by, 'reason': reason, 'details': details}
    own = next((halt for halt in edit.queue['halts'] if not halt['automatic'] and halt['by'] == by),
               None)
    if own is None:
        own = {'by': by, 'automatic': False, 'alerted': False}
        edit.queue['halts'].append(own)
    if fresh != {name: own.get(name) for name in fresh}:
        own.update(fresh, at=edit.seen.now, alerted=False)
    if now:
        for task in claims(edit.queue):
            stop_attempt(task['claim'], 'released', f'halted by {by}', reason)


def own(queue, task):
    """Whether the operation of a claim is that of the attempt alone (§32.1)."""
    claim_ = task['claim']
    name = f"{queue['queueId']}.{task['taskId']}.{claim_['epoch']}"
    operation = claim_.get('operation', '')
    return operation == name or operation.startswith(name + '-')


def stop_attempt(claim_, stop, words, reason):
    """Ask an attempt to end (§35.4)."""
    if claim_.get('stop') not in (stop, 'cancelled'):
        claim_.update(stop=stop, stopReason=words + (f': {reason}' if reason else ''))


def redrive(queue, world, tasks=(), all=False):
    edit = begin(queue, world)
    dead = [task['taskId'] for task in edit.tasks if task['state'] == 'dead']
    for at, name in enumerate([*tasks, *(dead if all else ())]):
        task = find(edit.queue, name)
        if task is None:
            edit.missing(name, at)
        require(task['state'] in ('dead', 'blocked'), 'notDead', at)
        task.update(state='waiting', reason='', question='', charged=0, tries=0, sameError=0,
                    alerted=False)
        task.pop('delay', None)
    return edit.finish_edit()


def cancel(queue, world, tasks, by='operator', reason=''):
    edit = begin(queue, world)
    for at, name in enumerate(tasks):
        task = find(edit.queue, name)
        if task is None:
            if (end_of(edit.queue, world, name) or {}).get('end') in ('cancelled', 'withdrawn'):
                continue
            edit.missing(name, at)
        if 'ask' in task:
            edit.decide(task, 'withdrawn', by=by, answer=reason)
            continue
        if 'claim' not in task:
            edit.finish(task, 'cancelled')
            continue
        stop_attempt(task['claim'], 'cancelled', f'cancelled by {by}', reason)
        if not own(edit.queue, task):
            edit.settle(task, 'cancelled', judged=True)
    return edit.finish_edit()


def remove(queue, world):
    edit = begin(queue, world)
    require(not edit.tasks, 'notEmpty')
    stay = ('$schema', 'protocolVersion', 'queueId', 'revision', 'lastSeq', 'lastEpoch', 'counters',
            'audit')
    kept = {name: value for name, value in edit.queue.items()
            if name in stay or name not in QUEUE.fields}
    edit.queue = new_queue(queue['queueId']) | kept | {'removed': True}
    edit.queue = {name: edit.queue[name] for name in (*QUEUE.fields, *kept) if name in edit.queue}
    return edit.close(always=True)


def restore(queue, world, lastSeq=0, lastEpoch=0, revision=0, named=0, recorded=False, settled=()):
    """§35.7."""
    edit, newer = Edit(queue, world), named > queue['lastEpoch']
    for name, value in (('lastSeq', lastSeq), ('lastEpoch', max(lastEpoch, named)),
                        ('revision', revision)):
        edit.queue[name] = max(edit.queue[name], value)
    for task in claims(edit.queue):
        claim_ = task['claim']
        process = identity(claim_)
        alive = (process and edit.seen.checks(process)
                 and not gone(claim_, claim_['at'], edit.seen))
        ends = [one['end'] for one in settled
                if (one['task'], one['epoch']) == (task['taskId'], claim_['epoch'])]
        if ends:
            claim_.pop('stop', None)
            claim_.pop('intent', None)
            edit.settle(task, ends[-1], reason='restored')
        elif not recorded and (newer or not alive):
            edit.settle(task, 'released', reason='restored', judged=True)
    edit.finish_edit()
    return edit.outcome if edit.outcome.queue else edit.close(always=True)


def alerted(queue, world, task='', epoch=0, by='', reason=''):
    edit = begin(queue, world)
    if task:
        for entry in edit.tasks:
            if (entry['taskId'], entry['state'], entry['lastEpoch']) == (task, 'dead', epoch):
                entry['alerted'] = True
    else:
        for halt in edit.queue['halts']:
            halt['alerted'] |= (halt['by'], halt['reason']) == (by, reason)
    return edit.finish_edit()


# Questions (§47)

def ask(queue, world, kind, spec, text, asker, expiresMs, id, nonce, scope='', key='', signed=False,
        ruled=None, discounted=None):
    require(queue is None or is_ask_queue(queue['queueId']), 'notAsk')
    edit, _ = begin_anew(queue, world, 'ask')
    asker = {'at': edit.seen.now, 'user': '', 'pid': 0, 'epoch': 0} | asker
    process, waiter = identity(asker), asker.get('waiter')
    set_optional(asker, 'process', process)
    set_optional(asker, 'waiter', waiter if waiter and waiter['bootId'] else None)
    set_optional(asker, 'beat', edit.seen.beat())
    if 'origin' in asker:
        started = asker['origin'].get('process')
        asker['origin'] = {name: value for name, value in asker['origin'].items()
                           if name != 'process' or started['bootId']}
        set_optional(asker, 'origin', asker['origin'] or None)

    scope = scope if key else ''
    of_key = [task for task in edit.tasks
              if key and 'ask' in task and (task['key'], task['ask']['scope']) == (key, scope)]
    task, name = (of_key or [None])[-1], id
    if task:
        require(task['ask']['kind'] == kind and hash_of(task['spec']) == hash_of(spec), 'knownTask')
        name = task['taskId']
        task['ask']['signed'] |= signed
        if not any(same_asker(asker, other) for other in task['ask']['askers']):
            task['ask']['askers'].append(asker)
    elif key and (ended := answered_before(edit, key_id(f'{scope}\n{key}'), kind, spec, discounted)):
        name = ended['taskId']
    else:
        require(not find(edit.queue, id) and not end_of(edit.queue, world, id), 'takenId')
        may_ask(edit, asker)
        task = add_question(edit, id, kind, spec, text, asker, expiresMs, key)
        task['ask'].update(nonce=nonce, scope=scope, signed=signed)
        if not ruled and not in_entry(spec):
            edit.outcome.written.append(id)
    if task and ruled:
        rule = {member: ruled[member] for member in ('file', 'hash', 'number')}
        edit.decide(task, ruled['end'], rule=rule, answer=ruled.get('reason', ''))
    outcome = edit.finish_edit()
    outcome.id = name
    return outcome


def answered_before(edit, key, kind, spec, discounted):
    """Return the decided question with the keyId key that ended last."""
    named = [entry for entry in edit.queue['ended'] if entry.get('keyId') == key]
    ended = named[-1] if named else edit.world.pastKeys.get(key)
    if not ended:
        return None
    require(ended['spec'] == hash_of(spec) and (kind, ended['end']) not in MISFITS, 'knownTask')
    return ended if ended['end'] in DECIDED and ended['taskId'] != discounted else None


def may_ask(edit, asker):
    require(not edit.queue['closed'], 'closed')
    near = [task for task in edit.tasks
            if any(same_work(asker, other) for other in task.get('ask', {}).get('askers', ()))]
    require(len(near) < MOST_ASKED, 'full')
    depth = edit.policy['depth']
    require(not depth or len(edit.tasks) < depth, 'full')


def add_question(edit, name, kind, spec, text, asker, expires, key):
    edit.queue['lastSeq'] += 1
    whole = len(text.encode())
    if whole > LONGEST_TEXT:
        text = text.encode()[:LONGEST_TEXT].decode(errors='ignore')
        text += f' … {whole - len(text.encode())} more bytes'
    task = ENTRY[0]({'taskId': name, 'seq': Number(str(edit.queue['lastSeq'])), 'spec': {}, 'key': key,
                     'enqueuedAt': format_time(edit.seen.now)}, '')
    task.update(state='open', spec=spec if in_entry(spec) else hash_of(spec),
                ask={'kind': kind, 'text': text, 'by': asker['participant'],
                     'user': asker['user'], 'askers': [asker]})
    set_optional(task, 'expiry', start_timer(expires, edit.seen))
    edit.tasks.append(task)
    edit.count('enqueued')
    return task


def is_same(one, other):
    return same(one, other) if one and other else one is other


def same_asker(one, other):
    names = ('participant', 'operation', 'call', 'queue', 'task', 'pid')
    return (all(one.get(name) == other.get(name) for name in names)
            and one.get('epoch', 0) == other.get('epoch', 0)
            and is_same(identity(one), identity(other))
            and is_same(known_waiter(one), known_waiter(other)))


def known_waiter(asker):
    waiter = asker.get('waiter')
    return waiter if waiter and waiter['bootId'] else None


def same_work(one, other):
    if 'task' in one or 'task' in other:
        return all(one.get(name) == other.get(name) for name in ('queue', 'task'))
    if 'operation' in one and one['operation'] == other.get('operation'):
        return True
    return identity(one) is not None and is_same(identity(one), identity(other))


def answer(queue, world, id, end, text='', by=None, user='', operation=None, queue_=None, task=None,
           processes=(), whole=False, allowSelf=False, shown='', signature=None):
    edit = begin(queue, world)
    asked = find(edit.queue, id)
    if asked is None:
        ended = end_of(edit.queue, world, id) or {'end': None}
        if says(ended, end, text, shown, signature):
            return edit.finish_edit()
        require(ended['end'] not in DECIDED, 'decided')
        require(ended['end'] not in ('timedOut', 'withdrawn'), 'over')
        require(False, 'noTask')
    require('ask' in asked, 'notQuestion')
    require(shown == shown_hash(edit.queue['queueId'], asked), 'changed')
    require((asked['ask']['kind'], end) not in MISFITS, 'otherKind')
    require(not asked['ask']['signed'] or signature or end == 'denied', 'unsigned')
    if signature is not None:
        signature = {'at': read_time(signature['at']), 'text': signature['text'],
                     'nonce': asked['ask']['nonce'], 'askedAt': asked['enqueuedAt'],
                     'user': asked['ask']['user'], 'scope': asked['ask']['scope'],
                     'key': asked['key']}
    askers = asked['ask']['askers']
    own_ = any(is_part(asker, by, operation, queue_, task, processes) for asker in askers)
    unchecked = not own_ and not all(checks(asker, whole, edit.seen) for asker in askers)
    require(not own_ or allowSelf, 'own')
    require(not unchecked or allowSelf, 'unchecked')
    edit.decide(asked, end, by=by, user=user, answer=text, self=own_, unchecked=unchecked, shown=shown,
                signature=signature)
    return edit.finish_edit()


def says(ended, end, text, shown, signature):
    """Whether a question has ended with this answer of a person (§47.2)."""
    decision = ended.get('decision')
    return bool(ended['end'] in DECIDED and decision and 'rule' not in decision
                and (ended['end'], decision['answer']) == (end, text)
                and shown in ('', decision.get('shown', ''))
                and (not signature or 'signature' in decision))


def shown_hash(queue_id, task):
    """Return the hash of what is shown of an open question (§47.2)."""
    asked = task['ask']
    return 'sha256:' + hashlib.sha256(('dpl question 2\n' + signed_lines(
        queue_id, task['taskId'], asked['nonce'], format_time(task['enqueuedAt']), asked['kind'])
        + f'{quoted(asked["by"])} {quoted(asked["user"])}\n'
        + signed_lines(asked['scope'], task['key'], hash_of(task['spec']))).encode()).hexdigest()


def signed_text(shown, end, text, at):
    """Return what is signed of an answer (§47.5)."""
    return 'dpl answer 2\n' + signed_lines(shown, end, text, at)


def signed_lines(*texts):
    return ''.join(f'{quoted(text)}\n' for text in texts)


def quoted(text):
    return quote(text) if text else '-'


def taken(queue, world, ended):
    """§47.6."""
    require(queue is not None and not queue['removed'], 'noQueue')
    edit = Edit(queue, world)
    require(end_of(edit.queue, world, ended['taskId']) == ENDED[0](ended, ''), 'noTask')
    require(world.recorded, 'unrecorded')
    return edit.close(always=True)


def is_part(asker, by, operation, queue, task, processes):
    """Whether an answer is given by a part of what asks (§47.2)."""
    origin = asker.get('origin', {})
    return bool(by and by in (asker['participant'], origin.get('participant'))
                or operation and operation in (asker.get('operation'), origin.get('operation'))
                or task and (queue, task) in ((where.get('queue'), where.get('task'))
                                              for where in (asker, origin))
                or any(same(one | {'hostId': ''}, process | {'hostId': ''})
                       for one in asking(asker) for process in processes if process['bootId']))


def asking(asker):
    """Return the identities of the processes that ask."""
    started = asker.get('origin', {}).get('process')
    return [one for one in (identity(asker), known_waiter(asker),
                            started if started and started['bootId'] else None) if one]


def checks(asker, whole, seen):
    """Whether who answers can tell that no process of the asker is above it (§47.2)."""
    def sees(process):
        if whole and seen.bootId and process['bootId'] != seen.bootId:
            return True
        return whole and seen.pidNamespace != '' and (
            seen.pidNamespace in (FIRST_NAMESPACE, process['pidNamespace']))
    return all(map(sees, asking(asker)))


def withdraw(queue, world, id, asker):
    edit = begin(queue, world)
    task = find(edit.queue, id)
    if task and 'ask' in task:
        asker = {'pid': 0} | asker
        edit.keep_askers(task, lambda other: not same_asker(asker, other))
    return edit.finish_edit()


VERBS = {verb.__name__.rstrip('_'): verb
         for verb in (enqueue, claim, settle, unclaim, pass_, control, redrive, cancel, remove, restore,
                      alerted, ask, answer, taken, withdraw)}


def apply(verb, queue, world, **arguments):
    """Return the outcome of verb on queue (None: there is none), which stays unchanged.

    Refused: the words of §39; its member entry is the index of the entry that is named, or None.
    """
    seen = world.seen.remembering(times(queue))
    outcome = VERBS[verb](queue, dataclasses.replace(world, seen=seen), **arguments)
    outcome.remembered = seen.remembering(times(outcome.queue or queue)).sightings
    return outcome
