"""Tests of the package without a browser: a small fake daemon answers."""

import asyncio
import os
import sys
import tempfile
import unittest
from unittest import mock

import grpc
import grpc.aio

import domtap
from domtap import _endpoint, _status_pb2
from domtap.v1 import action_pb2, action_pb2_grpc, dom_pb2, dom_pb2_grpc, tab_pb2, tab_pb2_grpc


def failure(code, reason, message):
    """Returns the trailers of an error with a reason, as the daemon sends them."""
    status = _status_pb2.Status(code=code.value[0], message=message)
    detail = status.details.add()
    detail.type_url = "type.googleapis.com/google.rpc.ErrorInfo"
    detail.value = _status_pb2.ErrorInfo(reason=reason, domain="domtap").SerializeToString()
    return (("grpc-status-details-bin", status.SerializeToString()),)


class Tabs(tab_pb2_grpc.TabServiceServicer):
    async def OpenTab(self, request, context):
        self.metadata = dict(context.invocation_metadata())
        return tab_pb2.OpenTabResponse(tab=tab_pb2.Tab(id="t1", url=request.url))

    async def GoBack(self, request, context):
        trailers = failure(grpc.StatusCode.FAILED_PRECONDITION, "NO_HISTORY", "there is no earlier page")
        await context.abort(grpc.StatusCode.FAILED_PRECONDITION, "there is no earlier page", trailers)


class Actions(action_pb2_grpc.ActionServiceServicer):
    async def Interact(self, request, context):
        failed = action_pb2.StepResult(reason="NOT_ACTIONABLE", error="the button is disabled")
        return action_pb2.InteractResponse(results=[action_pb2.StepResult(ok=True), failed])


def element(number):
    return dom_pb2.Element(ref=number, text=str(number))


class Dom(dom_pb2_grpc.DomServiceServicer):
    """Streams a page, breaks the stream off, and continues from the revision that the client names."""

    def __init__(self):
        self.watches = []

    async def GetCompact(self, request, context):
        return dom_pb2.GetCompactResponse(text=f"at most {request.max_tokens} tokens")

    async def WatchDom(self, request, context):
        self.watches.append(request)
        self.metadata = dict(context.invocation_metadata())
        if request.tab_id != "t1":
            await context.abort(grpc.StatusCode.NOT_FOUND, "no tab")
        if not request.HasField("from_revision"):
            snapshot = dom_pb2.Snapshot(title="Shop", elements=[element(0), element(1)])
            yield dom_pb2.WatchDomResponse(sequence=1, revision=3, epoch="e", snapshot=snapshot)
            diff = dom_pb2.Diff(from_revision=3, to_revision=4, added=[dom_pb2.Element(ref=2, index=1)])
            yield dom_pb2.WatchDomResponse(sequence=2, revision=4, epoch="e", diff=diff)
            await context.abort(grpc.StatusCode.UNAVAILABLE, "the connection is cut here")
        diff = dom_pb2.Diff(from_revision=4, to_revision=7, removed=[dom_pb2.RemovedElement(ref=0)])
        yield dom_pb2.WatchDomResponse(sequence=1, revision=7, epoch="e", diff=diff)
        closed = dom_pb2.TabStatusChange(status=tab_pb2.TAB_STATUS_CLOSED)
        yield dom_pb2.WatchDomResponse(sequence=2, revision=7, epoch="e", tab_status=closed)


