"""Which alerts a hook gets, and when (§11.7)."""
import groups
from document import IDENT, INTEGER, MOMENT, REQUIRED, REVISION, record, whole

MOST_TRIES, MOST_LOST, MINUTE, HOUR = 10, 16, 60_000, 3_600_000
CUT = record(supervisorId=(IDENT, REQUIRED), bytes=(whole(1), REQUIRED))
TRIES = record(seq=(REVISION, REQUIRED), tries=(whole(1, MOST_TRIES - 1), REQUIRED),
               at=(MOMENT, REQUIRED))


def give(orchestrator, registry, seen, lines, prompted=False):
    """Return, in gives, which of lines the hook gets, in order, and in which try.

    up_to is the number of the last line.
    """
    pending = registry.get('alertTries', {'seq': 0})
    if pending['seq'] > registry.get('alertsGiven', -1) and 'tries' in pending:
        waited = seen.now - pending['at']
        if prompted or 0 <= waited < min(MINUTE * 2**(pending['tries'] - 1), HOUR):
            return groups.Outcome()
    following = lines[1:] + [None]
    return groups.Outcome(gives=[{'seq': line['seq'], 'try': tries(registry, line['seq']) + 1}
                                 for line, after in zip(lines, following)
                                 if not said_by(line, after) and not line['silenced']],
                          up_to=lines[-1]['seq'] if lines else 0)


def logs_cut(orchestrator, registry, seen, cuts, by=None):
    """Raise an alert for each service whose log was cut (§11.8)."""
    edit = groups.Edit(registry, seen, by, orchestrator['stalenessThresholdMs'])
    for key in groups.ordered(edit.services):
        for cut in (cut for cut in cuts if cut['supervisorId'] == key):
            edit.alert('logCut', key, f'{cut["bytes"]} bytes: the disk was full')
    return edit.finish()


def tries(registry, seq):
    pending = registry.get('alertTries', {})
    return pending.get('tries', 0) if pending.get('seq') == seq else 0


def said_by(alert, after):
    """Return whether after is the restart that was decided together with the failure alert."""
    same = ('supervisorId', 'timestamp')
    return (after is not None and alert.get('type') == 'supervisorFailed'
            and after.get('type') == 'supervisorRestarted'
            and all(alert.get(name) == after.get(name) for name in same))


def given(orchestrator, registry, seen, seq, again=False):
    """Make the edit after the hook got an alert. again: it asks for another try."""
    edit = groups.Edit(registry, seen, None, orchestrator['stalenessThresholdMs'])
    new = edit.registry
    if seq <= new.get('alertsGiven', -1):
        return groups.Outcome()
    made = tries(new, seq) + 1
    if again and made < MOST_TRIES:
        new['alertTries'] = {'seq': seq, 'tries': made, 'at': seen.now}
        return edit.finish()
    if again:
        new['alertsLost'] = (new['alertsLost'] + [seq])[-MOST_LOST:]
    new.pop('alertTries', None)
    new['alertsGiven'] = seq
    return edit.finish()
