"""Who calls, in tests that do not go through a door."""

from __future__ import annotations

from nur.domain.access import LOCAL, Caller

#: The caller of a server without tokens.
LOCAL_CALLER = Caller(LOCAL, "test call")
