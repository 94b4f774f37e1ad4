"""Records (spec §51 to §57): values in, values out; no clock and no files."""
import copy
import dataclasses
import hashlib
import math
import re
import sys
from decimal import Decimal

from document import DEEPEST, Number, Refused, parse, read_time
from queues import HASH, compact

WHOLE = object()


def hash_of(line):
    """Return the hash of a line (bytes or str), without its newline."""
    data = line if isinstance(line, bytes) else line.encode()
    return 'sha256:' + hashlib.sha256(data).hexdigest()


# Lines (§53)

@dataclasses.dataclass
class Line:
    seq: int
    prev: str
    revision: int
    patch: list
    verb: str
    text: bytes
    by: dict

    @property
    def hash(self):
        return hash_of(self.text)


def whole(value):
    if not isinstance(value, Number) or not re.fullmatch(r'\d+', value.text):
        raise ValueError('no number')
    return int(value.text)


def read_line(text):
    """Return the line in text (bytes). ValueError: it is none."""
    try:
        value = parse(text, DEEPEST + 3)
        line = Line(whole(value['seq']), value.get('prev', ''), whole(value['revision']),
                    value['patch'], value['verb'], text, value.get('by', {}))
        read_time(value['at'])
        good = line.seq > 0 and isinstance(line.verb, str) and isinstance(line.patch, list) and (
            'prev' not in value or HASH.fullmatch(line.prev)) and all(map(is_change, line.patch))
    except (Refused, KeyError, TypeError, AttributeError, UnicodeDecodeError) as error:
        raise ValueError(str(error)) from None
    if not good:
        raise ValueError('a member has another type')
    return line


def is_change(change):
    """Return whether a change says what was there, or what is (§54)."""
    sides = {'before', 'after', 'was'} & change.keys()
    if change['path'] == '':
        return sides == {'after'} and isinstance(change['after'], dict)
    return isinstance(change['path'], str) and (
        bool(HASH.fullmatch(change['was'])) if sides == {'was'}
        else bool(sides) and 'was' not in sides)


# Authors (§53.1)

PROCESS = ('pid', 'hostId', 'bootId', 'pidNamespace', 'startTicks', 'pidfdInode')
IDENTITY = ('pid', 'startTicks', 'pidfdInode')  # members that are left out together


def author(by, earlier):
    """Return who made the edit of a line, of which another may have what by leaves out."""
    given, process = dict(by), dict(by.get('process', {}))
    number = given.pop('as', None)
    before = earlier.get(number.text) if number else {}
    if before is None:
        return given
    told = dict(before.get('process', {}))
    if 'pid' in process:
        told = {name: value for name, value in told.items() if name not in IDENTITY}
    told |= process
    whole = before | given | {'process': {name: told[name] for name in PROCESS if name in told}}
    return {name: value for name, value in whole.items() if value}


def authors(log):
    """Return who made the edit of each line of a log."""
    found = {}
    for text in log.encode().splitlines():
        line = read_line(text)
        found[str(line.seq)] = author(line.by, found)
    return list(found.values())


# Patches (§54)

QUEUED = '-'  # in a shape: elements come at the end, as '-', and go at the beginning, as '0'


class Elements(dict):
    """An array whose elements are named by an id."""


def join(path, name):
    name = name.replace('~', '~0').replace('/', '~1') or '~2'
    return f'{path}/{name}' if path else name


def names(path):
    for name in path.split('/'):
        yield '' if name == '~2' else name.replace('~1', '/').replace('~0', '~')


def named(value, shape):
    """Return an object with its arrays of shape by the ids of their elements."""
    return {
        name: Elements((element.get(shape[name]), element) for element in inner)
        if name in shape and shape[name] != QUEUED and isinstance(inner, list) else inner
        for name, inner in value.items()
    }


def same(a, b):
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(same(value, b[name]) for name, value in a.items())
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, Number) and isinstance(b, Number):
        return a.text == b.text or float(a.text) == float(b.text)
    return type(a) is type(b) and a == b


