"""Sightings: what the observers of one host remember of a file on a shared ledger (spec §18)."""
from typing import NamedTuple

from document import INTEGER, MOMENT, REQUIRED, TEXT, array, record

MEMBERS = record(
    bootId=(TEXT, REQUIRED), seen=(array(
        record(bootId=(TEXT, REQUIRED), monotonicMs=(INTEGER, REQUIRED), at=(MOMENT, REQUIRED),
               firstSeenMs=(INTEGER, REQUIRED))), REQUIRED))


class Sightings(NamedTuple):
    bootId: str  # of the observers
    first: dict  # key → monotonicMs at which it was first seen


def key(at, beat):
    """Return the key of one time of a file. beat is the one that counts for it, or None."""
    return (beat['bootId'], beat['monotonicMs'], at) if beat else ('', 0, at)


def sighted(kept, times, seen):
    """Return the sightings after kept when the observer seen finds times.

    times are pairs of a time (None: there is none) and the beat that counts for it.
    """
    first = {}
    for at, beat in times:
        if at is not None and not seen.tells(beat):
            known = kept.first.get(key(at, beat)) if kept.bootId == seen.bootId else None
            new = known is None or known > seen.monotonicMs
            first[key(at, beat)] = seen.monotonicMs if new else known
    return Sightings(seen.bootId, first)


def read(value, path):
    """Return the sightings in a JSON value (§7). Refused: corrupt."""
    members = MEMBERS[0](value, path)
    return Sightings(members['bootId'],
                     {(one['bootId'], one['monotonicMs'], one['at']): one['firstSeenMs']
                      for one in members['seen']})


def plain(kept):
    """Return the JSON value of kept. Equal sightings have equal values."""
    seen = [{'bootId': boot, 'monotonicMs': milliseconds, 'at': MOMENT[1](at), 'firstSeenMs': first}
            for (boot, milliseconds, at), first in sorted(kept.first.items())]
    return {'bootId': kept.bootId if seen else '', 'seen': seen}
