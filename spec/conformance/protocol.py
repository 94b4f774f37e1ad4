"""What each DPL verb makes of an operation (spec §4 and §5): values in, values out, no clock and no files."""
import copy
import dataclasses
from typing import Callable, Optional

from document import HIGHEST, LONGEST, OPERATION, Refused, format_time
from sightings import Sightings, key, sighted

TERMINAL = ('completed', 'failed')
LIVE = ('active', 'aborted', 'cleaningUp')
STATUS = {'over': 4, 'corrupt': 65, 'noOperation': 66, 'noCall': 66, 'deadSupervisor': 69, 'deadProcess': 69,
          'newerVersion': 78} | dict.fromkeys(('knownCall', 'notRunning', 'otherNumbers', 'otherProcess', 'notAborted',
                                               'notCrashed', 'notSupervised', 'resource', 'exhausted'), 76)


@dataclasses.dataclass
class Observation:
    """What the observer knows (§4.2); empty or None is unknown. look(process) is 'gone', 'present', or None: it cannot tell."""
    now: int
    hostId: str = ''
    bootId: str = ''
    pidNamespace: str = ''
    bootedAt: Optional[int] = None
    monotonicMs: Optional[int] = None
    look: Callable = lambda process: None
    watch: str = ''  # of an observer that looks again and again: awake or woken (§4.6)
    sightings: Optional[Sightings] = None  # of the file; None: it is on no ledger of §18

    def beat(self):
        if self.monotonicMs is None or not self.bootId:
            return None
        return {'bootId': self.bootId, 'monotonicMs': self.monotonicMs, 'at': self.now}

    def tells(self, beat):
        """Whether the observer's monotonic clock is the one that beat was read from."""
        same_clock = beat and beat['bootId'] and beat['bootId'] == self.bootId and self.monotonicMs is not None
        return bool(same_clock) and self.monotonicMs >= beat['monotonicMs']

    @property
    def remembers(self):
        """Whether ages are those of sightings where the monotonic clock does not tell them (§18)."""
        return self.sightings is not None and self.monotonicMs is not None and bool(self.hostId and self.bootId)

    def remembering(self, times):
        """This observation, with what is remembered after it has found times (sightings.sighted)."""
        return dataclasses.replace(self, sightings=sighted(self.sightings, times, self)) if self.remembers else self

    def checks(self, process):
        """Whether process lived in the observer's pid namespace, so that what look finds is evidence."""
        return all(process[name] and process[name] == getattr(self, name) for name in ('hostId', 'bootId', 'pidNamespace'))

    def presence(self, process):
        """What look finds, of a process that may be of another host, or of none."""
        return self.look(process) if process and self.checks(process) else None


@dataclasses.dataclass
class Outcome:
    operation: Optional[dict] = None  # None: nothing changes
    archived: bool = False
    status: int = 0
    reported: list = dataclasses.field(default_factory=list)
    released: list = dataclasses.field(default_factory=list)
    ended: list = dataclasses.field(default_factory=list)  # calls whose temporary directory goes
    remembered: Optional[Sightings] = None  # what is kept of the sightings


def counting(entry):
    """The recorded process of a frame, supervisor or claim, if it is that of the pid beside it (§3.4)."""
    process = entry.get('process')
    return process if process and process['pid'] == entry['pid'] else None


def identity(entry):
    process = counting(entry)
    return process if process and process['bootId'] else None


def same(one, other):
    return all(one[name] == other[name] for name in ('pid', 'hostId', 'bootId', 'pidNamespace', 'startTicks'))


def gone(entry, since, seen):
    """Evidence exited or rebooted against entry, which was last known alive at since (None: never); else None."""
    process = identity(entry)
    if process is None:
        return None
    if seen.presence(process) == 'gone':
        return 'exited'
    here = process['hostId'] and process['hostId'] == seen.hostId
    other_boot = seen.bootId and process['bootId'] != seen.bootId
    before_boot = since is None or seen.bootedAt is not None and since < seen.bootedAt
    return 'rebooted' if here and other_boot and before_boot else None


def beat_of(entry, time='lastHeartbeat', name='beat'):
    """The beat that belongs to a time of entry; None if there is none that counts (§3.4)."""
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
    """The time of a heartbeat, and that of a grace (§4.6), each with the beat that counts."""
    yield entry['lastHeartbeat'], beat_of(entry)
    if 'grace' in entry:
        yield entry['grace']['at'], beat_of(entry['grace'], 'at')


