#!/usr/bin/env python3
"""Run vectors: run.py spec/vectors/*.json spec/vectors/{groups,queues,questions,audit}/*.json.

groups.py judges those in a directory named groups (spec §12), queues.py those in one named queues
(spec §40), questions.py those in one named questions (spec §50), audit.py those in one named audit
(spec §57.1), protocol.py all others (spec §7), and observing.py the verbs wait and watch (spec §16).
The exit status is 1 if a vector fails or there are none.
"""
import collections
import difflib
import inspect
import pathlib
import sys
import typing

import audit
import groups
import observing
import protocol
import questions
import queues
import sightings
import traces
from document import (ABSENT, BOOLEAN, DEEPEST, FOUND, IDENT, INTEGER, MOMENT, POSITIVE, PROCESS,
                      READY, REQUIRED, REVISION, TEXT, Number, Refused, array, below, decode,
                      encode, one_of, parse, read_time, record, whole, write)

WORDS = {
    'comment', 'section', 'given', 'givenText', 'seen', 'do', 'then', 'unchanged', 'archived',
    'refused', 'path', 'status', 'reported', 'released', 'remembered', 'passesOn'
}
SEEN = {
    'now', 'hostId', 'bootId', 'pidNamespace', 'bootedAt', 'monotonicMs', 'exited', 'unseen',
    'watch', 'sightings'
}
ENDS = ('then', 'unchanged', 'archived', 'refused')
MISSING = object()
# Arguments of protocol.VERBS that no vector names.
OURS = {'operation', 'seen', 'release', 'operation_id', 'base'}


class Malformed(Exception):
    """The vector does not have the form of §7."""


def known(value, words, where):
    unknown = [name for name in value if name not in words]
    if unknown:
        raise Malformed(f'unknown member in {where}: {", ".join(unknown)}')


def one(vector, names):
    found = [name for name in names if name in vector]
    if len(found) != 1:
        raise Malformed(f'exactly one of {", ".join(names)} is needed, not {found}')
    return found[0]


def observation(seen):
    known(seen, SEEN, 'seen')
    if 'now' not in seen:
        raise Malformed('seen has no now')
    kinds = {
        'now': MOMENT, 'bootedAt': MOMENT, 'monotonicMs': INTEGER, 'exited': array(INTEGER),
        'unseen': array(INTEGER), 'watch': one_of('awake', 'woken'),
        'sightings': (read_sightings, sightings.plain)
    }
    values = {
        name: kinds[name][0](value, f'/seen/{name}') if name in kinds else value
        for name, value in seen.items()
    }
    exited, unseen = values.pop('exited', []), values.pop('unseen', [])

    def look(process):
        if process['pid'] in unseen:
            return None
        return 'gone' if process['pid'] in exited else 'present'
    return protocol.Observation(**values, look=look)


def read_sightings(value, path):
    known(value, {'bootId', 'seen'}, 'sightings')
    for one in value.get('seen', ()):
        known(one, {'bootId', 'monotonicMs', 'at', 'firstSeenMs'}, 'sightings')
    return sightings.read(value, path)


def remembered(vector, outcome=None):
    """Return the sightings that the outcome or the vector keeps, {} if the vector has none."""
    if 'remembered' not in vector:
        return {}
    if ('sightings' not in vector['seen'] or 'refused' in vector or 'archived' in vector
            or vector['do']['verb'] == 'decode'):
        raise Malformed('remembered belongs to sightings, and to an edit')
    kept = outcome.remembered if outcome else read_sightings(vector['remembered'], '/remembered')
    return {'remembered': parse(write(sightings.plain(kept)))}


def passes_on(vector, operation):
    """Return the traceparent for what the pushed call starts, {} if the vector has none (§59.2)."""
    if 'passesOn' not in vector:
        return {}
    do = vector['do']
    if do['verb'] != 'push' or 'refused' in vector:
        raise Malformed('passesOn belongs to a push that is made')
    return {'passesOn': traces.passed_on(operation, do['call'])}


