"""Bound every wait for a server by the clock on the wall.

The time-outs of `requests` hold for a single read of the socket, so a server that sends one byte a second
never meets them. Here a thread watches each request and breaks its connection off when the time is up; the
reading thread then sees the end of the stream. It also reports once that we are waiting.
"""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from collections.abc import Callable
from typing import Any

from ..late import requests

_CUT_AGAIN = 0.25
NOTICE_AFTER = 3.0
"""Seconds without a byte after which the wait is reported."""


class Sockets:
    """The connections that each thread uses for its present request, so that another can break them off.

    What is kept is a duplicate of each socket: TLS takes the original over, an answer may still be read when
    its connection is closed, and `shutdown` works on all duplicates of a connection alike.
    """

    def __init__(self) -> None:
        self._twins: dict[int, list[socket.socket]] = {}
        self._guard = threading.Lock()

    def add(self, used: socket.socket) -> None:
        """This thread uses a socket for its request."""
        twin = socket.fromfd(used.fileno(), used.family, used.type)  # `dup` is not for those of TLS
        with self._guard:
            self._twins.setdefault(threading.get_ident(), []).append(twin)

    def end(self, thread: int) -> None:
        """The request of this thread is over."""
        with self._guard:
            for twin in self._twins.pop(thread, ()):
                twin.close()

    def cut(self, thread: int) -> None:
        """Break off the connections of a thread; whatever it reads from them ends at once."""
        with self._guard:
            for twin in self._twins.get(thread, ()):
                with contextlib.suppress(OSError):
                    twin.shutdown(socket.SHUT_RDWR)


class Watch:
    """Watches one request of the calling thread: `with Watch(...) as watch`, and `watch.allow(...)` for more.

    `expired` is set when the time was up and the connection was cut; `notice` is called once, from the
    watching thread, when nothing has come for `NOTICE_AFTER` seconds.
    """

    def __init__(self, sockets: Sockets, seconds: float, notice: Callable[[], None]) -> None:
        self.expired = False
        self._sockets, self._notice, self._thread = sockets, notice, threading.get_ident()
        self._until = time.monotonic() + seconds
        self._quiet_since = time.monotonic()
        self._noticed = False
        self._done, self._wake = False, threading.Event()

    def allow(self, seconds: float) -> None:
        """Something came: the next wait may take so long."""
        if self.expired:
            return
        before = self._until
        self._quiet_since = time.monotonic()
        self._until = self._quiet_since + seconds
        if self._until < before:
            self._wake.set()

    def __enter__(self) -> Watch:
        threading.Thread(target=self._watch, daemon=True).start()
        return self

    def __exit__(self, *raised: object) -> None:
        self._done = True
        self._wake.set()
        self._sockets.end(self._thread)

    def _watch(self) -> None:
        # An end that moves further away wakes nobody: it is enough to look again when the old one is reached.
        while not self._done:
            notice = self._quiet_since + NOTICE_AFTER
            until = self._until if self._noticed else min(self._until, notice)
            self._wake.wait(max(0.01, until - time.monotonic()))
            self._wake.clear()
            now = time.monotonic()
            if not self._done and now >= self._until:
                self.expired = True
                # Again and again: the connection may be about to be made, or made anew for a redirect.
                self._sockets.cut(self._thread)
                self._until = now + _CUT_AGAIN
            if not self._noticed and now >= self._quiet_since + NOTICE_AFTER:
                self._noticed = True
                self._notice()


def watched_session(sockets: Sockets) -> requests.Session:
    """A session of `requests` whose connections are known to `sockets`."""
    from urllib3 import HTTPConnectionPool, HTTPSConnectionPool

    class Plain(HTTPConnectionPool):
        ConnectionCls = _known_to(sockets, HTTPConnectionPool.ConnectionCls)

    class Secure(HTTPSConnectionPool):
        ConnectionCls = _known_to(sockets, HTTPSConnectionPool.ConnectionCls)

    pools = {"http": Plain, "https": Secure}

    class Adapter(requests.adapters.HTTPAdapter):
        def init_poolmanager(self, *args: Any, **kwargs: Any) -> None:
            super().init_poolmanager(*args, **kwargs)
            self.poolmanager.pool_classes_by_scheme = pools

        def proxy_manager_for(self, proxy: str, **kwargs: Any) -> Any:
            manager = super().proxy_manager_for(proxy, **kwargs)
            if not proxy.lower().startswith("socks"):
                manager.pool_classes_by_scheme = pools
            return manager

    session = requests.Session()
    for scheme in ("http://", "https://"):
        session.mount(scheme, Adapter())
    return session


def _known_to(sockets: Sockets, base: type[Any]) -> type[Any]:
    """A class of connections that `sockets` hears of."""

    class Known(base):  # type: ignore[misc]  # the class is not known before the run
        def _new_conn(self) -> socket.socket:
            opened: socket.socket = super()._new_conn()
            sockets.add(opened)
            return opened

        def putrequest(self, *args: Any, **kwargs: Any) -> Any:
            if self.sock is not None:  # one of an earlier request
                sockets.add(self.sock)
            return super().putrequest(*args, **kwargs)

    return Known
