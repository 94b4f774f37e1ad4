"""The window of a group: how many of its services run at once (spec §28)."""
import copy


def refused(edit):
    """Return the services for whose first start a pass, which has changed nothing yet, has no place."""
    free = edit.registry.get('supervision', {}).get('window')
    if free is None:
        return set()
    alone = copy.deepcopy(edit)
    for key in edit.order:
        alone.look_at(alone.services[key])
    started = {action['supervisorId'] for action in alone.outcome.actions
               if action['action'] == 'start'}
    first = [key for key in edit.order if key in started and waits(edit.services[key])]
    free -= sum(has_place(edit, alone, key) for key in edit.order if key not in first)
    return set(first[max(free, 0):])


def waits(entry):
    return entry['state'] in ('registered', 'waitingForDependencies') and not entry['restartPending']


def has_place(edit, alone, key):
    """Return whether a service runs, is stopped or is restarted, apart from a first start."""
    entry, after = edit.services[key], alone.services.get(key, {'state': 'stopped'})['state']
    if waits(entry):
        return after == 'running'  # it has started by itself
    if entry['state'] == 'completed':
        return key in edit.together.members
    if entry['state'] in ('dead', 'stopped'):
        return False
    return after not in ('dead', 'stopped', 'completed')


def blocked(services, order):
    """Return why all services that have not ended wait for what will not come, or None."""
    reasons = []
    for key in order:
        entry = services.get(key, {'state': 'stopped'})
        if entry['state'] in ('dead', 'stopped', 'completed'):
            continue
        stuck = entry['state'] == 'registered' and 'blockedBy' in entry
        if entry['state'] != 'waitingForDependencies' and not stuck:
            return None
        if 'blockedBy' in entry:
            reasons.append(f'{key}: {entry["blockedBy"]}')
    return '; '.join(reasons) or None
