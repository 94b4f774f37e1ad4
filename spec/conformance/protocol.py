"""The verbs on operations (spec §4 and §5): values in, values out; no clock and no files."""
import copy
import dataclasses
from typing import Callable, Optional

import traces
from document import CAN_BE_USED, HIGHEST, LONGEST, OPERATION, Refused, format_time
from sightings import Sightings, key, sighted

TERMINAL = ('completed', 'failed')
LIVE = ('active', 'aborted', 'cleaningUp')
STATUS = {
    'over': 4, 'corrupt': 65, 'noOperation': 66, 'noCall': 66, 'deadSupervisor': 69,
    'deadProcess': 69, 'newerVersion': 78
} | dict.fromkeys(('knownCall', 'notRunning', 'otherNumbers', 'otherProcess', 'notAborted',
                   'notReady', 'notCrashed', 'notSupervised', 'supervised', 'resource',
                   'exhausted'), 76) | dict.fromkeys(('running', 'stopping', 'dead'), 75)


@dataclasses.dataclass
class Observation:
    """What the observer knows (§4.2); empty or None is unknown.

    look(process) returns 'gone', 'present', or None if it cannot tell.
    """
    now: int
    hostId: str = ''
    bootId: str = ''
    pidNamespace: str = ''
    bootedAt: Optional[int] = None
    monotonicMs: Optional[int] = None
    look: Callable = lambda process: None
    watch: str = ''  # of an observer that looks repeatedly: awake or woken (§4.6)
    sightings: Optional[Sightings] = None  # of the file; None: §18 does not apply to its ledger

    def beat(self):
        if self.monotonicMs is None or not self.bootId:
            return None
        return {'bootId': self.bootId, 'monotonicMs': self.monotonicMs, 'at': self.now}

    def tells(self, beat):
        """Return whether the observer reads the monotonic clock that beat was read from."""
        same_boot = beat and beat['bootId'] and beat['bootId'] == self.bootId
        same_clock = same_boot and self.monotonicMs is not None
        return bool(same_clock) and self.monotonicMs >= beat['monotonicMs']

    @property
    def remembers(self):
        """Return whether sightings give ages that the monotonic clock does not (§18)."""
        clock = self.monotonicMs is not None and bool(self.hostId and self.bootId)
        return self.sightings is not None and clock

    def remembering(self, times):
        """Return this observation, with the sightings after it has found times."""
        if not self.remembers:
            return self
        return dataclasses.replace(self, sightings=sighted(self.sightings, times, self))

    def checks(self, process):
        """Return whether look can tell about process: it is in the observer's pid namespace."""
        return all(process[name] and process[name] == getattr(self, name)
                   for name in ('hostId', 'bootId', 'pidNamespace'))

    def presence(self, process):
        """Return what look says about process, None if it may be of another host or unknown."""
        return self.look(process) if process and self.checks(process) else None


@dataclasses.dataclass
class Outcome:
    operation: Optional[dict] = None  # None: no change
    archived: bool = False
    status: int = 0
    reported: list = dataclasses.field(default_factory=list)
    released: list = dataclasses.field(default_factory=list)
    # calls whose temporary directories are deleted
    ended: list = dataclasses.field(default_factory=list)
    remembered: Optional[Sightings] = None  # the sightings to keep


def counting(entry):
    """Return the process of a frame, supervisor or claim, if it has the pid beside it (§3.4)."""
    process = entry.get('process')
    return process if process and process['pid'] == entry['pid'] else None


def identity(entry):
    process = counting(entry)
    return process if process and process['bootId'] else None


def same(one, other):
    inodes = {one['pidfdInode'], other['pidfdInode']} - {0}
    return len(inodes) < 2 and all(
        one[name] == other[name]
        for name in ('pid', 'hostId', 'bootId', 'pidNamespace', 'startTicks'))


def gone(entry, since, seen):
    """Return the evidence against the process of entry, exited or rebooted, or None.

    entry was last known to be alive at since (None: never).
    """
    process = identity(entry)
    if process is None:
        return None
    if seen.presence(process) == 'gone':
        return 'exited'
    before_boot = since is None or seen.bootedAt is not None and since < seen.bootedAt
    return 'rebooted' if other_boot(process, seen) and before_boot else None