def arguments(verb, do):
    if verb != 'decode' and verb not in protocol.VERBS:
        raise Malformed(f'unknown verb {verb}')
    words = set()
    if verb != 'decode':
        words = set(inspect.signature(protocol.VERBS[verb]).parameters) - OURS
        words |= {'run'} if verb in protocol.OF_A_RUN else set()
    known(do, words | {'verb'}, 'do')
    kinds = {
        'process': PROCESS, 'pid': INTEGER, 'stalenessThresholdMs': INTEGER,
        'heartbeatIntervalMs': INTEGER, 'readiness': READY, 'note': TEXT, 'foundResources': FOUND,
        'status': INTEGER
    }
    return {
        name: kinds[name][0](value, f'/do/{name}') if name in kinds else value
        for name, value in do.items()
        if name != 'verb'
    }


def comparable(operation):
    """Return operation as text for comparison: all known members, supervisors ordered by id."""
    supervisors = dict(sorted(operation['supervisorHeartbeats'].items()))
    return encode(operation | {'supervisorHeartbeats': supervisors})


def written(operation):
    """Return operation as the next reader decodes it."""
    return decode(encode(operation))


def lost(want, got, path=''):
    """Return the first place where the JSON value got lacks what want has, or None.

    Times are compared as instants. Members that the decoder ignores on both sides would compare as
    equal after decoding; this function compares the written text.
    """
    if isinstance(want, dict) and isinstance(got, dict):
        pairs = [(below(path, name), value, got.get(name, MISSING)) for name, value in want.items()]
    elif isinstance(want, list) and isinstance(got, list) and len(want) == len(got):
        pairs = [(below(path, at), value, got[at]) for at, value in enumerate(want)]
    else:
        return None if want == got or instant(want) == instant(got) is not None else path
    return next(filter(None, (lost(value, other, at) for at, value, other in pairs)), None)


def instant(value):
    try:
        return read_time(value)
    except Refused:
        return None


def refusal(vector):
    if ('path' in vector) != (vector['refused'] == 'corrupt'):
        raise Malformed('path belongs to refused corrupt')
    return {name: vector[name] for name in ('refused', 'path') if name in vector}


def expectation(vector):
    end = one(vector, ENDS)
    result = {end: vector[end]}
    if end in ('unchanged', 'archived') and vector[end] is not True:
        raise Malformed(f'{end} is not true')
    result |= remembered(vector)
    if end == 'then':
        result['then'] = decode(write(vector['then']))
        result |= {'passesOn': vector['passesOn']} if 'passesOn' in vector else {}
    if end == 'refused':
        return refusal(vector)
    status = vector.get('status', Number('0'))
    return result | {
        'status': int(status.text), 'reported': vector.get('reported', []),
        'released': vector.get('released', [])
    }


def reality(vector):
    verb = vector['do']['verb']
    rest, seen = arguments(verb, vector['do']), observation(vector['seen'])
    text = vector[one(vector, ('given', 'givenText'))]
    try:
        given = None if text is None else decode(text if 'givenText' in vector else write(text))
        if verb == 'decode':
            end = {'then': written(given)} if 'then' in vector else {'unchanged': True}
            return end | {'status': 0, 'reported': [], 'released': []}
        if given is None and verb == 'push':
            rest['operation_id'] = vector.get('then', {}).get('operationId', 'operation')
        outcome = protocol.apply(verb, given, seen, **rest)
    except Refused as refused:
        path = {'path': refused.path} if refused.word == 'corrupt' else {}
        return {'refused': refused.word} | path
    if outcome.archived:
        end = {'archived': True}
    elif outcome.operation is None:
        end = {'unchanged': True} | remembered(vector, outcome)
    else:
        end = {'then': written(outcome.operation)} | remembered(vector, outcome)
        end |= passes_on(vector, end['then'])
    return end | {
        'status': outcome.status, 'reported': [frame['callId'] for frame in outcome.reported],
        'released': outcome.released
    }


# Groups (§12)

FILES = {'orchestrator': (groups.decode_orchestrator, groups.encode_orchestrator),
         'supervisors': (groups.decode_registry, groups.encode_registry)}
