"""Read files (spec §13 and §14): whether a wait is over, and the lines of a watcher.

No clock and no files.
"""
from document import CAN_BE_USED, EVENT_MEMBERS, TRANSITION_MEMBERS
from groups import FINAL, Edit, missing_orchestrator, missing_registry, times
from protocol import LIVE, TERMINAL, require

GOALS = ('running', 'aborted', 'cleanup', 'completed', 'failed', 'terminal', 'change')
KEPT = 64  # events in a file


def judged(met, impossible):
    return 'met' if met else 'impossible' if impossible else 'pending'


def wait(operation, goal, since=0):
    """Return whether operation has reached one of GOALS: met, impossible or pending.

    operation is None if there is none. Refused: noOperation.
    """
    if operation is None:
        require(goal == 'running', 'noOperation', 'no such operation')
        return 'pending'
    state, over = operation['state'], operation['state'] in TERMINAL
    changed = any(entry.get('revision', 0) > since
                  for entry in operation['events'] + operation['transitions'])
    return judged(*{
        'running': (state == 'running', True),
        'aborted': (operation['aborted'], over),
        'cleanup': (state in ('cleanup', 'failed'), state == 'completed'),
        'completed': (state == 'completed', state in ('aborted', 'cleanup', 'failed')),
        'failed': (state == 'failed', state == 'completed'),
        'terminal': (over, False),
        'change': (changed, over)}[goal])


def wait_for_call(operation, call):
    """Return whether call is ready (§13.2). Refused: noOperation."""
    require(operation is not None, 'noOperation', 'no such operation')
    frame = next((frame for frame in operation['stack'] if frame['callId'] == call), None)
    if frame:
        lives = frame['state'] in LIVE
        return judged(lives and frame['readiness'] in CAN_BE_USED,
                      not lives or frame['readiness'] == 'stopping')
    types = [event.get('type') for event in operation['events'] if event.get('callId') == call]
    return judged(False, operation['state'] != 'running' or types[-1:] == ['callEnded'])


def wait_for_service(group, orchestrator, registry, seen, supervisor):
    """Return whether a service is ready, as this observer sees it.

    Either file may be None. A service that is not registered may yet be.
    """
    if supervisor not in (registry or missing_registry())['supervisors']:
        return 'pending'
    threshold = (orchestrator or missing_orchestrator(group))['stalenessThresholdMs']
    seen = seen.remembering(times(orchestrator, registry))
    edit = Edit(registry or missing_registry(), seen, None, threshold)
    state = edit.find(supervisor)['state']
    return judged(edit.ready(supervisor), state in ('dead', 'stopped', 'shuttingDown'))


def wait_for_end(group, registry, supervisor):
    """Return whether no pass starts a service again. Refused: noSupervisor."""
    edit = Edit(registry or missing_registry(), None, None, 0)
    return judged(edit.find(supervisor)['state'] in FINAL, False)


def watch(operation, since=0):
    """Return the lines of operation after the revision since, as JSON values.

    Refused: noOperation.
    """
    require(operation is not None, 'noOperation', 'no such operation')
    return lines({'operationId': operation['operationId']}, operation['events'],
                 operation['transitions'], since)


def watch_group(group, orchestrator, registry, since=0):
    """Return the lines of group, one of whose files may be None. Refused: noGroup."""
    require(orchestrator or registry, 'noGroup', 'no such group')
    return lines({'groupId': group}, (registry or missing_registry())['events'], [], since)


def lines(subject, events, transitions, since):
    entries = [known(event, EVENT_MEMBERS) for event in events]
    entries += [{'type': 'operationState'} | known(transition, TRANSITION_MEMBERS)
                for transition in transitions]
    found = [(line['revision'], line) for line in entries if line.get('revision', 0) > since]
    first = min((event.get('revision', 0) for event in events), default=0)
    if first > since + 1 or len(events) >= KEPT and first > since:
        found.insert(0, (first, {'revision': first - 1, 'type': 'gap', 'after': since}))
    return [{'schemaVersion': 1} | subject | line
            for _, line in sorted(found, key=lambda pair: pair[0])]


def known(entry, members):
    """Return the JSON value of an event or transition without members that §3.6 does not name."""
    return {name: kind[1](entry[name]) for name, (kind, _) in members.items() if name in entry}
