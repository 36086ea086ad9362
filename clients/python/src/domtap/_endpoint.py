"""Finds, starts and connects to a daemon, with the same sockets, tokens and variables as the command line."""

from __future__ import annotations

import asyncio
import ipaddress
import os
import shutil
import socket
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import grpc
import grpc.aio

from domtap import errors
from domtap.errors import DomtapError, Unreachable

MAX_MESSAGE = 64 << 20  # a whole page may be larger than the usual 4 MiB
CUT_OFF = {"FENCED", "REGISTRY_UNAVAILABLE"}  # the reasons of a node that is cut off from its cluster
START_LIMIT = 40.0  # the time in seconds in which a daemon must start to serve
MAX_SOCKET_PATH = 100  # the systems that domtap supports allow at least 103

OPTIONS: list[tuple[str, int]] = [
    ("grpc.max_receive_message_length", MAX_MESSAGE),
    ("grpc.keepalive_time_ms", 10_000),  # detects a silently lost network, or a node that hangs
    ("grpc.keepalive_timeout_ms", 5_000),
    ("grpc.keepalive_permit_without_calls", 1),  # so that the next call avoids such a node
    ("grpc.http2.max_pings_without_data", 0),  # a watch may have nothing to send for hours
    ("grpc.initial_reconnect_backoff_ms", 50),
    ("grpc.min_reconnect_backoff_ms", 1_000),  # also how long one attempt may take
    ("grpc.max_reconnect_backoff_ms", 1_000),
    ("grpc.enable_http_proxy", 0),
]


def default_socket(state_dir: str) -> str:
    """Returns the path of the socket of this user's daemon, or of the instance with a state directory."""
    if "DOMTAP_SOCKET" in os.environ:
        return os.environ["DOMTAP_SOCKET"]
    if state_dir:
        return os.path.join(os.path.abspath(state_dir), "domtap.sock")
    home = Path.home()
    folders = []
    run = os.environ.get("XDG_RUNTIME_DIR", "")
    if os.path.isabs(run) and os.path.isdir(run):
        folders.append(os.path.join(run, "domtap"))
    if sys.platform == "darwin":
        folders.append(str(home / "Library" / "Caches" / "domtap"))
    else:
        cache = os.environ.get("XDG_CACHE_HOME", "")
        folders.append(os.path.join(cache if os.path.isabs(cache) else str(home / ".cache"), "domtap"))
    folders.append(os.path.join(tempfile.gettempdir(), f"domtap-{os.getuid()}"))
    paths = [os.path.join(folder, "domtap.sock") for folder in folders]
    return next((path for path in paths if len(path) <= MAX_SOCKET_PATH), paths[-1])


def default_token_file(state_dir: str) -> str:
    """Returns the path of the file with the token for TCP."""
    if os.environ.get("DOMTAP_TOKEN_FILE"):
        return os.environ["DOMTAP_TOKEN_FILE"]
    if state_dir:
        return os.path.join(state_dir, "token")
    if sys.platform == "darwin":
        return str(Path.home() / "Library" / "Application Support" / "domtap" / "token")
    config = os.environ.get("XDG_CONFIG_HOME", "")
    return os.path.join(config if os.path.isabs(config) else str(Path.home() / ".config"), "domtap", "token")


def read_token(path: str) -> str:
    """Reads a token. Returns an empty string if there is no file, because the daemon's error is more informative."""
    try:
        return Path(path).read_text(encoding="ascii").strip()
    except FileNotFoundError:
        return ""
    except (OSError, UnicodeDecodeError) as error:
        raise DomtapError(f"read the token: {error}", hint="domtap token prints it; token= takes it") from error


def split(address: str) -> list[str]:
    """Returns the addresses HOST:PORT of the nodes of a cluster, or the address of one daemon."""
    found = [one.strip() for one in address.split(",")]
    for one in found:
        host, _, port = one.rpartition(":")
        if not host or not port.isdigit():
            hint = "use unix:///PATH, HOST:PORT, or HOST:PORT,HOST:PORT for the nodes of a cluster"
            raise DomtapError(f"invalid address {one!r}", hint=hint)
    return found


def host_of(address: str) -> str:
    """Returns the host of HOST:PORT."""
    return address.rpartition(":")[0].strip("[]")


def is_loopback(address: str) -> bool:
    """Reports whether HOST:PORT is on this machine."""
    host = host_of(address)
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