def times(operation):
    """The times of operation (None: there is none) whose age matters, each with the beat that counts (§18)."""
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
    """Sets a time of entry, and its beat, to now; the beat keeps members it has beside the known ones. A heartbeat ends a grace."""
    entry[time] = seen.now
    if time == 'lastHeartbeat':
        entry.pop('grace', None)
    beat = seen.beat()
    set_optional(entry, name, beat and beat | {k: v for k, v in entry.get(name, {}).items() if k not in beat})


def drop_leftovers(entry, *beats):
    """Removes a process, a grace, and beats, each named with its time, that do not count."""
    if not counting(entry):
        entry.pop('process', None)
    if not grace_of(entry):
        entry.pop('grace', None)
    for time, name in beats:
        if not beat_of(entry, time, name):
            entry.pop(name, None)


HEARTBEAT, REPORTED = ('lastHeartbeat', 'beat'), ('reportedAt', 'reportedBeat')


def counts_heartbeats(entry, seen):
    """Whether entry is judged by its heartbeats, and not by its process."""
    return entry['heartbeats'] or seen.presence(identity(entry)) != 'present'


def evidence(entry, seen, threshold):
    """Why a frame, a supervisor or a service is dead (§4.2): exited, rebooted or stale; None if it is not."""
    since, grace = entry['lastHeartbeat'], grace_of(entry)
    stale = since is not None and counts_heartbeats(entry, seen) and abs(age(entry, seen)) > threshold
    graced = grace and abs(age(grace, seen, 'at')) <= threshold
    return gone(entry, since, seen) or ('stale' if stale and not graced else None)


# Graces (§4.6)

def grace_of(entry):
    """The grace of entry, if it is of its last heartbeat; None if there is none that counts."""
    grace = entry.get('grace')
    return grace if grace and grace['of'] == entry['lastHeartbeat'] else None


def long(age, threshold):
    return 3 * abs(age) > 2 * threshold


def grant(entry, seen, threshold, heard=True):
    """Gives a grace to entry, of a file that was silent, if it needs one. heard: it is silent no more after this edit."""
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
    """Whether nobody in operation was heard of for long, and the observer may have slept as long."""
    entries = [*operation['stack'], *operation['supervisorHeartbeats'].values()]
    return seen.watch != 'awake' and not any(heard_lately(entry, seen, operation['stalenessThresholdMs']) for entry in entries)


def heard_lately(entry, seen, threshold, time='lastHeartbeat', name='beat'):
    """Whether a heartbeat shows that somebody was awake lately: one that is sighted only now does not (§18)."""
    how_long = age(entry, seen, time, name)
    sighted_now = how_long == 0 and seen.remembers and not seen.tells(beat_of(entry, time, name))
    return not long(how_long, threshold) and not sighted_now


