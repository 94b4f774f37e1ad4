"""Health checks of services (§26.5)."""

import groups
import spans
from protocol import age, beat_now

CHECKED = ('at', 'beat')
AT_START = 1000  # how often a service that starts up is checked, at most
USUAL = {'healthEveryMs': 10_000, 'healthFailures': 3, 'healthStartMs': 60_000}


def setting(entry, name):
    return entry['startInfo'].get(name, USUAL[name])


def has_check(entry):
    return 'health' in (entry['startInfo'] or {})


def unproven(entry):
    """Return whether a service is not ready because its check has yet to succeed."""
    return has_check(entry) and 'health' in entry and not entry['health']['passed']


def unhealthy(entry):
    """Return the stopFor of a service whose check has failed too often, or None."""
    health = entry.get('health')
    if not has_check(entry) or not health or health['failures'] < setting(entry, 'healthFailures'):
        return None
    why = {'reason': 'unhealthy', 'then': 'restart'}
    return why | ({'detail': health['output']} if health['output'] else {})


def unchecked(entry):
    """Return whether a service is in trouble because its check cannot be run."""
    return (entry['state'] == 'running' and has_check(entry)
            and entry.get('health', {}).get('cannotRun', {}).get('trouble', False))


def starts_up(entry, seen):
    """Return whether failures do not count yet, because the service was just started."""
    return ('health' in entry and not entry['health']['passed'] and 'startedAt' in entry
            and age(entry, seen, *groups.STARTED) <= setting(entry, 'healthStartMs'))


def is_due(edit, entry, last):
    """Return whether a check of entry is due; last says when the last one was, if there was one."""
    if (not has_check(entry) or entry['state'] != 'running' or 'paused' in entry or 'stopFor' in entry
            or spans.rests(entry, edit.seen.now) or not edit.alive(entry) or edit.evidence(entry)):
        return False
    if last is None or 'startedAt' in entry and last['at'] < entry['startedAt']:
        return True
    passed, every = age(last, edit.seen, *CHECKED), setting(entry, 'healthEveryMs')
    if starts_up(entry, edit.seen):
        every = min(every, AT_START)
    return passed >= every or passed < 0


def learn(edit, orchestrator, results):
    """Take into the services of edit what checks have found, and note when in the orchestrator."""
    for result in results:
        service = result['supervisorId']
        entry = edit.services.get(service)
        checks = orchestrator.get('checks', {})
        if (entry is None or entry.get('startId') != result.get('startId')
                or not is_due(edit, entry, checks.get(service))):
            continue
        beat_now(orchestrator.setdefault('checks', {}).setdefault(service, {}), edit.seen, *CHECKED)
        before = entry.get('health', {'passed': True, 'failures': 0, 'output': ''})
        told = unchecked(entry)
        early = starts_up(entry, edit.seen)
        after = {}
        if result.get('passed'):
            after = {'passed': True, 'failures': 0, 'output': ''}
        elif not result.get('cannotRun'):
            after = {'output': result.get('output', ''),
                     'failures': before['failures'] + (0 if early else 1)}
        entry['health'] = before | after
        stopped = entry['health'].pop('cannotRun', {'at': edit.seen.now, 'trouble': False})
        if not result.get('passed') and result.get('cannotRun'):
            entry['health']['cannotRun'] = stopped | {'message': result['cannotRun'],
                                                      'trouble': stopped['trouble'] or not early}
        if unchecked(entry) and not told:
            edit.alert('supervisorUnchecked', service, result['cannotRun'])


def forget(orchestrator, services):
    """Remove when services were checked that are not there any more, or have no check."""
    kept = {service: last for service, last in orchestrator.get('checks', {}).items()
            if service in services and has_check(services[service])}
    if kept:
        orchestrator['checks'] = kept
    else:
        orchestrator.pop('checks', None)
