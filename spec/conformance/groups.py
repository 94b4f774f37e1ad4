"""Groups of services (spec §8 to §11): their two files, and the verbs. No clock and no files."""
import copy
import dataclasses
import os.path
import re
from typing import Callable, Optional

import protocol
import alerts
import children
import endings
import health
import limits
import sets
import spans
import window as window_of
from document import (ABSENT, BEAT, BOOLEAN, CAN_BE_USED, CHAIN, DURATION, EVENT, GRACE, IDENT, INTEGER, LAST,
                      LONGEST, MOMENT, POSITIVE, PROCESS, READY, REQUIRED, REVISION, TEXT, Number, Record, Refused,
                      array, below, corrupt, duration, keyed, nullable, one_of, parse, quote, record,
                      refuse_newer, refuse_unknown, whole, write)
from protocol import (HEARTBEAT, age, beat_now, beat_of, drop_leftovers, evidence, fitting_interval,
                      gone, grant, heard_lately, identity, require, require_room, same,
                      set_optional, times_of_heartbeat)
from sightings import Sightings

STATES = ('registered', 'waitingForDependencies', 'running', 'failed', 'restartScheduled', 'dead',
          'shuttingDown', 'stopped', 'completed')
FINAL = ('dead', 'stopped', 'completed')
DONE = ('running', *FINAL)  # no longer in a set (§22.3)
STATUS = {'noGroup': 66, 'noSupervisor': 66} | dict.fromkeys(
    ('exhausted', 'cycle', 'noDependency', 'noStartInfo', 'twoClasses', 'shuttingDown',
     'otherProcess', 'notReady', 'stillRunning', 'hasDependents', 'blocked', 'inMaintenance', 'tooManyNames',
     'otherStart', 'significant', 'groupEnded', 'otherParent', 'tree', 'twoMachines'), 76)
STARTING_MS = 1000  # §11.3, running, rule 3
END_PATIENCE_MS = 10_000  # §19.3
USED = ('oomKilled', 'cpuMs', 'maxRssKb', 'finishStatus')  # by the process, until its end


# Files (§9)

def texts(value, path):
    """Return an object of strings, name → value."""
    if not isinstance(value, dict):
        raise corrupt(path, 'not an object')
    return {name: TEXT[0](inner, below(path, name)) for name, inner in value.items()}


def read_command(value, path):
    if not TEXT[0](value, path):
        raise corrupt(path, 'empty')
    return value


def read_start_id(value, path):
    if not re.fullmatch('[0-9a-f]{16}', TEXT[0](value, path)):
        raise corrupt(path, 'not 16 hexadecimal digits')
    return value


def refuse_empty(value, path):
    if not value:
        raise corrupt(path, 'empty')
    return value


def at_least_one(kind):
    return lambda value, path: refuse_empty(array(kind)[0](value, path), path), array(kind)[1]


def null_is_absent(kind, *names):
    """Return kind, a record, changed so that null for one of names means absent (§9.3)."""
    def read(value, path):
        if isinstance(value, dict):
            value = {name: inner for name, inner in value.items()
                     if name not in names or inner is not None}
        return kind[0](value, path)
    return read, kind[1]


def empty_is_absent(kind, *names):
    """Return kind, a record, changed so that {} and [], also inside {}, for one of names is absent."""
    def read(value, path):
        result = kind[0](value, path)
        for name in names:
            kept = {key: inner for key, inner in result.pop(name, {}).items() if inner != []}
            if kept:
                result[name] = kept
        return result
    changed = Record((read, kind[1]))
    changed.fields = kind.fields
    return changed


def all_or_none(kind, *names):
    """Return kind, a record, changed so that it has all these members or none."""
    def read(value, path):
        result = kind[0](value, path)
        missing = [name for name in names if name not in result]
        if 0 < len(missing) < len(names):
            raise corrupt(below(path, missing[0]), 'missing')
        return result
    changed = Record((read, kind[1]))
    changed.fields = kind.fields
    return changed


def log_max(value, path):
    """Read the number of bytes after which a log is rotated; 0: never."""
    size = INTEGER[0](value, path)
    if 0 < size < 65536:
        raise corrupt(path, 'less than 65536, and not 0')
    return size


# Classes of ends (§20)

CLASSES = ('success', 'tempfail', 'failure', 'persistent', 'terminal')
SIGNALS = {
    'HUP': 1, 'INT': 2, 'QUIT': 3, 'ILL': 4, 'TRAP': 5, 'ABRT': 6, 'FPE': 8, 'KILL': 9, 'SEGV': 11,
    'PIPE': 13, 'ALRM': 14, 'TERM': 15
}
USUAL = {
    'success': {0, 'signal 1', 'signal 2', 'signal 13', 'signal 15'}, 'tempfail': {75},
    'terminal': {64, 77, 78}
}


def ends(word):
    """Return the set of the ends that word of an exitStatus names, empty if it names none."""
    found = re.fullmatch('(0|[1-9][0-9]{0,2})(?:-(0|[1-9][0-9]{0,2}))?', word)
    if found:
        first, last = int(found[1]), int(found[2] or found[1])
        return set(range(first, last + 1)) if last <= 255 else set()
    found = re.fullmatch('SIG(?:([A-Z]+)|([1-9][0-9]?))', word)
    if found:
        number = SIGNALS.get(found[1], int(found[2] or 0))
        return {f'signal {number}'} if 0 < number <= 64 else set()
    return {'unknown'} if word == 'unknown' else set()


def read_ends(value, path):
    """Read a word of an exitStatus. A single status may be a number."""
    word = value.text if isinstance(value, Number) else value
    if not isinstance(word, str) or not ends(word):
        raise corrupt(path, 'no status, range, signal or unknown')
    return word


def plain_ends(word):
    return int(word) if word.isdigit() else word


EXIT_STATUS = record(**dict.fromkeys(CLASSES, (array((read_ends, plain_ends)), ABSENT)))


def two_classes(start_info):
    """Return whether an end is in two classes."""
    lists = [set().union(*map(ends, words))
             for words in (start_info.get('exitStatus', {}).get(name, ()) for name in CLASSES)]
    return len(set().union(*lists)) < sum(map(len, lists))


def class_of(entry, exit_):
    """Return the class of the end of the process of entry (§20), or None for a failure."""
    reason, code, status = (exit_.get(name) for name in ('reason', 'code', 'status'))
    if exit_.get('finishStatus') == '125' and reason not in ('stopped', 'sibling', 'rebooted'):
        return 'terminal'
    if reason == 'ended':
        return 'success' if exit_.get('detail') in ('autoShutdown', 'requested') else None
    if reason != 'exited':
        again = (entry['startInfo'] or {}).get('budgetAction') == 'restart'
        if reason == 'preflight':
            later = exit_.get('error') or (code, status) == ('exited', 75)
            return 'tempfail' if later else 'terminal'
        if reason == 'startFailed':
            return exit_['class'] if exit_.get('class') in ('tempfail', 'terminal') else None
        terminal = reason == 'violation' or reason == 'budget' and not again
        return 'hostLost' if reason == 'rebooted' else 'terminal' if terminal else None
    end = 'unknown'
    if code:
        end = f'signal {status or 0}' if code in ('killed', 'dumped') else status or 0
    listed = (entry['startInfo'] or {}).get('exitStatus', {})
    for name in CLASSES:
        if any(end in ends(word) for word in listed.get(name, ())):
            return None if name == 'failure' else name
    usual = next((name for name, ends_ in USUAL.items() if end in ends_), None)
    return None if usual == 'success' and exit_.get('error') else usual


def charged(entry):
    """Return whether a restart of entry, as it has ended, counts for the limits of restarts."""
    last = entry.get('lastExit') or {}
    return last.get('class') not in ('tempfail', 'hostLost') and last.get('reason') != 'preflight'


def is_short(entry):
    """Return whether the last start of entry failed because of a shortage (§11.5)."""
    last = entry.get('lastExit') or {}
    return (last.get('reason'), last.get('class')) == ('startFailed', 'tempfail')


def completes(entry):
    success = (entry.get('lastExit') or {}).get('class') == 'success'
    return success and entry['restart'] != 'permanent'


def asks(value, path):
    """Return what a service is asked for, by the name of the clock (§26.3)."""
    if not isinstance(value, dict):
        raise corrupt(path, 'not an object')
    return {clock: ASK[0](inner, below(path, clock)) for clock, inner in value.items()}


def last_checks(value, path):
    """Return when the health of services was checked last, by the id of the service (§26.5)."""
    if not isinstance(value, dict):
        raise corrupt(path, 'not an object')
    return {service: CHECKED[0](inner, below(path, service))
            for service, inner in value.items()}


def read_amounts(value, path):
    """Return an object of amounts, name → number (§27.1)."""
    if not isinstance(value, dict):
        raise corrupt(path, 'not an object')
    return {IDENT[0](name, below(path, name)): REVISION[0](inner, below(path, name))
            for name, inner in value.items()}


def read_match(value, path):
    """Return the match of a rule: a code, or the beginning of codes and * (§27.4)."""
    if value != '*':
        IDENT[0](value.removesuffix('*') if isinstance(value, str) else value, path)
    return value


SOFT_SIGNALS = {'HUP': 1, 'INT': 2, 'QUIT': 3, 'ALRM': 14}  # §26.4
CLOCKS = ('runtimeSoftMs', 'runtimeMaxMs', 'progressSoftMs', 'progressMaxMs')
ASK = record(at=(MOMENT, REQUIRED), beat=(BEAT, ABSENT), answered=(BOOLEAN, ABSENT))
NONNEGATIVE_MS, POSITIVE_MS = duration(0), duration(1)
PAUSE = record(at=(MOMENT, REQUIRED), beat=(BEAT, ABSENT), **{'continue': (BOOLEAN, False)})  # §27.6
AMOUNTS = (read_amounts, dict)
BUDGET = (lambda value, path: refuse_empty(AMOUNTS[0](value, path), path), dict)
MOST_SPENT, MOST_NAMES = 2**62, 64  # §27.1
KEPT_VIOLATIONS = 16  # §27.3
ACTION = one_of('log', 'notify', 'warn', 'pause', 'reap')
VIOLATION = record(at=(MOMENT, REQUIRED), code=(IDENT, REQUIRED), detail=(TEXT, ABSENT),
                   action=(ACTION, REQUIRED), by=(IDENT, ABSENT))
START_ID = (read_start_id, str)
KEPT = record(supervisorId=(IDENT, REQUIRED), startId=(START_ID, REQUIRED), pid=(INTEGER, REQUIRED))
BACKOFF = record(initialMs=(DURATION, REQUIRED), factor=(POSITIVE, 2), maxMs=(DURATION, REQUIRED))
POLICY = all_or_none(
    record(maxAttempts=(whole(-1), 5),
           backoffIntervalsMs=(at_least_one(NONNEGATIVE_MS), [0, 1000, 5000, 15000, 60000]),
           backoff=(BACKOFF, ABSENT), resetAfterMs=(NONNEGATIVE_MS, 300000),
           jitterPercent=(whole(0, 100), 0), deadlineMs=(DURATION, ABSENT),
           intensity=(INTEGER, ABSENT), intensityPeriodMs=(DURATION, ABSENT)),
    'intensity', 'intensityPeriodMs')


def read_preflight(value, path):
    words = array(TEXT)[0](value, path)
    if not words or not words[0]:
        raise corrupt(path, 'no command')
    return words


CONTEXT = ('umask', 'nofileSoft', 'nofileHard', 'nice', 'oomScoreAdj')
OF_COMMAND = ('command', 'args', 'workingDirectory', 'environment', 'environmentFile',
              *CONTEXT)


def read_absolute(value, path):
    text = TEXT[0](value, path)
    if not text.startswith('/'):
        raise corrupt(path, 'not absolute')
    return text


def read_umask(value, path):
    text = TEXT[0](value, path)
    if not re.fullmatch('0?[0-7]{3}', text):
        raise corrupt(path, 'not an umask')
    return int(text, 8)


def soft_and_hard(kind):
    """The limits of open files come together, and the soft one is not above the hard one."""
    def read(value, path):
        info = kind[0](value, path)
        names = ('nofileSoft', 'nofileHard')
        missing = [name for name in names if name not in info]
        if len(missing) == 1:
            raise corrupt(below(path, missing[0]), 'missing')
        if not missing and info['nofileSoft'] > info['nofileHard']:
            raise corrupt(path, 'nofileSoft above nofileHard')
        return info
    changed = Record((read, kind[1]))
    changed.fields = kind.fields
    return changed


def one_kind(kind):
    """A startInfo is of a command or of a group (§24.2)."""
    def read(value, path):
        of_group = isinstance(value, dict) and 'group' in value
        if of_group and {*OF_COMMAND, 'health'} & set(value):
            raise corrupt(path, 'a command and a group')
        if isinstance(value, dict) and not of_group and 'command' not in value:
            raise corrupt(below(path, 'command'), 'missing')
        info = kind[0](value, path)
        return {k: v for k, v in info.items() if not of_group or k not in OF_COMMAND}
    changed = Record((read, kind[1]))
    changed.fields = kind.fields
    return changed


PREFLIGHT = (read_preflight, list)
START_INFO = one_kind(soft_and_hard(empty_is_absent(
    record(command=((read_command, str), ABSENT), group=(IDENT, ABSENT), args=(array(TEXT), []),
           workingDirectory=(TEXT, '/'), environment=((texts, dict), {}),
           environmentFile=((read_absolute, str), ABSENT), readiness=(READY, 'ready'),
           restartPolicy=(POLICY, lambda info: POLICY[0]({}, '')),
           exitStatus=(EXIT_STATUS, ABSENT),
           logMaxBytes=((log_max, INTEGER[1]), 10 << 20), logKeep=(POSITIVE, 3),
           logEveryMs=(duration(60000), ABSENT), logCompress=(BOOLEAN, False),
           preflight=(PREFLIGHT, ABSENT), preflightTimeoutMs=(DURATION, ABSENT),
           finish=(PREFLIGHT, ABSENT), finishTimeoutMs=(DURATION, ABSENT),
           health=(PREFLIGHT, ABSENT), healthEveryMs=(DURATION, ABSENT), healthTimeoutMs=(DURATION, ABSENT),
           healthFailures=(POSITIVE, ABSENT), healthStartMs=(DURATION, ABSENT),
           softSignal=(one_of(*SOFT_SIGNALS), ABSENT),
           umask=((read_umask, '{:04o}'.format), ABSENT),
           nofileSoft=(whole(1, 2**31 - 1), ABSENT), nofileHard=(whole(1, 2**31 - 1), ABSENT),
           nice=(whole(-20, 19), ABSENT), oomScoreAdj=(whole(-1000, 1000), ABSENT),
           budget=(BUDGET, ABSENT), budgetAction=(one_of('terminal', 'restart'), ABSENT),
           **{name: (DURATION, ABSENT) for name in CLOCKS}), 'exitStatus')))