def canonical(value):
    """Return value as RFC 8785 writes it."""
    if isinstance(value, dict):
        order = sorted(value, key=lambda name: name.encode('utf-16-be'))
        return '{' + ','.join(f'{compact(name)}:{canonical(value[name])}' for name in order) + '}'
    if isinstance(value, list):
        return '[' + ','.join(map(canonical, value)) + ']'
    return shortest(float(value.text)) if isinstance(value, Number) else compact(value)


def shortest(number):
    """Return a number as ECMAScript writes it."""
    if abs(number) == float('inf'):
        number = math.copysign(sys.float_info.max, number)
    if number == 0:
        return '0'
    sign = '-' if number < 0 else ''
    digits, exponent = re.fullmatch(r'(.*)e(.*)', f'{Decimal(repr(abs(number))).normalize():e}').groups()
    digits, point = digits.replace('.', ''), int(exponent) + 1
    if len(digits) <= point <= 21:
        return sign + digits.ljust(point, '0')
    if 0 < point <= 21:
        return f'{sign}{digits[:point]}.{digits[point:]}'
    if -6 < point <= 0:
        return f'{sign}0.{"0" * -point}{digits}'
    return f'{sign}{digits[0]}{"." + digits[1:] if digits[1:] else ""}e{point - 1:+d}'


def diff(before, after, path=''):
    """Return the changes between two values, of which each may be WHOLE: there is none."""
    if isinstance(before, dict) and isinstance(after, dict):
        order = [*after, *(name for name in before if name not in after)]
        return [change for name in order
                for change in diff(before.get(name, WHOLE), after.get(name, WHOLE), join(path, name))]
    if before is not WHOLE and after is not WHOLE and same(before, after):
        return []
    if isinstance(before, dict) and not isinstance(before, Elements) and after is WHOLE:
        return [{'path': path, 'was': hash_of(canonical(before))}]
    return [{'path': path} | {name: value for name, value in (('before', before), ('after', after))
                              if value is not WHOLE}]


def queued_diff(before, after, path):
    """Return the changes of an array whose elements come at the end and go at the beginning."""
    gone = next(n for n in range(len(before) + 1) if same(before[n:], after[:len(before) - n]))
    return ([{'path': join(path, '0'), 'was': hash_of(canonical(e))} for e in before[:gone]]
            + [{'path': join(path, '-'), 'after': element} for element in after[len(before) - gone:]])


class Replay:
    """An object as the lines of its record make it."""

    def __init__(self, shape, left_out=()):
        self.shape, self.left_out, self.state = shape, [path.split('/') for path in left_out], None

    def line(self, line):
        """Make the changes of a line. Return whether all values were as it says."""
        fits = True
        for change in line.patch:
            if change['path'] == '':
                self.state = copy.deepcopy(named(change['after'], self.shape))
            elif self.state is not None and not self.is_left_out(list(names(change['path']))):
                fits &= self.change(change)
        if self.state is not None:
            self.state['revision'] = Number(str(line.revision))
        return fits

    def is_left_out(self, path):
        """Return whether no line has the value at path, except those of older versions."""
        return any(len(path) >= len(pattern) and all(
            part in ('*', name) for part, name in zip(pattern, path)) for pattern in self.left_out)

    def without(self, value, path=()):
        """Return value without what is left out."""
        if not isinstance(value, dict):
            return value
        kept = {name: self.without(inner, (*path, name)) for name, inner in value.items()
                if not self.is_left_out((*path, name))}
        return type(value)(kept)

    def change(self, change):
        at, path = self.state, list(names(change['path']))
        if len(path) == 2 and self.shape.get(path[0]) == QUEUED:
            return self.queued(at.setdefault(path[0], []), path[1], change)
        for level, name in enumerate(path[:-1]):
            empty = Elements() if level == 0 and name in self.shape else {}
            at = at.setdefault(name, empty)
            if not isinstance(at, dict):
                return False
        was = at.get(path[-1], WHOLE)
        if 'before' in change:
            fits = was is not WHOLE and same(*(self.without(side, path)
                                               for side in (was, change['before'])))
        elif 'was' in change:
            fits = was is not WHOLE and hash_of(canonical(self.without(was, path))) == change['was']
        else:
            fits = was is WHOLE
        if 'after' in change:
            at[path[-1]] = change['after']
        else:
            at.pop(path[-1], None)
        return fits

    def queued(self, elements, place, change):
        if place == '-' and 'after' in change and 'before' not in change:
            elements.append(change['after'])
            return True
        if place != '0' or 'after' in change or not elements:
            return False
        first = elements.pop(0)
        if 'was' in change:
            return hash_of(canonical(first)) == change['was']
        return same(first, change['before'])

    def is_now(self, value):
        """Return whether the object is value. An array without elements is as good as none."""
        def tidy(state):
            return {name: inner for name, inner in self.without(state).items()
                    if inner or name not in self.shape}
        return same(tidy(self.state), tidy(named(value, self.shape)))


