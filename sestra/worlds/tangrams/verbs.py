"""The first words of commands, in three forms."""

from __future__ import annotations

_FORMS = """
    remove removing removed
    delete deleting deleted
    erase erasing erased
    drop dropping dropped
    eliminate eliminating eliminated
    discard discarding discarded
    take taking took
    get getting got
    throw throwing threw
    toss tossing tossed
    dump dumping dumped
    pull pulling pulled
    swap swapping swapped
    switch switching switched
    exchange exchanging exchanged
    flip flipping flipped
    interchange interchanging interchanged
    trade trading traded
    move moving moved
    put putting put
    place placing placed
    bring bringing brought
    send sending sent
    push pushing pushed
    shift shifting shifted
    slide sliding slid
    transfer transferring transferred
    nudge nudging nudged
    reverse reversing reversed
    invert inverting inverted
    mirror mirroring mirrored
    undo undoing undid
    rotate rotating rotated
    clear clearing cleared
    empty emptying emptied
    repeat repeating repeated
    add adding added
    insert inserting inserted
    restore restoring restored
    return returning returned
    replace replacing replaced
    make making made
    turn turning turned
    revert reverting reverted
"""

VERBS = {verb: (gerund, past) for verb, gerund, past in (line.split() for line in _FORMS.strip().splitlines())}
"""Each verb with its gerund and its past tense."""
