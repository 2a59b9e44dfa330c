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
            return value  # type: ignore[no-any-return]  # the driver returns a datetime
        return _EPOCH + int(value) * _MICROSECOND


class PgVector(types.UserDefinedType["Floats"]):
    """pgvector's `vector`, of any dimension; the driver takes and returns arrays."""

    cache_ok = True

    def get_col_spec(self, **_: Any) -> str:
        """Its name in SQL."""
        return "vector"


class Vector(types.TypeDecorator["Floats"]):
    """A float32 vector of any dimension: its bytes in SQLite, pgvector's own type in PostgreSQL."""

    impl = LargeBinary
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> types.TypeEngine[Any]:
        """The engine's own type."""
        return dialect.type_descriptor(LargeBinary() if dialect.name == "sqlite" else PgVector())

    def process_bind_param(self, value: Floats | None, dialect: Dialect) -> Floats | bytes | None:
        """Python to database."""
        if value is None:
            return None
        floats = np.ascontiguousarray(value, dtype=np.float32)
        return floats.tobytes() if dialect.name == "sqlite" else floats

    def process_result_value(self, value: Any, dialect: Dialect) -> Floats | None:
        """Database to Python. From SQLite the array is a read-only view of the bytes."""
        return np.frombuffer(value, dtype=np.float32) if value is not None and dialect.name == "sqlite" else value
