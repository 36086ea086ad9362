"""The client without asyncio: the same methods, which block until they are done. An event loop runs in a thread.

    with domtap.sync.connect(start=True) as client:
        tab = client.open("https://example.com")
        print(tab.read())
        for update in tab.follow():
            ...
"""

from __future__ import annotations

import asyncio
import functools
import threading
from collections.abc import Callable, Coroutine, Iterator
from typing import Any, Concatenate, ParamSpec, TypeVar

from domtap import client as aio
from domtap.stream import Update
from domtap.v1 import tab_pb2

P = ParamSpec("P")
R = TypeVar("R")


class _Loop:
    """An event loop in a thread."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self.thread = threading.Thread(target=self.loop.run_forever, name="domtap", daemon=True)
        self.thread.start()

    def run(self, work: Coroutine[Any, Any, R]) -> R:
        future = asyncio.run_coroutine_threadsafe(work, self.loop)
        try:
            return future.result()
        except BaseException:
            future.cancel()
            raise

    def stop(self) -> None:
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join()
        self.loop.close()


def _wait(method: Callable[Concatenate[aio.Tab, P], Coroutine[Any, Any, R]]) -> Callable[Concatenate[Tab, P], R]:
    """Makes a method of Tab blocking."""

    @functools.wraps(method)
    def waits(self: Tab, *args: P.args, **options: P.kwargs) -> R:
        return self.loop.run(method(self.tab, *args, **options))

    return waits


class Tab:
    """Like domtap.Tab."""

    def __init__(self, loop: _Loop, tab: aio.Tab):
        self.loop = loop
        self.tab = tab
        self.id = tab.id

    close = _wait(aio.Tab.close)
    info = _wait(aio.Tab.info)
    navigate = _wait(aio.Tab.navigate)
    back = _wait(aio.Tab.back)
    forward = _wait(aio.Tab.forward)
    reload = _wait(aio.Tab.reload)
    read = _wait(aio.Tab.read)
    elements = _wait(aio.Tab.elements)
    read_page = _wait(aio.Tab.read_page)
    find = _wait(aio.Tab.find)
    screenshot = _wait(aio.Tab.screenshot)
    pdf = _wait(aio.Tab.pdf)
    extract = _wait(aio.Tab.extract)
    evaluate = _wait(aio.Tab.evaluate)
    act = _wait(aio.Tab.act)
    fill_form = _wait(aio.Tab.fill_form)
    wait = _wait(aio.Tab.wait)
    answer_dialog = _wait(aio.Tab.answer_dialog)

    def follow(self, *args: Any, **options: Any) -> Iterator[Update]:
        """Like domtap.Tab.follow."""
        updates = self.tab.follow(*args, **options)

        async def following() -> Update | None:
            return await anext(updates, None)

        async def leave() -> None:
            await updates.aclose()  # type: ignore[attr-defined]

        try:
            while (update := self.loop.run(following())) is not None:
                yield update
        finally:
            self.loop.run(leave())


class Client:
    """Like domtap.Client. `with` closes it."""

    def __init__(self, loop: _Loop, client: aio.Client):
        self.loop = loop
        self.client = client

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Closes the connection. The client cannot be used after that."""
        self.loop.run(self.client.close())
        self.loop.stop()

    def open(self, url: str = "", **options: Any) -> Tab:
        """Like domtap.Client.open."""
        return Tab(self.loop, self.loop.run(self.client.open(url, **options)))

    def tab(self, tab_id: str) -> Tab:
        """Returns the tab with an id, which need not be open."""
        return Tab(self.loop, self.client.tab(tab_id))

    def list(self, session: str = "") -> list[tab_pb2.Tab]:
        """Returns the open tabs, oldest first."""
        return self.loop.run(self.client.list(session))


def connect(address: str = "", **options: Any) -> Client:
    """Like domtap.connect."""
    loop = _Loop()
    try:
        return Client(loop, loop.run(aio.connect(address, **options)))
    except BaseException:
        loop.stop()
        raise
