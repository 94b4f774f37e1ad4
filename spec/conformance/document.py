"""Read the text of DPL files strictly, and write it with all unknown members (spec §1 and §3).

decode and decode_ledger return plain dictionaries in which every known member has its value: times
are integers (milliseconds since 1970), defaults are filled in, members whose default is "absent"
are missing. Unknown members keep their order, and a Number keeps its text.
"""
import copy
import dataclasses
import datetime
import json
import re

ID = re.compile(r'[A-Za-z0-9][A-Za-z0-9._:-]{0,127}')
TIME = re.compile(
    r'(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)(?:\.(\d+))?(?:Z|([+-])([01]\d|2[0-3]):([0-5]\d))',
    re.ASCII)
EPOCH = datetime.datetime(1970, 1, 1)
MILLISECOND = datetime.timedelta(milliseconds=1)
STATES = ('running', 'aborted', 'cleanup', 'completed', 'failed')
FRAME_STATES = ('active', 'aborted', 'cleaningUp', 'crashed', 'cleanedUp')
READINESS = ('starting', 'ready', 'idle', 'stopping')
CAN_BE_USED = ('ready', 'idle')
REQUIRED, ABSENT = object(), object()


class Refused(Exception):
    """A refusal of spec §6, by its word.

    path is the JSON Pointer of the part that is corrupt. line is the number of a bad line.
    """

    def __init__(self, word, cause, path=None, line=None):
        super().__init__(f'{path or "/"}: {cause}' if word == 'corrupt' else cause)
        self.word, self.path, self.line = word, path, line


def corrupt(path, cause):
    return Refused('corrupt', cause, path)


@dataclasses.dataclass(frozen=True)
class Number:
    text: str


class Members(dict):
    repeated = None


def members(pairs):
    result = Members(pairs)
    if len(result) < len(pairs):
        names = [name for name, _ in pairs]
        result.repeated = next(name for at, name in enumerate(names) if name in names[:at])
    return result


def below(path, name):
    return f'{path}/{str(name).replace("~", "~0").replace("/", "~1")}'


def refuse_repeated(value, path=''):
    if isinstance(value, Members) and value.repeated is not None:
        raise corrupt(below(path, value.repeated), 'the member occurs twice')
    if isinstance(value, (dict, list)):
        for name, inner in value.items() if isinstance(value, dict) else enumerate(value):
            refuse_repeated(inner, below(path, name))


def no_constant(text):
    raise ValueError(f'{text} is not JSON')


# The limit on nested objects and arrays in a file (§1.3).
DEEPEST = 64
BRACKETS = re.compile(r'"(?:[^"\\]|\\.)*"?|[\[\]{}]', re.DOTALL)


def depth(text):
    """Return the depth of the nested objects and arrays in text, which need not be valid JSON."""
    opened = deepest = 0
    for bracket in BRACKETS.findall(text):
        opened += (bracket in '[{') - (bracket in ']}')
        deepest = max(deepest, opened)
    return deepest


def parse(text, deepest=DEEPEST):
    """Return the JSON value of text (bytes or str): objects as Members, numbers as Number."""
    try:
        text = text.decode('utf-8') if isinstance(text, bytes) else text
        if depth(text) > deepest:
            raise corrupt('', f'nested more than {deepest} deep')
        value = json.loads(text, object_pairs_hook=members, parse_int=Number, parse_float=Number,
                           parse_constant=no_constant)
        refuse_repeated(value)
        return value
    except ValueError as error:
        raise corrupt('', str(error)) from None


def quote(text):
    return re.sub('[\ud800-\udfff]', lambda half: f'\\u{ord(half[0]):04x}',
                  json.dumps(text, ensure_ascii=False))


def write(value, margin='\n'):
    """Return the text of a JSON value, indented by two spaces."""
    if isinstance(value, Number):
        return value.text
    if isinstance(value, str):
        return quote(value)
    if not isinstance(value, (dict, list)) or not value:
        return json.dumps(value)
    inner = margin + '  '
    if isinstance(value, dict):
        members = ','.join(f'{inner}{quote(k)}: {write(v, inner)}' for k, v in value.items())
        return '{' + members + margin + '}'
    return '[' + ','.join(inner + write(v, inner) for v in value) + margin + ']'


# A kind is a pair: read(value, path) checks a JSON value and returns the decoded value;
# plain(value) is its inverse.

