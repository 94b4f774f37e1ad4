"""Groups of groups (spec §24)."""
import groups
import spans
from protocol import require

ENDED = 'ended'


def parent(group, service, generation):
    return {'parent': f'{group}/{service}', 'generation': generation}


def shown(registry):
    """Return what a group shows of the service that it is."""
    supervision = registry.get('supervision', {})
    return {name: supervision[name] for name in ('parent', 'generation') if name in supervision}


def belongs_to_other(registry, of):
    supervision = registry.get('supervision', {})
    return (supervision.get('parent', of['parent']) != of['parent']
            and supervision.get('state') != 'ended')


def adopt(registry, of, newer):
    """Return whether a group is to change for a start of its parent; newer(n, m): n is too new."""
    was = shown(registry)
    if was.get('parent') == of['parent'] and newer(was['generation'], of['generation']):
        return False
    require(not belongs_to_other(registry, of), 'otherParent', f'it belongs to {was.get("parent")}')
    return True


def begin_group(orchestrator, registry, seen, parent, generation, by=None):
    """§24.3."""
    edit = groups.Edit(registry, seen, by, orchestrator['stalenessThresholdMs'])
    of = {'parent': parent, 'generation': generation}
    if adopt(registry, of, lambda was, now: was >= now):
        groups.run_again(edit)
        edit.supervise(**of)
    return edit.finish()


def end_group(orchestrator, registry, seen, parent, generation, by=None):
    """§24.3."""
    edit = groups.Edit(registry, seen, by, orchestrator['stalenessThresholdMs'])
    of = {'parent': parent, 'generation': generation}
    if adopt(registry, of, lambda was, now: was > now):
        edit.supervise(**of)
        if not groups.group_ends(edit):
            edit.supervise(state='ending', reason='requested', message=parent)
    return edit.finish()


def check_links(orchestrator, registry, seen, services, links):
    """§24.2. links: "GROUP/SERVICE" → the group that it is; services without group are commands."""
    group = orchestrator['orchestrationGroupId']
    own = {f'{group}/{service["supervisor"]}': service.get('group') for service in services}
    links = {service: child for service, child in links.items() if service not in own}
    for service, child in own.items():
        if child is None:
            continue
        require(child not in links.values(), 'otherParent', f'{child} is a service already')
        above, more = set(), {group}
        while more:
            above |= more
            more = {of.split('/')[0] for of, below in links.items() if below in more} - above
        require(child not in above, 'tree', f'{child} is above {group}')
        links[service] = child
    return groups.Outcome()


def is_group(entry):
    return 'group' in (entry['startInfo'] or {})


def begun(entry):
    """Return whether a pass has begun the group, and none has seen it ended since."""
    return is_group(entry) and 'startedAt' in entry


def refuse_change(edit, entry, start_info):
    """§24.2: a service that may have to be stopped stays the group, or the command, that it is."""
    if start_info is None or entry['state'] is None:
        return
    is_, to = (entry['startInfo'] or {}).get('group'), start_info.get('group')
    heard = entry['state'] not in groups.FINAL and edit.heard(entry)
    require(is_ == to or not edit.held(entry) and not heard, 'stillRunning',
            'it cannot become another group')


class View:
    """What a pass sees of the group that a service is. unreadable: why it cannot be read."""

    def __init__(self, edit, entry, child):
        child = child or {}
        own = parent(edit.group, entry['supervisorId'], entry['generation'])
        seen = {name: child[name] for name in own if name in child}
        self.unreadable = child.get('unreadable')
        self.own, self.seen, self.state = own, seen, child.get('state', 'running')
        self.shown = self.unreadable is None and seen == own
        self.ready = self.shown and child.get('ready', False)
        self.other = (seen.get('parent', own['parent']) != own['parent']
                      and self.state != 'ended')
        self.settled = None
        if not begun(entry) or entry['state'] in groups.FINAL or self.unreadable is not None \
                or spans.rests(entry, edit.seen.now):
            return
        if self.shown and self.state == 'ended':
            self.settle(entry, {'at': child.get('endedAt') or edit.seen.now, 'reason': ENDED},
                        detail=child.get('reason'), error=child.get('message'))
        elif self.other:
            self.settle(entry, {'at': edit.seen.now, 'reason': 'startFailed'},
                        error=f'it belongs to {seen["parent"]}')

    def settle(self, entry, end, **said):
        entry['ended'] = end | {name: text for name, text in said.items() if text}
        self.settled = end['reason']
        groups.drop(entry, 'startedAt', 'attempt', 'startId', 'keeper', 'logDevice', 'logInode', 'startedWith',
                    'starting')


def show(edit, entry):
    """Show what the group of a running service does, and begin it if it does not show that."""
    view, group = edit.children[entry['supervisorId']], entry['startInfo']['group']
    if view.unreadable is not None:
        return edit.block(entry, f'group {group}: {view.unreadable}')
    groups.drop(entry, 'blockedBy')
    edit.set_readiness(entry, 'ready' if view.ready else 'starting')
    if not view.shown:
        edit.outcome.actions.append({'action': 'begin', 'supervisorId': entry['supervisorId'], 'group': group,
                                     'generation': view.own['generation']})


def start(edit, entry):
    """Begin a group in a new generation. Return whether that is possible."""
    view = edit.children[entry['supervisorId']]
    last = entry['generation']
    if view.seen.get('parent') == view.own['parent']:
        last = max(last, view.seen['generation'])
    return last + 1 if last < 2**61 else None


def stop(edit, entry):
    """Ask the group to end, until it shows that."""
    view = edit.children[entry['supervisorId']]
    if 'termSentAt' not in entry:
        groups.beat_now(entry, edit.seen, *groups.TERM_SENT)
    if view.unreadable is None and not (view.shown and view.state != 'running'):
        edit.outcome.actions.append({
            'action': 'end', 'supervisorId': entry['supervisorId'],
            'group': entry['startInfo']['group'], 'generation': view.own['generation']})
