"""A stream of a tab that resumes after a lost connection. docs/clients.md defines the rules."""

from __future__ import annotations

import asyncio
import contextlib
import random
import time
from collections.abc import AsyncIterator, Callable, Iterable
from dataclasses import dataclass
from typing import Any

import grpc
import grpc.aio

from domtap import errors
from domtap.errors import DomtapError, Mismatch, TabGone
from domtap.v1 import dom_pb2

SHORTEST_WAIT = 0.1  # seconds: the longest wait before the first retry
LONGEST_WAIT = 5.0
SILENCE = 60.0  # the maximum silence of a stream; the daemon sends a heartbeat every 15 s

PASSING = {
    grpc.StatusCode.UNAVAILABLE,
    grpc.StatusCode.DEADLINE_EXCEEDED,
    grpc.StatusCode.ABORTED,
    grpc.StatusCode.RESOURCE_EXHAUSTED,
    grpc.StatusCode.INTERNAL,
    grpc.StatusCode.CANCELLED,
}


@dataclass(frozen=True)
class Update:
    """One message of a stream, and the state after it."""

    state: dom_pb2.GetDomResponse
    """The response that GetDom would return with the same options: tab_id, url, title, revision, epoch and the elements
    in order, without boxes. Keep it, for example in a file, to resume from it."""
    message: dom_pb2.WatchDomResponse
    """A diff, a resync, a snapshot, a navigation, a status or a heartbeat."""

    @property
    def event(self) -> str:
        """The kind of the message, such as "diff"."""
        return self.message.WhichOneof("event") or ""


def apply(old: Iterable[dom_pb2.Element], diff: dom_pb2.Diff) -> list[dom_pb2.Element]:
    """Applies a diff to the elements of a view and returns the new list. It modifies neither."""
    elements = list(old)
    now = {e.ref: e for e in elements}
    try:
        for c in diff.changed:
            now[c.ref]
            now[c.ref] = c.element  # the whole element as it is now
        out = {r.ref for r in diff.removed} | {m.ref for m in diff.moved}
        place = {m.to_index: now[m.ref] for m in diff.moved}
        for a in diff.added:  # after the removals, because the ref may be a removed one
            place[a.index] = a
        stay = iter([now[e.ref] for e in elements if e.ref not in out])
        size = len(elements) - len(diff.removed) + len(diff.added)
        result = [place[i] if i in place else next(stay) for i in range(size)]
    except (KeyError, StopIteration) as missing:
        raise Mismatch(f"an element is not there: {missing}") from missing
    if next(stay, None) is not None or len({e.ref for e in result}) != size:
        raise Mismatch("two elements have one place, or one has two")
    return result


def take(old: dom_pb2.GetDomResponse | None, message: dom_pb2.WatchDomResponse) -> dom_pb2.GetDomResponse:
    """Returns the state after a message. It does not change the old one, which is None before the first message."""
    now = dom_pb2.GetDomResponse(revision=message.revision, epoch=message.epoch)
    event = message.WhichOneof("event")
    if event in ("snapshot", "resync"):
        snapshot = message.snapshot if event == "snapshot" else message.resync.snapshot
        now.url, now.title = snapshot.url, snapshot.title
        now.elements.extend(snapshot.elements)
        now.metadata.CopyFrom(snapshot.metadata)
        return now
    if old is None:
        raise Mismatch("the first message is no snapshot")
    now.tab_id, now.url, now.title, elements = old.tab_id, old.url, old.title, list(old.elements)
    now.metadata.CopyFrom(old.metadata)
    if event == "diff":
        if message.diff.from_revision != old.revision or message.epoch != old.epoch:
            raise Mismatch(f"a diff from revision {message.diff.from_revision} does not fit to revision {old.revision}")
        elements = apply(elements, message.diff)
    elif event == "navigated":
        now.url, now.title = message.navigated.url, message.navigated.title
    now.elements.extend(elements)
    return now


def judge(error: grpc.RpcError, tab_id: str, view: dict[str, Any]) -> DomtapError:
    """Returns the error of a stream if a retry may fix it, and raises it otherwise."""
    known = errors.of(error)
    gone = known.code == grpc.StatusCode.NOT_FOUND or known.reason == "TAB_CLOSED"
    if gone and not view.get("frame_id"):
        raise TabGone(
            f"the tab {tab_id} is gone: {known.message}", code=known.code, reason=known.reason, hint="open another one"
        ) from error
    if known.code not in PASSING:
        raise known from error
    return known


async def follow(
    dom: Any,
    tab_id: str,
    state: dom_pb2.GetDomResponse | None = None,
    *,
    patience: float = 120.0,
    lost: Callable[[DomtapError, float], None] | None = None,
    **view: Any,
) -> AsyncIterator[Update]:
    """Yields the page of a tab, and then every change; see Tab.follow. dom is a DomServiceStub."""
    failures, since = 0, 0.0
    while True:
        began, heard = time.monotonic(), False
        request = dom_pb2.WatchDomRequest(tab_id=tab_id, **view)
        if state is not None:
            request.from_revision, request.epoch = state.revision, state.epoch
        call = dom.WatchDom(request)
        messages, sequence = call.__aiter__(), 0
        try:
            while True:
                try:
                    message = await asyncio.wait_for(messages.__anext__(), SILENCE)
                except StopAsyncIteration:
                    return  # the tab was closed
                sequence += 1
                if message.sequence != sequence:
                    raise Mismatch(f"message {message.sequence} came as number {sequence}")
                state = take(state, message)
                state.tab_id = tab_id
                # A crashed page reports that to each new stream immediately, so this is no sign of life.
                heard = heard or not message.HasField("tab_status")
                yield Update(state, message)
        except Mismatch as error:
            cause: DomtapError = error
            state = None
        except grpc.RpcError as error:
            cause = judge(error, tab_id, view)
        except asyncio.TimeoutError:
            cause = DomtapError(f"the daemon sent nothing for {SILENCE:.0f} s")
        except grpc.aio.UsageError as error:
            raise DomtapError(f"the client was closed: {error}") from error
        finally:
            with contextlib.suppress(Exception):
                call.cancel()
        if heard or time.monotonic() - began > LONGEST_WAIT:
            failures = 0
        if failures == 0:
            since = time.monotonic()
        if time.monotonic() - since > patience:
            raise cause
        # The wait at most doubles each time, and is random, so that many clients do not reconnect at the same time.
        wait = min(LONGEST_WAIT, SHORTEST_WAIT * 2 ** min(failures, 10)) * random.uniform(0.5, 1)
        failures += 1
        if lost is not None:
            lost(cause, wait)
        await asyncio.sleep(wait)
