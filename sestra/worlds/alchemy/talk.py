"""What people say in Alchemy beyond SCONE."""

from __future__ import annotations

from sestra.data.grammar import Talk
from sestra.worlds.alchemy.requests import FILLERS, REQUESTS
from sestra.worlds.alchemy.unfollowable import AMBIGUOUS, UNFOLLOWABLE

TALK = Talk(REQUESTS, AMBIGUOUS, UNFOLLOWABLE, FILLERS)
