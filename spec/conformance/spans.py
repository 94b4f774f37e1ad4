"""Silences (§30.3)."""
import groups
from document import LAST


def is_on(span, now):
    return span is not None and now < span['until']


def extended(span, by, milliseconds, now):
    """Return a span from now on, or since span began if that is on."""
    since = span['at'] if is_on(span, now) else now
    new = {**(span or {}), 'at': since, 'until': min(now + milliseconds, LAST)}
    new.pop('by', None)
    return new | ({'by': by} if by else {})


def silence(orchestrator, registry, seen, supervisor, by=None, forMs=0):
    edit = groups.Edit(registry, seen, by, orchestrator['stalenessThresholdMs'])
    entry = edit.find(supervisor)
    if forMs > 0:
        entry['silence'] = extended(entry.get('silence'), by, forMs, seen.now)
    elif 'silence' in entry:
        end_silence(edit, entry)
    return edit.finish()


def end_silences(edit):
    """End the silences whose time is over."""
    for key in groups.ordered(edit.services):
        entry = edit.services[key]
        if 'silence' in entry and not is_on(entry['silence'], edit.seen.now):
            end_silence(edit, entry)


def end_silence(edit, entry):
    del entry['silence']
    if in_trouble(entry) and (entry['alertOn'] != 'final' or entry['state'] == 'dead'):
        why = entry.get('blockedBy') or 'lastExit' in entry and groups.told(entry['lastExit'])
        edit.alert('silenceOver', entry['supervisorId'],
                   entry['state'] + (f': {why}' if why is not False else ''))


def in_trouble(entry):
    """Return whether entry, whose process runs if it is running, is in trouble (§19.6)."""
    if entry['state'] in ('failed', 'restartScheduled', 'dead'):
        return True
    return entry['state'] != 'running' and 'blockedBy' in entry