class Tick:
    """One edit: a copy of the operation, changed step by step (§4.3) under one observation."""

    def __init__(self, operation, seen, by, release):
        self.given, self.op = operation, copy.deepcopy(operation)
        self.seen, self.by, self.release = seen, by, release
        self.outcome = Outcome()
        self.pre = {frame['callId'] for frame in self.stack if frame['state'] == 'crashed'}
        self.refreshed = set()  # call ids
        self.heard = False  # a participant or supervisor makes this edit, and is heard of by it

    @property
    def stack(self):
        return self.op['stack']

    def find(self, call):
        return next((frame for frame in self.stack if frame['callId'] == call), None)

    def live(self):
        return [frame for frame in self.stack if frame['state'] in LIVE]

    def event(self, type_, **rest):
        event = {'revision': self.given['revision'] + 1, 'at': self.seen.now, 'type': type_, **rest, 'by': self.by}
        self.op['events'] = (self.op['events'] + [{k: v for k, v in event.items() if v is not None}])[-64:]

    def frame_event(self, type_, frame, **rest):
        self.event(type_, callId=frame['callId'], supervisorId=frame['supervisorId'], handle=frame['supervisorHandle'], **rest)

    def set_state(self, state, reason):
        self.op['transitions'].append({'revision': self.given['revision'] + 1, 'from': self.op['state'], 'to': state,
                                       'at': self.seen.now, 'by': self.by, 'reason': reason})
        self.op['state'] = state
        if state in TERMINAL:
            self.op.update(terminalAt=self.seen.now, terminalHeartbeats=0)

    def set_frame_state(self, frame, state, reason=None):
        if frame['state'] != state:
            self.frame_event('callState', frame, **{'from': frame['state'], 'to': state, 'reason': reason})
            frame['state'] = state

    def say(self, frame, readiness, note):
        """Sets what the participant says of itself, each if it is given (§5.2)."""
        if readiness is not None and frame['readiness'] != readiness:
            self.frame_event('callReadiness', frame, **{'from': frame['readiness'], 'to': readiness})
            frame['readiness'] = readiness
        if note is not None:
            frame['note'] = note

    def crash(self, frame, evidence):
        frame.update(crashedAt=self.seen.now, detectedBy=self.by, evidence=evidence,
                     staleForMs=max(0, age(frame, self.seen)), previousState=frame['state'])
        self.set_frame_state(frame, 'crashed')

    def release_resources(self, frame):
        if frame['resources']:
            require_room(self.given['revision'])
            self.outcome.released.append({'callId': frame['callId'], 'resources': frame['resources']})
            frame['leftResources'] += self.release(frame['resources'])

    def clean_up(self, frame, reason=None):
        self.release_resources(frame)
        frame.pop('handlingBy', None)
        self.outcome.ended.append(frame['callId'])
        self.set_frame_state(frame, 'cleanedUp', reason)

    def end(self, frame):
        self.frame_event('callEnded', frame, **{'from': frame['state'], 'leftResources': frame['leftResources'] or None})
        self.outcome.ended.append(frame['callId'])
        self.stack.remove(frame)

    def supervisor_lives(self, frame):
        entry = self.op['supervisorHeartbeats'].get(frame['supervisorId'])
        return entry is not None and entry['status'] == 'alive'

    # Step 2

    def refresh_frames(self, frames, process, adopt):
        self.heard = True
        for frame in frames:
            own = identity(frame)
            if gone(frame, frame['lastHeartbeat'], self.seen) or own and process and not same(own, process):
                continue
            self.refreshed.add(frame['callId'])
            beat_now(frame, self.seen)
            if adopt and not own and process:
                frame.update(pid=process['pid'], process=process)

    def set_status(self, entry, status):
        if entry['status'] != status:
            self.event('supervisorState', supervisorId=entry['supervisorId'], **{'from': entry['status'], 'to': status})
            entry['status'] = status

    def kill_supervisor(self, entry):
        self.set_status(entry, 'dead')
        for frame in self.live():
            if entry['orphanPolicy'] == 'crash' and frame['supervisorId'] == entry['supervisorId']:
                self.crash(frame, 'supervisorDead')

    def make_supervisor(self, supervisor):
        self.event('supervisorState', supervisorId=supervisor, to='alive')
        entry = {'supervisorId': supervisor, 'pid': 0, 'lastHeartbeat': self.seen.now, 'status': 'alive', 'orphanPolicy': 'crash',
                 'heartbeats': False}
        beat_now(entry, self.seen)
        self.op['supervisorHeartbeats'][supervisor] = entry
        return entry

    def refresh_supervisor(self, supervisor, pid, process, heartbeats=False):
        self.heard = True
        entry = self.op['supervisorHeartbeats'].get(supervisor) or self.make_supervisor(supervisor)
        own = identity(entry)
        if own and (not same(own, process) if process else gone(entry, entry['lastHeartbeat'], self.seen)):
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
        """Frames of the participant never_stale are not judged stale. If nobody was heard of before, all get a grace first."""
        if silent(self.given, self.seen):
            supervisors = [entry for entry in self.op['supervisorHeartbeats'].values() if entry['status'] == 'alive']
            for entry in supervisors + self.live():
                grant(entry, self.seen, self.op['stalenessThresholdMs'], self.heard or self.seen.sightings is not None)
        for entry in self.op['supervisorHeartbeats'].values():
            if entry['status'] == 'alive' and self.evidence(entry):
                self.kill_supervisor(entry)
        for frame in self.live():
            found = self.evidence(frame)
            if found and (found != 'stale' or frame['participantId'] != never_stale):
                self.crash(frame, found)
        crashed = [frame for frame in self.stack if frame['state'] == 'crashed' and frame['failOnCrash']]
        if crashed and self.op['state'] in ('running', 'aborted'):
            self.set_state('cleanup', f'call {crashed[0]["callId"]} crashed: {crashed[0].get("evidence", "")}')
        if self.op['state'] == 'aborted':
            for frame in self.stack:
                if frame['state'] == 'active' and frame['callId'] in self.refreshed:
                    self.set_frame_state(frame, 'aborted')
            if not any(frame['state'] == 'active' for frame in self.stack):
                self.set_state('cleanup', 'all calls aborted')

    # Steps 7 to 9

    def unacknowledged(self, frame):
        limit = 10 * self.op['stalenessThresholdMs']
        return 'reportedAt' in frame and age(frame, self.seen, *REPORTED) > limit and not self.handler_lives(frame)

    def report(self, frame):
        if 'reportedAt' not in frame:
            beat_now(frame, self.seen, *REPORTED)

    def handler_lives(self, frame):
        claim = frame.get('handlingBy')
        if claim is None or gone(claim, claim['at'], self.seen):
            return False
        process = identity(claim)
        checked = process and self.seen.checks(process)
        return bool(checked) or age(claim, self.seen, 'at', None) <= 10 * self.op['stalenessThresholdMs']

    def settle(self):
        for frame in self.stack:
            if frame['callId'] in self.pre and frame['state'] == 'crashed':
                if self.op['state'] == 'cleanup' or not frame['failOnCrash']:
                    if not self.supervisor_lives(frame):
                        self.clean_up(frame)
                    elif self.unacknowledged(frame):
                        self.clean_up(frame, 'unacknowledged')
        before = len(self.stack)
        for frame in [frame for frame in self.stack if frame['state'] == 'cleanedUp' and not frame['failOnCrash']]:
            self.end(frame)
        while self.stack and self.stack[0]['state'] == 'cleanedUp':
            self.end(self.stack[0])
        state = self.op['state']
        if not self.stack and (state in ('aborted', 'cleanup') or state == 'running' and before):
            self.set_state('failed', 'stack empty')

    def finish(self, always=False):
        """The outcome; its operation is None if nothing changed, unless this is always an edit."""
        if always or self.op != self.given:
            require_room(self.given['revision'])
            for entry in [*self.stack, *self.op['supervisorHeartbeats'].values()]:
                drop_leftovers(entry, HEARTBEAT, REPORTED)
            self.op['revision'] = self.given['revision'] + 1
            self.outcome.operation = self.op
        return self.outcome