def scalar(type_, word):
    def read(value, path):
        if not isinstance(value, type_):
            raise corrupt(path, f'not {word}')
        return value
    return read, lambda value: value


TEXT, BOOLEAN = scalar(str, 'a string'), scalar(bool, 'true or false')


def whole(least, most=2**63 - 1):
    def read(value, path):
        if not isinstance(value, Number) or not re.fullmatch(r'-?\d{1,19}', value.text):
            raise corrupt(path, 'not an integer')
        if not least <= int(value.text) <= most:
            raise corrupt(path, f'below {least}' if int(value.text) < least else f'above {most}')
        return int(value.text)
    return read, int


# The longest duration, which also fits 64 bits in nanoseconds (§1.3), and the last time that can be
# written (§1.2).
LONGEST, LAST = (2**63 - 1) // 10**6, 253402300799999


def duration(least):
    """Return the kind of a number of milliseconds."""
    return whole(least, LONGEST)


def read_id(value, path):
    if not ID.fullmatch(TEXT[0](value, path)) or '..' in value:
        raise corrupt(path, f'{quote(value)} is not an id')
    return value


def read_time(value, path=''):
    match = TIME.fullmatch(TEXT[0](value, path))
    try:
        date, clock, fraction, sign, hours, minutes = match.groups()
        moment = datetime.datetime.strptime(f'{date} {clock}', '%Y-%m-%d %H:%M:%S')
        offset = datetime.timedelta(hours=int(hours or 0), minutes=int(minutes or 0))
        moment = moment + offset if sign == '-' else moment - offset
        if moment < EPOCH:
            raise ValueError
        return (moment - EPOCH) // MILLISECOND + int((fraction or '')[:3].ljust(3, '0'))
    except (AttributeError, ValueError, OverflowError):
        raise corrupt(path, f'{quote(value)} is not a time') from None


def format_time(milliseconds):
    return (EPOCH + milliseconds * MILLISECOND).isoformat(timespec='milliseconds') + 'Z'


INTEGER, POSITIVE, IDENT, MOMENT = whole(0), whole(1), (read_id, str), (read_time, format_time)
DURATION, REVISION = duration(1), whole(0, 2**62)
HIGHEST = 2**61  # a revision, or the number of an alert, that an edit writes (§4)


def one_of(*words):
    def read(value, path):
        if TEXT[0](value, path) not in words:
            raise corrupt(path, f'{quote(value)} is none of {", ".join(words)}')
        return value
    return read, str


def nullable(kind):
    return (lambda value, path: None if value is None else kind[0](value, path),
            lambda value: None if value is None else kind[1](value))


def array(kind):
    def read(value, path):
        if not isinstance(value, list):
            raise corrupt(path, 'not an array')
        return [kind[0](inner, below(path, at)) for at, inner in enumerate(value)]
    return read, lambda value: [kind[1](inner) for inner in value]


class Record(tuple):
    """A kind of objects, with the kinds of its known members by name."""
    fields = {}


def record(**fields):
    """Return the kind of an object with the known members fields: name = (kind, default).

    A callable default gets the object read so far.
    """
    def read(value, path):
        if not isinstance(value, dict):
            raise corrupt(path, 'not an object')
        result = {}
        for name, (kind, _) in fields.items():
            if name in value:
                result[name] = kind[0](value[name], below(path, name))
        missing = [name for name, (_, default) in fields.items()
                   if default is REQUIRED and name not in result]
        if missing:
            raise corrupt(below(path, missing[0]), 'missing')
        for name, (_, default) in fields.items():
            if default is not ABSENT and name not in result:
                result[name] = default(result) if callable(default) else copy.copy(default)
        return {name: result[name] for name in fields if name in result} | {
            name: inner for name, inner in value.items() if name not in fields}

    def plain(value):
        known = {name: kind[1](value[name]) for name, (kind, _) in fields.items() if name in value}
        return known | {name: inner for name, inner in value.items() if name not in fields}
    kind = Record((read, plain))
    kind.fields = {name: inner for name, (inner, _) in fields.items()}
    return kind


def refuse_unknown(kind, value, path):
    """Refuse members of value that kind, or a record in it, does not know."""
    if not isinstance(value, dict) or not isinstance(kind, Record):
        return
    for name, inner in value.items():
        if name not in kind.fields:
            raise corrupt(below(path, name), 'there is no such member')
        refuse_unknown(kind.fields[name], inner, below(path, name))


