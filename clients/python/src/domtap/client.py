"""Client and Tab: the methods that most programs need, with asyncio."""

from __future__ import annotations

import json
import os
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any, TypeVar

import grpc
import grpc.aio

from domtap import _endpoint, errors
from domtap.errors import DomtapError, StepError
from domtap.steps import duration
from domtap.stream import Update, follow
from domtap.v1 import (
    action_pb2,
    action_pb2_grpc,
    cluster_pb2_grpc,
    context_pb2_grpc,
    daemon_pb2_grpc,
    dom_pb2,
    dom_pb2_grpc,
    network_pb2_grpc,
    page_pb2,
    page_pb2_grpc,
    recording_pb2_grpc,
    search_pb2_grpc,
    session_pb2_grpc,
    stats_pb2_grpc,
    storage_pb2_grpc,
    tab_pb2,
    tab_pb2_grpc,
    timeline_pb2_grpc,
    wait_pb2,
)

T = TypeVar("T")


async def call(answer: Awaitable[T]) -> T:
    """Awaits a call of a stub; it raises a DomtapError instead of grpc.RpcError."""
    try:
        return await answer
    except grpc.RpcError as error:
        raise errors.of(error) from error


async def connect(
    address: str = "",
    *,
    token: str = "",
    token_file: str = "",
    tls_ca: str = "",
    state_dir: str = "",
    start: bool = False,
    program: str = "",
    agent: str = "domtap-python",
) -> Client:
    """Finds a daemon. With start=True, starts one if none runs, which needs the domtap program in $PATH or in program.

    address is unix:///PATH, HOST:PORT, or HOST:PORT,HOST:PORT with the nodes of a cluster. The client uses the first node
    that answers, and another one when that node is unavailable or cut off. If empty, it is $DOMTAP_ADDR unless state_dir is
    set, or else the socket of this user's daemon. TCP needs the token (token, or token_file, or $DOMTAP_TOKEN_FILE, or the
    file of this user's daemon). Connections to other machines also need TLS; tls_ca ($DOMTAP_TLS_CA) is a PEM file with the
    certificate authority. state_dir ($DOMTAP_STATE_DIR) selects a separate instance. Without start, the first call connects.
    """
    if not address and not state_dir:
        address = os.environ.get("DOMTAP_ADDR", "")
    state_dir = state_dir or os.environ.get("DOMTAP_STATE_DIR", "")
    if not address:
        path = await _endpoint.start(program, state_dir) if start else _endpoint.default_socket(state_dir)
        address = "unix://" + path if path else os.environ.get("DOMTAP_LISTEN", "") or "127.0.0.1:7411"
    token_file = token_file or _endpoint.default_token_file(state_dir)
    tls_ca = tls_ca or os.environ.get("DOMTAP_TLS_CA", "")
    return Client(await _endpoint.dial(address, token, token_file, tls_ca, agent))