OF_EXIT = {
    'reason': (TEXT, ABSENT), 'detail': (TEXT, ABSENT), 'class': (TEXT, ABSENT),
    'code': (TEXT, ABSENT), 'status': (INTEGER, ABSENT), 'error': (TEXT, ABSENT),
    'note': (TEXT, ABSENT), 'oomKilled': (BOOLEAN, ABSENT), 'cpuMs': (NONNEGATIVE_MS, ABSENT),
    'maxRssKb': (INTEGER, ABSENT), 'finishStatus': (TEXT, ABSENT)
}
EXIT = record(at=(MOMENT, REQUIRED), **OF_EXIT)
EXIT_RECORD = record(**{'$schema': (TEXT, ABSENT)}, supervisorId=(IDENT, REQUIRED), startId=(START_ID, REQUIRED),
                     phase=(one_of('reserved', 'exec', 'ended'), REQUIRED), pid=(INTEGER, 0),
                     process=(PROCESS, ABSENT), keeperSignalled=(BOOLEAN, False),
                     at=(MOMENT, ABSENT), **OF_EXIT)
STOP_FOR = record(reason=(TEXT, REQUIRED), detail=(TEXT, ABSENT),
                  then=(one_of('restart', 'dead', 'park', 'stopped'), REQUIRED))
SPAN = record(at=(MOMENT, REQUIRED), until=(MOMENT, REQUIRED), by=(TEXT, ABSENT))
MAINTENANCE = record(at=(MOMENT, REQUIRED), until=(MOMENT, REQUIRED), by=(TEXT, ABSENT),
                     start=(BOOLEAN, False))
RESTART = one_of('permanent', 'transient', 'temporary')
OPTIONAL_TIMES = ('startedAt', 'progressAt', 'runningSince', 'goneSince', 'firstFailedAt',
                  'failedAt', 'nextAttemptAt', 'stopRequestedAt', 'termSentAt')
CANNOT_RUN = record(at=(MOMENT, REQUIRED), message=(TEXT, REQUIRED), trouble=(BOOLEAN, False))
HEALTH = record(passed=(BOOLEAN, False), failures=(INTEGER, 0), output=(TEXT, ''),
                cannotRun=(CANNOT_RUN, ABSENT))
CHECKED = record(at=(MOMENT, REQUIRED), beat=(BEAT, ABSENT))
RESULT = record(supervisorId=(IDENT, REQUIRED), startId=(START_ID, ABSENT), passed=(BOOLEAN, False),
                output=(TEXT, ''))
SERVICE = null_is_absent(
    record(supervisorId=(IDENT, REQUIRED), order=(REVISION, 0),
           startInfo=(nullable(START_INFO), None),
           restartable=(BOOLEAN, lambda entry: entry.get('startInfo') is not None),
           state=(one_of(*STATES), REQUIRED), pid=(nullable(INTEGER), None),
           lastHeartbeat=(nullable(MOMENT), None), dependencies=(array(IDENT), []),
           restart=(RESTART, 'permanent'),
           dependenciesCompleted=(array(IDENT), []), retries=(INTEGER, 0),
           persistentRow=(INTEGER, 0), restarts=(array(MOMENT), []),
           readiness=(READY, 'ready'), note=(TEXT, ''), restartAttempts=(INTEGER, 0),
           lastRestartAttempt=(nullable(MOMENT), None), killTimeoutMs=(NONNEGATIVE_MS, 5000),
           heartbeats=(BOOLEAN, False), process=(PROCESS, ABSENT), beat=(BEAT, ABSENT),
           grace=(GRACE, ABSENT), startedAt=(MOMENT, ABSENT), attempt=(INTEGER, 0),
           generation=(REVISION, 0), startedBeat=(BEAT, ABSENT), progressAt=(MOMENT, ABSENT), progressBeat=(BEAT, ABSENT),
           asked=((asks, lambda value: {k: ASK[1](v) for k, v in value.items()}), ABSENT),
           paused=(PAUSE, ABSENT), pausedMs=(NONNEGATIVE_MS, 0),
           health=(HEALTH, ABSENT), startId=(START_ID, ABSENT), keeper=(PROCESS, ABSENT), logDevice=(INTEGER, 0), logInode=(INTEGER, 0),
           startedWith=(START_INFO, ABSENT), starting=(BOOLEAN, False), runningSince=(MOMENT, ABSENT),
           goneSince=(MOMENT, ABSENT), goneBeat=(BEAT, ABSENT), firstFailedAt=(MOMENT, ABSENT),
           failedAt=(MOMENT, ABSENT),
           nextAttemptAt=(MOMENT, ABSENT), restartPending=(BOOLEAN, False),
           blockedBy=(TEXT, ABSENT), restartCause=(IDENT, ABSENT), stopFor=(STOP_FOR, ABSENT),
           stopRequestedAt=(MOMENT, ABSENT), startAgain=(BOOLEAN, False),
           stoppedBy=(TEXT, ABSENT), onDead=(one_of('alert', 'escalate'), 'alert'),
           significant=(BOOLEAN, False),
           removeAfterStop=(BOOLEAN, False),
           alertOn=(one_of('all', 'final'), 'all'), keepEndedMs=(POSITIVE_MS, ABSENT),
           termSentAt=(MOMENT, ABSENT), termSentBeat=(BEAT, ABSENT),
           silence=(SPAN, ABSENT), maintenance=(MAINTENANCE, ABSENT),
           spent=(AMOUNTS, {}), spentTotal=(AMOUNTS, {}), violations=(array(VIOLATION), []),
           ended=(EXIT, ABSENT),
           lastExit=(EXIT, ABSENT)), *OPTIONAL_TIMES, 'startedWith')
ALERT = record(seq=(whole(1, 2**62), REQUIRED), type=(TEXT, ABSENT), supervisorId=(IDENT, ABSENT),
               message=(TEXT, ABSENT), timestamp=(MOMENT, REQUIRED), silenced=(BOOLEAN, False))
STRATEGIES = ('one_for_one', 'one_for_all', 'rest_for_one')
RULE = record(match=((read_match, str), REQUIRED), action=(ACTION, REQUIRED))
ON_INTENSITY = ('escalate', 'park', 'delay')
AUTO_SHUTDOWN = ('never', 'any_significant', 'all_significant')
ON_EXIT = ('none', 'pass')
LOG = ('files', 'journal')
LIMIT = ('intensity', 'intensityPeriodMs', 'onIntensity')


def policy(**state):
    """Return the record of the settings of a group, beside members that are its state."""
    members = record(strategy=(one_of(*STRATEGIES), ABSENT), window=(POSITIVE, ABSENT),
                     intensity=(INTEGER, ABSENT), intensityPeriodMs=(DURATION, ABSENT),
                     onIntensity=(one_of(*ON_INTENSITY), ABSENT),
                     autoShutdown=(one_of(*AUTO_SHUTDOWN), ABSENT),
                     onExit=(one_of(*ON_EXIT), ABSENT), log=(one_of(*LOG), ABSENT),
                     rules=(array(RULE), ABSENT), **state)
    return all_or_none(members, *LIMIT)


def read_parent(value, path):
    text = TEXT[0](value, path)
    group, _, service = text.partition('/')
    for word in (group, service):
        IDENT[0](word, path)
    return text


SETTINGS = policy()
SUPERVISION = all_or_none(policy(
    restarts=(array(MOMENT), ABSENT), blocked=(TEXT, ABSENT), short=(TEXT, ABSENT), set=(array(IDENT), ABSENT),
    reason=(TEXT, ABSENT), message=(TEXT, ABSENT),
                     state=(one_of('running', 'ending', 'ended'), ABSENT),
                     endedAt=(nullable(MOMENT), ABSENT), parent=((read_parent, str), ABSENT),
                     generation=(REVISION, ABSENT)), 'parent', 'generation')
USUAL_SUPERVISION = {'autoShutdown': 'never', 'onExit': 'none', 'log': 'files', 'state': 'running', 'reason': '', 'message': '',
                     'endedAt': None, 'restarts': [], 'set': [], 'rules': []}
REGISTRY = record(**{'$schema': (TEXT, ABSENT)}, protocolVersion=(POSITIVE, 1), revision=(REVISION, 0),
                  owner=(nullable(IDENT), None),
                  supervision=(SUPERVISION, ABSENT),
                  supervisors=(keyed(SERVICE, 'supervisorId'), REQUIRED),
                  alertSeq=(REVISION, 0), alertsGiven=(REVISION, ABSENT),
                  alertTries=(alerts.TRIES, ABSENT), alertsLost=(array(REVISION), []),
                  pendingAlerts=(array(ALERT), []), events=(array(EVENT), []),
                  audit=(CHAIN, ABSENT))
ORCHESTRATOR = record(**{'$schema': (TEXT, ABSENT)}, protocolVersion=(POSITIVE, 1), orchestrationGroupId=(IDENT, REQUIRED),
                      revision=(REVISION, 0), orchestratorPid=(nullable(INTEGER), None),
                      orchestratorHeartbeat=(nullable(MOMENT), None),
                      state=(one_of('starting', 'running', 'shuttingDown', 'stopped'), REQUIRED),
                      heartbeatIntervalMs=(DURATION, 2000), stalenessThresholdMs=(DURATION, 10000),
                      beat=(BEAT, ABSENT), periodMs=(NONNEGATIVE_MS, 0),
                      hostId=(TEXT, ABSENT), failover=(BOOLEAN, ABSENT),
                      checks=((last_checks, lambda value: {k: CHECKED[1](v) for k, v in value.items()}), ABSENT))


# Services files (§31.1)

DECLARATION = record(supervisorId=(IDENT, REQUIRED), startInfo=(START_INFO, REQUIRED),
                     restartable=(BOOLEAN, True), dependencies=(array(IDENT), []),
                     killTimeoutMs=(NONNEGATIVE_MS, 5000), heartbeats=(BOOLEAN, False),
                     restart=(RESTART, 'permanent'), dependenciesCompleted=(array(IDENT), []),
                     onDead=(one_of('alert', 'escalate'), 'alert'), significant=(BOOLEAN, False),
                     alertOn=(one_of('all', 'final'), 'all'), keepEndedMs=(POSITIVE_MS, ABSENT))
SERVICES = record(**{'$schema': (TEXT, ABSENT)}, protocolVersion=(POSITIVE, 1),
                  supervision=(SETTINGS, ABSENT),
                  supervisors=(keyed(DECLARATION, 'supervisorId'), REQUIRED))


def decode_services(text, directory):
    """Return the content of a services file in directory: its supervisors and supervision, or None.

    Refused: corrupt, newerVersion.
    """
    value = parse(text)
    refuse_newer(value)
    if isinstance(value, dict):
        refuse_unknown(SERVICES, value, '')
        if isinstance(value.get('supervision'), dict):
            refuse_unknown(SETTINGS, value['supervision'], '/supervision')
        entries = value.get('supervisors')
        for key, entry in entries.items() if isinstance(entries, dict) else ():
            refuse_unknown(DECLARATION, entry, below('/supervisors', key))
    file = SERVICES[0](value, '')
    services = file['supervisors']
    for key, entry in services.items():
        if 'group' in entry['startInfo']:
            continue
        given = value['supervisors'][key]['startInfo'].get('workingDirectory', '.')
        entry['startInfo']['workingDirectory'] = os.path.normpath(os.path.join(directory, given))
    return services, file.get('supervision')


def decode_registry(text):
    """Return the registry in text (bytes or str). Refused: corrupt, newerVersion."""
    value = parse(text)
    refuse_newer(value)
    registry = REGISTRY[0](value, '')
    if 'supervision' in registry:  # what is not written, and an empty one, count as absent
        kept = {name: value for name, value in registry.pop('supervision').items()
                if name not in USUAL_SUPERVISION or value != USUAL_SUPERVISION[name]}
        if kept:
            registry['supervision'] = kept
    return registry


def decode_orchestrator(text, group=None):
    """Return the orchestrator's file in text, which is named after group.

    Refused: corrupt, newerVersion.
    """
    value = parse(text)
    refuse_newer(value)
    result = ORCHESTRATOR[0](value, '')
    if group is not None and result['orchestrationGroupId'] != group:
        raise corrupt('/orchestrationGroupId', f'differs from the file name {quote(group)}')
    return result


def encode_registry(registry):
    return write(REGISTRY[1](registry)) + '\n'


def encode_orchestrator(orchestrator):
    return write(ORCHESTRATOR[1](orchestrator)) + '\n'


# What an observer sees (§10)

@dataclasses.dataclass
class Observation(protocol.Observation):
    """survivors(entry) returns whether the exited process of a service has survivors (§11.6).

    used(entry) returns what the processes of a service that is alive have used: name → number (§27.2).
    kept(entry) returns a living process of another start of a service, or None (§11.3).
    """
    survivors: Callable = lambda entry: False
    used: Callable = lambda entry: {}
    kept: Callable = lambda entry: None


@dataclasses.dataclass
class Outcome:
    orchestrator: Optional[dict] = None  # None: that file does not change
    registry: Optional[dict] = None
    status: int = 0
    standby: bool = False
    # the ids of the services that a restart restarts
    again: list = dataclasses.field(default_factory=list)
    removed: list = dataclasses.field(default_factory=list)  # the services that tidy removes
    plan: list = dataclasses.field(default_factory=list)  # what registerAll does
    cleared: bool = False  # first copy the registry, as it was, to the archive
    remembered: Optional[Sightings] = None  # the sightings to keep
    actions: list = dataclasses.field(default_factory=list)
    rotate: list = dataclasses.field(default_factory=list)  # the services whose logs are due
    environment: dict = dataclasses.field(default_factory=dict)  # of a start
    # the start ids of the exit records that must stay after the pass (§19.4)
    needed: list = dataclasses.field(default_factory=list)
    gives: list = dataclasses.field(default_factory=list)  # the alerts that a hook gets
    up_to: int = 0  # the number of the last alert that is settled when it has got them