def other_boot(process, seen):
    """Return whether process, which may be None, belongs to another boot of the observer's host."""
    return bool(process and process['hostId'] and process['hostId'] == seen.hostId
                and seen.bootId and process['bootId'] != seen.bootId)


def beat_of(entry, time='lastHeartbeat', name='beat'):
    """Return the beat that belongs to a time of entry, or None if none counts (§3.4)."""
    beat = entry.get(name)
    return beat if beat and 'at' in beat and beat['at'] == entry.get(time) else None


def age(entry, seen, time='lastHeartbeat', name='beat'):
    return max(-LONGEST, min(LONGEST, unbounded_age(entry, seen, time, name)))


def unbounded_age(entry, seen, time, name):
    at, beat = entry[time], beat_of(entry, time, name)
    if seen.tells(beat):
        return seen.monotonicMs - beat['monotonicMs']
    if seen.remembers:
        return seen.monotonicMs - seen.sightings.first.get(key(at, beat), seen.monotonicMs)
    return seen.now - at


def times_of_heartbeat(entry):
    """Return the time of a heartbeat and that of a grace (§4.6), each with the beat that counts."""
    yield entry['lastHeartbeat'], beat_of(entry)
    if 'grace' in entry:
        yield entry['grace']['at'], beat_of(entry['grace'], 'at')


def times(operation):
    """Return the times of operation whose age matters, each with the beat that counts (§18).

    operation is None if there is none.
    """
    if operation is None:
        return
    if not operation['stack']:
        yield operation['lastHeartbeat'], None
    for entry in [*operation['stack'], *operation['supervisorHeartbeats'].values()]:
        yield from times_of_heartbeat(entry)
        yield entry.get('reportedAt'), beat_of(entry, *REPORTED)
        yield entry.get('handlingBy', {}).get('at'), None


def set_optional(entry, name, value):
    if value is None:
        entry.pop(name, None)
    else:
        entry[name] = value


def beat_now(entry, seen, time='lastHeartbeat', name='beat'):
    """Set a time of entry, and its beat, to now.

    The beat keeps its unknown members. A heartbeat ends a grace.
    """
    entry[time] = seen.now
    if time == 'lastHeartbeat':
        entry.pop('grace', None)
    beat = seen.beat()
    set_optional(entry, name, beat
                 and beat | {k: v for k, v in entry.get(name, {}).items() if k not in beat})


def drop_leftovers(entry, *beats):
    """Remove a process, a grace and beats that do not count. Each beat is named with its time."""
    if not counting(entry):
        entry.pop('process', None)
    if not grace_of(entry):
        entry.pop('grace', None)
    for time, name in beats:
        if not beat_of(entry, time, name):
            entry.pop(name, None)


HEARTBEAT, REPORTED = ('lastHeartbeat', 'beat'), ('reportedAt', 'reportedBeat')


def counts_heartbeats(entry, seen):
    """Return whether entry is judged by its heartbeats, not by its process."""
    return entry['heartbeats'] or seen.presence(identity(entry)) != 'present'


def evidence(entry, seen, threshold):
    """Return why a frame, supervisor or service is dead (§4.2), or None if it is alive.

    The reasons are exited, rebooted and stale.
    """
    since, grace = entry['lastHeartbeat'], grace_of(entry)
    stale = (since is not None and counts_heartbeats(entry, seen)
             and abs(age(entry, seen)) > threshold)
    graced = grace and abs(age(grace, seen, 'at')) <= threshold
    behind = (since is not None and other_boot(identity(entry), seen)
              and age(entry, seen) < -threshold)
    return (gone(entry, since, seen)
            or ('rebooted' if behind else 'stale' if stale and not graced else None))


# Graces (§4.6)

def grace_of(entry):
    """Return the grace of entry, or None if it does not count: it is not of the last heartbeat."""
    grace = entry.get('grace')
    return grace if grace and grace['of'] == entry['lastHeartbeat'] else None


def long(age, threshold):
    return 3 * abs(age) > 2 * threshold


def grant(entry, seen, threshold, heard=True):
    """Give a grace to entry, in a file that was silent, if it needs one.

    heard: the file is no longer silent after this edit.
    """
    since = entry['lastHeartbeat']
    if since is None or grace_of(entry) or gone(entry, since, seen):
        return
    how_long = age(entry, seen)
    if not long(how_long, threshold) or not heard and abs(how_long) <= threshold:
        return
    if counts_heartbeats(entry, seen):
        entry['grace'] = {'of': since, 'at': seen.now}
        set_optional(entry['grace'], 'beat', seen.beat())


