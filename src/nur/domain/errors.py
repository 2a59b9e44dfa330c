"""Every error Nur raises, and who can fix it.

NurError
├── BadRequest              the caller: the message names the field and the limit
│   ├── FileRefused         the caller: the file cannot be read, the message says why
│   ├── NotFound            the caller: there is no such note
│   └── IdempotencyKeyReused the caller: the key belongs to another call
├── Conflict                try again: another write came first, nothing was written
│   └── StaleRevision       the caller: read the note again, it has changed
├── CallInProgress          try again: another call with the same key is still running
├── Unavailable             try again; the vendor's own error is __cause__
│   ├── EmbedderDown        the embedding provider did not answer; nothing was written
│   │   └── EmbedderRefused the provider will never embed it: key or input
│   ├── IndexDown           the vector index did not answer
│   │   └── IndexLost       the vector index has lost records; it is rebuilt from the store
│   ├── RerankerDown        the reranker did not answer, or its answer was unusable
│   └── StoreDown           the store could not be read or written
│       └── StoreFull       the disk is full; nothing was written
├── BadConfiguration        the operator: exit code 2
│   └── KeyRefused          the provider refused the key
├── DataFolderInUse         the operator: exit code 3
└── StoreUnusable           the operator: exit code 4; nothing was deleted
    ├── StoreNewer          written by a newer program
    ├── StoreForeign        not ours
    ├── StoreMissing        its files were deleted, moved or replaced
    └── StoreDamaged        cannot be read
"""


class NurError(Exception):
    """Base of all Nur errors. The message is safe to show to the caller."""

    code = "internal"
    retryable = False


class BadRequest(NurError):
    """The caller sent something that cannot be done as asked."""

    code = "bad_request"


class FileRefused(BadRequest):
    """The file cannot be read: unknown, damaged, too large, or it needs an extra."""

    code = "file_refused"


class NotFound(BadRequest):
    """There is no such note."""

    code = "not_found"


class IdempotencyKeyReused(BadRequest):
    """The idempotency key belongs to another call."""

    code = "idempotency_key_reused"


class Conflict(NurError):
    """Another write came first; nothing was written."""

    code = "conflict"
    retryable = True


class StaleRevision(Conflict):
    """The note is no longer at the revision that the caller read."""

    code = "stale_revision"
    retryable = False


class CallInProgress(NurError):
    """Another call with the same idempotency key is still running.

    Not a Conflict, because services retry those, and this write must not be repeated.
    """

    code = "idempotency_in_progress"
    retryable = True


class Unavailable(NurError):
    """Something Nur depends on did not answer."""

    code = "unavailable"
    retryable = True


class EmbedderDown(Unavailable):
    """The embedding provider did not answer; nothing was written."""

    code = "embedding_failed"

    def __init__(self, message: str, *, failed: int = 0, total: int = 0, retryable: bool = True) -> None:
        """`failed` of `total` texts have no vector, where that is known. Not `retryable`: the operator must act."""
        super().__init__(message)
        self.failed = failed
        self.total = total
        self.retryable = retryable


class EmbedderRefused(EmbedderDown):
    """The provider will never embed this text: retrying does not help."""

    code = "embedding_refused"

    def __init__(self, message: str, *, failed: int = 0, total: int = 0) -> None:
        """`failed` of `total` texts have no vector, where that is known."""
        super().__init__(message, failed=failed, total=total, retryable=False)


class IndexDown(Unavailable):
    """The vector index did not answer."""

    code = "index_unavailable"


class IndexLost(IndexDown):
    """The vector index has lost records; it is rebuilt from the store."""

    code = "index_lost"


class RerankerDown(Unavailable):
    """The reranker did not answer, or its answer was unusable; the order stays as it was."""

    code = "rerank_failed"


class StoreDown(Unavailable):
    """The store could not be read or written."""

    code = "storage_failed"


class StoreFull(StoreDown):
    """The disk is full; nothing was written."""

    code = "disk_full"


class BadConfiguration(NurError):
    """A setting is wrong; the message names it and the fix."""

    code = "configuration"


class KeyRefused(BadConfiguration):
    """The embedding provider refused the key."""

    def __init__(self, message: str, *, failed: int = 0, total: int = 0) -> None:
        """`failed` of `total` texts have no vector, where that is known."""
        super().__init__(message)
        self.failed = failed
        self.total = total


class DataFolderInUse(NurError):
    """Another process owns the data folder."""

    code = "data_folder_in_use"


class StoreUnusable(NurError):
    """The store cannot be opened by this program; nothing was deleted."""

    code = "store_unusable"


class StoreNewer(StoreUnusable):
    """The store was written by a newer program."""


class StoreForeign(StoreUnusable):
    """The data found was not written by this store."""


class StoreMissing(StoreUnusable):
    """The store's files were deleted, moved or replaced."""


class StoreDamaged(StoreUnusable):
    """The store cannot be read."""