PASS_BEAT, TERM_SENT = ('orchestratorHeartbeat', 'beat'), ('termSentAt', 'termSentBeat')
STARTED, PROGRESS = ('startedAt', 'startedBeat'), ('progressAt', 'progressBeat')
STARTED = ('startedAt', 'startedBeat')
GONE = ('goneSince', 'goneBeat')


def times(orchestrator, registry):
    """Return the times of a group whose age matters, each with the beat that counts (§18).

    Either file may be None.
    """
    if orchestrator:
        yield orchestrator['orchestratorHeartbeat'], beat_of(orchestrator, *PASS_BEAT)
        for checked in orchestrator.get('checks', {}).values():
            yield checked['at'], beat_of(checked, 'at', 'beat')
    for entry in registry['supervisors'].values() if registry else ():
        yield from times_of_heartbeat(entry)
        yield entry.get('termSentAt'), beat_of(entry, *TERM_SENT)
        yield entry.get('goneSince'), beat_of(entry, *GONE)
        if has_clock(entry):
            yield entry.get('startedAt'), beat_of(entry, *STARTED)
            yield entry.get('progressAt'), beat_of(entry, *PROGRESS)
            for ask in entry.get('asked', {}).values():
                yield ask['at'], beat_of(ask, 'at', 'beat')
        if 'paused' in entry:
            yield entry['paused']['at'], beat_of(entry['paused'], 'at', 'beat')


def has_clock(entry):
    """Return whether the ages of a process of entry matter (§26.2)."""
    return any(name in (entry['startInfo'] or {}) for name in (*CLOCKS, 'health'))


def can_check(entry, seen):
    process = identity(entry)
    return bool(process) and seen.checks(process)


def checked(entry, seen):
    return children.is_group(entry) or can_check(entry, seen)


def alive(entry, seen):
    if children.is_group(entry):
        return children.begun(entry)
    return can_check(entry, seen) and seen.presence(identity(entry)) != 'gone'


def held(entry, seen):
    """Return whether entry is alive or has survivors of a process that a pass started."""
    return alive(entry, seen) or survived(entry, seen)


def told(exit_):
    """Return what alerts and events say about the end of a process (§9.4)."""
    code, status = exit_.get('code'), exit_.get('status', 0)
    how = {
        None: '', '': '', 'killed': f': signal {status}',
        'dumped': f': signal {status}, core dumped'
    }.get(code, f': status {status}')
    if exit_.get('oomKilled'):
        how += ', out of memory'
    if exit_.get('finishStatus', '0') not in ('', '0'):
        how += f', finish {exit_["finishStatus"]}'
    detail = f': {exit_["detail"]}' if exit_.get('detail') else ''
    error = f': {exit_["error"]}' if exit_.get('error') else ''
    return exit_.get('reason', '') + detail + how + error


def checkpoint(entry):
    """Return the last note of the process, or of one before it, or None (§29.1)."""
    return entry['note'] or entry.get('lastExit', {}).get('note') or None


def died_at(entry, now):
    """Return when the process, which has ended, died, or None if that is not known (§11.2)."""
    at = entry.get('ended', {}).get('at')
    return at if at is not None and entry.get('startedAt', at) <= at <= now else None


def begun_at(entry, now):
    """Return since when the process of entry, which is alive, has run (§11.3)."""
    began = entry.get('startedAt')
    known = began is not None and began <= now and 'preflight' not in (entry['startInfo'] or {})
    return began if known else now


def recover(entry, since, at):
    """Forget the attempts of entry if it was healthy at that time (§11.2)."""
    policy = (entry['startInfo'] or {}).get('restartPolicy') or POLICY[0]({}, '')
    if since is not None and at - since > policy['resetAfterMs']:
        forget_attempts(entry)


def recover_at_death(entry, now):
    """Forget the attempts of entry if it was healthy when it died. False: nobody knows when."""
    died = died_at(entry, now)
    if died is None:
        return False
    began = entry['ended'].get('code') and entry['ended'].get('reason') != 'preflight'
    recover(entry, entry.get('runningSince', entry.get('startedAt') if began else None), died)
    return True


def forget_attempts(entry):
    entry.update(restartAttempts=0, retries=0, persistentRow=0)
    drop(entry, 'firstFailedAt')


def forget_limits(entry):
    forget_attempts(entry)
    entry['restarts'] = []


def window(times_, period, now):
    """Return times_ in order, without those after now or longer than period before the last."""
    past = sorted(each for each in times_ if each <= now)
    return [each for each in past if each >= past[-1] - period]


def count(entry, now):
    """Count a failure in what limits the restarts of entry (§20.4, §21.2)."""
    exit_, policy = entry['lastExit'], (entry['startInfo'] or {}).get('restartPolicy', {})
    if 'intensityPeriodMs' in policy and charged(entry) and not completes(entry):
        entry['restarts'] = window(entry['restarts'] + [exit_['at']],
                                   policy['intensityPeriodMs'], now)
    if 'deadlineMs' in policy and not completes(entry):
        entry.setdefault('firstFailedAt', exit_['at'])
    persistent = exit_.get('class') == 'persistent'
    entry['persistentRow'] = entry['persistentRow'] + 1 if persistent else 0


def survived(entry, seen):
    return 'startId' in entry and can_check(entry, seen) and bool(seen.survivors(entry))


def about(record, entry):
    """Return whether an exit record is about the current process of entry (§19.2)."""
    one, other = identity(record), identity(entry)
    return (record['supervisorId'] == entry['supervisorId']
            and record['startId'] == entry['startId'] and record['pid'] == (entry['pid'] or 0)
            and (same(one, other) if one and other else one == other))


def foreign(entry, seen):
    """Return whether the process is on another host or in another pid namespace of this boot."""
    process = None if children.is_group(entry) else identity(entry)

    def other(name):
        return bool(process[name] and getattr(seen, name)) and process[name] != getattr(seen, name)
    if not process or not process['hostId']:
        return False
    return (process['hostId'] != seen.hostId
            or process['bootId'] == seen.bootId and other('pidNamespace'))


def orchestrator_heard(orchestrator, seen):
    """§11.1, with the threshold in the file."""
    since = orchestrator['orchestratorHeartbeat']
    if since is None or orchestrator['state'] == 'stopped':
        return False
    return abs(age(orchestrator, seen, *PASS_BEAT)) <= orchestrator['stalenessThresholdMs']


def drop(entry, *names):
    """Give the named members of a service their defaults."""
    for name in names:
        if name in DEFAULTS:
            entry[name] = DEFAULTS[name]
        else:
            entry.pop(name, None)


DEFAULTS = {
    'pid': None, 'lastHeartbeat': None, 'attempt': 0, 'starting': False, 'restartPending': False,
    'startAgain': False, 'removeAfterStop': False, 'readiness': 'ready', 'note': '',
    'spent': {}, 'pausedMs': 0, 'logDevice': 0, 'logInode': 0
}
FAILURE = ('failedAt', 'nextAttemptAt', 'restartPending', 'blockedBy', 'restartCause', 'stopFor')
RENEWED = FAILURE + ('termSentAt', 'stoppedBy')  # §10.1, 3
OF_PROCESS = ('startedAt', 'attempt', 'startId', 'keeper', 'logDevice', 'logInode', 'startedWith',
              'starting', 'runningSince', 'goneSince', 'termSentAt', 'ended', 'readiness', 'note',
              'progressAt', 'asked', 'paused', 'pausedMs', 'health', 'spent')


class Edit:
    """One edit of the registry: a copy, changed under one observation."""

    def __init__(self, registry, seen, by, threshold):
        self.given, self.registry = registry, copy.deepcopy(registry)
        self.seen, self.by, self.threshold = seen, by, threshold
        self.outcome = Outcome()
        self.noting = False  # it notes the result of a pass

    @property
    def services(self):
        return self.registry['supervisors']

    def supervise(self, **members):
        """Set members of supervision; one that is given as empty or None is removed."""
        kept = self.registry.pop('supervision', {}) | members
        kept = {name: value for name, value in kept.items()
                if name not in members or value not in (None, [])}
        if kept:
            self.registry['supervision'] = kept

    def open_set(self):
        return [key for key in self.registry.get('supervision', {}).get('set', [])
                if self.services.get(key, {'state': 'stopped'})['state'] not in DONE]

    def in_set(self, service):
        return service in self.registry.get('supervision', {}).get('set', ())

    def find(self, service):
        require(service in self.services, 'noSupervisor', f'no service {service}')
        return self.services[service]

    def event(self, service, from_, to, reason=None, type_='supervisorState', cause=None):
        event = {
            'revision': self.given['revision'] + 1, 'at': self.seen.now, 'type': type_,
            'supervisorId': service, 'from': from_, 'to': to, 'by': self.by, 'reason': reason,
            'causeId': cause
        }
        event = {k: v for k, v in event.items() if v is not None}
        self.registry['events'] = (self.registry['events'] + [event])[-64:]

    def set_state(self, entry, state, reason=None, cause=None):
        if entry['state'] != state:
            self.event(entry['supervisorId'], entry['state'], state, reason, cause=cause)
            entry['state'] = state

    def set_readiness(self, entry, readiness):
        if entry['readiness'] != readiness:
            self.event(entry['supervisorId'], entry['readiness'], readiness,
                       type_='supervisorReadiness')
            entry['readiness'] = readiness

    def alert(self, type_, service, message):
        """Raise an alert (§9.4), unless the service wants only those of its end (§30.2)."""
        entry = self.services.get(service, {})
        if entry.get('alertOn') == 'final' and type_ not in ('supervisorDead', 'silenceOver'):
            return
        self.registry['alertSeq'] += 1
        alert = {
            'seq': self.registry['alertSeq'], 'type': type_, 'supervisorId': service,
            'message': message, 'timestamp': self.seen.now,
            'silenced': spans.is_on(entry.get('silence'), self.seen.now)
        }
        self.registry['pendingAlerts'].append({k: v for k, v in alert.items() if v is not None})

    def alive(self, entry):
        return alive(entry, self.seen)

    def held(self, entry):
        return held(entry, self.seen)

    def evidence(self, entry):
        if children.is_group(entry):
            over = not children.begun(entry) and entry['lastHeartbeat'] is not None
            return 'exited' if over else None
        found = evidence(entry, self.seen, self.threshold)
        return None if found == 'stale' and is_paused(entry) else found

    def heard(self, entry):
        stale = is_paused(entry) and evidence(entry, self.seen, self.threshold) == 'stale'
        return entry['lastHeartbeat'] is not None and not self.evidence(entry) and not stale

    def ready(self, service):
        entry = self.services.get(service)
        if entry is None or entry['state'] == 'completed':
            return entry is not None
        return (entry['state'] == 'running' and not self.evidence(entry)
                and entry['readiness'] in CAN_BE_USED and not health.unproven(entry))

    def dependencies_ready(self, entry):
        completed = (self.services.get(key, {}).get('state') == 'completed'
                     for key in entry['dependenciesCompleted'])
        return all(map(self.ready, entry['dependencies'])) and all(completed)

    def taken(self, entry):
        return self.held(entry) or foreign(entry, self.seen) and self.heard(entry)

    def refuse_other_process(self, entry, process):
        other = process and self.taken(entry) and not same(identity(entry), process)
        require(not other, 'otherProcess', 'another process of it is there')

    def become_stopped(self, entry):
        """§11.4."""
        self.release(entry, 'stopped', 'stopped', None if is_told(entry) else 'stopped')

    def release(self, entry, state, reason, exit='stopped'):
        """Put entry into a state in which it has no process. exit: None if that is recorded."""
        self.set_state(entry, state, reason)
        if exit is not None:
            self.exited(entry, exit)
        if not foreign(entry, self.seen):
            drop(entry, 'pid', 'process')
        drop(entry, 'lastHeartbeat', 'beat', *OF_PROCESS, *FAILURE, 'stopRequestedAt',
             'startAgain', 'removeAfterStop')

    def removable(self, entry):
        """§10.2."""
        heard = entry['state'] not in FINAL and self.heard(entry)
        return not self.held(entry) and not heard

    def remove(self, entry):
        self.event(entry['supervisorId'], entry['state'], None)
        del self.services[entry['supervisorId']]

    def exited(self, entry, reason, detail=None):
        """Note the end of the process (§11.2), and what was reported about it (§10.6)."""
        died = died_at(entry, self.seen.now)
        at = self.seen.now if died is None else died
        ended = entry.pop('ended', {}) | {'at': at, 'reason': reason}
        ended |= {'detail': detail} if detail else {}
        set_optional(ended, 'class', class_of(entry, ended))
        set_optional(ended, 'note', checkpoint(entry))
        entry['lastExit'] = ended
        drop(entry, 'goneSince')

    def start_failed(self, entry, error, class_=None):
        """§11.5, 5."""
        entry['failedAt'] = self.seen.now
        failed = {'at': self.seen.now, 'reason': 'startFailed', 'error': error}
        set_optional(failed, 'class', class_)
        set_optional(failed, 'note', checkpoint(entry))
        entry['lastExit'] = failed
        count(entry, self.seen.now)
        drop(entry, 'pid', 'process', 'lastHeartbeat', 'beat', *OF_PROCESS)
        self.set_state(entry, 'failed', 'startFailed')
        self.tell_failed(entry)

    def tell_failed(self, entry):
        """Raise supervisorFailed, or after a shortage hostShort (§11.5)."""
        supervision = self.registry.get('supervision', {})
        if not is_short(entry):
            self.alert('supervisorFailed', entry['supervisorId'], told(entry['lastExit']))
        elif not supervision.get('short'):
            said = f'{entry["supervisorId"]}: {entry["lastExit"].get("error", "")}'
            self.alert('hostShort', None, said)
            self.supervise(short=said)

    def forget_shortage(self):
        """Remove short if no service waits because of it any more."""
        if not any(is_short(entry) and entry['state'] not in FINAL
                   and (entry['state'] != 'running' or entry['starting'])
                   for entry in self.services.values()):
            self.supervise(short=None)

    def finish(self, always=False):
        """Return the outcome. Its registry is None if nothing changed, unless always is true."""
        if always or self.registry != self.given:
            self.supervise(set=self.open_set())
            if not self.noting:
                require_room(self.given['revision'])
            for entry in self.services.values():
                drop_leftovers(entry, HEARTBEAT, TERM_SENT, STARTED, PROGRESS, GONE)
            self.registry['revision'] = self.given['revision'] + 1
            self.outcome.registry = self.registry
        return self.outcome


