"""Sets of services that a pass restarts together (spec §22.3)."""
import copy
import dataclasses
from typing import Optional

import groups
import spans


@dataclasses.dataclass
class Together:
    members: set
    cause: Optional[str] = None  # the first failure of this pass that widens the set
    due: Optional[int] = None
    waits: bool = False
    held: bool = False

    def barred(self, service):
        """Return whether service must not start yet because of the others."""
        return service in self.members and (self.held or self.waits)


def gather(edit):
    """Return the set of a pass, which has changed nothing yet."""
    supervision = edit.registry.get('supervision', {})
    together = Together({key for key in edit.open_set()
                         if not spans.rests(edit.services[key], edit.seen.now)})
    strategy = supervision.get('strategy', 'one_for_one')
    if strategy == 'one_for_one' and not together.members:
        return together
    alone = copy.deepcopy(edit)
    alone.look_at_all()
    causes = [key for key in edit.order if is_cause(edit.services[key], alone, key)]
    if causes and strategy != 'one_for_one':
        together.cause = causes[0]
        rest = edit.order if strategy == 'one_for_all' else edit.order[edit.order.index(causes[0]):]
        together.members |= {key for key in rest if joins(edit, alone, key)}
    measure(together, edit, alone)
    return together


def measure(together, edit, alone):
    """Find out when the set may start, and whether anything of it must be stopped before."""
    now = edit.seen.now
    for key in together.members & set(edit.services):
        entry = edit.services[key]
        together.held |= edit.lives_on(entry)
        if key in alone.due and 'restartCause' not in entry:
            failed_at, due = alone.due[key]
            together.waits |= failed_at <= now < due
            together.due = max(together.due or due, due)


def is_cause(entry, alone, key):
    """Return whether a service has failed since the last pass, and comes back."""
    if key in alone.charging.parked:
        return False
    if key in alone.failing:
        return alone.failing[key]
    unjudged = (entry['state'] == 'failed' and 'nextAttemptAt' not in entry
                and 'stopFor' not in entry and not groups.is_short(entry))
    return unjudged and key in alone.due


def joins(edit, alone, key):
    """Return whether a service is stopped, or waits, for a failure of another."""
    entry = edit.services[key]
    if (entry['state'] in ('dead', 'stopped') or entry['startInfo'] is None
            or not entry['restartable'] or edit.out_of_reach(entry)
            or spans.rests(entry, edit.seen.now)):
        return False
    done = (entry['state'] == 'completed' or key in alone.completing
            or entry['state'] == 'failed' and groups.completes(entry) and 'stopFor' not in entry)
    return (done and entry['restart'] == 'transient' or key in alone.well or key in alone.due or is_cause(entry, alone, key)
            or entry.get('stopFor', {}).get('then') == 'restart')
