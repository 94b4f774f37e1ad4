"""The limit of a group for the failures of its services (spec §21.3)."""
import copy
import dataclasses

import groups
import sets


@dataclasses.dataclass
class Charging:
    restarts: list  # the charges that count
    parked: set = dataclasses.field(default_factory=set)  # the services that are given up


def exceeded(supervision, restarts):
    return 'intensity' in supervision and len(restarts) > supervision['intensity']


def charge(edit):
    """Return the charging of a pass, which has changed nothing yet."""
    supervision = edit.registry.get('supervision', {})
    if 'intensityPeriodMs' not in supervision:
        return Charging([])
    found = Charging(supervision.get('restarts', []))
    edit.charging = Charging(found.restarts)
    for at, keys in charges(edit, supervision.get('strategy', 'one_for_one')):
        found.restarts = groups.window(found.restarts + [at], supervision['intensityPeriodMs'],
                                       edit.seen.now)
        if exceeded(supervision, found.restarts) and supervision['onIntensity'] == 'park':
            found.parked |= set(keys)
    return found


def charges(edit, strategy):
    """Return (time, services) for each charge of the pass, in order."""
    alone = copy.deepcopy(edit)
    for key in edit.order:
        alone.look_at(alone.services[key])
    found = []
    for key in edit.order:
        if sets.is_cause(edit.services[key], alone, key) and not edit.in_set(key):
            entry = alone.services[key]
            entry = entry if key in alone.failing else edit.services[key]
            if groups.charged(entry) and 'lastExit' in entry:
                found.append((entry['lastExit']['at'], [key]))
    found.sort(key=lambda each: each[0])
    if strategy == 'one_for_one' or not found:
        return found
    return [(found[0][0], [key for _, keys in found for key in keys])]