class TestCalls(unittest.IsolatedAsyncioTestCase):
    async def asyncSetUp(self):
        folder = tempfile.TemporaryDirectory(prefix="dt")
        self.addCleanup(folder.cleanup)
        self.address = f"unix://{folder.name}/s"
        self.server, self.tabs, self.dom = grpc.aio.server(), Tabs(), Dom()
        tab_pb2_grpc.add_TabServiceServicer_to_server(self.tabs, self.server)
        dom_pb2_grpc.add_DomServiceServicer_to_server(self.dom, self.server)
        action_pb2_grpc.add_ActionServiceServicer_to_server(Actions(), self.server)
        self.server.add_insecure_port(f"unix:{folder.name}/s")
        self.port = self.server.add_insecure_port("127.0.0.1:0")
        await self.server.start()
        self.addAsyncCleanup(self.server.stop, None)

    async def test_follow_resumes_where_it_was(self):
        lost = []
        async with await domtap.connect(self.address) as client:
            tab = await client.open("https://shop.example/")
            seen = [u async for u in tab.follow(lost=lambda cause, wait: lost.append(cause), viewport_only=True)]
        self.assertEqual([(u.event, u.state.revision) for u in seen], [("snapshot", 3), ("diff", 4), ("diff", 7), ("tab_status", 7)])
        self.assertEqual([e.ref for e in seen[-1].state.elements], [2, 1])
        self.assertEqual([c.code for c in lost], [grpc.StatusCode.UNAVAILABLE])
        self.assertEqual([(w.from_revision, w.epoch, w.viewport_only) for w in self.dom.watches], [(0, "", True), (4, "e", True)])

    async def test_follow_resumes_from_a_kept_state(self):
        kept = dom_pb2.GetDomResponse(tab_id="t1", revision=4, epoch="e", elements=[element(0)])
        async with await domtap.connect(self.address) as client:
            seen = [u.state.revision async for u in client.tab("t1").follow(kept)]
            with self.assertRaises(domtap.TabGone) as gone:
                async for _ in client.tab("t9").follow():
                    pass
        self.assertEqual(seen, [7, 7])
        self.assertIn("open another one", str(gone.exception))

    async def test_errors_have_reasons(self):
        async with await domtap.connect(self.address) as client:
            with self.assertRaises(domtap.DomtapError) as failed:
                await client.tab("t1").back()
            self.assertEqual((failed.exception.reason, str(failed.exception)), ("NO_HISTORY", "there is no earlier page"))
            with self.assertRaises(domtap.StepError) as failed:
                await client.tab("t1").act(domtap.click(domtap.ref(1)), domtap.press("Enter"))
            self.assertEqual((failed.exception.step, failed.exception.reason), (1, "NOT_ACTIONABLE"))
            self.assertEqual(await client.tab("t1").read(max_tokens=7), "at most 7 tokens")

    async def test_token_and_several_addresses(self):
        address = f"127.0.0.1:1, localhost:{self.port}"
        async with await domtap.connect(address, token="secret") as client:
            await client.open("about:blank")
            self.assertEqual(self.tabs.metadata["authorization"], "Bearer secret")
            async for update in client.tab("t1").follow():  # streams have it, too
                self.assertEqual(update.event, "snapshot")
                self.assertEqual(self.dom.metadata["authorization"], "Bearer secret")
                break

    async def test_without_asyncio(self):
        program = (  # in a separate process, because gRPC supports one event loop per process
            "import domtap.sync, sys\n"
            "with domtap.sync.connect(sys.argv[1]) as client:\n"
            "    tab = client.open('about:blank')\n"
            "    print(tab.read(max_tokens=9), [u.state.revision for u in tab.follow()])\n"
        )
        run = await asyncio.create_subprocess_exec(sys.executable, "-c", program, self.address, stdout=asyncio.subprocess.PIPE)
        said, _ = await run.communicate()
        self.assertEqual((run.returncode, said.decode()), (0, "at most 9 tokens [3, 4, 7, 7]\n"))


class Node(tab_pb2_grpc.TabServiceServicer, dom_pb2_grpc.DomServiceServicer):
    """A node that counts its calls. It may be cut off from its cluster, or hang in a call."""

    def __init__(self):
        self.calls, self.reason = 0, ""

    async def answer(self, context):
        self.calls += 1
        if self.reason:
            trailers = failure(grpc.StatusCode.UNAVAILABLE, self.reason, "cut off")
            await context.abort(grpc.StatusCode.UNAVAILABLE, "cut off", trailers)

    async def ListTabs(self, request, context):
        await self.answer(context)
        return tab_pb2.ListTabsResponse()

    async def WatchDom(self, request, context):
        await self.answer(context)
        if not request.HasField("from_revision"):
            yield dom_pb2.WatchDomResponse(sequence=1, revision=3, epoch="e", snapshot=dom_pb2.Snapshot(elements=[element(0)]))
            self.watched = asyncio.Event()
            await self.watched.wait()
            await self.answer(context)
        diff = dom_pb2.Diff(from_revision=3, to_revision=4, removed=[dom_pb2.RemovedElement(ref=0)])
        yield dom_pb2.WatchDomResponse(sequence=1, revision=4, epoch="e", diff=diff)

    async def start(self, test):
        """Starts it, and returns its port."""
        server = grpc.aio.server()
        tab_pb2_grpc.add_TabServiceServicer_to_server(self, server)
        dom_pb2_grpc.add_DomServiceServicer_to_server(self, server)
        port = server.add_insecure_port("127.0.0.1:0")
        await server.start()
        test.addAsyncCleanup(server.stop, None)
        return port


class Wire:
    """A connection to a node that the network may lose silently."""

    def __init__(self, port):
        self.port, self.cut = port, asyncio.Event()

    async def carry(self, source, sink):
        while data := await source.read(1 << 16):
            if self.cut.is_set():
                await asyncio.Event().wait()
            sink.write(data)
        sink.close()

    async def connected(self, reader, writer):
        source, sink = await asyncio.open_connection("127.0.0.1", self.port)
        await asyncio.gather(self.carry(reader, sink), self.carry(source, writer), return_exceptions=True)

    async def start(self, test):
        """Starts it, and returns its port."""
        server = await asyncio.start_server(self.connected, "127.0.0.1", 0)
        test.addCleanup(server.close)
        return server.sockets[0].getsockname()[1]