async def number(address: str) -> str:
    """Returns an address with the IP address of its host, because gRPC accepts several addresses only in this form."""
    port = address.rpartition(":")[2]
    try:
        found = await asyncio.get_running_loop().getaddrinfo(
            host_of(address), port, type=socket.SOCK_STREAM, family=socket.AF_INET
        )
    except OSError as error:
        raise Unreachable(f"look up {host_of(address)}: {error}", hint="several addresses need IPv4") from error
    return f"{found[0][4][0]}:{port}"


async def start(program: str, state_dir: str) -> str:
    """Starts this user's daemon if none runs, and returns the path of its socket. The daemon outlives this program."""
    path = shutil.which(program or "domtap")
    if path is None:
        raise Unreachable(
            f"start a daemon: there is no program {program or 'domtap'}",
            hint="put domtap into $PATH, or give its path with program=",
        )
    args = [path, "socket"] + (["--state-dir", state_dir] if state_dir else [])
    env = {key: value for key, value in os.environ.items() if key != "DOMTAP_ADDR"}
    process = await asyncio.create_subprocess_exec(
        *args, stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE, env=env
    )
    try:
        out, said = await asyncio.wait_for(process.communicate(), START_LIMIT)
    except BaseException as error:
        if process.returncode is None:
            process.kill()
            await process.wait()
        if isinstance(error, asyncio.TimeoutError):
            raise Unreachable(f"start a daemon: it was not ready in {START_LIMIT:.0f} s", hint="domtap doctor") from error
        raise
    if process.returncode != 0:
        raise Unreachable("start a daemon: " + said.decode(errors="replace").strip().removeprefix("domtap: "))
    return out.decode().strip()


class _Bearer:
    """Adds a token to every call."""

    def __init__(self, token: str):
        self.header = ("authorization", "Bearer " + token)

    def with_token(self, details: grpc.aio.ClientCallDetails) -> grpc.aio.ClientCallDetails:
        metadata = grpc.aio.Metadata(*(details.metadata or ()), self.header)
        return grpc.aio.ClientCallDetails(details.method, details.timeout, metadata, details.credentials, details.wait_for_ready)


# A gRPC interceptor is either for calls or for streams.
class _CallBearer(_Bearer, grpc.aio.UnaryUnaryClientInterceptor):
    async def intercept_unary_unary(self, continuation, details, request):  # type: ignore[no-untyped-def]
        return await continuation(self.with_token(details), request)


class _StreamBearer(_Bearer, grpc.aio.UnaryStreamClientInterceptor):
    async def intercept_unary_stream(self, continuation, details, request):  # type: ignore[no-untyped-def]
        return await continuation(self.with_token(details), request)


class _NodeCalls(grpc.aio.UnaryUnaryClientInterceptor):
    """Reports failed calls before their caller learns of the failure, so that the caller's next call uses another node."""

    def __init__(self, heard: Callable[[grpc.RpcError], None]):
        self.heard = heard

    async def intercept_unary_unary(self, continuation, details, request):  # type: ignore[no-untyped-def]
        call = await continuation(details, request)
        try:
            await call  # if the caller gives up, this cancels the call
        except grpc.RpcError as error:
            self.heard(error)
        return call


class _NodeStreams(grpc.aio.UnaryStreamClientInterceptor):
    """Like _NodeCalls, for streams."""

    def __init__(self, heard: Callable[[grpc.RpcError], None]):
        self.heard = heard

    async def intercept_unary_stream(self, continuation, details, request):  # type: ignore[no-untyped-def]
        return self._messages(await continuation(details, request))

    async def _messages(self, call):  # type: ignore[no-untyped-def]
        try:
            async for message in call:
                yield message
        except grpc.RpcError as error:
            self.heard(error)
            raise


def _is_left(error: grpc.RpcError) -> bool:
    """Reports whether the next call must use another node, because this one is cut off or its connection is lost (no reason)."""
    failure = errors.of(error)
    return failure.reason in CUT_OFF or (failure.code == grpc.StatusCode.UNAVAILABLE and not failure.reason)