def silent(operation, seen):
    """Return whether operation was silent for so long that the observer may have slept."""
    entries = [*operation['stack'], *operation['supervisorHeartbeats'].values()]
    return seen.watch != 'awake' and not any(
        heard_lately(entry, seen, operation['stalenessThresholdMs']) for entry in entries)


def heard_lately(entry, seen, threshold, time='lastHeartbeat', name='beat'):
    """Return whether a heartbeat shows that the host was awake lately.

    A heartbeat that is only now sighted does not (§18).
    """
    how_long = age(entry, seen, time, name)
    sighted_now = how_long == 0 and seen.remembers and not seen.tells(beat_of(entry, time, name))
    return not long(how_long, threshold) and not sighted_now


class End:
    """How a call ended, as its pop or the verb fail reports it."""

    def __init__(self, call, status, signal, reason):
        told = {'status': status, 'signal': signal or None, 'reason': reason or None}
        self.told = {name: value for name, value in told.items() if value is not None}
        self.cause = {'call': call} | self.told
        self.what = reason or (f'killed by {signal}' if signal else
                               'failed' if status is None else f'exit status {status}')
        self.sentence = f'call {call}{":" if self.told else ""} {self.what}'


class Edit:
    """One edit: a copy of the operation, changed step by step (§4.3) under one observation."""

    def __init__(self, operation, seen, by, release):
        self.given, self.op = operation, copy.deepcopy(operation)
        self.seen, self.by, self.release = seen, by, release
        self.outcome = Outcome()
        self.pre = {frame['callId'] for frame in self.stack if frame['state'] == 'crashed'}
        self.refreshed = set()  # call ids
        self.heard = False  # a participant or supervisor makes this edit, which is a sign of life
        self.failures = {}  # call id -> why a pop has declared it failed

    @property
    def stack(self):
        return self.op['stack']

    def find(self, call):
        return next((frame for frame in self.stack if frame['callId'] == call), None)

    def live(self):
        return [frame for frame in self.stack if frame['state'] in LIVE]

    def event(self, type_, **rest):
        event = {
            'revision': self.given['revision'] + 1, 'at': self.seen.now, 'type': type_,
            **rest, 'by': self.by
        }
        event = {k: v for k, v in event.items() if v is not None}
        self.op['events'] = (self.op['events'] + [event])[-64:]

    def frame_event(self, type_, frame, **rest):
        self.event(type_, callId=frame['callId'], supervisorId=frame['supervisorId'],
                   handle=frame['supervisorHandle'], **rest)

    def set_state(self, state, reason, cause=None):
        transition = {
            'revision': self.given['revision'] + 1, 'from': self.op['state'], 'to': state,
            'at': self.seen.now, 'by': self.by, 'reason': reason
        }
        set_optional(transition, 'cause', cause)
        self.op['transitions'].append(transition)
        self.op['state'] = state
        if state in TERMINAL:
            self.op.update(terminalAt=self.seen.now, terminalHeartbeats=0)

    def set_frame_state(self, frame, state, reason=None):
        if frame['state'] != state:
            self.frame_event('callState', frame,
                             **{'from': frame['state'], 'to': state, 'reason': reason})
            frame['state'] = state

    def say(self, frame, readiness, note):
        """Set what the participant says about itself, as far as it is given (§5.2)."""
        if readiness is not None and frame['readiness'] != readiness:
            self.frame_event('callReadiness', frame,
                             **{'from': frame['readiness'], 'to': readiness})
            frame['readiness'] = readiness
        if note is not None:
            frame['note'] = note

    def crash(self, frame, evidence):
        frame.update(crashedAt=self.seen.now, detectedBy=self.by, evidence=evidence,
                     staleForMs=max(0, age(frame, self.seen)), previousState=frame['state'])
        self.set_frame_state(frame, 'crashed')

    def fail(self, how):
        """Take the operation to cleanup because of a call that ended as how says (§3.6)."""
        if self.op['state'] in ('running', 'aborted'):
            self.set_state('cleanup', how.sentence, how.cause)

    def release_resources(self, frame):
        if frame['resources']:
            require_room(self.given['revision'])
            self.outcome.released.append(
                {'callId': frame['callId'], 'resources': frame['resources']})
            frame['leftResources'] += self.release(frame['resources'], frame['foundResources'])

    def clean_up(self, frame, reason=None):
        self.release_resources(frame)
        frame.pop('handlingBy', None)
        self.outcome.ended.append(frame['callId'])
        self.set_frame_state(frame, 'cleanedUp', reason)

    def end(self, frame, how=None):
        """Remove frame. Its pop reported how it ended, if there was one."""
        self.frame_event(
            'callEnded', frame,
            **{'from': frame['state'], 'leftResources': frame['leftResources'] or None},
            startId=frame.get('startId') if frame['state'] not in LIVE else None,
            **how.told if how else {})
        if frame.get('traceparent'):
            self.op['spans'] = (self.op.get('spans', []) + [self.span(frame)])[-256:]
        self.outcome.ended.append(frame['callId'])
        self.stack.remove(frame)

    def span(self, frame):
        """Return what is kept of frame, a traced call that ends now (§59.3)."""
        process = identity(frame)
        members = {
            'callId': frame['callId'], 'callerId': frame.get('callerId'),
            'participantId': frame['participantId'], 'traceparent': frame['traceparent'],
            'startTime': frame['startTime'], 'endedAt': self.seen.now, 'pid': frame['pid'],
            'hostId': process['hostId'] or None if process else None, 'state': frame['state'],
            'crashedAt': frame.get('crashedAt'), 'evidence': frame.get('evidence') or None,
            'reason': self.failures.get(frame['callId'])
        }
        return {name: value for name, value in members.items() if value is not None}

    def supervisor_lives(self, frame):
        entry = self.op['supervisorHeartbeats'].get(frame['supervisorId'])
        return entry is not None and entry['status'] == 'alive'

    # What a push finds (§5.1)

    def is_pushed(self, call, participant, process, begin):
        """Return whether a live frame is of this call, participant and process.

        A push that begins a run must know its process.
        """
        frame = self.find(call)
        if not frame or frame['state'] not in LIVE or frame['participantId'] != participant:
            return False
        own = identity(frame)
        return same(own, process) if own and process else own is process and not begin

    def require_may_push(self, call):
        """Check that call is not live, and that the operation is running."""
        known = self.find(call)
        require(known is None or known['state'] not in LIVE, 'knownCall',
                'the call is in the stack already')
        require(self.op['state'] == 'running', 'notRunning',
                f'the operation is {self.op["state"]}')

    def require_no_calls(self):
        """Check that no call keeps another run from beginning."""
        live, running = self.live(), self.op['state'] == 'running'
        require(not live or not running, 'running', 'a call is live')
        require(not live, 'stopping', 'the operation is being stopped')
        require(not any(map(self.has_cleaner, self.stack)), 'supervised',
                'a supervisor has to clean up a call')
        require(not self.stack, 'dead', 'all calls are dead')

    # Step 2

    def refresh_frames(self, frames, process, adopt):
        self.heard = True
        for frame in frames:
            own = identity(frame)
            if (gone(frame, frame['lastHeartbeat'], self.seen)
                    or own and process and not same(own, process)):
                continue
            self.refreshed.add(frame['callId'])
            beat_now(frame, self.seen)
            if adopt and not own and process:
                frame.update(pid=process['pid'], process=process)

    def set_status(self, entry, status):
        if entry['status'] != status:
            self.event('supervisorState', supervisorId=entry['supervisorId'],
                       **{'from': entry['status'], 'to': status})
            entry['status'] = status

    def kill_supervisor(self, entry):
        self.set_status(entry, 'dead')
        for frame in self.live():
            if entry['orphanPolicy'] == 'crash' and frame['supervisorId'] == entry['supervisorId']:
                self.crash(frame, 'supervisorDead')

    def make_supervisor(self, supervisor):
        self.event('supervisorState', supervisorId=supervisor, to='alive')
        entry = {
            'supervisorId': supervisor, 'pid': 0, 'lastHeartbeat': self.seen.now, 'status': 'alive',
            'orphanPolicy': 'crash', 'heartbeats': False
        }
        beat_now(entry, self.seen)
        self.op['supervisorHeartbeats'][supervisor] = entry
        return entry

    def refresh_supervisor(self, supervisor, pid, process, heartbeats=False):
        self.heard = True
        entry = self.op['supervisorHeartbeats'].get(supervisor) or self.make_supervisor(supervisor)
        own = identity(entry)
        if own and (not same(own, process) if process
                    else gone(entry, entry['lastHeartbeat'], self.seen)):
            if entry['status'] == 'alive':
                self.kill_supervisor(entry)
            entry.update(pid=pid or 0, heartbeats=False)
            set_optional(entry, 'process', process)
        elif not own and pid:
            entry['pid'] = pid
            set_optional(entry, 'process', process)
        self.set_status(entry, 'alive')
        beat_now(entry, self.seen)
        entry['heartbeats'] = entry['heartbeats'] or heartbeats

    # Steps 3 to 6

    def evidence(self, entry):
        return evidence(entry, self.seen, self.op['stalenessThresholdMs'])

    def judge(self, never_stale=None):
        """Judge all frames, but never call those of the participant never_stale stale.

        If the file was silent, all get a grace first.
        """
        if silent(self.given, self.seen):
            supervisors = [entry for entry in self.op['supervisorHeartbeats'].values()
                           if entry['status'] == 'alive']
            for entry in supervisors + self.live():
                grant(entry, self.seen, self.op['stalenessThresholdMs'],
                      self.heard or self.seen.sightings is not None)
        for entry in self.op['supervisorHeartbeats'].values():
            if entry['status'] == 'alive' and self.evidence(entry):
                self.kill_supervisor(entry)
        for frame in self.live():
            found = self.evidence(frame)
            if found and (found != 'stale' or frame['participantId'] != never_stale):
                self.crash(frame, found)
        crashed = [frame for frame in self.stack
                   if frame['state'] == 'crashed' and frame['failOnCrash']]
        if crashed and self.op['state'] in ('running', 'aborted'):
            call, found = crashed[0]['callId'], crashed[0].get('evidence')
            cause = {'call': call} | ({'evidence': found} if found else {})
            self.set_state('cleanup', f'call {call} crashed' + (f': {found}' if found else ''), cause)
        if self.op['state'] == 'aborted':
            for frame in self.stack:
                if frame['state'] == 'active' and frame['callId'] in self.refreshed:
                    self.set_frame_state(frame, 'aborted')
            if not any(frame['state'] == 'active' for frame in self.stack):
                self.set_state('cleanup', 'all calls aborted')

    # Steps 7 to 9

    def unacknowledged(self, frame):
        limit = 10 * self.op['stalenessThresholdMs']
        return ('reportedAt' in frame and age(frame, self.seen, *REPORTED) > limit
                and not self.handler_lives(frame))

    def report(self, frame):
        if 'reportedAt' not in frame:
            beat_now(frame, self.seen, *REPORTED)

    def handler_lives(self, frame):
        claim = frame.get('handlingBy')
        if claim is None or gone(claim, claim['at'], self.seen):
            return False
        process = identity(claim)
        checked = process and self.seen.checks(process)
        limit = 10 * self.op['stalenessThresholdMs']
        return bool(checked) or age(claim, self.seen, 'at', None) <= limit

    def has_cleaner(self, frame):
        """Return whether a live supervisor still has to clean up frame."""
        return (frame['state'] == 'crashed' and self.supervisor_lives(frame)
                and not self.unacknowledged(frame))

    def clean_up_crashed(self, frame):
        self.clean_up(frame, 'unacknowledged' if self.supervisor_lives(frame) else None)

    def settle(self):
        for frame in self.stack:
            if frame['callId'] in self.pre and frame['state'] == 'crashed':
                if self.op['state'] == 'cleanup' or not frame['failOnCrash']:
                    if not self.has_cleaner(frame):
                        self.clean_up_crashed(frame)
        before = len(self.stack)
        for frame in [frame for frame in self.stack
                      if frame['state'] == 'cleanedUp' and not frame['failOnCrash']]:
            self.end(frame)
        while self.stack and self.stack[0]['state'] == 'cleanedUp':
            self.end(self.stack[0])
        state = self.op['state']
        if not self.stack and (state in ('aborted', 'cleanup') or state == 'running' and before):
            self.set_state('failed', 'stack empty')

    def finish(self, always=False):
        """Return the outcome. Its operation is None if nothing changed, unless always is true."""
        if always or self.op != self.given:
            require_room(self.given['revision'])
            for entry in [*self.stack, *self.op['supervisorHeartbeats'].values()]:
                drop_leftovers(entry, HEARTBEAT, REPORTED)
            self.op['revision'] = self.given['revision'] + 1
            self.outcome.operation = self.op
        return self.outcome