def count_down(operation):
    """The heartbeat or cleanup of an operation that is over (§4.5)."""
    if operation['terminalHeartbeats'] >= 2:
        return Outcome(archived=True)
    require_room(operation['revision'])
    return Outcome(operation | {'terminalHeartbeats': operation['terminalHeartbeats'] + 1, 'revision': operation['revision'] + 1})


def require(condition, word, cause):
    if not condition:
        raise Refused(word, cause)


def require_room(number):
    """An edit may add one to number, which is in a file (§4)."""
    require(number < HIGHEST, 'exhausted', 'a revision, or the number of an alert, is as high as it may become')


def require_not_over(operation):
    require(operation['state'] not in TERMINAL, 'over', f'the operation has {operation["state"]}')


def fitting_interval(numbers):
    """The interval of numbers, or a third of the threshold where that is less: nobody has given one."""
    third = max(numbers['stalenessThresholdMs'] // 3, 1)
    return {'heartbeatIntervalMs': min(numbers['heartbeatIntervalMs'], third)}


def push(operation, seen, release, participant, call, operation_id=None, base=0, pid=None, process=None, supervisor=None,
         handle=None, description='', caller=None, readiness=None, resources=(), failOnCrash=True, heartbeats=False,
         orphanPolicy=None, stalenessThresholdMs=None, heartbeatIntervalMs=None):
    pid = pid or (process['pid'] if process else 0)
    require(operation is None or operation['state'] not in TERMINAL, 'notRunning', 'the operation has ended')
    numbers = {name: value for name, value in (('stalenessThresholdMs', stalenessThresholdMs),
                                               ('heartbeatIntervalMs', heartbeatIntervalMs)) if value is not None}
    if operation is None:
        operation = OPERATION[0]({'operationId': operation_id, 'state': 'running', 'lastHeartbeat': format_time(seen.now),
                                  'stack': []}, '') | numbers | {'revision': base}
        if heartbeatIntervalMs is None:
            operation |= fitting_interval(operation)
    tick = Tick(operation, seen, participant, release)
    known = tick.find(call)
    if known:
        own = identity(known)
        same_process = same(own, process) if own and process else own is process
        if known['state'] in LIVE and known['participantId'] == participant and same_process:
            return Outcome()
        raise Refused('knownCall', 'the call is in the stack already')
    require(operation['state'] == 'running', 'notRunning', f'the operation is {operation["state"]}')
    for name, value in numbers.items():
        require(operation[name] == value, 'otherNumbers', f'{name} is {operation[name]}')
    require(caller is None or tick.find(caller), 'noCall', f'no call {caller}, the caller')
    tick.refresh_frames([frame for frame in tick.live() if frame['participantId'] == participant], process, adopt=False)
    tick.judge()
    require(tick.op['state'] == 'running', 'notRunning', f'the operation is now {tick.op["state"]}')
    if supervisor is not None:
        entry = tick.op['supervisorHeartbeats'].get(supervisor)
        require(entry is None or entry['status'] == 'alive', 'deadSupervisor', f'supervisor {supervisor} is dead')
        entry = entry or tick.make_supervisor(supervisor)
        entry['orphanPolicy'] = orphanPolicy or entry['orphanPolicy']
    frame = {'participantId': participant, 'callId': call, 'pid': pid, 'startTime': seen.now, 'lastHeartbeat': seen.now,
             'state': 'active', 'supervisorId': supervisor, 'supervisorHandle': handle, 'description': description,
             'readiness': readiness or 'ready', 'note': '', 'failOnCrash': failOnCrash, 'heartbeats': heartbeats,
             'resources': list(resources),
             'leftResources': []}
    set_optional(frame, 'callerId', caller)
    set_optional(frame, 'process', process)
    beat_now(frame, seen)
    tick.stack.append(frame)
    tick.frame_event('callStarted', frame, callerId=caller, to='active')
    tick.op['lastHeartbeat'] = seen.now
    tick.settle()
    return tick.finish()


def heartbeat(operation, seen, release, participant=None, call=None, supervisor=None, pid=None, process=None, cleaning=False,
              readiness=None, note=None, heartbeats=False):
    if operation['state'] in TERMINAL:
        outcome = count_down(operation)
        outcome.status = 4
        return outcome
    pid = pid or (process['pid'] if process else None)
    covers = (lambda frame: frame['callId'] == call) if call else (lambda frame: frame['participantId'] == participant)
    covered = [frame for frame in operation['stack'] if covers(frame)]
    living = [frame for frame in covered if frame['state'] in LIVE]
    if participant or call:
        require(covered, 'noCall', 'no such call')
        foreign = [frame for frame in living if identity(frame) and process and not same(identity(frame), process)]
        require(not living or len(foreign) < len(living), 'otherProcess', 'another process runs it')
    require(not cleaning or operation['state'] != 'running', 'notAborted', 'the operation is running')
    by = covered[0]['participantId'] if covered else supervisor
    tick = Tick(operation, seen, by, release)
    tick.refresh_frames([frame for frame in tick.live() if covers(frame)], process, adopt=True)
    if supervisor:
        tick.refresh_supervisor(supervisor, pid, process, heartbeats)
    tick.judge()
    tick.op['lastHeartbeat'] = seen.now
    refreshed = [frame for frame in tick.live() if frame['callId'] in tick.refreshed]
    for frame in refreshed if cleaning else ():
        tick.set_frame_state(frame, 'cleaningUp')
    for frame in refreshed:
        tick.say(frame, readiness, note)
    tick.settle()
    for frame in tick.stack if supervisor else ():
        if frame['supervisorId'] == supervisor and frame['state'] == 'crashed':
            tick.report(frame)
            tick.outcome.reported.append(frame)
    state = tick.op['state']
    if covered and not any(covers(frame) for frame in tick.live()):
        tick.outcome.status = 5
    else:
        tick.outcome.status = 4 if state in TERMINAL else 3 if state in ('aborted', 'cleanup') else 0
    return tick.finish(always=True)  # even within the millisecond of the last one


def pop(operation, seen, release, call, fail=False, reason=None, keepOpen=False):
    require_not_over(operation)
    tick = Tick(operation, seen, None, release)
    frame = tick.find(call)
    require(frame, 'noCall', 'no such call')
    tick.by = frame['participantId']
    tick.judge(never_stale=tick.by)
    if fail and tick.op['state'] in ('running', 'aborted'):
        tick.set_state('cleanup', reason or f'call {call} failed')
    at = tick.stack.index(frame)
    run = [frame]
    for above in tick.stack[at + 1:]:
        if above['state'] != 'cleanedUp' and not (above['state'] == 'crashed' and not tick.supervisor_lives(above)):
            break
        run.append(above)
    for going in run:
        if going['state'] == 'crashed':
            tick.release_resources(going)
        tick.end(going)
    tick.op['lastHeartbeat'] = seen.now
    if not tick.stack and tick.op['state'] == 'running' and not keepOpen:
        tick.set_state('completed', 'stack empty')
    tick.settle()
    return tick.finish()


def abort(operation, seen, release, by='', reason=None):
    require_not_over(operation)
    if operation['aborted']:
        return Outcome()
    tick = Tick(operation, seen, by, release)
    tick.judge()
    tick.op['aborted'] = True
    if tick.op['state'] == 'running':
        tick.set_state('aborted', reason or 'abort requested')
    tick.settle()
    return tick.finish()


def cleanup(operation, seen, release, by=''):
    if operation['state'] in TERMINAL:
        return count_down(operation)
    tick = Tick(operation, seen, by, release)
    tick.judge()
    tick.settle()
    if tick.op['state'] == 'running' and not tick.stack and age(tick.op, seen, 'lastHeartbeat', None) > 3600_000:
        tick.set_state('failed', 'abandoned')
    return tick.finish()


def require_crashed(operation, supervisor, calls):
    """Refused: over, noCall, notSupervised, notCrashed, for the first of calls to which one applies."""
    require_not_over(operation)
    frames = {frame['callId']: frame for frame in operation['stack']}
    for call in calls:
        require(call in frames, 'noCall', f'no call {call}')
        require(frames[call]['supervisorId'] == supervisor, 'notSupervised', f'another supervisor has {call}')
        require(frames[call]['state'] not in LIVE, 'notCrashed', f'{call} has not crashed')


def ack(operation, seen, release, supervisor, calls, pid=None, process=None):
    require_crashed(operation, supervisor, calls)
    tick = Tick(operation, seen, supervisor, release)
    if not tick.pre & set(calls):
        return Outcome()
    tick.refresh_supervisor(supervisor, pid or (process['pid'] if process else None), process)
    tick.judge()
    for frame in tick.stack:
        if frame['callId'] in calls and frame['state'] == 'crashed':
            tick.clean_up(frame)
    tick.op['lastHeartbeat'] = seen.now
    tick.settle()
    return tick.finish()


def claim(operation, seen, release, supervisor, pid, process=None):
    require_not_over(operation)
    tick = Tick(operation, seen, supervisor, release)
    tick.refresh_supervisor(supervisor, None, None)
    tick.judge()
    for frame in tick.stack:
        if frame['state'] == 'crashed' and frame['supervisorId'] == supervisor and not tick.handler_lives(frame):
            frame['handlingBy'] = {'pid': pid, 'at': seen.now} | ({'process': process} if process else {})
            tick.report(frame)
    tick.settle()
    return tick.finish(always=True)


def unclaim(operation, seen, release, supervisor, calls):
    require_crashed(operation, supervisor, calls)
    tick = Tick(operation, seen, supervisor, release)
    tick.refresh_supervisor(supervisor, None, None)
    tick.judge()
    for frame in tick.stack:
        if frame['callId'] in calls:
            frame.pop('handlingBy', None)
    tick.settle()
    return tick.finish(always=True)


VERBS = {verb.__name__: verb for verb in (push, heartbeat, pop, abort, cleanup, ack, claim, unclaim)}


def apply(verb, operation, seen, release=lambda resources: [], **arguments):
    """The outcome of verb on operation (None: there is none), which stays as it is.

    release(resources) is called before the outcome is committed; it sets the resources of a crashed call aside and
    returns {path, error} of those it could not. Refused: the words of §6.
    """
    require(operation is not None or verb == 'push', 'noOperation', 'no such operation')
    if arguments.get('process') and not arguments['process']['bootId']:
        arguments['process'] = None  # no identity (§3.4)
    seen = seen.remembering(times(operation))
    outcome = VERBS[verb](operation, seen, release, **arguments)
    outcome.remembered = seen.remembering(times(outcome.operation or operation)).sightings
    return outcome
