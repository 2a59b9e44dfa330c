"""Column types that mean the same in every database."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import numpy as np
from sqlalchemy import BigInteger, DateTime, LargeBinary, types

if TYPE_CHECKING:
    from sqlalchemy import Dialect

    from nur.ports.embedder import Floats

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


class Moment(types.TypeDecorator[datetime]):
    """A point in time, UTC: microseconds since 1970 in SQLite (exact, sortable), timestamptz elsewhere."""

    impl = BigInteger
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> types.TypeEngine[Any]:
        """The engine's own type."""
        return dialect.type_descriptor(BigInteger() if dialect.name == "sqlite" else DateTime(timezone=True))

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> int | datetime | None:
        """Python to database."""
        if value is None or dialect.name != "sqlite":
            return value
        return (value - _EPOCH) // _MICROSECOND

    def process_result_value(self, value: Any, dialect: Dialect) -> datetime | None:
        """Database to Python."""
        if value is None or dialect.name != "sqlite":
            return value  # type: ignore[no-any-return]  # the driver gives a datetime
        return _EPOCH + int(value) * _MICROSECOND


class Vector(types.TypeDecorator["Floats"]):
    """A float32 vector of any dimension, as its bytes."""

    impl = LargeBinary
    cache_ok = True

    def process_bind_param(self, value: Floats | None, dialect: Dialect) -> bytes | None:  # noqa: ARG002
        """Python to database."""
        return None if value is None else np.ascontiguousarray(value, dtype=np.float32).tobytes()

    def process_result_value(self, value: Any, dialect: Dialect) -> Floats | None:  # noqa: ARG002
        """Database to Python; the array is read-only, like the bytes it looks at."""
        return None if value is None else np.frombuffer(value, dtype=np.float32)
