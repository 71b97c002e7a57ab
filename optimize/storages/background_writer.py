"""Writing to a storage without keeping the search waiting."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from queue import Empty, Queue
from typing import Generic, TypeVar

T = TypeVar("T")


class BackgroundWriter(Generic[T]):
    """A thread that writes what it is given, in order, all that is waiting at once.

    Args:
        write: writes some items; called in the thread.
    """

    def __init__(self, write: Callable[[Sequence[T]], None]) -> None:
        self._write = write
        self._queue: Queue[T | None] = Queue()
        self._error: Exception | None = None
        self._thread = threading.Thread(target=self._run, name="recorder", daemon=True)
        self._thread.start()

    def put(self, item: T) -> None:
        """Have an item written soon.

        Raises:
            Exception: that an earlier write has raised.
        """
        self._check()
        self._queue.put(item)

    def close(self) -> None:
        """Wait until everything is written, and end the thread.

        Raises:
            Exception: that a write has raised.
        """
        self._queue.put(None)
        self._thread.join()
        self._check()

    def _run(self) -> None:
        last = False
        while not last:
            items = [self._queue.get()]
            try:
                while True:
                    items.append(self._queue.get_nowait())
            except Empty:
                pass
            last = None in items
            waiting = [item for item in items if item is not None]
            try:
                if waiting and self._error is None:
                    self._write(waiting)
            except Exception as error:  # raised where the search can hear it
                self._error = error

    def _check(self) -> None:
        if self._error is not None:
            raise self._error