GROUP_KINDS = {
    'process': PROCESS, 'startInfo': groups.START_INFO, 'readiness': READY, 'note': TEXT,
    'code': TEXT, 'error': TEXT, 'spend': groups.AMOUNTS, 'violation': groups.IDENT, 'detail': TEXT,
    'checks': array(groups.RESULT), 'lines': array(groups.ALERT),
    'cuts': array(groups.alerts.CUT), 'started': array(groups.IDENT), 'umask': (groups.read_umask, '{:04o}'.format), 'start': groups.START_ID, 'rules': array(groups.RULE), 'parent': TEXT
} | dict.fromkeys(('pid', 'seq', 'forMs', 'killTimeoutMs', 'keepEndedMs', 'stalenessThresholdMs',
                   'heartbeatIntervalMs', 'intensity', 'window', 'room', 'intensityPeriodMs',
                   'appended', 'lastAlert', 'status', 'generation', 'cpuMs', 'maxRssKb'), INTEGER)
USES = record(cpuMs=(INTEGER, 0), rssKb=(INTEGER, 0))
GROUP = 'g'
CHILD = record(parent=(TEXT, ABSENT), generation=(REVISION, ABSENT), state=(TEXT, ABSENT),
               reason=(TEXT, ABSENT), message=(TEXT, ABSENT), endedAt=(MOMENT, ABSENT),
               ready=(BOOLEAN, ABSENT), unreadable=(TEXT, ABSENT))


def group_observation(seen):
    seen = dict(seen)
    pids = array(INTEGER)[0](seen.pop('survivors', []), '/seen/survivors')
    uses = {pid: USES[0](use, f'/seen/uses/{pid}') for pid, use in seen.pop('uses', {}).items()}
    kept = array(groups.KEPT)[0](seen.pop('kept', []), '/seen/kept')

    def keeps(entry):
        return next((start['pid'] for start in kept if start['supervisorId'] == entry['supervisorId']
                     and start['startId'] != entry.get('startId')), None)

    return groups.Observation(**vars(observation(seen)), kept=keeps,
                              survivors=lambda entry: entry['pid'] in pids,
                              used=lambda entry: uses.get(str(entry['pid']), {}))


def spawning(starts):
    """Return the result of the gate (§11.5): the vector's starts by service, else a counted pid."""
    known_starts = {}
    for supervisor, came in starts.items():
        known(came, {'error', 'short'} if 'error' in came else {
            'pid', 'process', 'startId', 'keeper', 'logDevice', 'logInode'},
              f'starts of {supervisor}')
        kinds = {
            'pid': INTEGER, 'process': PROCESS, 'startId': groups.START_ID, 'keeper': PROCESS,
            'logDevice': INTEGER, 'logInode': INTEGER,
            'error': TEXT, 'short': BOOLEAN
        }
        known_starts[supervisor] = {
            name: kinds[name][0](value, f'/do/starts/{supervisor}') for name, value in came.items()
        }
    return lambda at, action: known_starts.get(action['supervisorId'], {'pid': 1000 + at})


def exit_records(exits):
    """Return the exit records (§19) of a vector: start id → (record, whether it is complete)."""
    for start, found in exits.items():
        known(found, {'complete', 'record', 'unreadable'}, f'exits of {start}')
    return {start: ('unreadable', False) if found.get('unreadable') else (groups.EXIT_RECORD[0](found['record'], f'/do/exits/{start}'),
                    found.get('complete', False)) for start, found in exits.items()}


def seen_children(children):
    """Return what a pass sees of other groups (§24), by id."""
    for group, child in children.items():
        known(child, CHILD.fields, f'children of {group}')
    return {group: CHILD[0](child, f'/do/children/{group}') for group, child in children.items()}


def group_arguments(verb, do):
    if verb not in groups.VERBS:
        raise Malformed(f'unknown verb {verb}')
    words = set(inspect.signature(groups.VERBS[verb]).parameters)
    words -= {'orchestrator', 'registry', 'seen'}
    known(do, words | {'verb'}, 'do')
    given = {name: GROUP_KINDS[name][0](value, f'/do/{name}') if name in GROUP_KINDS else value
             for name, value in do.items() if name != 'verb'}
    if 'starts' in words:
        given['starts'] = spawning(given.get('starts', {}))
    if 'exits' in words:
        given['exits'] = exit_records(given.get('exits', {}))
    if 'children' in words:
        given['children'] = seen_children(given.get('children', {}))
    if verb == 'registerAll':
        file = {'supervisors': do['services']}
        file |= {'supervision': do['supervision']} if 'supervision' in do else {}
        given['services'], given['supervision'] = groups.decode_services(write(file), '/')
    actor = {'owner': 'me', 'pid': 1} if verb == 'pass' else {}
    defaults = {'by': 'test'} if 'by' in words else actor
    return defaults | given