# Verifying (§55)

class Verifier:
    def __init__(self, shape, known=(), left_out=()):
        self.replay, self.known, self.found = Replay(shape, left_out), set(known), set()
        self.began = None  # the first line, if it is not line 1
        self.without = []  # lines that say that the object was changed without one, and that no head accepts
        self.findings, self.lines = [], []
        self.last, self.head, self.bad, self.fits = 0, '', 0, True

    def find(self, seq, how):
        self.fits = False
        if (seq, how) not in self.findings:
            self.findings.append((seq, how))

    def line(self, text):
        expected = self.last + 1
        try:
            line = read_line(text)
        except ValueError:
            self.links(None)
            self.skip(expected)
            return
        follows = self.head and line.prev == self.head
        if not self.last:
            self.first(line)
        elif line.seq <= self.last:
            self.find(line.seq, 'forked')
            return
        elif line.seq != expected and follows:
            self.links(None)
            self.skip(expected)
            return
        elif line.seq != expected:
            self.find(expected, 'missing')
            self.links(None)
        elif self.head and not follows:
            self.bad_link()
        else:
            self.links(True)
        self.take(line)

    def skip(self, seq):
        self.find(seq, 'changed')
        self.last, self.head = seq, ''

    def first(self, line):
        if line.seq > 1 and not line.prev or line.seq == 1 and line.prev:
            self.find(1, 'changed')
        elif line.seq > 1:
            self.began = line

    def end_first(self, sealed):
        """The log may begin with a part if those before it were sealed: they may be elsewhere."""
        line = self.began
        if line and not (sealed and line.verb in ('began', 'restored', 'unaudited', 'sealed')):
            self.findings.append((1, 'missing'))

    def end_without(self):
        """Name the lines that say that somebody has changed the object without one."""
        self.findings += self.without

    def take(self, line):
        self.last, self.head = line.seq, line.hash
        if (line.verb == 'unaudited' and not (self.lines and self.lines[-1].verb == 'off')
                or line.verb == 'restored' and not (line.patch and self.is_same(line))):
            self.without.append((line.seq, line.verb))
        if line.hash in self.known:
            self.found.add(line.hash)
            self.without = []
        self.lines.append(line)
        if line.patch and line.patch[0]['path'] == '':
            self.whole(line)
            self.fits = True
        if not self.replay.line(line) and self.fits:
            self.fits = False
            if not self.bad:
                self.find(line.seq, 'changed')

    def whole(self, line):
        """Compare the object of a line with what those before say, if an edit sealed the log."""
        if line.verb == 'sealed' and self.is_known() and not self.is_same(line):
            self.find(line.seq, 'changed')

    def is_known(self):
        return self.replay.state is not None and self.fits and not self.bad

    def is_same(self, line):
        """Return whether the object of a line is what those before say."""
        if not self.is_known():
            return False
        self.replay.state['revision'] = Number(str(line.revision))
        return self.replay.is_now(line.patch[0]['after'])

    def bad_link(self):
        self.bad += 1
        if self.bad > 1:
            self.find(self.last, 'changed')

    def links(self, good):
        if self.bad == 1:
            self.find(self.last - 1 if good else self.last, 'changed')
        self.bad = 0

    def end(self, rest, chain, value):
        """Read what follows the last newline, and the file: its audit and the rest of it."""
        pending = [text.encode() for text in chain['pending']]
        for seq, text in enumerate(pending, chain['seq'] + 1 - len(pending)):
            try:
                line = read_line(text)
            except ValueError:
                line = None
            if line is None or line.seq != seq:
                self.find(seq, 'changed')
            elif seq > self.last:
                if text.startswith(rest) or b'\0' in rest:
                    rest = b''
                self.line(text)
            elif not any(other.seq == seq and other.text == text for other in self.lines):
                self.find(seq, 'changed')
        if rest:
            self.find(max(self.last, 1), 'torn')
        self.end_first(chain['sealed'])
        self.end_without()

        if self.last > chain['seq']:
            self.links(True)
            self.find(chain['seq'] + 1, 'forked')
        elif self.last < chain['seq']:
            self.links(True)
            self.find(self.last + 1, 'missing')
        elif self.head and self.head != chain['head']:
            self.bad_link()
            if self.bad == 1:
                self.find(self.last, 'changed')
        else:
            self.links(True)
            self.compare(chain, value)
        if self.known - self.found:
            self.find(max(self.last, 1), 'missing')

    def compare(self, chain, value):
        if chain['off']:
            if self.lines and self.lines[-1].verb != 'off':
                self.find(self.last, 'changed')
            return
        if self.replay.state is None or not self.fits:
            return
        self.replay.state['revision'] = Number(str(chain['revision']))
        if not self.replay.is_now(value):
            self.find(self.last, 'changed')


