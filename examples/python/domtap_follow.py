"""What a client of domtap needs beside its stubs: a connection, and a stream that goes on where it was when the
connection is lost. Copy it into your program. docs/stream.md has the rules that it follows."""

import random
import time

import grpc

from domtap.v1 import dom_pb2

SHORTEST_WAIT = 0.1  # seconds
LONGEST_WAIT = 5.0

# What may work a little later.
PASSING = {
    grpc.StatusCode.UNAVAILABLE,
    grpc.StatusCode.DEADLINE_EXCEEDED,
    grpc.StatusCode.ABORTED,
    grpc.StatusCode.RESOURCE_EXHAUSTED,
    grpc.StatusCode.INTERNAL,
    grpc.StatusCode.CANCELLED,
}


class Mismatch(Exception):
    """A diff does not fit: something was lost, and the page must be read anew."""


class TabGone(Exception):
    """The daemon does not know the tab: it was closed, or the daemon was started anew."""


def connect(address, token=""):
    """Connects to a daemon at unix:///PATH without a token, or at HOST:PORT on loopback with one. Of a cluster, the address
    may be IP:PORT,IP:PORT and so on: the first node that answers is used, and another one when that is gone."""
    channel = grpc.insecure_channel(
        "ipv4:" + address if "," in address else address,
        options=[
            ("grpc.max_receive_message_length", 64 << 20),  # a whole page may be larger than the usual 4 MiB
            ("grpc.keepalive_time_ms", 20_000),  # finds out when the network is gone without a word
            ("grpc.keepalive_timeout_ms", 10_000),
            ("grpc.initial_reconnect_backoff_ms", 50),
            ("grpc.min_reconnect_backoff_ms", 1_000),  # also how long one attempt may take
            ("grpc.max_reconnect_backoff_ms", 1_000),
            ("grpc.enable_http_proxy", 0),
        ],
    )
    return grpc.intercept_channel(channel, _Bearer(token)) if token else channel


class _Bearer(grpc.UnaryUnaryClientInterceptor, grpc.UnaryStreamClientInterceptor):
    """Sends a token along with every call."""

    def __init__(self, token):
        self.metadata = [("authorization", "Bearer " + token)]

    def intercept_unary_unary(self, continuation, details, request):
        return continuation(_WithMetadata(details, self.metadata), request)

    intercept_unary_stream = intercept_unary_unary


class _WithMetadata(grpc.ClientCallDetails):
    def __init__(self, details, metadata):
        self.__dict__.update(details._asdict())
        self.metadata = list(details.metadata or []) + metadata


def apply(old, diff):
    """Returns the list that a diff makes of the elements of a view; it does not write to them."""
    now = {e.ref: e for e in old}
    try:
        for c in diff.changed:
            now[c.ref]
            now[c.ref] = c.element  # the whole element as it is now
        out = {r.ref for r in diff.removed} | {m.ref for m in diff.moved}
        place = {m.to_index: now[m.ref] for m in diff.moved}
        for a in diff.added:  # after taking out: the ref may be one that was removed
            place[a.index] = a
        stay = iter([now[e.ref] for e in old if e.ref not in out])
        size = len(old) - len(diff.removed) + len(diff.added)
        result = [place[i] if i in place else next(stay) for i in range(size)]
    except (KeyError, StopIteration) as missing:
        raise Mismatch(f"an element is not there: {missing}") from missing
    if next(stay, None) is not None or len({e.ref for e in result}) != size:
        raise Mismatch("two elements have one place, or one has two")
    return result


def take(old, message):
    """Returns the state after a message: what GetDom with the same options would answer, without boxes."""
    now = dom_pb2.GetDomResponse(revision=message.revision, epoch=message.epoch)
    event = message.WhichOneof("event")
    if event in ("snapshot", "resync"):
        snapshot = message.snapshot if event == "snapshot" else message.resync.snapshot
        now.url, now.title = snapshot.url, snapshot.title
        now.elements.extend(snapshot.elements)
        return now
    if old is None:
        raise Mismatch("the first message is no snapshot")
    now.url, now.title, elements = old.url, old.title, old.elements
    if event == "diff":
        if message.diff.from_revision != old.revision or message.epoch != old.epoch:
            raise Mismatch(f"a diff from revision {message.diff.from_revision} does not fit to revision {old.revision}")
        elements = apply(old.elements, message.diff)
    elif event == "navigated":
        now.url, now.title = message.navigated.url, message.navigated.title
    now.elements.extend(elements)
    return now


def follow(dom, tab_id, state=None, patience=120.0, lost=lambda cause, wait: None, **view):
    """Yields (state, message) for what a tab shows, and then for every change, without a gap. When the connection is
    lost it goes on where it was, and tells lost why, and after how many seconds. It ends when the tab is closed, and
    raises what trying again does not mend.

    dom is a DomServiceStub, state the one to go on from, also in another process, and view has the options of
    WatchDomRequest that say which elements."""
    failures, since = 0, 0.0
    while True:
        began, heard, cause = time.monotonic(), False, None
        request = dom_pb2.WatchDomRequest(tab_id=tab_id, **view)
        if state is not None:
            request.from_revision, request.epoch = state.revision, state.epoch
        call = dom.WatchDom(request)
        try:
            for sequence, message in enumerate(call, start=1):
                if message.sequence != sequence:
                    raise Mismatch(f"message {message.sequence} came as number {sequence}")
                state = take(state, message)
                state.tab_id = tab_id
                # A page that crashed says so to each stream at once: that is no sign of life.
                heard = heard or not message.HasField("tab_status")
                yield state, message
            return  # the tab was closed
        except Mismatch as error:
            cause, state = error, None
        except grpc.RpcError as error:
            if error.code() == grpc.StatusCode.NOT_FOUND:
                raise TabGone(error.details()) from error
            if error.code() not in PASSING:
                raise
            cause = error
        finally:
            call.cancel()
        if heard or time.monotonic() - began > LONGEST_WAIT:
            failures = 0
        if failures == 0:
            since = time.monotonic()
        if time.monotonic() - since > patience:
            raise cause
        # Each time up to twice as long, and by chance, so that many clients do not come back at once.
        wait = min(LONGEST_WAIT, SHORTEST_WAIT * 2**failures) * random.uniform(0.5, 1)
        failures += 1
        lost(cause, wait)
        time.sleep(wait)