def group_files(given, text=False):
    """Return the decoded files of given, which are JSON values or texts; None: there is none."""
    known(given or {}, FILES, 'a pair of files')
    return {name: None if value is None else FILES[name][0](value if text else write(value))
            for name, value in (given or {}).items()}


def group_expectation(vector):
    end = one(vector, ('then', 'unchanged', 'refused'))
    result = {end: vector[end]}
    if end == 'unchanged' and vector[end] is not True or vector.get('standby', True) is not True:
        raise Malformed('unchanged or standby is not true')
    result |= remembered(vector)
    if end == 'refused':
        line = {'line': int(vector['line'].text)} if 'line' in vector else {}
        return refusal(vector) | line
    if end == 'then':
        result['then'] = group_files(vector['then'])
    return result | {
        'status': int(vector.get('status', Number('0')).text),
        'standby': vector.get('standby', False), 'actions': vector.get('actions', []),
        'again': vector.get('again', []), 'plan': vector.get('plan', []),
        'removed': vector.get('removed', []), 'needed': vector.get('needed', []),
        'gives': vector.get('gives', []),
        'upTo': int(vector.get('upTo', Number('0')).text),
        'environment': vector.get('environment', {}),
        'rotate': vector.get('rotate', [])
    }


def group_reality(vector):
    verb, seen = vector['do']['verb'], group_observation(vector['seen'])
    kind = one(vector, ('given', 'givenText'))
    if verb == 'decode':
        known(vector['do'], {'verb'}, 'do')
    elif kind == 'givenText':
        raise Malformed('givenText is for decode')
    try:
        rest = group_arguments(verb, vector['do']) if verb != 'decode' else {}
        after = group_files(vector[kind], text=kind == 'givenText')
        outcome = groups.Outcome()
        if verb != 'decode':
            files = [after.get(name) for name in FILES]
            outcome = groups.apply(verb, GROUP, *files, seen, **rest)
    except Refused as refused:
        place = {'path': refused.path} if refused.word == 'corrupt' else {}
        place |= {'line': refused.line} if refused.word == 'badLine' else {}
        return {'refused': refused.word} | place
    changed = {name: value for name, value in zip(FILES, (outcome.orchestrator, outcome.registry))
               if value is not None}
    end = {'unchanged': True}
    if changed or verb == 'decode' and 'then' in vector:
        after = {name: value and FILES[name][0](FILES[name][1](value))
                 for name, value in (after | changed).items()}
        end = {'then': {name: after.get(name) for name in vector.get('then', after)}}
    return end | remembered(vector, outcome) | {
        'status': outcome.status, 'standby': outcome.standby,
        'actions': parse(write(outcome.actions)), 'again': outcome.again, 'plan': outcome.plan,
        'removed': outcome.removed, 'needed': outcome.needed, 'gives': parse(write(outcome.gives)),
        'upTo': outcome.up_to, 'environment': outcome.environment, 'rotate': outcome.rotate
    }


def group_comparable(files):
    def with_sorted_environments(entry):
        return entry | {
            name: entry[name] | {'environment': dict(sorted(entry[name]['environment'].items()))}
            for name in ('startInfo', 'startedWith') if 'environment' in (entry.get(name) or {})
        }

    if files.get('supervisors'):
        entries = {key: with_sorted_environments(entry)
                   for key, entry in sorted(files['supervisors']['supervisors'].items())}
        files = files | {'supervisors': files['supervisors'] | {'supervisors': entries}}
    return '\n'.join(f'{name}: {value and FILES[name][1](value)}'
                     for name, value in sorted(files.items()))


def group_plain(files):
    return {name: value and parse(FILES[name][1](value)) for name, value in files.items()}


def sorted_members(value):
    """Return the JSON value with all members ordered by name."""
    if isinstance(value, dict):
        return {name: sorted_members(inner) for name, inner in sorted(value.items())}
    return [sorted_members(inner) for inner in value] if isinstance(value, list) else value


# Waiting and watching (§16)

ENDS_OF_OBSERVING = {'wait': 'outcome', 'watch': 'lines'}


