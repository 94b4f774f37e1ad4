"""The window of a group: how many of its services run at once (spec §28)."""
import copy

import spans


def refused(edit):
    """Return the services for whose start a pass, which has changed nothing yet, has no place."""
    free = edit.registry.get('supervision', {}).get('window')
    if free is None:
        return set()
    alone = copy.deepcopy(edit)
    alone.look_at_all()
    started = {action['supervisorId'] for action in alone.outcome.actions
               if action['action'] in ('start', 'begin')}
    need = [key for key in edit.order if key in started and waits(edit.services[key])]
    need.sort(key=lambda key: not edit.services[key]['restartPending'])
    free -= sum(has_place(edit, alone, key) for key in edit.order if key not in need)
    return set(need[max(free, 0):])


def waits(entry):
    return entry['state'] in ('registered', 'waitingForDependencies')


def has_place(edit, alone, key):
    """Return whether a service runs, is stopped or is about to restart."""
    entry, after = edit.services[key], alone.services.get(key, {'state': 'stopped'})['state']
    if waits(entry):
        adopted = after == 'running'
        return adopted or entry['restartPending'] and edit.together.barred(key)
    if entry['state'] in ('dead', 'stopped'):
        return False
    return after not in ('dead', 'stopped', 'completed')


def blocked(services, order, now):
    """Return why all services that have not ended wait for what will not come, or None."""
    reasons = []
    for key in order:
        entry = services.get(key, {'state': 'stopped'})
        if entry['state'] in ('dead', 'stopped', 'completed'):
            continue
        if spans.is_on(entry.get('maintenance'), now) or spans.waits_for_maintenance(entry):
            return None
        stuck = entry['state'] == 'registered' and 'blockedBy' in entry
        if entry['state'] != 'waitingForDependencies' and not stuck:
            return None
        if 'blockedBy' in entry:
            reasons.append(f'{key}: {entry["blockedBy"]}')
    return '; '.join(reasons) or None