def end_of(file):
    """Return the end of the chain that an object's file has, and the rest of the file."""
    audit = file.get('audit', {})
    chain = {'seq': whole(audit.get('seq', Number('0'))), 'head': audit.get('head', ''),
             'revision': whole(audit.get('revision', Number('0'))), 'pending': audit.get('pending', []),
             'sealed': audit.get('sealed'),
             'off': audit.get('off', False) and 'queueId' not in file}  # §52
    return chain, {name: value for name, value in file.items() if name != 'audit'}


def verify(log, file, shape, known=(), left_out=()):
    """Return what is wrong with a record: a set of (seq, how)."""
    verifier = Verifier(shape, known, left_out)
    *lines, rest = log.encode().split(b'\n')
    for line in lines:
        verifier.line(line)
    if file is None:
        verifier.links(True)
        verifier.end_first(None)
        verifier.end_without()
        verifier.find(verifier.last + 1, 'missing')
    else:
        verifier.end(rest, *end_of(file))
    return verifier.findings


# Edits (§52.1)

def follow(log, file):
    """Return to which size an edit cuts a log, and the line after which the file was set back."""
    chain, _ = end_of(file)
    data = log.encode()
    pending = [text.encode() for text in chain['pending']]
    joined = b''.join(text + b'\n' for text in pending)
    anchor = read_line(pending[0]).prev if pending else chain['head']
    complete = data.rfind(b'\n') + 1

    end = complete
    lines = data[:complete].splitlines(keepends=True)
    if pending and data.endswith(joined) and (data == joined or data[-len(joined) - 1:][:1] == b'\n'):
        return len(data), 0
    for text in reversed(lines):
        if hash_of(text[:-1]) == anchor:
            return end, 0
        try:
            line = read_line(text[:-1])
        except ValueError:
            line = None
        if line and text[:-1] not in pending and line.seq > chain['seq']:
            return complete, line.seq
        end -= len(text)
    return (0 if not anchor else complete), 0