def observing_expectation(vector):
    end = ENDS_OF_OBSERVING[vector['do']['verb']]
    if end == 'lines' and 'refused' not in vector:
        vector = {'lines': []} | vector
    return refusal(vector) if one(vector, (end, 'refused')) == 'refused' else {end: vector[end]}


def goal(do, subject, goals):
    """Return what do waits for: one of goals, or ready.

    do must have the member subject for ready, and only then.
    """
    if do.get('for') not in (*goals, 'ready'):
        raise Malformed(f'unknown goal {do.get("for")}')
    if (subject in do) != (do['for'] in ('ready', 'ended')):
        raise Malformed(f'{subject} belongs to ready and ended')
    return do['for']


def observing_reality(vector, observe, judge):
    since = INTEGER[0](vector['do'].get('since', Number('0')), '/do/since')
    seen = observe(vector['seen']) if 'seen' in vector else None
    try:
        got = judge(vector, vector['do'], since, seen)
    except Refused as refused:
        path = {'path': refused.path} if refused.word == 'corrupt' else {}
        return {'refused': refused.word} | path
    return {ENDS_OF_OBSERVING[vector['do']['verb']]: parse(write(got))}


def observe_operation(vector, do, since, seen):
    known(do, {'verb', 'since'} if do['verb'] == 'watch' else {'verb', 'for', 'since', 'call'},
          'do')
    text = vector[one(vector, ('given', 'givenText'))]
    given = None if text is None else decode(text if 'givenText' in vector else write(text))
    if do['verb'] == 'watch':
        return observing.watch(given, since)
    what = goal(do, 'call', observing.GOALS)
    if what == 'ready':
        return observing.wait_for_call(given, do['call'])
    return observing.wait(given, what, since)


def observe_group(vector, do, since, seen):
    known(do, {'verb', 'since'} if do['verb'] == 'watch' else {'verb', 'for', 'supervisor'}, 'do')
    if do['verb'] == 'wait' and seen is None:
        raise Malformed('no seen')
    files = group_files(vector[one(vector, ('given',))])
    both = [files.get(name) for name in FILES]
    if do['verb'] == 'watch':
        return observing.watch_group(GROUP, *both, since)
    if goal(do, 'supervisor', ('ended', )) == 'ended':
        return observing.wait_for_end(GROUP, both[1], do['supervisor'])
    return observing.wait_for_service(GROUP, *both, seen, do['supervisor'])


# Queues (§40)

OF_TASK = record(id=(queues.TASK, REQUIRED), key=(TEXT, ABSENT), spec=(queues.ANY, REQUIRED),
                 priority=(whole(*queues.LIMITS), ABSENT), after=(array(queues.TASK), ABSENT),
                 group=(IDENT, ABSENT), delayMs=(queues.SPAN, ABSENT), notBefore=(MOMENT, ABSENT),
                 expiresMs=(queues.SPAN, ABSENT), maxAttempts=(POSITIVE, ABSENT),
                 traceparent=(TEXT, ABSENT), replace=(BOOLEAN, ABSENT))
QUEUE_KINDS = {
    'process': PROCESS, 'keeper': PROCESS, 'epoch': REVISION, 'end': queues.END,
    'asker': record(**{name: (kind, REQUIRED if name == 'participant' else ABSENT)
                       for name, kind in queues.ASKER.fields.items() if name not in ('at', 'beat')}),
    'ruled': record(end=(one_of('allowed', 'denied'), REQUIRED), file=(TEXT, REQUIRED),
                    hash=(queues.HASHED, REQUIRED), number=(POSITIVE, REQUIRED), reason=(TEXT, ABSENT)),
    'processes': array(PROCESS), 'kind': queues.KIND,
    'settled': array(record(task=(TEXT, REQUIRED), epoch=(REVISION, REQUIRED),
                            end=(queues.END, REQUIRED))),
    'permits': record(all=(BOOLEAN, ABSENT), add=(INTEGER, ABSENT), set=(INTEGER, ABSENT)),
    'halt': record(reason=(TEXT, REQUIRED), details=(TEXT, ABSENT), now=(BOOLEAN, ABSENT)),
    'policy': record(**{name: (kind, ABSENT)
                        for name, (kind, _) in queues.POLICY_MEMBERS.items()})
} | dict.fromkeys(('pid', 'status', 'delayMs', 'deadlineMs', 'expiresMs', 'lastSeq', 'lastEpoch',
                     'revision', 'named'), INTEGER)
