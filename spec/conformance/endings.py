"""Groups that end (spec §23)."""
import copy

import groups
import limits
import sets
import spans


def decide(edit):
    """Decide what is charged, whether the group ends, and what restarts together."""
    supervision = edit.registry.get('supervision', {})
    edit.ending = {name: supervision[name] for name in groups.END if name in supervision}
    limited = 'intensityPeriodMs' in supervision
    edit.charging = limits.Charging(supervision.get('restarts', []) if limited else [])
    if edit.ending:
        edit.supervise(restarts=edit.charging.restarts)
        return
    edit.charging = limits.charge(edit)
    edit.supervise(restarts=edit.charging.restarts)
    if edit.charging.end:
        edit.ending = {'state': 'ending', 'reason': 'intensity', 'message': edit.charging.end}
        return
    edit.together = sets.gather(edit)
    alone = copy.deepcopy(edit)
    alone.look_at_all()
    edit.ending = member_dead(edit, alone) or auto_shutdown(edit, alone)
    if edit.ending:
        edit.together = sets.Together(set())


def member_dead(edit, alone):
    for key in edit.order:
        if key in alone.gave_up and alone.services[key]['state'] == 'dead':
            if alone.services[key]['onDead'] == 'escalate':
                return {'state': 'ending', 'reason': 'memberDead',
                        'message': f'{key}: {alone.gave_up[key]}'}
    return {}


def auto_shutdown(edit, alone):
    mode = edit.registry.get('supervision', {}).get('autoShutdown', 'never')
    significant = [key for key in edit.order if edit.services[key]['significant']]
    if mode == 'never' or not any(key in alone.gave_up for key in significant):
        return {}
    told, reason = [], 'autoShutdown'
    for key in significant:
        entry, before = alone.services.get(key), edit.services[key]['state']
        if spans.rests(edit.services[key], edit.seen.now):
            if mode == 'all_significant':
                return {}
            continue
        counts = key in alone.gave_up or mode == 'all_significant' and before == 'dead'
        if counts:
            told.append(f'{key}: {alone.gave_up.get(key, "dead")}')
            if entry['state'] == 'dead' and entry['restart'] != 'temporary':
                reason = 'memberDead'
        elif mode == 'all_significant' and before not in groups.FINAL:
            return {}
    return {'state': 'ending', 'reason': reason, 'message': '; '.join(told)}


def must_stop(edit, entry):
    """Return whether a group that ends has to stop something of entry, as the file had it."""
    return entry['state'] not in groups.FINAL and (
        edit.held(entry) or not groups.checked(entry, edit.seen) and edit.heard(entry))


def wind_down(edit, entry):
    """Stop a service, as its group ends, and record what it has done by itself before (§23.3)."""
    state = entry['state']
    failed = state in ('failed', 'restartScheduled') and 'restartCause' not in entry
    if state == 'shuttingDown':
        entry['startAgain'] = False
        edit.shutting_down(entry)
    elif state == 'running':
        edit.running(entry)
    elif failed and 'stopFor' in entry:
        edit.stopping(entry)
    elif failed:
        edit.retry(entry)
    else:
        leave(edit, entry)


def leave(edit, entry):
    """Stop a service because its group ends."""
    found = edit.evidence(entry)
    if edit.held(entry) or not groups.checked(entry, edit.seen) and edit.heard(entry):
        groups.ask_to_stop(edit, entry, f'ending: {edit.ending["reason"]}')
        edit.shutting_down(entry)
    elif entry['state'] == 'running':
        edit.release(entry, 'stopped', 'stopped', 'rebooted' if found == 'rebooted' else 'stopped')
    else:
        edit.release(entry, 'stopped', 'stopped', None)


def record(edit):
    """Record the end of the group after the steps of the pass."""
    edit.supervise(**edit.ending)
    over = all(entry['state'] in groups.FINAL for entry in edit.services.values())
    if edit.ending.get('state') == 'ending' and over:
        edit.supervise(state='ended', endedAt=edit.seen.now)
        message = edit.ending.get('message')
        edit.alert('groupEnded', None,
                   edit.ending.get('reason', '') + (f': {message}' if message else ''))