def ordered(services, keys=None):
    """Return keys, or the ids of all services, in order (§22.1)."""
    return sorted(services if keys is None else keys, key=lambda key: (services[key]['order'], key))


def dependents(services, service):
    """Return the ids of the services that depend on service, directly or not, except itself."""
    found, new = set(), {service}
    while new:
        new = {key for key, entry in services.items() if new & set(entry['dependencies'])} - found
        found |= new
    return found - {service}


def needs(entry):
    return entry['dependencies'] + entry['dependenciesCompleted']


def leads_back(services, service):
    """Return whether dependencies lead from service back to itself."""
    found, new = set(), {service}
    while new:
        new = {other for key in new if key in services
               for other in needs(services[key])} - found
        found |= new
    return service in found


# The verbs on services (§10). Their arguments have the names of the vectors: supervisor is the id
# of a service.

def clear(edit, orchestrator):
    """Start afresh (§10.1)."""
    lively = any(edit.held(entry) or edit.heard(entry) for entry in edit.services.values())
    if edit.services and not lively and not orchestrator_heard(orchestrator, edit.seen):
        edit.registry['supervisors'] = {}
        edit.supervise(**dict.fromkeys(RUN))
        edit.outcome.cleared = True


def register(orchestrator, registry, seen, supervisor, by=None, request=False, pid=None,
             process=None, readiness=None, startInfo=None, restartable=None, dependencies=None,
             killTimeoutMs=None, heartbeats=None, fresh=False, restart=None,
             dependenciesCompleted=None, alertOn=None, keepEndedMs=None, onDead=None,
             significant=None, resume=False):
    edit = Edit(registry, seen, by, orchestrator['stalenessThresholdMs'])
    if fresh:
        clear(edit, orchestrator)
    if resume:
        run_again(edit)
    require_running(edit)
    entry, others = edit.services.get(supervisor), edit.services.values()
    if entry is None:
        entry = SERVICE[0]({'supervisorId': supervisor, 'state': 'registered'}, '')
        entry |= {'state': None, 'order': 1 + max([0, *(other['order'] for other in others)])}
    require(entry['state'] != 'shuttingDown', 'shuttingDown', 'it is shutting down')
    if not request:
        group = children.is_group(entry) or 'group' in (startInfo or {})
        require(not group, 'otherProcess', 'it is a group')
        edit.refuse_other_process(entry, process)
        require(process or not edit.taken(entry) or edit.alive(entry), 'otherProcess',
                'it may be another process')
    require(not request or startInfo or entry['startInfo'], 'noStartInfo',
            'nobody knows how to start it')
    require(not startInfo or not two_classes(startInfo), 'twoClasses', 'a status is in two classes')
    children.refuse_change(edit, entry, startInfo)
    require_room(entry['order'] - 1 if entry['state'] is None else 0)
    edit.services[supervisor] = entry
    if startInfo is not None:
        restartable = True if restartable is None else restartable
        heartbeats = bool(heartbeats)
        if startInfo != entry['startInfo']:
            note_old_start(entry, startInfo)
    given = {'startInfo': startInfo, 'restartable': restartable, 'dependencies': dependencies,
             'killTimeoutMs': killTimeoutMs, 'heartbeats': heartbeats, 'restart': restart,
             'dependenciesCompleted': dependenciesCompleted, 'alertOn': alertOn,
             'keepEndedMs': keepEndedMs, 'onDead': onDead, 'significant': significant}
    entry |= {name: value for name, value in given.items() if value is not None}
    require(not entry['significant'] or entry['restart'] != 'permanent', 'significant',
            'a permanent service never ends')
    given = dependencies is not None or dependenciesCompleted is not None
    require(not given or not leads_back(edit.services, supervisor), 'cycle',
            'it would depend on itself')
    if request:
        register_request(edit, entry)
    else:
        register_itself(edit, entry, pid, process, readiness)
    return edit.finish()


def note_old_start(entry, start_info):
    """§10.1, 2: note what the process was started with."""
    was = entry.get('startedWith') or entry['startInfo']
    otherwise = was and any(was.get(name) != start_info.get(name)
                            for name in (*OF_COMMAND, 'group'))
    entry.pop('asked', None)
    set_optional(entry, 'startedWith', was if otherwise and 'startedAt' in entry else None)


def register_request(edit, entry):
    """§10.1, 3."""
    if entry['state'] in (*FINAL, 'failed'):
        forget_limits(entry)
        if entry['state'] == 'failed' and 'stopFor' in entry and edit.held(entry):
            entry['stopFor']['then'] = 'restart'
            return
        drop(entry, *RENEWED)
    if entry['state'] in (None, *FINAL, 'failed'):
        edit.set_state(entry, 'registered')


def register_itself(edit, entry, pid, process, readiness):
    """§10.1, 4."""
    own, was_alive, state = identity(entry), edit.alive(entry), entry['state']
    known = bool(own and process and same(own, process))
    if not known and not was_alive:
        entry['pid'] = pid or None
        set_optional(entry, 'process', process)
        drop(entry, *OF_PROCESS, *(['stopFor'] if state == 'running' else []))
    beat_now(entry, edit.seen)
    entry['starting'] = False
    being_stopped = state in ('failed', 'restartScheduled') and (
        was_alive and ('termSentAt' in entry or 'stopFor' in entry)
        or edit.in_set(entry['supervisorId']))
    ready = edit.dependencies_ready(entry)
    if state != 'running' and not being_stopped:
        if state in (*FINAL, 'failed'):
            forget_limits(entry)
        waits_on = state == 'waitingForDependencies' and not ready
        drop(entry, *(name for name in RENEWED if not (waits_on and name == 'blockedBy')))
        edit.set_state(entry, 'running' if ready else 'waitingForDependencies')
    if entry['state'] == 'running':
        ran = state == 'running'
        entry.setdefault('runningSince', begun_at(entry, edit.seen.now) if ran else edit.seen.now)
    if readiness is not None and state is None:
        entry['readiness'] = readiness
    elif readiness is not None:
        edit.set_readiness(entry, readiness)


def remove(orchestrator, registry, seen, supervisor, by=None):
    """§10.2."""
    edit = Edit(registry, seen, by, orchestrator['stalenessThresholdMs'])
    entry = edit.find(supervisor)
    require(edit.removable(entry), 'stillRunning', f'{supervisor} is still running')
    others = [key for key, other in edit.services.items()
              if key != supervisor and supervisor in needs(other)]
    require(not others, 'hasDependents', f'{", ".join(others)} depend on {supervisor}')
    edit.remove(entry)
    return edit.finish()


def tidy(orchestrator, registry, seen, by=None):
    """§30.1."""
    edit = Edit(registry, seen, by, orchestrator['stalenessThresholdMs'])
    removed, more = [], True
    while more:
        more = [key for key in ordered(edit.services) if tidied(edit, key)]
        removed += more
    outcome = edit.finish()
    outcome.removed = removed
    return outcome


def tidied(edit, key):
    """Remove a service that has ended long ago, and return whether it was."""
    entry = edit.services[key]
    ended = entry.get('lastExit', {}).get('at')
    keep = entry.get('keepEndedMs', 3600000 if entry['restart'] == 'temporary' else None)
    needed = any(key in needs(other) for name, other in edit.services.items() if name != key)
    if (entry['state'] not in FINAL or keep is None or ended is None
            or edit.seen.now - ended < keep or needed or not edit.removable(entry)):
        return False
    edit.remove(entry)
    return True


# The names of the variables that a registration records, besides LC_* (§11.6).
SINCE_YEAR_1 = 62135596800000  # ms from 0001-01-01, a Monday, to 1970
RECORDED = ('PATH', 'HOME', 'USER', 'LOGNAME', 'SHELL', 'LANG', 'LANGUAGE', 'TZ')


def register_all(orchestrator, registry, seen, services, supervision=None, by=None,
                 environment=None, umask=None, prune=False, resume=False):
    """§31.2. environment and umask are what this registration records."""
    recorded = {'environment': environment or {}, 'umask': umask}
    for key, declared in services.items():
        require(not two_classes(declared['startInfo']), 'twoClasses', key)
        require(not declared['significant'] or declared['restart'] != 'permanent', 'significant',
                key)
    edit = Edit(registry, seen, by, orchestrator['stalenessThresholdMs'])
    if resume:
        run_again(edit)
    require_running(edit)
    for key, declared in services.items():
        if key in edit.services:
            children.refuse_change(edit, edit.services[key], declared['startInfo'])
        edit.outcome.plan.append(declare(edit, key, declared, recorded))
    for key in ordered(edit.services, set(edit.services) - set(services)) if prune else ():
        edit.outcome.plan.append(prune_service(edit, edit.services[key]))
    if supervision is not None:
        edit.outcome.plan += settle(edit, supervision)
    arrange(edit, edit.outcome.plan[:len(services)])
    for key in services:
        for other in needs(edit.services[key]):
            there = other in edit.services and not edit.services[other]['removeAfterStop']
            require(there, 'noDependency', f'{key} depends on {other}')
        require(not leads_back(edit.services, key), 'cycle', f'{key} would depend on itself')
    plan = edit.outcome.plan
    outcome = edit.finish()
    outcome.plan = plan
    return outcome


def settle(edit, settings):
    """Give the group the settings of a file, and return what changes."""
    was = edit.registry.get('supervision', {})
    settings = {name: value for name, value in settings.items()
                if USUAL_SUPERVISION.get(name) != value}
    changed = [name for name in SETTINGS.fields if was.get(name) != settings.get(name)]
    if not changed:
        return []
    limited = {} if 'intensity' in settings else {'restarts': None}
    edit.supervise(**{name: settings.get(name) for name in changed} | limited)
    return [{'action': 'change', 'members': sorted('supervision.' + name for name in changed)}]


def declare(edit, key, declared, recorded):
    entry = edit.services.get(key)
    if entry is None:
        entry = SERVICE[0]({'supervisorId': key, 'state': 'registered'}, '')
        entry['state'] = None
        edit.services[key] = entry
        entry |= as_declared(declared, recorded)
        register_request(edit, entry)
        return {'supervisorId': key, 'action': 'add'}
    old = entry['startInfo'] or {}
    earlier = {'umask': old.get('umask'), 'environment': {
        name: value for name, value in old.get('environment', {}).items()
        if name in RECORDED or name.startswith('LC_')}}
    if changes(entry, as_declared(declared, earlier)):
        new = as_declared(declared, recorded)
        plan = {'supervisorId': key, 'action': 'change', 'members': changes(entry, new)}
        if entry['startInfo'] != new['startInfo']:
            note_old_start(entry, new['startInfo'])
        for name in set(DECLARATION.fields) - set(new):
            entry.pop(name, None)
        entry |= new
        register_request(edit, entry)
        if entry['state'] == 'shuttingDown':
            entry['startAgain'] = True
            entry.pop('stoppedBy', None)
        return plan
    return {'supervisorId': key, 'action': 'keep'}


def arrange(edit, plan):
    """Put the services of plan in its order."""
    before = -1
    for planned in plan:
        entry = edit.services[planned['supervisorId']]
        if planned['action'] == 'add' or entry['order'] <= before:
            last = max(other['order'] for other in edit.services.values())
            require_room(last)
            entry['order'] = last + 1
            if planned['action'] != 'add':
                planned['members'] = sorted(planned.get('members', []) + ['order'])
                planned['action'] = 'change'
        before = entry['order']


def as_declared(declared, recorded):
    """Return the members of an entry that declared sets, with what is recorded."""
    info = declared['startInfo']
    if 'group' in info:
        return declared | {'removeAfterStop': False}
    own = info['environment']
    around = {name: value for name, value in recorded['environment'].items() if name not in own}
    info = info | {'environment': around | own}
    if recorded['umask'] is not None:
        info = {'umask': recorded['umask']} | info
    return declared | {'startInfo': info, 'removeAfterStop': False}


def changes(entry, new):
    """Return the members of entry that change with the members new, as in a plan."""
    stays = {name: value for name, value in entry.items() if name not in DECLARATION.fields}
    before, after = (SERVICE[1](each) for each in (entry, stays | new))
    return sorted(differences(before, after))


def differences(before, after, within=''):
    for name in [*after, *(name for name in before if name not in after)]:
        one, other = before.get(name), after.get(name)
        if isinstance(one, dict) and isinstance(other, dict):
            yield from differences(one, other, f'{within}{name}.')
        elif one != other:
            yield within + name


def prune_service(edit, entry):
    """§31.3."""
    key = entry['supervisorId']
    if edit.removable(entry):
        edit.remove(entry)
        return {'supervisorId': key, 'action': 'remove'}
    ask_to_stop(edit, entry)
    entry.update(startAgain=False, removeAfterStop=True)
    return {'supervisorId': key, 'action': 'remove', 'afterStop': True}


