"""The caller in tests that call services directly."""

from __future__ import annotations

from nur.domain.access import LOCAL, Caller

#: The local caller of a server without tokens.
LOCAL_CALLER = Caller(LOCAL, "test call")