def keyed(kind, key):
    def read(value, path):
        if not isinstance(value, dict):
            raise corrupt(path, 'not an object')
        result = {}
        for name, inner in value.items():
            at = below(path, name)
            read_id(name, at)
            if isinstance(inner, dict):
                inner = {key: name} | inner
            result[name] = kind[0](inner, at)
            if result[name][key] != name:
                raise corrupt(below(at, key), 'differs from its key')
        return result
    return read, lambda value: {name: kind[1](inner) for name, inner in value.items()}


PROCESS = record(pid=(INTEGER, 0), hostId=(TEXT, ''), bootId=(TEXT, ''), pidNamespace=(TEXT, ''),
                 startTicks=(INTEGER, 0), pidfdInode=(INTEGER, 0))
BEAT = record(bootId=(TEXT, ''), monotonicMs=(INTEGER, 0), at=(MOMENT, ABSENT))
GRACE = record(of=(MOMENT, REQUIRED), at=(MOMENT, REQUIRED), beat=(BEAT, ABSENT))
LEFT = array(record(path=(TEXT, ''), error=(TEXT, '')))
FOUND = array(record(path=(TEXT, REQUIRED), file=(TEXT, REQUIRED)))
READY = one_of(*READINESS)
FRAME = record(
    participantId=(IDENT, REQUIRED), callId=(IDENT, REQUIRED), callerId=(IDENT, ABSENT),
    traceparent=(TEXT, ABSENT), startId=(IDENT, ABSENT), pid=(INTEGER, 0),
    startTime=(MOMENT, lambda frame: frame['lastHeartbeat']),
    lastHeartbeat=(MOMENT, REQUIRED), state=(one_of(*FRAME_STATES), 'active'),
    supervisorId=(nullable(IDENT), None), supervisorHandle=(nullable(TEXT), None),
    description=(TEXT, ''), readiness=(READY, 'ready'), note=(TEXT, ''),
    failOnCrash=(BOOLEAN, True), heartbeats=(BOOLEAN, False), resources=(array(TEXT), []),
    foundResources=(FOUND, []), leftResources=(LEFT, []), process=(PROCESS, ABSENT), beat=(BEAT, ABSENT), grace=(GRACE, ABSENT),
    crashedAt=(MOMENT, ABSENT), detectedBy=(TEXT, ABSENT), evidence=(TEXT, ABSENT),
    staleForMs=(duration(0), ABSENT), previousState=(one_of(*FRAME_STATES), ABSENT),
    reportedAt=(MOMENT, ABSENT), reportedBeat=(BEAT, ABSENT),
    handlingBy=(record(pid=(INTEGER, 0), process=(PROCESS, ABSENT), at=(MOMENT, REQUIRED)), ABSENT))
SUPERVISOR = record(supervisorId=(IDENT, REQUIRED), pid=(INTEGER, 0),
                    lastHeartbeat=(MOMENT, REQUIRED), status=(one_of('alive', 'dead'), 'alive'),
                    orphanPolicy=(one_of('crash', 'keep'), 'crash'), heartbeats=(BOOLEAN, False),
                    process=(PROCESS, ABSENT), beat=(BEAT, ABSENT), grace=(GRACE, ABSENT))
CAUSE = record(call=(IDENT, REQUIRED), evidence=(TEXT, ABSENT), status=(INTEGER, ABSENT),
               signal=(TEXT, ABSENT), reason=(TEXT, ABSENT))
TRANSITION_MEMBERS = {
    'revision': (INTEGER, ABSENT), 'from': (TEXT, ABSENT), 'to': (TEXT, ABSENT),
    'at': (MOMENT, ABSENT), 'by': (TEXT, ABSENT), 'reason': (TEXT, ABSENT),
    'cause': (CAUSE, ABSENT)}
EVENT_MEMBERS = {
    'revision': (INTEGER, ABSENT), 'at': (MOMENT, ABSENT), 'type': (TEXT, ABSENT),
    'callId': (IDENT, ABSENT), 'callerId': (IDENT, ABSENT), 'supervisorId': (IDENT, ABSENT),
    'handle': (TEXT, ABSENT), 'from': (TEXT, ABSENT), 'to': (TEXT, ABSENT), 'by': (TEXT, ABSENT),
    'reason': (TEXT, ABSENT), 'status': (INTEGER, ABSENT), 'signal': (TEXT, ABSENT),
    'startId': (IDENT, ABSENT), 'leftResources': (LEFT, ABSENT)
}
SPAN = record(
    callId=(IDENT, REQUIRED), callerId=(IDENT, ABSENT), participantId=(IDENT, ABSENT),
    traceparent=(TEXT, ABSENT), startTime=(MOMENT, REQUIRED), endedAt=(MOMENT, REQUIRED),
    pid=(INTEGER, 0), hostId=(TEXT, ABSENT), state=(TEXT, ABSENT), crashedAt=(MOMENT, ABSENT),
    evidence=(TEXT, ABSENT), reason=(TEXT, ABSENT))
