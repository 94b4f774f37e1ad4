#!/usr/bin/env python3
"""Runs vectors (spec §7) against protocol.py: run.py spec/vectors/*.json. Exit status 1 if one fails or there are none."""
import difflib
import inspect
import pathlib
import sys

import protocol
from document import INTEGER, MOMENT, PROCESS, Number, Refused, array, below, decode, encode, parse, read_time, write

WORDS = {'comment', 'section', 'given', 'givenText', 'seen', 'do', 'then', 'unchanged', 'archived', 'refused', 'path', 'status',
         'reported', 'released'}
SEEN = {'now', 'hostId', 'bootId', 'pidNamespace', 'bootedAt', 'monotonicMs', 'exited'}
ENDS = ('then', 'unchanged', 'archived', 'refused')
MISSING = object()
OURS = {'operation', 'seen', 'release', 'operation_id', 'base'}  # arguments of protocol.VERBS that no vector names


class Malformed(Exception):
    """The vector is not one of §7."""


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
    kinds = {'now': MOMENT, 'bootedAt': MOMENT, 'monotonicMs': INTEGER, 'exited': array(INTEGER)}
    values = {name: kinds[name][0](value, f'/seen/{name}') if name in kinds else value for name, value in seen.items()}
    pids = values.pop('exited', [])
    return protocol.Observation(**values, exited=lambda process: process['pid'] in pids)


def arguments(verb, do):
    if verb != 'decode' and verb not in protocol.VERBS:
        raise Malformed(f'unknown verb {verb}')
    words = set(inspect.signature(protocol.VERBS[verb]).parameters) - OURS if verb != 'decode' else set()
    known(do, words | {'verb'}, 'do')
    kinds = {'process': PROCESS, 'pid': INTEGER, 'stalenessThresholdMs': INTEGER, 'heartbeatIntervalMs': INTEGER}
    return {name: kinds[name][0](value, f'/do/{name}') if name in kinds else value for name, value in do.items() if name != 'verb'}


def comparable(operation):
    """The text by which operations are compared: every known member written, supervisors in the order of their ids."""
    return encode(operation | {'supervisorHeartbeats': dict(sorted(operation['supervisorHeartbeats'].items()))})


def written(operation):
    """operation as the next reader gets it."""
    return decode(encode(operation))


def lost(want, got, path=''):
    """The first place where the JSON value got lacks what want has; None if it has it all. Times are compared as instants.

    What the decoder forgets on both sides would be equal after decoding; this compares what was written.
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


def expectation(vector):
    end = one(vector, ENDS)
    result = {end: vector[end]}
    if end in ('unchanged', 'archived') and vector[end] is not True:
        raise Malformed(f'{end} is not true')
    if end == 'then':
        result['then'] = decode(write(vector['then']))
    if end == 'refused':
        if ('path' in vector) != (vector['refused'] == 'corrupt'):
            raise Malformed('path belongs to refused corrupt')
        return result | ({'path': vector['path']} if 'path' in vector else {})
    status = vector.get('status', Number('0'))
    return result | {'status': int(status.text), 'reported': vector.get('reported', []), 'released': vector.get('released', [])}


def reality(vector):
    verb = vector['do']['verb']
    rest, seen = arguments(verb, vector['do']), observation(vector['seen'])
    text = vector['givenText'] if one(vector, ('given', 'givenText')) == 'givenText' else vector['given']
    try:
        given = None if text is None else decode(text if 'givenText' in vector else write(text))
        if verb == 'decode':
            end = {'then': written(given)} if 'then' in vector else {'unchanged': True}
            return end | {'status': 0, 'reported': [], 'released': []}
        if given is None and verb == 'push':
            rest['operation_id'] = vector.get('then', {}).get('operationId', 'operation')
        outcome = protocol.apply(verb, given, seen, **rest)
    except Refused as refused:
        return {'refused': refused.word} | ({'path': refused.path} if refused.word == 'corrupt' else {})
    if outcome.archived:
        end = {'archived': True}
    elif outcome.operation is None:
        end = {'unchanged': True}
    else:
        end = {'then': written(outcome.operation)}
    return end | {'status': outcome.status,
                  'reported': [frame['callId'] for frame in outcome.reported], 'released': outcome.released}


def difference(path):
    """What differs between the vector and the implementation, as lines; empty if the vector passes."""
    try:
        vector = parse(path.read_bytes())
        known(vector, WORDS, 'the vector')
        missing = {'comment', 'section', 'seen', 'do'} - set(vector)
        if missing:
            raise Malformed(f'no {", ".join(sorted(missing))}')
        if not path.name.startswith(vector['do']['verb']):
            raise Malformed('its name does not begin with the verb')
        expected, got = expectation(vector), reality(vector)
    except (Malformed, Refused) as error:
        return [f'bad vector: {error}']

    place = lost(vector['then'], parse(encode(got['then']))) if 'then' in expected and 'then' in got else None

    def lines_of(side):
        texts = {name: comparable(value) if name == 'then' else write(value) for name, value in side.items()}
        return '\n'.join(f'{name}:\n{text}' for name, text in texts.items()).splitlines()
    lines = list(difflib.unified_diff(lines_of(expected), lines_of(got), 'expected', 'got', lineterm=''))
    return lines or ([f'what is written has another value, or none, at {place}'] if place else [])


def main(names):
    failed = 0
    for path in map(pathlib.Path, names):
        try:
            lines = difference(path)
        except Exception as error:  # a defect of protocol.py fails its vector, not the run
            lines = [f'{type(error).__name__}: {error}']
        if lines:
            failed += 1
            print(f'FAIL {path}', *(f'    {line}' for line in lines), '', sep='\n')
    print(f'{len(names) - failed} passed, {failed} failed')
    return 1 if failed or not names else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