QUESTION = record(end=(one_of(*queues.TASK_ENDS), ABSENT), answer=(TEXT, ABSENT))
PARKED = record(epoch=(REVISION, ABSENT), question=(TEXT, ABSENT))
PAST = record(end=(one_of(*queues.TASK_ENDS), REQUIRED), spec=(queues.HASHED, REQUIRED),
              decision=(queues.DECISION, ABSENT))
PAST_KEY = record(taskId=(queues.TASK, REQUIRED), end=(one_of(*queues.TASK_ENDS), REQUIRED),
                  spec=(queues.HASHED, REQUIRED))


def queue_world(seen):
    seen = dict(seen)
    calls, past = seen.pop('calls', {}), seen.pop('past', {})
    questions, parked = seen.pop('questions', {}), seen.pop('parked', {})
    keys, recorded = seen.pop('pastKeys', {}), seen.pop('recorded', True)
    for call in calls.values():
        one_of('open', 'over', 'crashed')[0](call, '/seen/calls')
    return queues.World(
        observation(seen), calls,
        {task: strict(PAST, found, f'/seen/past/{task}') for task, found in past.items()},
        {key: strict(PAST_KEY, found, f'/seen/pastKeys/{key}') for key, found in keys.items()}, recorded,
        {name: found and strict(QUESTION, found, f'/seen/questions/{name}')
         for name, found in questions.items()},
        {name: found and strict(PARKED, found, f'/seen/parked/{name}')
         for name, found in parked.items()})


def queue_arguments(verb, do):
    if verb not in queues.VERBS:
        raise Malformed(f'unknown verb {verb}')
    words = set(inspect.signature(queues.VERBS[verb]).parameters) - {'queue', 'world'}
    words = {name.rstrip('_') for name in words}
    known(do, words | {'verb'}, 'do')
    given = {name + '_' * (name == 'queue'): value for name, value in do.items() if name != 'verb'}
    kinds = QUEUE_KINDS | ({'end': one_of(*queues.DECIDED)} if verb == 'answer' else {})
    for name, kind in kinds.items():
        if name in given:
            given[name] = strict(kind, given[name], f'/do/{name}')
    if verb == 'enqueue':
        given['tasks'] = [strict(OF_TASK, task, f'/do/tasks/{at}')
                          for at, task in enumerate(do['tasks'])]
    return given


def strict(kind, value, path):
    if getattr(kind, 'fields', None):
        known(value, kind.fields, path)
    return kind[0](value, path)


def queue_expectation(vector):
    end = one(vector, ('then', 'unchanged', 'refused', 'holds'))
    if end == 'refused':
        return refusal(vector) | {name: int(vector[name].text) for name in ('entry',)
                                  if name in vector}
    if end == 'holds':
        return {name: vector[name] for name in ('holds', 'line') if name in vector}
    if end == 'unchanged' and vector[end] is not True:
        raise Malformed('unchanged is not true')
    result = {end: vector[end]} | remembered(vector)
    if end == 'then':
        result['then'] = queues.decode(write(vector['then']))
    if vector['do']['verb'] == 'ask':
        result |= {'id': vector['id']}
    if vector['do']['verb'] == 'claim':
        result |= {'claimed': vector['claimed']}
        result |= {'verdict': vector['verdict']} if vector['claimed'] is None else {}
    return result | {name: vector.get(name, []) for name in ('aborts', 'written', 'past')}


def queue_reality(vector):
    verb, world = vector['do']['verb'], queue_world(vector['seen'])
    text = vector[one(vector, ('given', 'givenText'))]
    try:
        given = None
        if text is not None:
            given = queues.decode(text if 'givenText' in vector else write(text))
        if verb == 'decode':
            known(vector['do'], {'verb'}, 'do')
            end = {'then': queues.decode(queues.encode(given))}
            end = end if 'then' in vector else {'unchanged': True}
            return end | {'aborts': [], 'written': [], 'past': []}
        if verb == 'hold':
            known(vector['do'], {'verb', 'task'}, 'do')
            return held(given, world, vector['do']['task'])
        outcome = queues.apply(verb, given, world, **queue_arguments(verb, vector['do']))
    except Refused as refused:
        path = {'path': refused.path} if refused.word == 'corrupt' else {}
        entry = getattr(refused, 'entry', None)
        return {'refused': refused.word} | path | ({} if entry is None else {'entry': entry})
    end = {'unchanged': True}
    if outcome.queue:
        end = {'then': queues.decode(queues.encode(outcome.queue))}
    end |= remembered(vector, outcome)
    if verb == 'ask':
        end |= {'id': outcome.id}
    if verb == 'claim':
        end |= {'claimed': outcome.claimed}
        end |= {} if outcome.claimed else {'verdict': outcome.verdict}
    return end | {'aborts': outcome.aborts, 'written': outcome.written,
                  'past': numbers(outcome.past)}


