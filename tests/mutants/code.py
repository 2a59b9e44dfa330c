"""Replaces the code of functions in a running process."""

from __future__ import annotations

import functools
import gc
from types import CodeType, FunctionType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


class LoadedFunctions:
    """The functions and caches of a package, as they are loaded now."""

    def __init__(self, package: Path) -> None:
        self._functions: dict[tuple[str, int], list[FunctionType]] = {}
        self._caches = []
        for found in gc.get_objects():
            if isinstance(found, FunctionType) and found.__code__.co_filename.startswith(str(package)):
                key = found.__code__.co_filename, found.__code__.co_firstlineno
                self._functions.setdefault(key, []).append(found)
            elif isinstance(found, functools._lru_cache_wrapper):
                self._caches.append(found)

    def replace(self, file: Path, line: int, source: str) -> None:
        """Replace the code of the function that starts in this line by the code in the changed source.

        Wrapped and imported functions change too, because they are the same object. Caches are cleared.
        """
        codes = {code.co_qualname: code for code in _codes(compile(source, str(file), "exec")) if _starts(code, line)}
        functions = self._functions[str(file), line]
        for function in functions:
            function.__code__ = codes[function.__code__.co_qualname]
        for cache in self._caches:
            cache.cache_clear()


def _starts(code: CodeType, line: int) -> bool:
    return code.co_firstlineno == line


def _codes(code: CodeType) -> Iterator[CodeType]:
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield constant
            yield from _codes(constant)
