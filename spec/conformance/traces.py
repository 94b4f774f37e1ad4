"""Positions in traces, and the ids of spans (spec §59)."""
import hashlib
import re

from document import format_time

TRACEPARENT = re.compile('([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?', re.DOTALL)


def parse(text):
    """Return (trace id, span id, flags) of a traceparent, or None if it has to be ignored (§59.1)."""
    found = TRACEPARENT.fullmatch(text or '')
    if not found:
        return None
    version, trace, span, flags, more = found.groups()
    if version == 'ff' or version == '00' and more is not None or not (trace.strip('0')
                                                                       and span.strip('0')):
        return None
    return trace, span, int(flags, 16) & 3


def traceparent(trace, span, flags):
    return f'00-{trace}-{span}-{flags:02x}'


def normal(text):
    """Return the traceparent in text as a file has it, or None."""
    context = parse(text)
    return traceparent(*context) if context else None


def span_id(operation, call, start):
    """Return the id of the span of a call that was pushed at start (§59.2)."""
    return hashlib.sha256(f'{operation}/{call}@{format_time(start)}'.encode()).hexdigest()[:16]


def passed_on(operation, call):
    """Return the traceparent for what call starts, '' if it is in no trace."""
    frame = next((frame for frame in operation['stack'] if frame['callId'] == call), {})
    context = parse(frame.get('traceparent'))
    if not context:
        return ''
    span = span_id(operation['operationId'], call, frame['startTime'])
    return traceparent(context[0], span, context[2])