class _Nodes(grpc.aio.Channel):
    """A channel to the nodes of a cluster.

    gRPC connects to the first address that answers, and to another one when that node is unavailable. A node that is cut off
    from its cluster still answers, with an error that reports it. The next calls then use a channel that starts with the next
    address. They also do so after a lost connection, because gRPC may send one more call over it. Calls in progress are not
    affected. gRPC does not report which node has answered, so calls may fail once per node before they reach a working one.
    """

    def __init__(self, addresses: int, dial_from: Callable[[int, list[grpc.aio.ClientInterceptor]], grpc.aio.Channel]):
        self._channels: list[grpc.aio.Channel | None] = [None] * addresses
        self._dial_from = dial_from
        self._first = 0

    def _current(self) -> grpc.aio.Channel:
        """Returns the channel for the next call. All channels share their connections."""
        first = self._first
        channel = self._channels[first]
        if channel is None:

            def heard(error: grpc.RpcError) -> None:
                # Another call may already have detected this.
                if self._first == first and _is_left(error):
                    self._first = (first + 1) % len(self._channels)

            channel = self._channels[first] = self._dial_from(first, [_NodeCalls(heard), _NodeStreams(heard)])
        return channel

    def _method(self, kind: str, args: Any, options: Any) -> Any:
        """Returns a function that makes calls of one method, each over the current channel."""
        return lambda *a, **o: getattr(self._current(), kind)(*args, **options)(*a, **o)

    def unary_unary(self, *args: Any, **options: Any) -> Any:
        return self._method("unary_unary", args, options)

    def unary_stream(self, *args: Any, **options: Any) -> Any:
        return self._method("unary_stream", args, options)

    def stream_unary(self, *args: Any, **options: Any) -> Any:
        return self._method("stream_unary", args, options)

    def stream_stream(self, *args: Any, **options: Any) -> Any:
        return self._method("stream_stream", args, options)

    async def close(self, grace: float | None = None) -> None:
        self._current()  # later calls fail because the channel is closed
        for channel in self._channels:
            if channel is not None:
                await channel.close(grace)

    async def __aenter__(self) -> _Nodes:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    def get_state(self, try_to_connect: bool = False) -> grpc.ChannelConnectivity:
        return self._current().get_state(try_to_connect)

    async def wait_for_state_change(self, last_observed_state: grpc.ChannelConnectivity) -> None:
        await self._current().wait_for_state_change(last_observed_state)

    async def channel_ready(self) -> None:
        await self._current().channel_ready()


async def dial(address: str, token: str, token_file: str, tls_ca: str, agent: str) -> grpc.aio.Channel:
    """Creates a channel to unix:///PATH, HOST:PORT, or HOST:PORT,HOST:PORT. The first call connects."""
    options: list[tuple[str, int | str]] = [*OPTIONS]
    if agent:
        options.append(("grpc.primary_user_agent", agent))
    if address.startswith("unix:"):
        path = address.removeprefix("unix:").removeprefix("//")
        if not os.path.isabs(path):
            raise DomtapError(f"invalid socket {address!r}: it must be an absolute path", hint="unix:///PATH")
        # The host name, which is otherwise the path, must be valid in HTTP.
        return grpc.aio.insecure_channel("unix:" + path, options=[*options, ("grpc.default_authority", "localhost")])
    addresses = split(address)
    token = token or read_token(token_file)
    interceptors: list[grpc.aio.ClientInterceptor] = [_CallBearer(token), _StreamBearer(token)] if token else []
    secret: grpc.ChannelCredentials | None = None
    if tls_ca or not all(map(is_loopback, addresses)):
        try:
            secret = grpc.ssl_channel_credentials(Path(tls_ca).read_bytes() if tls_ca else None)
        except OSError as error:
            raise DomtapError(f"read the certificate authority: {error}", hint="tls_ca= names a PEM file") from error
        if len(addresses) > 1:  # gRPC would check the IP address instead of the name
            options.append(("grpc.ssl_target_name_override", host_of(addresses[0])))

    def channel(name: str, more: list[grpc.aio.ClientInterceptor]) -> grpc.aio.Channel:
        every = [*interceptors, *more]
        if secret is None:
            return grpc.aio.insecure_channel(name, options=options, interceptors=every)
        return grpc.aio.secure_channel(name, secret, options=options, interceptors=every)

    if len(addresses) == 1:
        return channel("dns:///" + addresses[0], [])
    numbers = [await number(one) for one in addresses]
    return _Nodes(len(numbers), lambda first, more: channel("ipv4:" + ",".join(numbers[first:] + numbers[:first]), more))