def beat(orchestrator, registry, seen, supervisor, pid=None, process=None, readiness=None,
         note=None, heartbeats=False, progress=False, spend=None):
    """§10.3."""
    edit = Edit(registry, seen, supervisor, orchestrator['stalenessThresholdMs'])
    entry = edit.find(supervisor)
    require(not children.is_group(entry), 'otherProcess', 'it is a group')
    edit.refuse_other_process(entry, process)
    if (entry['state'] in FINAL
            or not process and gone(entry, entry['lastHeartbeat'], seen)):
        return Outcome(status=5)
    own = identity(entry)
    beat_now(entry, seen)
    entry.update(starting=False, heartbeats=entry['heartbeats'] or heartbeats)
    if not own and pid or own and process and not same(own, process):
        entry['pid'] = pid
        set_optional(entry, 'process', process)
        if own:
            drop(entry, *OF_PROCESS, *(['stopFor'] if entry['state'] == 'running' else []))
    if (entry['state'] in ('failed', 'restartScheduled') and 'termSentAt' not in entry
            and 'stopFor' not in entry and not edit.in_set(supervisor)):
        drop(entry, *FAILURE)
        edit.set_state(entry, 'running')
        entry['runningSince'] = seen.now
    if entry['state'] == 'running':
        entry.setdefault('runningSince', begun_at(entry, seen.now))
    if readiness is not None:
        require(readiness != 'idle' or entry['readiness'] in CAN_BE_USED, 'notReady',
                'it is not ready')
        edit.set_readiness(entry, readiness)
    if progress:
        beat_now(entry, seen, *PROGRESS)
        forget_ask(entry, 'progress')
    if note is not None:
        entry['note'] = note
        for ask in entry.get('asked', {}).values():
            ask['answered'] = True
        if not note:
            entry.get('lastExit', {}).pop('note', None)
    spend_more(entry, spend or {})
    ending = (entry['state'] in ('failed', 'restartScheduled', 'shuttingDown')
              or 'stopFor' in entry)
    asked = entry['state'] == 'running' and any(
        not ask.get('answered') for ask in entry.get('asked', {}).values())
    edit.outcome.status = 3 if ending else 6 if asked else 0
    return edit.finish(always=True)


def forget_ask(entry, clock):
    entry.get('asked', {}).pop(clock, None)
    if not entry.get('asked'):
        entry.pop('asked', None)


def spend_more(entry, amounts):
    """Add amounts, name → number, to what entry has spent (§27.1)."""
    for name, more in sorted(amounts.items()):
        for member in ('spent', 'spentTotal'):
            sum_ = min(entry[member].get(name, 0) + more, MOST_SPENT)
            entry[member] = entry[member] | {name: sum_}
    require(not amounts or len(entry['spentTotal']) <= MOST_NAMES, 'tooManyNames',
            'it has spent under too many names')


def report(orchestrator, registry, seen, supervisor, by, start=None, spend=None, violation=None,
           detail=None):
    """§27.3."""
    edit = Edit(registry, seen, by, orchestrator['stalenessThresholdMs'])
    entry = edit.find(supervisor)
    over = entry['state'] in FINAL or not entry['pid'] and entry['lastHeartbeat'] is None
    require(not over and start in (None, entry.get('startId')), 'otherStart',
            'the start that the report is about is over')
    spend_more(entry, spend or {})
    if violation is not None:
        violate(edit, entry, violation, detail)
    return edit.finish()


def violate(edit, entry, code, detail):
    """Record a violation, and begin what the rules say (§27.4)."""
    rules = edit.registry.get('supervision', {}).get('rules', [])
    action = next((rule['action'] for rule in rules if code == rule['match']
                   or rule['match'].endswith('*') and code.startswith(rule['match'][:-1])), 'log')
    seen, service, runs = edit.seen, entry['supervisorId'], entry['state'] == 'running'
    said = {'detail': detail} if detail else {}
    entry['violations'] = (entry['violations'] + [
        {'at': seen.now, 'code': code} | said | {'action': action, 'by': edit.by}
    ])[-KEPT_VIOLATIONS:]
    told = f'{code}: {detail}' if detail else code
    if action == 'notify':
        edit.alert('violation', service, told)
    elif action == 'warn' and runs:
        forget_ask(entry, 'violation')
        ask = entry.setdefault('asked', {})['violation'] = {}
        beat_now(ask, seen, 'at')
        edit.alert('supervisorNudged', service, f'violation: {code}')
    elif action == 'pause' and runs:
        if 'paused' not in entry:
            entry['paused'] = {}
            beat_now(entry['paused'], seen, 'at')
        entry['paused']['continue'] = False
        edit.alert('supervisorPaused', service, told)
    elif action == 'reap' and runs:
        entry.setdefault('stopFor', {'reason': 'violation', 'detail': code, 'then': 'dead'})


def continue_(orchestrator, registry, seen, supervisor, by):
    """Let a paused service go on (§27.6)."""
    edit = Edit(registry, seen, by, orchestrator['stalenessThresholdMs'])
    entry = edit.find(supervisor)
    if is_paused(entry):
        entry['paused']['continue'] = True
    return edit.finish()


def is_paused(entry):
    return entry['state'] == 'running' and 'paused' in entry


def go_on(entry, seen):
    """End the pause of entry, whose process has got its signal (§27.6)."""
    pause, info = entry.pop('paused'), entry['startInfo'] or {}
    entry['pausedMs'] = min(entry['pausedMs'] + max(0, age(pause, seen, 'at', 'beat')), LONGEST)
    for ask in entry.get('asked', {}).values():
        beat_now(ask, seen, 'at')
    runs = 'progressAt' in entry or 'startedAt' in entry
    if runs and ('progressSoftMs' in info or 'progressMaxMs' in info):
        beat_now(entry, seen, *PROGRESS)
    if entry['lastHeartbeat'] is not None:
        beat_now(entry, seen)


def take_ends(orchestrator, registry, seen, by, exits, chosen):
    """Return an edit that has done about ended services what a pass does first (§10.4)."""
    edit = Pass(registry, seen, by, orchestrator['stalenessThresholdMs'], False, False, None,
                orchestrator['orchestrationGroupId'], {})
    for key in ordered(edit.services, chosen):
        entry = edit.services[key]
        if (entry['state'] == 'running' and not children.is_group(entry)
                and not spans.rests(entry, seen.now)):
            edit.take_end(entry, exits or {})
    return edit


def shutdown(orchestrator, registry, seen, supervisor=None, by=None, only=False, all=False,
             exits=None):
    """§10.4."""
    services = registry['supervisors']
    family = set(services) if all else {supervisor, *dependents(services, supervisor)} & {*services}
    edit = take_ends(orchestrator, registry, seen, by, exits, family)
    running = set()
    if all:
        stop = set(edit.services)
    else:
        edit.find(supervisor)
        below = ((key, edit.services[key]) for key in family - {supervisor})
        running = {key for key, entry in below
                   if entry['state'] == 'running' or entry['startAgain']}
        require(not only or not running, 'hasDependents',
                f'{", ".join(ordered(edit.services, running))} depend on {supervisor}')
        stop = running | {supervisor}
    for key in ordered(edit.services, stop):
        entry = edit.services[key]
        entry['startAgain'] = False
        spans.may_start(entry, False)
        if (entry['state'] == 'completed' or did_its_work(entry)
                or entry['state'] == 'stopped' and not group_ends(edit)):
            continue
        if entry['state'] != 'stopped':
            if edit.may_run(entry):
                with_ = supervisor if key in running else None
                ask_to_stop(edit, entry, with_ and f'dependency: {with_}', with_)
            elif entry['removeAfterStop']:
                edit.remove(entry)
                continue
            else:
                edit.become_stopped(entry)
        entry['stoppedBy'] = entry.get('stoppedBy') or by
    return edit.finish()


def ask_to_stop(edit, entry, reason=None, cause=None):
    if entry['state'] != 'shuttingDown':
        drop(entry, *FAILURE)
        entry['stopRequestedAt'] = edit.seen.now
        edit.set_state(entry, 'shuttingDown', reason, cause)


def did_its_work(entry):
    """Return whether entry has ended as it may, and has yet to become completed (§20.3)."""
    return entry['state'] == 'failed' and completes(entry) and 'stopFor' not in entry


def restart(orchestrator, registry, seen, supervisor=None, by=None, only=False, all=False,
            completed=False, exits=None):
    """§10.5."""
    services = registry['supervisors']
    below = () if only else dependents(services, supervisor)
    family = set(services) if all else {supervisor, *below} & {*services}
    edit = take_ends(orchestrator, registry, seen, by, exits, family)
    if all and group_ends(edit):
        edit.supervise(**dict.fromkeys(RUN))
    require_running(edit)
    startable = {key for key, entry in edit.services.items() if entry['startInfo'] is not None}
    if all:
        chosen = {key for key in startable
                  if completed or not may_complete(edit, edit.services[key])}
    else:
        edit.find(supervisor)
        require(supervisor in startable, 'noStartInfo', 'nobody knows how to start it')
        running = {key for key in family if edit.services[key]['state'] == 'running'
                   and not may_complete(edit, edit.services[key])}
        chosen = running & startable | {supervisor}
    for key in ordered(edit.services, chosen):
        entry = edit.services[key]
        spans.may_start(entry, spans.is_on(entry.get('maintenance'), seen.now))
        if edit.may_run(entry):
            for other in needs(entry):
                resting = edit.given['supervisors'].get(other)
                require(resting is None or not spans.is_on(resting.get('maintenance'), seen.now)
                        or resting['state'] == 'completed' and other not in chosen,
                        'inMaintenance', f'{key} needs {other}')
            for other in needs(entry):
                require(other in chosen or comes_back(edit.given['supervisors'].get(other)),
                        'blocked', f'{key} needs {other}')
            ask_to_stop(edit, entry, 'restart')
            entry.update(startAgain=True, removeAfterStop=False)
            entry.pop('stoppedBy', None)
        elif entry['state'] not in ('registered', 'waitingForDependencies'):
            bring_back(edit, entry)
    edit.outcome.again = ordered(edit.services, chosen)
    return edit.finish()


def is_told(entry):
    """Return whether lastExit says how the process of entry has ended."""
    return entry['state'] in ('failed', 'restartScheduled') and 'stopFor' not in entry


def may_complete(edit, entry):
    """Return whether entry has completed, or will, or its end is awaited and may complete it."""
    awaited = (entry['supervisorId'], entry.get('startId')) in edit.awaited
    return (entry['state'] == 'completed' or did_its_work(entry)
            or entry['state'] == 'running' and entry['restart'] != 'permanent' and awaited)


def comes_back(entry):
    """Return whether entry runs or may run again, for the services that depend on it."""
    return (entry is not None and entry['state'] not in ('dead', 'stopped')
            and (entry['state'] != 'shuttingDown' or entry['startAgain']))


def bring_back(edit, entry):
    """Let the next pass start entry, which does not run."""
    if entry['state'] == 'running':
        edit.release(entry, 'registered', 'restart', edit.evidence(entry) or 'exited')
    elif entry['state'] == 'shuttingDown':
        edit.release(entry, 'registered', 'restart')
    else:
        edit.set_state(entry, 'registered', 'restart')
        drop(entry, *RENEWED)
    entry.pop('stoppedBy', None)
    forget_limits(entry)


END = ('state', 'reason', 'message', 'endedAt')  # members of supervision (§23)
RUN = (*END, 'restarts', 'parent', 'generation')  # of one run of the group


def group_ends(edit):
    """Return whether the group is ending or has ended."""
    return 'state' in edit.registry.get('supervision', {})


def require_running(edit):
    require(not group_ends(edit), 'groupEnded', 'the group has ended')


def resume(orchestrator, registry, seen, by=None):
    """§23.4."""
    edit = Edit(registry, seen, by, orchestrator['stalenessThresholdMs'])
    run_again(edit)
    return edit.finish()


def run_again(edit):
    if not group_ends(edit):
        return
    requested = edit.registry['supervision'].get('reason') == 'requested'
    edit.supervise(**dict.fromkeys(RUN))
    for key in ordered(edit.services):
        entry = edit.services[key]
        if requested and (entry['state'] == 'completed' or did_its_work(entry)):
            continue
        if entry['startInfo'] is None or entry.get('stoppedBy') or entry['removeAfterStop']:
            continue
        if entry['state'] == 'shuttingDown':
            entry['startAgain'] = True
        else:
            register_request(edit, entry)


def end(orchestrator, registry, seen, supervisor, pid=None, process=None, code=None, status=0,
        error=None, cpuMs=0, maxRssKb=0):
    """§10.6."""
    edit = Edit(registry, seen, supervisor, orchestrator['stalenessThresholdMs'])
    entry = edit.find(supervisor)
    own = identity(entry)
    same_process = same(own, process) if own and process else not own and not process
    if pid and pid == entry['pid'] and same_process and 'ended' not in entry:
        said = {'code': code, 'status': status} if code else {}
        entry['ended'] = {'at': seen.now, 'reason': 'exited'} | said
        if error:
            entry['ended']['error'] = error
        used = {'cpuMs': cpuMs, 'maxRssKb': maxRssKb}
        entry['ended'] |= {name: value for name, value in used.items() if value}
    return edit.finish()


# The pass (§11)

PARKED = 'intensity of the group'


def given_up(entry):
    """Return why entry, which has failed, is not restarted, or None (§20.4)."""
    if not entry['restartable'] or entry['startInfo'] is None:
        return 'not restartable'
    class_ = (entry.get('lastExit') or {}).get('class')
    policy = entry['startInfo']['restartPolicy']
    most = policy['maxAttempts']
    if entry['restart'] == 'temporary' or class_ == 'terminal':
        return 'temporary' if entry['restart'] == 'temporary' else 'terminal'
    if class_ == 'persistent' and entry['persistentRow'] > 1:
        return f'persistent, {entry["persistentRow"]} in a row'
    if charged(entry) and most != -1 and entry['restartAttempts'] >= most:
        return counted(entry['restartAttempts'], 'attempt')
    period = policy.get('intensityPeriodMs')
    ends_ = len(entry['restarts'])
    if period and charged(entry) and ends_ > policy['intensity']:
        return f'{counted(ends_, "end")} in {in_words(period)}'
    deadline = policy.get('deadlineMs')
    if (deadline and 'failedAt' in entry and 'firstFailedAt' in entry
            and restart_at(entry) > min(LAST, entry['firstFailedAt'] + deadline)):
        return f'deadline {in_words(deadline)}'
    return None


def counted(n, noun):
    """Return n and the noun, which is in the plural unless n is 1."""
    return f'{n} {noun}' if n == 1 else f'{n} {noun}s'


def in_words(milliseconds):
    return f'{milliseconds} ms' if milliseconds % 1000 else f'{milliseconds // 1000} s'


def delay(policy, n):
    """Return the delay numbered n, in milliseconds (§21.1)."""
    if 'backoff' in policy:
        grown = policy['backoff']
        return min(grown['initialMs'] * grown['factor']**min(n, 64), grown['maxMs'])
    intervals = policy['backoffIntervalsMs']
    return intervals[min(n, len(intervals) - 1)]