HASH = re.compile(r'sha256:[0-9a-f]{64}')


def read_hash(value, path):
    if not HASH.fullmatch(TEXT[0](value, path)):
        raise corrupt(path, f'{quote(value)} is not a hash')
    return value


HASHED = (read_hash, str)
CHAIN_MEMBERS = record(seq=(REVISION, REQUIRED), head=(HASHED, ABSENT), revision=(REVISION, REQUIRED),
                       off=(BOOLEAN, False), inode=(INTEGER, 0),
                       sealed=(record(part=(POSITIVE, REQUIRED), head=(HASHED, REQUIRED)), ABSENT),
                       pending=(array(TEXT), []))


def read_chain(value, path):
    """Return the end of a record (§52)."""
    chain = CHAIN_MEMBERS[0](value, path)
    if chain['seq'] and 'head' not in chain:
        raise corrupt(below(path, 'head'), 'is missing')
    if len(chain['pending']) > chain['seq']:
        raise corrupt(below(path, 'pending'), 'more lines than there are')
    return chain


CHAIN = (read_chain, CHAIN_MEMBERS[1])
TRANSITION, EVENT = record(**TRANSITION_MEMBERS), record(**EVENT_MEMBERS)
SCHEMAS = 'https://github.com/dpl-project/dpl/raw/v0.1.0/spec/'  # of the files that a writer creates
OPERATION = record(**{'$schema': (TEXT, ABSENT)}, protocolVersion=(POSITIVE, 1), operationId=(IDENT, REQUIRED),
                   runId=(IDENT, ABSENT), revision=(REVISION, 0), state=(one_of(*STATES), REQUIRED),
                   lastHeartbeat=(MOMENT, REQUIRED), aborted=(BOOLEAN, False),
                   heartbeatIntervalMs=(DURATION, 1500), stalenessThresholdMs=(DURATION, 10000),
                   terminalAt=(nullable(MOMENT), None), terminalHeartbeats=(INTEGER, 0),
                   stack=(array(FRAME), REQUIRED),
                   supervisorHeartbeats=(keyed(SUPERVISOR, 'supervisorId'), {}),
                   transitions=(array(TRANSITION), []), events=(array(EVENT), []),
                   spans=(array(SPAN), ABSENT), audit=(CHAIN, ABSENT))
LEDGER = record(**{'$schema': (TEXT, ABSENT)}, protocolVersion=(POSITIVE, 1), commit=(TEXT, REQUIRED), shared=(BOOLEAN, False),
                resourceRoots=(array(TEXT), []))


def refuse_newer(value):
    if isinstance(value, dict) and 'protocolVersion' in value:
        version = POSITIVE[0](value['protocolVersion'], '/protocolVersion')
        if version > 1:
            raise Refused('newerVersion', f'protocol version {version} is newer than 1')


def decode(text, operation=None):
    """Return the operation in text (bytes or str), whose file is named after operation.

    Refused: corrupt, newerVersion.
    """
    value = parse(text)
    refuse_newer(value)
    result = OPERATION[0](value, '')
    if operation is not None and result['operationId'] != operation:
        raise corrupt('/operationId', f'differs from the file name {quote(operation)}')
    calls = [frame['callId'] for frame in result['stack']]
    for at, call in enumerate(calls):
        if call in calls[:at]:
            raise corrupt(f'/stack/{at}/callId', f'{quote(call)} occurs twice in the stack')
    return result


def encode(operation):
    return write(OPERATION[1](operation)) + '\n'


def decode_ledger(text):
    """Return the members of ledger.json.

    Refused: corrupt; newerVersion, also for another commit than "rename".
    """
    value = parse(text)
    refuse_newer(value)
    if isinstance(value, dict) and value.get('commit', 'rename') != 'rename':
        raise Refused('newerVersion', f'unknown commit {write(value["commit"])}')
    return LEDGER[0](value, '')