class Client:
    """A connection to a daemon. `async with` closes it; the tabs stay open.

    The attributes are the generated stubs of all services, for calls without a method here. domtap.call converts their
    errors to DomtapErrors.
    """

    def __init__(self, channel: grpc.aio.Channel):
        self.channel = channel
        self.tabs = tab_pb2_grpc.TabServiceStub(channel)
        self.dom = dom_pb2_grpc.DomServiceStub(channel)
        self.actions = action_pb2_grpc.ActionServiceStub(channel)
        self.pages = page_pb2_grpc.PageServiceStub(channel)
        self.sessions = session_pb2_grpc.SessionServiceStub(channel)
        self.context = context_pb2_grpc.ContextServiceStub(channel)
        self.storage = storage_pb2_grpc.StorageServiceStub(channel)
        self.search = search_pb2_grpc.SearchServiceStub(channel)
        self.network = network_pb2_grpc.NetworkServiceStub(channel)
        self.cluster = cluster_pb2_grpc.ClusterServiceStub(channel)
        self.daemon = daemon_pb2_grpc.DaemonServiceStub(channel)
        self.stats = stats_pb2_grpc.StatsServiceStub(channel)
        self.recordings = recording_pb2_grpc.RecordingServiceStub(channel)
        self.replays = recording_pb2_grpc.ReplayServiceStub(channel)
        self.timeline = timeline_pb2_grpc.TimelineServiceStub(channel)

    async def __aenter__(self) -> Client:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Closes the connection and ends every call on it."""
        await self.channel.close()

    async def open(self, url: str = "", *, session: str = "", restore: bool = False, **options: Any) -> Tab:
        """Opens a tab, and returns when the page is loaded. With restore, the tab is restored with the same id when its
        renderer, its browser or the daemon dies. options: other fields of OpenTabRequest."""
        request = tab_pb2.OpenTabRequest(url=url, session_id=session, restore=restore, **options)
        return Tab(self, (await call(self.tabs.OpenTab(request))).tab.id)

    def tab(self, tab_id: str) -> Tab:
        """Returns the tab with an id, which need not be open."""
        return Tab(self, tab_id)

    async def list(self, session: str = "") -> list[tab_pb2.Tab]:
        """Returns the open tabs, oldest first."""
        return [*(await call(self.tabs.ListTabs(tab_pb2.ListTabsRequest(session_id=session)))).tabs]


class Tab:
    """A tab of the daemon's browser. It has only the id: calls on a closed tab fail with NOT_FOUND."""

    def __init__(self, client: Client, tab_id: str):
        self.client = client
        self.id = tab_id

    async def close(self) -> None:
        """Closes the tab."""
        await call(self.client.tabs.CloseTab(tab_pb2.CloseTabRequest(tab_id=self.id)))

    async def info(self) -> tab_pb2.Tab:
        """Returns URL, title, status, revision and open dialog. It works while the page hangs."""
        return (await call(self.client.tabs.GetTab(tab_pb2.GetTabRequest(tab_id=self.id)))).tab

    async def navigate(self, url: str, **options: Any) -> tab_pb2.NavigateResponse:
        """Loads a URL, waits until the page is loaded, and returns the changes that a person would notice."""
        return await call(self.client.tabs.Navigate(tab_pb2.NavigateRequest(tab_id=self.id, url=url, **options)))

    async def back(self, **options: Any) -> tab_pb2.GoBackResponse:
        """Goes one entry back in the history."""
        return await call(self.client.tabs.GoBack(tab_pb2.GoBackRequest(tab_id=self.id, **options)))

    async def forward(self, **options: Any) -> tab_pb2.GoForwardResponse:
        """Goes one entry forward."""
        return await call(self.client.tabs.GoForward(tab_pb2.GoForwardRequest(tab_id=self.id, **options)))

    async def reload(self, **options: Any) -> tab_pb2.ReloadResponse:
        """Loads the URL again. This also makes a crashed tab usable."""
        return await call(self.client.tabs.Reload(tab_pb2.ReloadRequest(tab_id=self.id, **options)))

    async def read(self, **options: Any) -> str:
        """Returns the page as text, one line for each interactive element, with its ref, within the default limits of 300
        elements and 8,000 tokens. options: fields of GetCompactRequest."""
        return (await call(self.client.dom.GetCompact(dom_pb2.GetCompactRequest(tab_id=self.id, **options)))).text

    async def elements(self, **options: Any) -> list[dom_pb2.Element]:
        """Returns the elements. options: fields of GetDomRequest."""
        return [*(await call(self.client.dom.GetDom(dom_pb2.GetDomRequest(tab_id=self.id, **options)))).elements]

    async def read_page(self, **options: Any) -> page_pb2.ReadPageResponse:
        """Returns the page for a model: Markdown, a tree, or a picture with refs. options: fields of ReadPageRequest."""
        return await call(self.client.pages.ReadPage(page_pb2.ReadPageRequest(tab_id=self.id, **options)))

    async def find(self, query: str, **options: Any) -> dom_pb2.FindResponse:
        """Returns the elements that match the words of a query, best match first. No match is not an error."""
        return await call(self.client.dom.Find(dom_pb2.FindRequest(tab_id=self.id, query=query, **options)))

    async def screenshot(self, **options: Any) -> bytes:
        """Returns a picture: a PNG of the viewport by default. options: fields of ScreenshotRequest."""
        return (await call(self.client.pages.Screenshot(page_pb2.ScreenshotRequest(tab_id=self.id, **options)))).image

    async def pdf(self, **options: Any) -> bytes:
        """Prints the page. options: fields of PdfRequest."""
        return (await call(self.client.pages.Pdf(page_pb2.PdfRequest(tab_id=self.id, **options)))).pdf

    async def extract(self, schema: dict[str, Any], **options: Any) -> Any:
        """Reads the fields of a schema, as described in docs/extract.md: {"title": "h1", "prices": {"selector": ".price", "all":
        True}}. Fields that are missing on the page are None or empty."""
        request = page_pb2.ExtractRequest(tab_id=self.id, schema_json=json.dumps(schema), **options)
        return json.loads((await call(self.client.pages.Extract(request))).result_json)

    async def evaluate(self, expression: str, **options: Any) -> Any:
        """Runs a script, if the daemon allows it (domtap serve --allow-eval), and returns its value."""
        request = page_pb2.EvaluateRequest(tab_id=self.id, expression=expression, **options)
        answer = await call(self.client.pages.Evaluate(request))
        if answer.exception:
            raise DomtapError(f"the script threw: {answer.exception}")
        return json.loads(answer.result_json) if answer.result_json else None

    async def act(self, *steps: action_pb2.Step, **options: Any) -> action_pb2.InteractResponse:
        """Performs up to 32 steps as one turn of the tab, and returns the changes when the page has settled. If a step fails, it
        raises a StepError with the answer, or a DomtapError if no step was done. options: fields of InteractRequest."""
        request = action_pb2.InteractRequest(tab_id=self.id, steps=steps, **options)
        answer = await call(self.client.actions.Interact(request))
        _judge(answer, answer.results)
        return answer

    async def fill_form(
        self, fields: dict[str, str] | list[action_pb2.FormField], *, submit: bool = False, **options: Any
    ) -> action_pb2.FillFormResponse:
        """Fills fields by their labels. If every field was filled, submit then submits the form."""
        if isinstance(fields, dict):
            fields = [action_pb2.FormField(label=label, value=value) for label, value in fields.items()]
        request = action_pb2.FillFormRequest(tab_id=self.id, fields=fields, submit=submit, **options)
        answer = await call(self.client.actions.FillForm(request))
        _judge(answer, answer.results)
        return answer

    async def wait(self, until: wait_pb2.WaitCondition, seconds: float = 30, **options: Any) -> dom_pb2.WaitForResponse:
        """Returns as soon as a condition holds. After at most 300 seconds the error has the reason WAIT_TIMEOUT."""
        request = dom_pb2.WaitForRequest(tab_id=self.id, until=until, timeout=duration(seconds), **options)
        return await call(self.client.dom.WaitFor(request))

    async def answer_dialog(self, accept: bool, prompt: str | None = None) -> tab_pb2.Dialog:
        """Presses OK or Cancel in the open dialog. If prompt is set, it is entered first."""
        request = tab_pb2.AnswerDialogRequest(tab_id=self.id, accept=accept, prompt_text=prompt)
        return (await call(self.client.tabs.AnswerDialog(request))).dialog

    def follow(
        self,
        state: dom_pb2.GetDomResponse | None = None,
        *,
        patience: float = 120.0,
        lost: Callable[[DomtapError, float], None] | None = None,
        **view: Any,
    ) -> AsyncIterator[Update]:
        """Yields the page and then every change, in order, without gaps or repetitions.

        When the connection is lost or the daemon ends, it retries with increasing waits and resumes at the last state. It
        calls lost with the cause and the seconds before the next attempt. It ends when the tab is closed. It raises TabGone,
        an error that a retry cannot fix, or after patience seconds without an answer the last failure. state is the state of
        an earlier Update from which to resume, also in another process. view: the fields of WatchDomRequest that select
        elements.
        """
        return follow(self.client.dom, self.id, state, patience=patience, lost=lost, **view)


def _judge(answer: Any, results: Any) -> None:
    for i, result in enumerate(results):
        if not result.ok:
            raise StepError(i, result.reason, result.error, answer)