def restart_at(entry):
    """Return when entry, which has failed, is due to start again (§21.1)."""
    policy, n = entry['startInfo']['restartPolicy'], entry['restartAttempts'] + entry['retries']
    waits = delay(policy, n)
    if (entry.get('lastExit') or {}).get('class') == 'tempfail':
        waits = max(delay(policy, max(n, 1)), 1000)
    most = waits * policy['jitterPercent'] // 100
    return min(LAST, entry['failedAt'] + waits + (most * seed(entry) >> 64))


def seed(entry):
    """Return the 64 bits that decide about the jitter of the next start (§21.1)."""
    hash_, bits = 0xcbf29ce484222325, 2**64 - 1
    text = f'{entry["supervisorId"]}/{entry.get("startId", "")}/{entry["failedAt"]}'
    for byte in text.encode():
        hash_ = (hash_ ^ byte) * 0x100000001b3 & bits
    for factor in (0xff51afd7ed558ccd, 0xc4ceb9fe1a85ec53):
        hash_ = (hash_ ^ hash_ >> 33) * factor & bits
    return hash_ ^ hash_ >> 33


class Pass(Edit):
    def __init__(self, registry, seen, owner, threshold, failover, grants, exits,
                 group, children_seen):
        super().__init__(registry, seen, owner, threshold)
        self.failover, self.rebooted = failover, []
        self.order = ordered(self.services)
        # what is known of services: failed in this pass; (failedAt, nextAttemptAt); went on
        self.failing, self.due, self.well = {}, {}, set()
        self.together = sets.Together(set())
        self.refused = set()  # services for which the window has no place
        self.room = None  # how many starts of processes this pass may still make
        self.charging = limits.Charging([])
        self.ending = {}  # the members END of a group that ends
        self.gave_up = {}  # why services have died or completed in this pass
        self.completing, self.stood_by = set(), set()  # have done their work; wait for their set
        self.pristine, self.plans = None, {}  # see plan
        for entry in self.services.values():
            if grants and entry['state'] in ('running', 'shuttingDown'):
                grant(entry, seen, threshold)
        self.settled, self.awaited, self.unbegun, self.consumed = {}, set(), set(), set()
        self.unread = set()
        for entry in self.services.values() if exits is not None else ():
            self.learn_end(entry, exits)
        self.group = group
        self.children = {
            key: children.View(self, entry, children_seen.get(entry['startInfo']['group']))
            for key, entry in self.services.items() if children.is_group(entry)}
        for key, view in self.children.items():
            start = (key, self.services[key].get('startId'))
            if view.settled:
                self.settled[start] = view.settled
            if not view.shown:
                self.unbegun.add(start)
        for entry in self.services.values():
            if exits is not None and entry['state'] == 'running' and not children.is_group(entry):
                self.measure(entry)

    def judge_all(self, orchestrator, results):
        """Take in what health checks have found, and judge all services before any is changed."""
        health.learn(self, orchestrator, results)
        self.judged = copy.deepcopy(self.services)  # as they were, with the graces of this pass
        known = {key for entry in self.services.values() for key in needs(entry)}
        self.verdicts = {key: self.verdict(key) for key in known}

    def measure(self, entry):
        """Bring what entry has spent up to date, as far as its budget limits what is measured (§27.2)."""
        ended, now = entry.get('ended', {}), self.seen.used(entry) if super().alive(entry) else {}
        for name, recorded in (('cpuMs', 'cpuMs'), ('rssKb', 'maxRssKb')):
            used = min(max(ended.get(recorded, 0), now.get(name, 0)), MOST_SPENT)
            limits_it = name in (entry['startInfo'] or {}).get('budget', {})
            if limits_it and used > entry['spent'].get(name, 0):
                entry['spent'] = entry['spent'] | {name: used}

    # How a service ended (§19)

    def learn_end(self, entry, exits):
        """§19.3: take what the record of its start says into entry, before it is judged."""
        start = (entry['supervisorId'], entry.get('startId'))
        keeper = entry.get('keeper')
        if entry['state'] in FINAL or keeper is None or children.is_group(entry):
            return
        if spans.rests(entry, self.seen.now):
            return
        found = gone(entry, entry['lastHeartbeat'], self.seen)
        kept = self.seen.checks(keeper) and self.seen.presence(keeper) != 'gone'
        seen = self.seen.presence(identity(entry)) == 'present'
        if seen and not entry['starting']:
            return
        record, complete = exits.get(start[1], (None, False))
        if record == 'unreadable':
            self.awaited.add(start)
            self.unread.add(start)
            return
        if record is None or not about(record, entry):
            return
        phase = record['phase']
        if phase == 'ended' and (complete or found and not kept) and not seen:
            resources = {name: record[name] for name in USED if record.get(name)}
            told_itself = {name: value for name, value in entry.get('ended', {}).items()
                           if name not in USED}
            said = {name: record[name] for name in ('at', *OF_EXIT)
                    if name in record and name not in USED}
            if not is_told(entry):
                entry['ended'] = (told_itself or said) | resources
            entry['starting'] = False
            process = record.get('process') or {}
            here = all(process.get(name, '') == getattr(self.seen, name) for name in ('hostId', 'bootId'))
            shut_down = record['keeperSignalled'] and not here
            self.settled[start] = 'rebooted' if shut_down else record.get('reason') or 'exited'
            self.consumed.add(start)
        elif not found:
            if phase == 'reserved':
                self.unbegun.add(start)
        elif found == 'exited' and kept and self.awaits(entry):
            self.awaited.add(start)
        elif phase != 'reserved':
            entry['starting'] = False

    def awaits(self, entry):
        """Return whether a pass still has patience for the record of entry, which is gone."""
        info = entry['startInfo'] or {}
        patience = END_PATIENCE_MS + ('finish' in info and info.get('finishTimeoutMs', 5000))
        return 'goneSince' not in entry or 0 <= age(entry, self.seen, *GONE) < patience

    def take_end(self, entry, exits):
        """Do about a running service that has ended what a pass does first (§10.4)."""
        self.learn_end(entry, exits)
        found = self.evidence(entry)
        if (entry['supervisorId'], entry.get('startId')) in self.awaited:
            return
        if not self.settled_end(entry) and found not in ('exited', 'rebooted'):
            return
        self.measure(entry)
        if entry['starting'] and found in ('exited', 'rebooted'):
            return
        why = self.why_stop(entry, found)
        if why:
            self.fail(entry, why['reason'], why.get('detail'), True)
            entry['stopFor'] = why
        elif found != 'rebooted' or not self.outlives_reboot(entry):
            clock = self.soft_killed(entry) if found == 'exited' else None
            self.fail(entry, 'timeout' if clock else found, clock)
        else:
            return
        self.set_state(entry, 'failed', told(entry['lastExit']))

    def may_run(self, entry):
        """Return whether entry is held or heard, or its end is awaited."""
        awaited = (entry['supervisorId'], entry.get('startId')) in self.awaited
        return self.held(entry) or self.heard(entry) or awaited

    def settled_end(self, entry):
        return self.settled.get((entry['supervisorId'], entry.get('startId')))

    def alive(self, entry):
        return not self.settled_end(entry) and super().alive(entry)

    def held(self, entry):
        return self.alive(entry) or survived(entry, self.seen)

    def evidence(self, entry):
        return self.settled_end(entry) or super().evidence(entry)

    def ready(self, service):
        entry = self.services.get(service, {})
        if entry.get('state') == 'running' and service in self.children:
            return self.children[service].ready and not self.settled_end(entry)
        unbegun = entry.get('state') == 'running' and (service, entry.get('startId')) in self.unbegun
        return super().ready(service) and not unbegun

    def verdict(self, service):
        """Return the state of a dependency: ready, missing, dead, stopped or not ready.

        It is judged on the files as they were before the pass.
        """
        entry = self.services.get(service)
        if entry is None:
            return 'missing'
        if entry['state'] in ('dead', 'stopped'):
            return entry['state']
        return 'ready' if self.ready(service) else 'not ready'

    def all_ready(self, entry):
        return (all(map(self.ready_after, entry['dependencies']))
                and all(map(self.completed_after, entry['dependenciesCompleted'])))

    def completed(self, service):
        return self.given['supervisors'].get(service, {}).get('state') == 'completed'

    def plan(self, service):
        """Return the pass as it would be if it had only looked at service.

        None: a service on the way to this question depends on itself.
        """
        if service not in self.plans:
            self.plans[service] = None
            probe = copy.deepcopy(self.pristine)
            probe.pristine, probe.plans = self.pristine, self.plans
            probe.look_at(probe.services[service])
            self.plans[service] = probe
        return self.plans[service]

    def ready_after(self, service):
        """Return whether service is ready, and this pass neither stops nor restarts it."""
        if self.judged.get(service, {}).get('state') != 'running' \
                or self.verdicts[service] != 'ready':
            return self.completed_after(service)
        plan = self.plan(service)
        return plan is not None and service in plan.well and service not in plan.stood_by

    def completed_after(self, service):
        """Return whether service has completed by the end of this pass."""
        if self.judged.get(service, {}).get('state') not in ('completed', 'running', 'failed',
                                                             'restartScheduled'):
            return False
        plan = self.plan(service)
        return plan is not None and plan.services[service]['state'] == 'completed'

    def has_stopped(self, service):
        """Return whether service, which is being stopped, has ended by the end of this pass."""
        plan = self.plan(service)
        if plan is None:
            return False
        after = plan.services.get(service, {'state': 'stopped'})['state']
        return after in FINAL or self.judged[service]['state'] == 'shuttingDown' != after

    def block(self, entry, value):
        """Set blockedBy. It changes only if the file has another value."""
        set_optional(entry, 'blockedBy', value)
        given = self.given['supervisors'][entry['supervisorId']]
        if value is not None and value != given.get('blockedBy') \
                and not spans.waits_for_maintenance(entry):
            self.alert('supervisorBlocked', entry['supervisorId'], value)

    def fail(self, entry, reason, detail=None, stops=False):
        """§11.2."""
        if not recover_at_death(entry, self.seen.now) and stops:
            recover(entry, self.runs_since(entry), self.seen.now)
        lost = reason == 'stale' and self.failover and foreign(entry, self.seen)
        self.exited(entry, reason, detail)
        if lost:
            entry['lastExit']['class'] = 'hostLost'
        count(entry, self.seen.now)
        entry['failedAt'] = entry['lastExit']['at']
        if not self.alive(entry) and survived(entry, self.seen):
            entry['lastExit'].setdefault('error', 'processes of it are left')
        reason = told(entry['lastExit'])
        self.failing[entry['supervisorId']] = (
            entry['lastExit'].get('class') != 'tempfail' and not completes(entry)
            and given_up(entry) is None)
        drop(entry, 'runningSince', 'starting', 'nextAttemptAt', 'blockedBy', 'stopFor',
             'restartCause')
        if not completes(entry):
            self.set_state(entry, 'failed', reason)
            if entry['lastExit']['reason'] != 'preflight':
                self.tell_failed(entry)
        else:
            self.completing.add(entry['supervisorId'])
            if 'startedAt' in entry and self.held(entry):
                self.set_state(entry, 'failed', reason)

    def complete(self, entry):
        """§20.3: declare entry completed, after its processes ended, or run it again (§22.3)."""
        service = entry['supervisorId']
        left = 'startedAt' in entry and self.held(entry)
        if not left:
            drop(entry, *RENEWED)
            self.set_state(entry, 'completed', told(entry['lastExit']))
            self.gave_up[service] = 'completed'
            self.completing.add(service)
            self.alert('supervisorCompleted', service, told(entry['lastExit']))
        if entry['restart'] == 'transient' and service in self.together.members:
            self.run_again(entry)
        elif left:
            self.stop(entry)

    def give_up(self, entry, reason):
        """Rule 1 of failed and restartScheduled: declare entry dead, after its processes ended.

        This pass ends only processes that a pass has started.
        """
        if 'startedAt' in entry and not self.stop(entry):
            return
        drop(entry, 'nextAttemptAt', 'restartPending', 'blockedBy', 'termSentAt', 'restartCause')
        self.set_state(entry, 'dead', reason)
        exit_ = entry.get('lastExit', {})
        self.gave_up[entry['supervisorId']] = reason + (f': {told(exit_)}' if exit_ else '')
        message = reason + (f': {told(exit_)}' if told(exit_) else '')
        if exit_.get('reason') == 'exited' and 'code' not in exit_ and 'startedAt' in entry:
            message += (': its keeper was killed before it could say how' if 'keeper' in entry else
                        ': nobody saw how: keep it in the foreground, '
                        'or run it under dpl-serve')
        self.alert('supervisorDead', entry['supervisorId'], message)

    # The rules (§11.3)

    def look_at_all(self):
        self.pristine, self.plans = copy.deepcopy(self), {}
        self.pristine.room = None  # what a service would do does not depend on the others
        for key in self.order:
            self.look_at(self.services[key])

    def look_at(self, entry):
        start = (entry['supervisorId'], entry.get('startId'))
        if spans.rests(entry, self.seen.now) or start in self.unread:
            return None
        if start in self.awaited:
            if 'goneSince' not in entry:
                beat_now(entry, self.seen, *GONE)
            return None
        if self.ending and entry['state'] not in FINAL:
            return endings.wind_down(self, entry)
        rule = {
            'running': self.running, 'registered': self.waiting,
            'waitingForDependencies': self.waiting, 'failed': self.failed,
            'restartScheduled': self.failed, 'shuttingDown': self.shutting_down
        }.get(entry['state'])
        if (entry['state'] == 'completed' and entry['restart'] == 'transient'
                and entry['supervisorId'] in self.together.members):
            rule = self.run_again
        if rule:
            rule(entry)

    def running(self, entry):
        now, found = self.seen.now, self.evidence(entry)
        if entry['starting'] and found in ('exited', 'rebooted'):
            if self.ending:
                return endings.leave(self, entry)
            self.set_state(entry, 'registered', 'startLost')
            drop(entry, 'starting', 'stopFor')
            return self.waiting(entry, 'startLost')
        why = self.why_stop(entry, found)
        if why:
            return self.stop_for(entry, why)
        if found == 'rebooted' and self.outlives_reboot(entry):
            if self.ending:
                return endings.leave(self, entry)
            recover_at_death(entry, self.seen.now)
            self.exited(entry, 'rebooted')
            self.set_state(entry, 'registered', 'rebooted')
            drop(entry, 'runningSince')
            self.rebooted.append(entry['supervisorId'])
            return self.waiting(entry, 'rebooted')
        if found:
            clock = self.soft_killed(entry) if found == 'exited' else None
            self.fail(entry, 'timeout' if clock else found, clock)
            return self.failed(entry)
        here = self.alive(entry)
        acts = here and 'paused' not in entry
        clock, asks = self.clocks(entry) if acts else (None, [])
        if clock:
            return self.stop_for(entry,
                                 {'reason': 'timeout', 'detail': clock, 'then': 'restart'})
        why = health.unhealthy(entry) if acts else None
        if why:
            return self.stop_for(entry, why)
        if self.ending:
            return endings.leave(self, entry)
        service = entry['supervisorId']
        self.well.add(service)
        if entry['supervisorId'] in self.together.members:
            return self.stand_by(entry)
        for name in asks + (self.budgets(entry) if acts else []):
            ask = entry.setdefault('asked', {})[name] = {}
            beat_now(ask, self.seen, 'at')
            self.alert('supervisorNudged', entry['supervisorId'], name)
        if service in self.children:
            children.show(self, entry)
        elif here and 'paused' in entry:
            self.outcome.actions.append({
                'action': 'signal', 'supervisorId': service,
                'signal': 'CONT' if entry['paused']['continue'] else 'STOP',
                'to': 'group' if 'startedAt' in entry else 'process', 'pid': entry['pid']
            })
        elif asks and 'softSignal' in entry['startInfo']:
            self.outcome.actions.append({
                'action': 'signal', 'supervisorId': entry['supervisorId'],
                'signal': entry['startInfo']['softSignal'], 'to': 'process', 'pid': entry['pid']
            })
        if (entry['supervisorId'], entry.get('startId')) in self.unbegun:
            return
        set_optional(entry, 'runningSince', self.runs_since(entry))
        if here and entry['starting'] and now - entry.get('startedAt', now) >= STARTING_MS:
            entry['starting'] = False
        recover(entry, entry.get('runningSince'), now)

    def why_stop(self, entry, found):
        """Return the stopFor of entry for what it has violated or spent, unless it has completed."""
        budget = (entry['startInfo'] or {}).get('budget', {})
        over = next((name for name, most in budget.items()
                     if entry['spent'].get(name, 0) > most), None)
        reason = 'timeout' if found == 'exited' and self.soft_killed(entry) else found
        ended = class_of(entry, entry.get('ended', {}) | {'reason': reason})
        why = entry.get('stopFor')  # somebody has reported a violation
        if why is None and over is not None:
            again = entry['startInfo'].get('budgetAction') == 'restart'
            why = {'reason': 'budget', 'detail': over, 'then': 'restart' if again else 'dead'}
        return why if ended != 'success' or entry['restart'] == 'permanent' else None

    def outlives_reboot(self, entry):
        """Return whether entry is started again after a reboot, which is no failure."""
        return (entry['restartable'] and entry['startInfo'] is not None
                and entry['restart'] != 'temporary')

    def waiting(self, entry, reason='registered'):
        if not self.all_ready(entry):
            return self.wait(entry)
        drop(entry, 'blockedBy')
        if self.alive(entry) or self.heard(entry):
            drop(entry, 'restartPending', 'restartCause', 'termSentAt')
            spans.may_start(entry, False)
            self.set_state(entry, 'running')
            entry.setdefault('runningSince', self.seen.now)
            if entry['lastHeartbeat'] is None:
                beat_now(entry, self.seen)
        elif entry['startInfo'] is not None:
            self.start(entry, None if entry['restartPending'] else reason)
        else:
            self.fail(entry, self.evidence(entry) or 'exited')
            self.failed(entry)

    def wait(self, entry):
        """Rule 1 of registered and waitingForDependencies."""
        self.set_state(entry, 'waitingForDependencies')
        verdicts = [(key, 'maintenance' if self.is_maintained(key) else self.verdicts[key])
                    for key in needs(entry)]
        never = [(key, word) for key, word in verdicts
                 if word in ('missing', 'maintenance', 'dead', 'stopped')]
        never += [(key, 'permanent') for key in entry['dependenciesCompleted']
                  if not self.completed(key)
                  and self.given['supervisors'].get(key, {}).get('restart') == 'permanent']
        self.block(entry, next((f'{key}: {word}' for key, word in never), None))

    def is_maintained(self, service):
        span = self.judged.get(service, {}).get('maintenance')
        return spans.is_on(span, self.seen.now) and not self.completed_after(service)

    def clocks(self, entry):
        """Return the clock by which entry must be stopped, or None, and those that ask (§26)."""
        over, asks, info = [], [], entry['startInfo'] or {}
        for name in ('runtime', 'progress'):
            since = PROGRESS if name == 'progress' and 'progressAt' in entry else STARTED
            soft, hard = info.get(f'{name}SoftMs'), info.get(f'{name}MaxMs')
            if since[0] not in entry:
                continue
            stood = entry['pausedMs'] if name == 'runtime' else 0
            shown = max(0, age(entry, self.seen, *since) - stood)
            ask = entry.get('asked', {}).get(name)
            asks_at = None if soft is None else min(soft, soft if hard is None else hard)
            if soft is not None and ask is None:
                asks += [name] if shown >= asks_at else []
            elif hard is not None and shown >= hard and (
                    soft is None or age(ask, self.seen, 'at', 'beat') >= hard - asks_at):
                over.append(name)
        return (over or [None])[0], asks

    def soft_killed(self, entry):
        """Return the clock because of which the soft signal that killed entry was sent (§26.4)."""
        end, name = entry.get('ended', {}), (entry['startInfo'] or {}).get('softSignal')
        if end.get('code') in ('killed', 'dumped') and name and \
                end.get('status', 0) == SOFT_SIGNALS[name]:
            return next((clock for clock in ('runtime', 'progress')
                         if clock in entry.get('asked', {})), None)
        return None

    def budgets(self, entry):
        """Return the budgets that ask entry for a checkpoint (§27.5)."""
        limits = (entry['startInfo'] or {}).get('budget', {})
        return [f'budget:{name}' for name, most in limits.items()
                if 0 < entry['spent'].get(name, 0) >= most - most // 5
                and f'budget:{name}' not in entry.get('asked', {})]

    def stop_for(self, entry, why):
        """Let a running service fail for a reason of the pass, and stop it (§26.1)."""
        self.fail(entry, why['reason'], why.get('detail'), stops=True)
        if why['then'] != 'restart':
            self.failing[entry['supervisorId']] = False
        parked = entry['supervisorId'] in self.charging.parked
        entry['stopFor'] = why | ({'then': 'park'} if parked else {})
        self.failed(entry)

    def out_of_reach(self, entry):
        return foreign(entry, self.seen) and not self.failover

    def lives_on(self, entry):
        """Return whether something of entry must end before its set starts (§22.3)."""
        state = self.given['supervisors'][entry['supervisorId']]['state']
        if state == 'completed':
            return survived(entry, self.seen)
        return state not in ('registered', 'waitingForDependencies') and (
            self.held(entry) or not checked(entry, self.seen) and self.heard(entry))

    def runs_since(self, entry):
        """Return since when entry, which has not failed by itself, is known to run, or None."""
        now, began = self.seen.now, (entry['supervisorId'], entry.get('startId')) not in self.unbegun
        if entry.get('runningSince', now) > now or \
                'runningSince' not in entry and began and self.alive(entry):
            return begun_at(entry, now)
        return entry.get('runningSince')

    def stand_by(self, entry):
        """§22.3, 3: let a service that runs wait for its set."""
        cause = self.together.cause
        recover(entry, self.runs_since(entry), self.seen.now)
        drop(entry, 'runningSince', 'starting')
        then = 'stopped' if entry['restart'] == 'temporary' else 'restart'
        self.schedule(entry, cause)
        entry['stopFor'] = {'reason': 'sibling', 'detail': cause, 'then': then}
        self.follow(entry)

    def run_again(self, entry):
        """§22.3, 3: let a service that has done its work wait for its set, and run again."""
        before = self.judged[entry['supervisorId']]
        drop(entry, 'runningSince', 'starting', *FAILURE)
        self.schedule(entry, before.get('restartCause') or self.together.cause)
        self.follow(entry)

    def schedule(self, entry, cause):
        now = self.seen.now
        entry |= {'restartCause': cause, 'failedAt': now,
                  'nextAttemptAt': max(self.together.due or now, now)}
        self.stood_by.add(entry['supervisorId'])
        self.set_state(entry, 'restartScheduled', f'sibling: {cause}', cause)

    def follow(self, entry):
        """Start a service again that stopped because of another, once its set may start."""
        if self.lives_on(entry):
            self.stop(entry)
            return
        if 'stopFor' in entry and 'termSentAt' not in entry and self.evidence(entry) == 'exited':
            self.fail(entry, 'exited')
            return self.failed(entry)
        why = entry.pop('stopFor', None)
        if why:
            self.exited(entry, why['reason'], why.get('detail'))
            if why['then'] == 'stopped':
                return self.release(entry, 'stopped', 'stopped', None)
        failed_at = entry.get('failedAt', self.seen.now)
        if self.together.barred(entry['supervisorId']):
            entry['failedAt'] = failed_at
            entry['nextAttemptAt'] = max(self.together.due or failed_at, failed_at)
            self.set_state(entry, 'restartScheduled')
        elif not self.all_ready(entry):
            entry['restartPending'] = True
            self.wait(entry)
        else:
            self.start(entry, None)

    def failed(self, entry):
        if 'restartCause' in entry and entry['restartable'] and entry['startInfo'] is not None:
            return self.follow(entry)
        if 'stopFor' not in entry:
            return self.retry(entry)
        self.stopping(entry)

    def stopping(self, entry):
        """§26.1: stop a service for a reason of the pass, and go on as that says."""
        if not self.stop(entry) or not checked(entry, self.seen) and self.heard(entry):
            return
        why = entry.pop('stopFor')
        if 'ended' in entry:
            self.exited(entry, why['reason'], why.get('detail'))
        elif 'lastExit' in entry:
            set_optional(entry['lastExit'], 'note', checkpoint(entry))
        if why['then'] in ('dead', 'park'):
            self.give_up(entry, 'terminal' if why['then'] == 'dead' else PARKED)
        elif why['then'] == 'stopped':
            self.release(entry, 'stopped', 'stopped', None)
        else:
            self.retry(entry)

    def not_before(self, entry):
        """Return the time before which the group restarts no service that was charged (§21.3)."""
        supervision = self.registry.get('supervision', {})
        delays = supervision.get('onIntensity') == 'delay' and charged(entry)
        if delays and limits.exceeded(supervision, self.charging.restarts) and 'lastExit' in entry:
            return self.charging.restarts[0] + supervision['intensityPeriodMs']
        return 0

    def retry(self, entry):
        now = self.seen.now
        if completes(entry):
            return self.complete(entry)
        reason = given_up(entry)
        if reason:
            return self.give_up(entry, reason)
        if entry['supervisorId'] in self.charging.parked:
            if 'startedAt' in entry and self.held(entry):
                entry['stopFor'] = {'then': 'park', **{
                    name: entry['lastExit'][name] for name in ('reason', 'detail')
                    if entry['lastExit'].get(name)}}
            return self.give_up(entry, PARKED)
        if self.ending:
            return endings.leave(self, entry)
        failed_at = entry.setdefault('failedAt', now)
        entry['nextAttemptAt'] = max(restart_at(entry), self.not_before(entry))
        key = entry['supervisorId']
        self.due[key] = failed_at, entry['nextAttemptAt']
        held, waits = self.held(entry), failed_at <= now < entry['nextAttemptAt']
        if held and key in self.together.members:
            self.stop(entry)
        elif waits or not held and self.together.barred(key):
            self.set_state(entry, 'restartScheduled')
        elif self.stop(entry):
            if not self.all_ready(entry):
                entry['restartPending'] = True
                self.wait(entry)
            else:
                self.start(entry, None)

    def shutting_down(self, entry):
        service = entry['supervisorId']
        if any(service in other['dependencies'] and (
                other['state'] == 'shuttingDown' or self.ending and endings.must_stop(self, other)
                and not spans.rests(other, self.seen.now))
               and not self.has_stopped(key)
               for key, other in self.judged.items() if key != service):
            return
        if not self.stop(entry) or self.heard(entry):
            return
        if entry['removeAfterStop']:
            return self.remove(entry)
        if not entry['startAgain']:
            died, found = died_at(entry, self.seen.now), self.evidence(entry)
            clock = self.soft_killed(entry) if found == 'exited' else None
            ended = entry.get('ended', {}) | {'reason': 'timeout' if clock else found}
            if (died is not None and died < entry.get('stopRequestedAt', 0) and found != 'rebooted'
                    and class_of(entry, ended) == 'success' and entry['restart'] != 'permanent'):
                self.fail(entry, found)
                drop(entry, 'stopRequestedAt', 'stoppedBy')
                return self.complete(entry)
            return self.become_stopped(entry)
        self.release(entry, 'registered', 'restart')
        entry.pop('stoppedBy', None)
        spans.may_start(entry, spans.is_on(entry.get('maintenance'), self.seen.now))
        forget_limits(entry)
        self.waiting(entry)

    def start(self, entry, reason):
        """Start the service for reason; None: it is a restart."""
        if foreign(entry, self.seen) and not self.failover:
            return self.block(entry, 'process elsewhere')
        service = entry['supervisorId']
        if not self.stop(entry) or self.together.barred(service):
            return
        another = self.seen.kept(self.judged[service]) if service not in self.children else None
        if another is not None:
            return self.block(entry, f'another start lives: {another}')
        generation = children.start(self, entry) if service in self.children else None
        if service in self.children and generation is None:
            return self.block(entry, 'no generation is left')
        if service in self.refused:
            return
        if self.room is not None and service not in self.children:
            if self.room == 0:
                return
            self.room -= 1
        if reason == 'registered' and entry.get('lastExit', {}).get('reason') == 'rebooted':
            reason = 'rebooted'
        if reason is None and 'restartCause' in entry:
            reason = 'sibling'
        if reason is None:
            last = entry.get('lastExit', {})
            reason = last.get('reason', '') or 'exited'
            said = told(last) if last.get('reason') else 'exited'
            member, word = ('restartAttempts', 'attempt') if charged(entry) else ('retries', 'retry')
            entry[member] += 1
            entry['lastRestartAttempt'] = self.seen.now
            if not is_short(entry):
                self.alert('supervisorRestarted', service, f'{word} {entry[member]}: {said}')
            if member == 'retries' and entry['retries'] == 10:
                self.alert('supervisorRetrying', service, f'10 retries: {said}')
        self.set_state(entry, 'running', reason)
        drop(entry, 'pid', 'process', 'startId', 'keeper', 'logDevice', 'logInode', 'startedWith', 'note',
             'runningSince', 'progressAt', 'asked', 'paused', 'pausedMs', 'health', 'goneSince', 'ended', 'spent', *RENEWED, 'stopRequestedAt')
        spans.may_start(entry, False)
        beat_now(entry, self.seen)
        entry.update(startedAt=self.seen.now, attempt=entry['restartAttempts'], starting=True,
                     readiness=entry['startInfo']['readiness'])
        if has_clock(entry):
            beat_now(entry, self.seen, *STARTED)
        if health.has_check(entry):
            entry['health'] = {'passed': False, 'failures': 0, 'output': ''}
        if service in self.children:
            entry.update(starting=False, readiness='starting', generation=generation)
            self.outcome.actions.append({
                'action': 'begin', 'supervisorId': service, 'group': entry['startInfo']['group'],
                'generation': generation})
            return
        self.outcome.actions.append({
            'action': 'start', 'supervisorId': service, 'attempt': entry['attempt'],
            'reason': reason
        })

    def needed(self, service):
        """Return whether another service of the set, which is held, depends on service."""
        members = self.together.members
        return service in members and any(
            key in members and key != service and service in other['dependencies']
            and self.lives_on(other) for key, other in self.judged.items())

    def stop(self, entry):
        """§11.4. Return False if a process is still there."""
        if not self.held(entry):
            return True
        if self.needed(entry['supervisorId']):
            return False
        if children.begun(entry):
            children.stop(self, entry)
            return False
        first = 'termSentAt' not in entry
        if first:
            beat_now(entry, self.seen, *TERM_SENT)
        kills = not first or entry['killTimeoutMs'] == 0
        if first or not 0 <= age(entry, self.seen, *TERM_SENT) < entry['killTimeoutMs']:
            to = 'group' if 'startedAt' in entry else 'process'
            to = to if self.alive(entry) else 'survivors'
            self.outcome.actions.append({
                'action': 'signal', 'supervisorId': entry['supervisorId'],
                'signal': 'KILL' if kills else 'TERM', 'to': to, 'pid': entry['pid']
            })
        return False

    def spawn(self, starts):
        """The gate (§11.5, 2): note the result of each spawn."""
        for at, action in enumerate(self.outcome.actions):
            if action['action'] == 'start':
                came = starts(at, action)
                entry = self.services[action['supervisorId']]
                if 'error' in came:
                    self.start_failed(entry, came['error'], 'tempfail' if came.get('short') else None)
                else:
                    entry['pid'] = came['pid']
                    set_optional(entry, 'process', came.get('process'))
                    set_optional(entry, 'startId', came.get('startId'))
                    set_optional(entry, 'keeper', came.get('keeper'))
                    entry.update(logDevice=came.get('logDevice', 0), logInode=came.get('logInode', 0))