def count_down(operation):
    """Return the outcome of a heartbeat or cleanup of an operation that is over (§4.5)."""
    if operation['terminalHeartbeats'] >= 2:
        return Outcome(archived=True)
    require_room(operation['revision'])
    return Outcome(operation | {
        'terminalHeartbeats': operation['terminalHeartbeats'] + 1,
        'revision': operation['revision'] + 1
    })


def require(condition, word, cause):
    if not condition:
        raise Refused(word, cause)


def require_room(number):
    """Refuse an edit that would take number, in a file, beyond the highest one (§4)."""
    require(number < HIGHEST, 'exhausted',
            'a revision, or the number of an alert, is as high as it may become')


def require_not_over(operation):
    require(operation['state'] not in TERMINAL, 'over', f'the operation has {operation["state"]}')


def fitting_interval(numbers):
    """Return the interval in numbers, a default, but at most a third of the threshold."""
    third = max(numbers['stalenessThresholdMs'] // 3, 1)
    return {'heartbeatIntervalMs': min(numbers['heartbeatIntervalMs'], third)}


def push(operation, seen, release, participant, call, operation_id=None, base=0, pid=None,
         process=None, supervisor=None, handle=None, description='', caller=None, readiness=None,
         resources=(), foundResources=(), failOnCrash=True, heartbeats=False, orphanPolicy=None,
         stalenessThresholdMs=None, heartbeatIntervalMs=None, traceparent=None, newRunId=None,
         startId=None, begin=False):
    pid = pid or (process['pid'] if process else 0)
    require(operation is None or operation['state'] not in TERMINAL, 'notRunning',
            'the operation has ended')
    numbers = {'stalenessThresholdMs': stalenessThresholdMs,
               'heartbeatIntervalMs': heartbeatIntervalMs}
    numbers = {name: value for name, value in numbers.items() if value is not None}
    if operation is None:
        operation = OPERATION[0]({
            'operationId': operation_id, 'state': 'running', 'lastHeartbeat': format_time(seen.now),
            'stack': []
        }, '') | numbers | {'revision': base}
        if heartbeatIntervalMs is None:
            operation |= fitting_interval(operation)
        set_optional(operation, 'runId', newRunId)
    edit = Edit(operation, seen, participant, release)
    if edit.is_pushed(call, participant, process, begin):
        return Outcome()
    if not begin and operation['state'] != 'running':
        edit.require_may_push(call)
    edit.refresh_frames([frame for frame in edit.live()
                         if frame['participantId'] == participant and not begin],
                        process, adopt=False)
    edit.judge()
    if begin:
        edit.require_no_calls()
    if operation['state'] == 'running':
        for name, value in numbers.items():
            require(operation[name] == value, 'otherNumbers', f'{name} is {operation[name]}')
        require(caller is None or edit.find(caller), 'noCall', f'no call {caller}, the caller')
    edit.require_may_push(call)
    known = edit.find(call)
    require(known is None or not edit.has_cleaner(known), 'supervised',
            f'supervisor {known and known["supervisorId"]} has to clean up the call')
    entry = edit.op['supervisorHeartbeats'].get(supervisor)
    if supervisor is not None:
        require(entry is None or entry['status'] == 'alive', 'deadSupervisor',
                f'supervisor {supervisor} is dead')
    if known:
        if known['state'] == 'crashed':
            edit.clean_up_crashed(known)
        edit.end(known)
    if supervisor is not None:
        entry = entry or edit.make_supervisor(supervisor)
        entry['orphanPolicy'] = orphanPolicy or entry['orphanPolicy']
    frame = {
        'participantId': participant, 'callId': call, 'pid': pid, 'startTime': seen.now,
        'lastHeartbeat': seen.now, 'state': 'active', 'supervisorId': supervisor,
        'supervisorHandle': handle, 'description': description, 'readiness': readiness or 'ready',
        'note': '', 'failOnCrash': failOnCrash, 'heartbeats': heartbeats,
        'resources': list(resources), 'foundResources': list(foundResources), 'leftResources': []
    }
    set_optional(frame, 'callerId', caller)
    set_optional(frame, 'traceparent', traces.normal(traceparent))
    set_optional(frame, 'startId', startId)
    set_optional(frame, 'process', process)
    beat_now(frame, seen)
    edit.stack.append(frame)
    edit.frame_event('callStarted', frame, callerId=caller, to='active')
    edit.op['lastHeartbeat'] = seen.now
    edit.settle()
    return edit.finish()


def heartbeat(operation, seen, release, participant=None, call=None, supervisor=None, pid=None,
              process=None, cleaning=False, readiness=None, note=None, heartbeats=False):
    if operation['state'] in TERMINAL:
        outcome = count_down(operation)
        outcome.status = 4
        return outcome
    pid = pid or (process['pid'] if process else None)
    covers = (lambda frame: frame['callId'] == call) if call else (
        lambda frame: frame['participantId'] == participant)
    covered = [frame for frame in operation['stack'] if covers(frame)]
    living = [frame for frame in covered if frame['state'] in LIVE]
    own = [frame for frame in living
           if not (identity(frame) and process and not same(identity(frame), process))]
    if participant or call:
        require(covered, 'noCall', 'no such call')
        require(own or not living, 'otherProcess', 'another process runs it')
    require(not cleaning or operation['state'] != 'running', 'notAborted',
            'the operation is running')
    if readiness == 'idle':
        require(not cleaning and all(frame['readiness'] in CAN_BE_USED
                                     and frame['state'] != 'cleaningUp' for frame in own),
                'notReady', 'it is not ready')
    by = covered[0]['participantId'] if covered else supervisor
    edit = Edit(operation, seen, by, release)
    edit.refresh_frames([frame for frame in edit.live() if covers(frame)], process, adopt=True)
    if supervisor:
        edit.refresh_supervisor(supervisor, pid, process, heartbeats)
    edit.judge()
    edit.op['lastHeartbeat'] = seen.now
    refreshed = [frame for frame in edit.live() if frame['callId'] in edit.refreshed]
    for frame in refreshed if cleaning else ():
        edit.set_frame_state(frame, 'cleaningUp')
    for frame in refreshed:
        edit.say(frame, readiness, note)
    edit.settle()
    for frame in edit.stack if supervisor else ():
        if frame['supervisorId'] == supervisor and frame['state'] == 'crashed':
            edit.report(frame)
            edit.outcome.reported.append(frame)
    state = edit.op['state']
    if covered and not any(covers(frame) for frame in edit.live()):
        edit.outcome.status = 5
    else:
        stopping = state in ('aborted', 'cleanup')
        edit.outcome.status = 4 if state in TERMINAL else 3 if stopping else 0
    return edit.finish(always=True)  # it counts even in the same millisecond as the last one


def pop(operation, seen, release, call, fail=False, reason=None, keepOpen=False, status=None,
        signal=None, deleteResources=False):
    require_not_over(operation)
    edit = Edit(operation, seen, None, release)
    frame = edit.find(call)
    require(frame, 'noCall', 'no such call')
    edit.by = frame['participantId']
    edit.judge(never_stale=edit.by)
    how = End(call, status, signal, reason)
    if fail:
        edit.failures[call] = how.what
        edit.fail(how)
    at = edit.stack.index(frame)
    run = [frame]
    for above in edit.stack[at + 1:]:
        if above['state'] != 'cleanedUp' and not (above['state'] == 'crashed'
                                                  and not edit.supervisor_lives(above)):
            break
        run.append(above)
    for going in run:
        popped = going is frame
        if going['state'] == 'crashed' or popped and deleteResources and going['state'] in LIVE:
            edit.release_resources(going)
        edit.end(going, how if popped else None)
    edit.op['lastHeartbeat'] = seen.now
    if not edit.stack and edit.op['state'] == 'running' and not keepOpen:
        edit.set_state('completed', 'stack empty')
    edit.settle()
    return edit.finish()


def abort(operation, seen, release, by='', reason=None):
    require_not_over(operation)
    if operation['aborted']:
        return Outcome()
    edit = Edit(operation, seen, by, release)
    edit.judge()
    edit.op['aborted'] = True
    if edit.op['state'] == 'running':
        edit.set_state('aborted', reason or 'abort requested')
    edit.settle()
    return edit.finish()


def fail(operation, seen, release, call, by='', status=None, signal=None, reason=None):
    require_not_over(operation)
    edit = Edit(operation, seen, by, release)
    frame = edit.find(call)
    if frame:
        edit.by = frame['participantId']
    edit.refresh_frames([frame] if frame and frame['state'] in LIVE else [], None, adopt=False)
    refreshed = copy.deepcopy(edit.op)
    edit.judge()
    if edit.op['state'] in ('running', 'aborted'):
        edit.fail(End(call, status, signal, reason))
        edit.op['lastHeartbeat'] = seen.now
    edit.settle()
    return edit.finish() if edit.op != refreshed else Outcome()


def cleanup(operation, seen, release, by=''):
    if operation['state'] in TERMINAL:
        return count_down(operation)
    edit = Edit(operation, seen, by, release)
    edit.judge()
    edit.settle()
    if (edit.op['state'] == 'running' and not edit.stack
            and age(edit.op, seen, 'lastHeartbeat', None) > 3600_000):
        edit.set_state('failed', 'abandoned')
    return edit.finish()


def require_crashed(operation, supervisor, calls):
    """Check that calls are crashed and supervised.

    Refused: over, noCall, notSupervised, notCrashed, for the first call that is not.
    """
    require_not_over(operation)
    frames = {frame['callId']: frame for frame in operation['stack']}
    for call in calls:
        require(call in frames, 'noCall', f'no call {call}')
        require(frames[call]['supervisorId'] == supervisor, 'notSupervised',
                f'another supervisor has {call}')
        require(frames[call]['state'] not in LIVE, 'notCrashed', f'{call} has not crashed')


def ack(operation, seen, release, supervisor, calls, pid=None, process=None):
    require_crashed(operation, supervisor, calls)
    edit = Edit(operation, seen, supervisor, release)
    if not edit.pre & set(calls):
        return Outcome()
    edit.refresh_supervisor(supervisor, pid or (process['pid'] if process else None), process)
    edit.judge()
    for frame in edit.stack:
        if frame['callId'] in calls and frame['state'] == 'crashed':
            edit.clean_up(frame)
    edit.op['lastHeartbeat'] = seen.now
    edit.settle()
    return edit.finish()


def claim(operation, seen, release, supervisor, pid, process=None):
    require_not_over(operation)
    edit = Edit(operation, seen, supervisor, release)
    edit.refresh_supervisor(supervisor, None, None)
    edit.judge()
    for frame in edit.stack:
        if (frame['state'] == 'crashed' and frame['supervisorId'] == supervisor
                and not edit.handler_lives(frame)):
            frame['handlingBy'] = {'pid': pid, 'at': seen.now}
            set_optional(frame['handlingBy'], 'process', process)
            edit.report(frame)
    edit.settle()
    return edit.finish(always=True)


def unclaim(operation, seen, release, supervisor, calls):
    require_crashed(operation, supervisor, calls)
    edit = Edit(operation, seen, supervisor, release)
    edit.refresh_supervisor(supervisor, None, None)
    edit.judge()
    for frame in edit.stack:
        if frame['callId'] in calls:
            frame.pop('handlingBy', None)
    edit.settle()
    return edit.finish(always=True)


VERBS = {
    verb.__name__: verb
    for verb in (push, heartbeat, pop, abort, fail, cleanup, ack, claim, unclaim)
}
OF_A_RUN = {'push', 'heartbeat', 'pop', 'abort', 'fail'}  # the verbs that take a run


def apply(verb, operation, seen, release=lambda resources, found: [], run=None, **arguments):
    """Return the outcome of verb on operation (None: there is none), which stays unchanged.

    release(resources, found) is called before the outcome is committed. It moves the resources of a
    call aside, except those that are as they were found, and returns {path, error} for each
    failure. run: the run for which the caller acts. Refused: the words of §6.
    """
    require(run is None or operation is not None and operation.get('runId') == run, 'over',
            'the run has ended')
    require(operation is not None or verb == 'push', 'noOperation', 'no such operation')
    if arguments.get('process') and not arguments['process']['bootId']:
        arguments['process'] = None  # no identity (§3.4)
    seen = seen.remembering(times(operation))
    outcome = VERBS[verb](operation, seen, release, **arguments)
    outcome.remembered = seen.remembering(times(outcome.operation or operation)).sightings
    return outcome