class TestNodes(unittest.IsolatedAsyncioTestCase):
    async def asyncSetUp(self):
        self.one, self.two = Node(), Node()
        self.ports = [await self.one.start(self), await self.two.start(self)]

    async def client(self, *ports):
        client = await domtap.connect(",".join(f"127.0.0.1:{port}" for port in ports), token="t")
        self.addAsyncCleanup(client.close)
        return client

    async def test_it_leaves_a_node_that_is_cut_off(self):
        for reason in ("FENCED", "REGISTRY_UNAVAILABLE"):
            self.one.calls = self.two.calls = 0
            self.one.reason = self.two.reason = ""
            client = await self.client(*self.ports)
            await client.list()
            self.one.reason = reason
            with self.assertRaises(domtap.DomtapError) as failed:
                await client.list()
            self.assertEqual(failed.exception.reason, reason)
            for _ in range(3):
                await client.list()
            self.assertEqual((self.one.calls, self.two.calls), (2, 3))
            self.one.reason, self.two.reason = "", reason
            with self.assertRaises(domtap.DomtapError):
                await client.list()
            await client.list()
            self.assertEqual((self.one.calls, self.two.calls), (3, 4))

    async def test_other_failures_leave_it_where_it_is(self):
        client = await self.client(*self.ports)
        self.one.reason = "TAB_RESTORING"
        for _ in range(2):
            with self.assertRaises(domtap.DomtapError):
                await client.list()
        self.assertEqual((self.one.calls, self.two.calls), (2, 0))

    async def test_follow_goes_on_at_another_node(self):
        client, lost, seen = await self.client(*self.ports), [], []
        async for update in client.tab("t1").follow(lost=lambda cause, wait: lost.append(cause.reason)):
            seen.append((update.event, update.state.revision, self.one.calls, self.two.calls))
            if update.event == "snapshot":
                self.one.reason = "FENCED"
                with self.assertRaises(domtap.DomtapError):
                    await client.list()
                await client.list()  # the stream continues meanwhile
                self.one.watched.set()
        self.assertEqual(seen, [("snapshot", 3, 1, 0), ("diff", 4, 3, 2)])
        self.assertEqual(lost, ["FENCED"])

    async def test_it_leaves_a_node_that_is_silent(self):
        wire = Wire(self.ports[0])
        quick = [(name, {"grpc.keepalive_time_ms": 1_000, "grpc.keepalive_timeout_ms": 2_000}.get(name, value)) for name, value in _endpoint.OPTIONS]
        with mock.patch.object(_endpoint, "OPTIONS", quick):
            client = await self.client(await wire.start(self), self.ports[1])
        await client.list()
        wire.cut.set()
        with self.assertRaises(domtap.DomtapError) as failed:
            await asyncio.wait_for(client.list(), 60)
        self.assertEqual(failed.exception.code, grpc.StatusCode.UNAVAILABLE)
        await client.list()
        self.assertEqual((self.one.calls, self.two.calls), (1, 1))


class TestConnect(unittest.IsolatedAsyncioTestCase):
    async def test_what_cannot_be_done_says_what_to_do(self):
        with mock.patch.dict(os.environ, {"PATH": "", "DOMTAP_ADDR": ""}), tempfile.TemporaryDirectory() as folder:
            for options, says in [
                ({"address": "nowhere"}, "HOST:PORT"),
                ({"address": "unix:relative"}, "absolute"),
                ({"start": True, "state_dir": folder}, "program="),
                ({"address": "127.0.0.1:1", "tls_ca": folder + "/none"}, "PEM"),
            ]:
                with self.assertRaises(domtap.DomtapError) as failed:
                    await domtap.connect(**options)
                self.assertIn(says, str(failed.exception))
            async with await domtap.connect(state_dir=folder) as client:
                with self.assertRaises(domtap.Unreachable) as failed:
                    await client.list()
                self.assertIn("domtap serve", str(failed.exception))

    def test_places_are_those_of_the_command_line(self):
        env = {"HOME": "/h", "XDG_CACHE_HOME": "/c", "XDG_CONFIG_HOME": "/k"}
        with mock.patch.dict(os.environ, env, clear=True), mock.patch("sys.platform", "linux"):
            self.assertEqual(_endpoint.default_socket(""), "/c/domtap/domtap.sock")
            self.assertEqual(_endpoint.default_token_file(""), "/k/domtap/token")
            self.assertEqual(_endpoint.default_socket("/mine"), "/mine/domtap.sock")
        with mock.patch.dict(os.environ, {"DOMTAP_SOCKET": "/s", "DOMTAP_TOKEN_FILE": "/t"}):
            self.assertEqual((_endpoint.default_socket("/mine"), _endpoint.default_token_file("/mine")), ("/s", "/t"))

    def test_only_loopback_goes_without_tls(self):
        for address, want in {"127.0.0.1:1": True, "[::1]:1": True, "localhost:1": True, "10.0.0.1:1": False, "a.example:1": False}.items():
            self.assertEqual(_endpoint.is_loopback(address), want, address)


if __name__ == "__main__":
    unittest.main()