def heeds(orchestrator, registry, owner, supervisorId=None, startId=None):
    """Return whether a pass that something has asked for does anything (§19.5)."""
    if registry['owner'] != owner or orchestrator['state'] in ('shuttingDown', 'stopped'):
        return False
    if supervisorId is None:
        return True
    entry = registry['supervisors'].get(supervisorId, {})
    return (registry.get('supervision', {}).get('onExit') == 'pass'
            and entry.get('startId') == startId
            and (entry['state'] in ('running', 'shuttingDown') or 'termSentAt' in entry))


def run_pass(orchestrator, registry, seen, owner, pid, state='running', failover=False, hook=False,
             lastAlert=0, heartbeatIntervalMs=None, stalenessThresholdMs=None, strategy=None, window=None,
             intensity=0, intensityPeriodMs=None, onIntensity=None, exits=None, rules=None,
             autoShutdown=None, onExit=None, log=None, prompt=None, children=None, room=None, started=None,
             checks=(),
             starts=lambda index, action: {'pid': 1000 + index}):
    """Make the edit that decides.

    lastAlert is the number of the last line in the alerts file, 0 if there is none. exits has the
    exit records by start id: each a record, and whether it is complete (§19). starts(index,
    action) spawns a process, and returns {pid, process, startId, keeper, logDevice,
    logInode} or {error},
    with short if it failed because of a shortage. room is how many starts it may make; None: any.
    started has the services that earlier rounds have started; None: this is the first (§11.10).
    """
    if prompt is not None and not heeds(orchestrator, registry, owner, **prompt):
        return Outcome(standby=True)
    other = registry['owner'] not in (None, owner)
    if other and (orchestrator_heard(orchestrator, seen) or may_be_asleep(orchestrator, seen)):
        return Outcome(standby=True)
    require(not two_machines(orchestrator, seen), 'twoMachines', 'two machines have one host id')
    for number in (orchestrator['revision'], registry['revision'], registry['alertSeq'], lastAlert):
        require_room(number)
    numbers = {
        'stalenessThresholdMs': stalenessThresholdMs, 'heartbeatIntervalMs': heartbeatIntervalMs
    }
    given = {name: value for name, value in numbers.items() if value is not None}
    new = copy.deepcopy(orchestrator) | given
    if stalenessThresholdMs is not None and heartbeatIntervalMs is None:
        new |= fitting_interval(new)
    edit = Pass(registry, seen, owner, new['stalenessThresholdMs'], failover,
                not other and silent(new, seen), exits or {},
                new['orchestrationGroupId'], children or {})
    edit.registry['alertSeq'] = max(registry['alertSeq'], lastAlert)
    if hook:
        edit.registry.setdefault('alertsGiven', edit.registry['alertSeq'])
    if other:
        edit.alert('orchestratorTakeover', None, f'from {registry["owner"]}')
    edit.registry['owner'] = owner
    spans.end_all(edit)
    if strategy is not None:
        edit.supervise(strategy=strategy)
    if rules is not None:
        edit.supervise(rules=rules)
    if window is not None:
        edit.supervise(window=window or None)
    if intensityPeriodMs is not None:
        limit = {'intensity': intensity, 'intensityPeriodMs': intensityPeriodMs,
                 'onIntensity': onIntensity} if intensityPeriodMs else {}
        edit.supervise(**dict.fromkeys(LIMIT) | limit)
    if autoShutdown is not None:
        edit.supervise(autoShutdown=autoShutdown if autoShutdown != 'never' else None)
    if onExit is not None:
        edit.supervise(onExit=onExit if onExit != 'none' else None)
    if log is not None:
        edit.supervise(log=log if log != 'files' else None)
    edit.judge_all(new, checks)
    endings.decide(edit)
    edit.supervise(set=[key for key in edit.order if key in edit.together.members])
    edit.refused = window_of.refused(edit) | set(started or ())
    edit.room = room
    edit.look_at_all()
    endings.record(edit)
    if edit.rebooted:
        edit.alert('hostRebooted', None, f'ended with the host: {", ".join(edit.rebooted)}')
    reasons = window_of.blocked(edit.services, edit.order, seen.now)
    if reasons is not None and reasons != edit.registry.get('supervision', {}).get('blocked'):
        edit.alert('groupBlocked', None, reasons)
    edit.supervise(blocked=reasons)
    edit.forget_shortage()
    edit.spawn(starts)
    edit.outcome.rotate = due_logs(edit, orchestrator['orchestratorHeartbeat'])
    edit.outcome.orchestrator = note_pass(new, seen, pid, state, first=started is None)
    health.forget(edit.outcome.orchestrator, edit.services)
    if prompt is None:
        set_optional(edit.outcome.orchestrator, 'failover', failover or None)
    edit.outcome.needed = sorted(start for start in exits or {} if any(
        entry.get('startId') == start and (key, start) not in edit.consumed
        and entry['state'] not in FINAL
        for key, entry in edit.services.items()))
    return edit.finish()


