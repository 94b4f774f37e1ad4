"""Which alerts a hook gets, and when (§11.7)."""
import groups


def give(orchestrator, registry, seen, lines):
    """Return, in gives, the numbers of those of lines that the hook gets, in order."""
    following = lines[1:] + [None]
    return groups.Outcome(gives=[line['seq'] for line, after in zip(lines, following)
                                 if not said_by(line, after)])


def said_by(alert, after):
    """Return whether after is the restart that was decided together with the failure alert."""
    same = ('supervisorId', 'timestamp')
    return (after is not None and alert.get('type') == 'supervisorFailed'
            and after.get('type') == 'supervisorRestarted'
            and all(alert.get(name) == after.get(name) for name in same))