def held(queue, world, task):
    world.seen = world.seen.remembering(queues.times(queue))
    holds = queues.hold(queue, world, task)
    ready = [other['taskId'] for other in queues.line(queue, world)]
    return numbers({'holds': holds} | ({'line': ready.index(task)} if task in ready else {}))


def numbers(value):
    """Return the JSON value with a Number for each int."""
    if isinstance(value, dict):
        return {name: numbers(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [numbers(inner) for inner in value]
    return Number(str(value)) if type(value) is int else value


# Rules (§50)

def rules_expectation(vector):
    return {(end := one(vector, ('verdict', 'refused'))): vector[end]}


def rules_reality(vector):
    def text(value):
        return value if isinstance(value, str) else write(value)
    part = 'rules'
    try:
        files = [questions.decode_rules(text(file)) for file in vector['rules']]
        part = 'input'
        request = questions.decode_request(text(vector['input']))
    except Refused as refused:
        return {'refused': part if refused.word == 'corrupt' else refused.word}
    return {'verdict': numbers(questions.decide(request, files, read_time(vector['now']),
                                                vector.get('inside', [])))}


class Suite(typing.NamedTuple):
    words: set
    needed: set
    expectation: typing.Callable
    reality: typing.Callable
    comparable: typing.Callable  # converts a result to text
    plain: typing.Callable  # converts a result to a JSON value


NEEDED = {'comment', 'section', 'seen', 'do'}
OPERATIONS = Suite(WORDS, NEEDED, expectation, reality, comparable,
                   lambda operation: parse(encode(operation)))
OF_GROUPS = {'actions', 'again', 'environment', 'gives', 'line', 'needed', 'upTo', 'plan', 'removed',
             'rotate', 'standby'}
GROUPS = Suite(WORDS - {'archived', 'reported', 'released'} | OF_GROUPS, NEEDED,
               group_expectation, group_reality, group_comparable, group_plain)
QUEUES = Suite({'comment', 'section', 'given', 'givenText', 'seen', 'do', 'then', 'unchanged',
                'refused', 'path', 'entry', 'id', 'claimed', 'verdict', 'holds', 'line', 'aborts',
                'written', 'past', 'remembered'}, NEEDED, queue_expectation, queue_reality,
               queues.encode, lambda queue: parse(queues.encode(queue)))
RULES = Suite({'comment', 'section', 'rules', 'input', 'now', 'inside', 'verdict', 'refused'},
              {'comment', 'section', 'rules', 'input', 'now'}, rules_expectation, rules_reality, None, None)
OBSERVING = {'comment', 'section', 'given', 'givenText', 'seen', 'do', 'refused', 'path'}


def folder(path):
    return path.absolute().parent.name


def suite_of(of_group, vector):
    suite = GROUPS if of_group else OPERATIONS
    end = ENDS_OF_OBSERVING.get(vector.get('do', {}).get('verb'))
    if end is None:
        return suite
    how = (group_observation, observe_group) if of_group else (observation, observe_operation)
    return suite._replace(words=OBSERVING | {end}, needed=NEEDED - {'seen'},
                          expectation=observing_expectation,
                          reality=lambda vector: observing_reality(vector, *how))


# The forms of vectors of records (§57.1), by the member that only one of them has.
RECORD_FORMS = {'patch': {'before', 'after', 'patch'}, 'hash': {'line', 'hash'},
                'finds': {'log', 'file', 'finds', 'shape'}, 'then': {'log', 'file', 'then'},
                'authors': {'log', 'authors'}}


def record_sides(vector):
    """Return what a vector of a record expects, and what the implementation makes of it."""
    form = one(vector, RECORD_FORMS)
    known(vector, RECORD_FORMS[form] | {'comment', 'section', 'shape', 'known', 'leftOut'}, 'the vector')
    shape = vector.get('shape', {})
    if form == 'hash':
        return vector['hash'], audit.hash_of(vector['line'])
    if form == 'authors':
        return vector['authors'], audit.authors(vector['log'])
    if form == 'then':
        cut, restored = audit.follow(vector['log'], vector['file'])
        return vector['then'], {'cut': Number(str(cut)), 'restored': Number(str(restored))}
    if form == 'finds':
        found = audit.verify(vector['log'], vector['file'], shape, vector.get('known', ()),
                             vector.get('leftOut', ()))
        return ([{'seq': finding['seq'], 'how': finding['how']}
                 for finding in sorted(vector['finds'], key=lambda f: (int(f['seq'].text), f['how']))],
                [{'seq': Number(str(seq)), 'how': how} for seq, how in sorted(found)])

    none = {name: [] for name in shape}
    before, after = (audit.named(none | vector[name], shape) for name in ('before', 'after'))
    plain = [{name: value for name, value in side.items() if shape.get(name) != audit.QUEUED}
             for side in (before, after)]
    patch = audit.diff(*plain) + [
        change for name in shape if shape[name] == audit.QUEUED
        for change in audit.queued_diff(before[name], after[name], name)]
    replay = audit.Replay(shape)
    replay.state = before
    if not all([replay.change(change) for change in vector['patch']]) or not replay.is_now(
            vector['after']):
        return vector['patch'], 'it does not make the one object the other'
    return (sorted(vector['patch'], key=lambda c: c['path']), sorted(patch, key=lambda c: c['path']))


def record_difference(path):
    try:
        expected, got = record_sides(parse(path.read_bytes(), 2 * DEEPEST))
    except (Malformed, Refused) as error:
        return [f'bad vector: {error}']
    lines = [write(side).splitlines() for side in (expected, got)]
    return list(difflib.unified_diff(*lines, 'expected', 'got', lineterm=''))


def difference(path):
    """Return how the implementation differs from the vector, as lines, [] if it passes."""
    if folder(path) == 'audit':
        return record_difference(path)
    try:
        vector = parse(path.read_bytes(), 2 * DEEPEST)  # it contains files
        suite = {'queues': QUEUES, 'questions': RULES}.get(folder(path)) or suite_of(
            folder(path) == 'groups', vector)
        known(vector, suite.words, 'the vector')
        missing = suite.needed - set(vector)
        if missing:
            raise Malformed(f'no {", ".join(sorted(missing))}')
        if 'do' in vector and not path.name.startswith(vector['do']['verb']):
            raise Malformed('its name does not begin with the verb')
        expected, got = suite.expectation(vector), suite.reality(vector)
    except (Malformed, Refused) as error:
        return [f'bad vector: {error}']

    place = lost(vector['then'], suite.plain(
        got['then'])) if 'then' in expected and 'then' in got else None

    def lines_of(side):
        texts = {
            name: suite.comparable(value) if name == 'then' else write(sorted_members(value))
            for name, value in side.items()
        }
        return '\n'.join(f'{name}:\n{text}' for name, text in texts.items()).splitlines()

    lines = list(
        difflib.unified_diff(lines_of(expected), lines_of(got), 'expected', 'got', lineterm=''))
    return lines or ([f'what is written has another value, or none, at {place}'] if place else [])


def main(names):
    failed, paths = 0, [pathlib.Path(name) for name in names]
    for path in paths:
        try:
            lines = difference(path)
        except Exception as error:  # a bug in protocol.py fails its vector, not the run
            lines = [f'{type(error).__name__}: {error}']
        if lines:
            failed += 1
            print(f'FAIL {path}', *(f'    {line}' for line in lines), '', sep='\n')
    of = collections.Counter(map(folder, paths))
    others = [name for name in ('groups', 'queues', 'questions', 'audit') if of[name]]
    if others:
        operations = len(paths) - sum(of[name] for name in others)
        print(f'{operations} vectors of operations', *(f'{of[name]} of {name}' for name in others),
              sep=', ')
    print(f'{len(names) - failed} passed, {failed} failed')
    return 1 if failed or not names else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