def due_logs(edit, last):
    """Return the services whose logs have had a time of rotation since last (§11.8)."""
    def periods(entry, at):
        return (at + SINCE_YEAR_1) // entry['startInfo']['logEveryMs']
    return [key for key in ordered(edit.services)
            if last is not None and 'logEveryMs' in (edit.services[key]['startInfo'] or {})
            and periods(edit.services[key], last) < periods(edit.services[key], edit.seen.now)]


def two_machines(orchestrator, seen):
    """Return whether another machine that runs now has the host id of the observer (§11.1)."""
    at, beat = orchestrator['orchestratorHeartbeat'], beat_of(orchestrator, *PASS_BEAT)
    if (not beat or not beat['bootId'] or not seen.bootId or beat['bootId'] == seen.bootId
            or seen.bootedAt is None or at < seen.bootedAt):
        return False
    return (orchestrator.get('hostId') and orchestrator['hostId'] == seen.hostId
            and 0 <= seen.now - at <= orchestrator['stalenessThresholdMs'])


def silent(orchestrator, seen):
    """Return whether no pass was made for so long that the observer may have slept (§4.6)."""
    never = orchestrator['orchestratorHeartbeat'] is None
    threshold = orchestrator['stalenessThresholdMs']
    heard = not never and heard_lately(orchestrator, seen, threshold, *PASS_BEAT)
    return seen.watch != 'awake' and not heard


def may_be_asleep(orchestrator, seen):
    """Return whether the orchestrator may have stopped while the observer was asleep."""
    return (seen.watch == 'woken' and orchestrator['orchestratorHeartbeat'] is not None
            and orchestrator['state'] != 'stopped')


def note_pass(orchestrator, seen, pid, state, first=True):
    """Return the orchestrator's file after a pass (§11.2)."""
    period = 0 if first else orchestrator['periodMs']
    if first and orchestrator['orchestratorHeartbeat'] is not None:
        period = max(0, age(orchestrator, seen, *PASS_BEAT))
    noted = orchestrator | {
        'revision': orchestrator['revision'] + 1, 'orchestratorPid': pid, 'state': state,
        'periodMs': period
    }
    beat_now(noted, seen, *PASS_BEAT)
    set_optional(noted, 'hostId', seen.hostId or None)
    return noted


def result(orchestrator, registry, seen, failed=None, short=(), terminal=(), appended=0):
    """Make the edit that notes the result. failed is service → error.

    short has those of them that failed because of a shortage, and terminal those that fail again.
    Alerts up to the number appended are in the alerts file (§11.7).
    """
    edit = Edit(registry, seen, registry['owner'], orchestrator['stalenessThresholdMs'])
    edit.noting = True
    edit.registry['pendingAlerts'] = [
        alert for alert in edit.registry['pendingAlerts'] if alert['seq'] > appended
    ]
    for key in ordered(edit.services):
        entry = edit.services[key]
        if entry['starting'] and key in (failed or {}):
            class_ = 'tempfail' if key in short else 'terminal' if key in terminal else None
            edit.start_failed(entry, failed[key], class_)
        entry['starting'] = False
        if is_paused(entry) and entry['paused']['continue'] and edit.alive(entry) \
                and not spans.rests(entry, seen.now):
            go_on(entry, seen)
    edit.forget_shortage()
    return edit.finish()


def read_environment(text):
    """Return the variables of an environment file, by name (§11.6). Refused: badLine."""
    variables = {}
    for number, line in enumerate(text.split('\n'), 1):
        if re.fullmatch('[ \t]*(#.*)?', line, re.DOTALL):
            continue
        found = re.fullmatch('([A-Za-z_][A-Za-z0-9_]*)=(.*)', line, re.DOTALL)
        name, value = found.groups() if found else ('', '')
        if (not found or name.startswith('DPL_') or value[:1] in ('"', "'")
                or value.endswith('\\') or set('\0\r') & set(line)):
            raise Refused('badLine', f'line {number}', line=number)
        variables[name] = value
    return variables


def environment_of(orchestrator, registry, seen, text, environment):
    """Return the environment of a start whose environment file has that text (§11.6)."""
    own = {name: value for name, value in environment.items()
           if name not in RECORDED and not name.startswith('LC_')}
    return Outcome(environment=environment | read_environment(text) | own)


VERBS = {
    'register': register, 'registerAll': register_all, 'remove': remove, 'tidy': tidy,
    'beat': beat, 'end': end, 'resume': resume, 'report': report, 'continue': continue_, 'shutdown': shutdown, 'restart': restart, 'pass': run_pass,
    'result': result, 'give': alerts.give, 'given': alerts.given, 'silence': spans.silence, 'maintain': spans.maintain,
    'logsCut': alerts.logs_cut, 'beginGroup': children.begin_group, 'endGroup': children.end_group,
    'checkLinks': children.check_links, 'environment': environment_of
}


def missing_orchestrator(group):
    return ORCHESTRATOR[0]({'orchestrationGroupId': group, 'state': 'stopped'}, '')


def missing_registry():
    return REGISTRY[0]({'supervisors': {}}, '')


def apply(verb, group, orchestrator, registry, seen, **arguments):
    """Return the outcome of verb on the two files of group, which stay unchanged.

    A file is None if there is none. Refused: the words of §12.
    """
    if orchestrator is None and registry is None and verb in ('pass', 'result'):
        raise Refused('noGroup', 'no such group')
    process = arguments.get('process')
    if process and not process['bootId']:
        arguments['process'] = None  # no identity (§3.4)
    if process and not arguments.get('pid'):
        arguments['pid'] = process['pid']
    seen = seen.remembering(times(orchestrator, registry))
    outcome = VERBS[verb](orchestrator or missing_orchestrator(group), registry or
                          missing_registry(), seen, **arguments)
    outcome.remembered = seen.remembering(
        times(outcome.orchestrator or orchestrator, outcome.registry or registry)).sightings
    return outcome
