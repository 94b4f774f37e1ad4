"""Silences (§30.3) and maintenances (§30.4)."""
import groups
import health
from document import LAST, format_time


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


def maintain(orchestrator, registry, seen, supervisor, by=None, forMs=0):
    edit = groups.Edit(registry, seen, by, orchestrator['stalenessThresholdMs'])
    entry = edit.find(supervisor)
    before = entry.get('maintenance')
    if forMs > 0:
        started = is_on(before, seen.now) and before['start']
        entry['maintenance'] = extended(before, by, forMs, seen.now) | {'start': started}
    elif before is not None:
        end_maintenance(edit, entry)
    return edit.finish()


def end_maintenance(edit, entry):
    span = entry.pop('maintenance')
    edit.alert('maintenanceOver', entry['supervisorId'], f'since {format_time(span["at"])}'
               + (f', by {span["by"]}' if span.get('by') else ''))


def rests(entry, now):
    """Return whether passes leave entry alone."""
    if not is_on(entry.get('maintenance'), now) or entry['state'] == 'shuttingDown':
        return False
    waits = entry['state'] in ('registered', 'waitingForDependencies')
    return not waits or not entry['maintenance']['start']


def may_start(entry, is_):
    """Let passes make one start of entry during a maintenance, or no longer."""
    if 'maintenance' in entry:
        entry['maintenance'] = entry['maintenance'] | {'start': is_}


def waits_for_maintenance(entry):
    return entry.get('blockedBy', '').endswith(': maintenance')


def end_all(edit):
    """End the maintenances and silences whose time is over."""
    now = edit.seen.now
    for key in groups.ordered(edit.services):
        entry = edit.services[key]
        if 'maintenance' in entry and not is_on(entry['maintenance'], now):
            end_maintenance(edit, entry)
        if 'silence' in entry and not is_on(entry['silence'], now):
            end_silence(edit, entry)


def end_silence(edit, entry):
    del entry['silence']
    if in_trouble(entry, edit.seen.now) and (entry['alertOn'] != 'final' or entry['state'] == 'dead'):
        why = entry.get('blockedBy')
        if why is None and health.unchecked(entry):
            why = f'health check: {entry["health"]["cannotRun"]["message"]}'
        why = why or 'lastExit' in entry and groups.told(entry['lastExit'])
        edit.alert('silenceOver', entry['supervisorId'],
                   entry['state'] + (f': {why}' if why is not False else ''))


def in_trouble(entry, now):
    """Return whether entry, whose process runs if it is running, is in trouble."""
    if is_on(entry.get('maintenance'), now):
        return False
    if entry['state'] in ('failed', 'restartScheduled', 'dead'):
        return not groups.did_its_work(entry)
    if entry['state'] == 'running':
        return health.unchecked(entry)
    return ('blockedBy' in entry
            and not waits_for_maintenance(entry))
