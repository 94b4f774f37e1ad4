"""The limit of a group for the failures of its services (spec §21.3)."""
import copy
import dataclasses

import groups
import sets


@dataclasses.dataclass
class Charging:
    restarts: list  # the charges that count
    parked: set = dataclasses.field(default_factory=set)  # the services that are given up
    end: str = ''  # why the group ends, if it does


def exceeded(supervision, restarts):
    return 'intensity' in supervision and len(restarts) > supervision['intensity']


def charge(edit):
    """Return the charging of a pass, which has changed nothing yet."""
    supervision = edit.registry.get('supervision', {})
    if 'intensityPeriodMs' not in supervision:
        return Charging([])
    found = Charging(supervision.get('restarts', []))
    edit.charging = Charging(found.restarts)
    for at, keys, exit_ in charges(edit, supervision.get('strategy', 'one_for_one')):
        found.restarts = groups.window(found.restarts + [at], supervision['intensityPeriodMs'],
                                       edit.seen.now)
        follows = exceeded(supervision, found.restarts) and supervision['onIntensity']
        if follows == 'park':
            found.parked |= set(keys)
        elif follows == 'escalate':
            period = supervision['intensityPeriodMs']
            span = f'{period} ms' if period % 1000 else f'{period // 1000} s'
            found.end = (f'more than {groups.counted(supervision["intensity"], "failure")} in {span}, the last of {keys[0]}: '
                         f'{groups.told(exit_)}')
            break
    return found


def charges(edit, strategy):
    """Return (time, services, exit of the first) for each charge of the pass, in order."""
    alone = copy.deepcopy(edit)
    alone.look_at_all()
    found = []
    for key in edit.order:
        if sets.is_cause(edit.services[key], alone, key) and not edit.in_set(key):
            entry = alone.services[key]
            entry = entry if key in alone.failing else edit.services[key]
            if groups.charged(entry) and 'lastExit' in entry:
                found.append((entry['lastExit']['at'], [key], entry['lastExit']))
    found.sort(key=lambda each: each[0])
    if strategy == 'one_for_one' or not found:
        return found
    return [(found[0][0], [key for _, keys, _ in found for key in keys], found[0][2])]
