"""What people say in Tangrams beyond SCONE."""

from __future__ import annotations

from sestra.data.grammar import Talk
from sestra.worlds.tangrams.ambiguous import AMBIGUOUS
from sestra.worlds.tangrams.requests import FILLERS, REQUESTS
from sestra.worlds.tangrams.unfollowable import UNFOLLOWABLE

TALK = Talk(REQUESTS, AMBIGUOUS, UNFOLLOWABLE, FILLERS)
