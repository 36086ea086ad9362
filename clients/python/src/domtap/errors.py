"""The errors of the client. All of them are DomtapErrors."""

from __future__ import annotations

import grpc

from domtap import _status_pb2


class DomtapError(Exception):
    """A call that failed. str() describes what failed, why, and what to do next."""

    def __init__(
        self,
        message: str,
        *,
        code: grpc.StatusCode | None = None,
        reason: str = "",
        metadata: dict[str, str] | None = None,
        hint: str = "",
    ):
        super().__init__(f"{message} ({hint})" if hint else message)
        self.message = message
        self.code = code
        """The gRPC code, or None for an error of the client."""
        self.reason = reason
        """The reason, such as STALE_REF or PAGE_LOST. Empty if there is none or the daemon did not answer."""
        self.metadata = metadata or {}
        """Details for programs, such as the url of a wait that timed out."""
        self.hint = hint
        """What to do next, if the message does not describe it."""


class Unreachable(DomtapError):
    """No daemon answers, or none can be started."""


class StepError(DomtapError):
    """A step or a field failed. answer is set if an earlier step was done."""

    def __init__(self, step: int, reason: str, message: str, answer: object):
        super().__init__(f"step {step + 1}: {message}", reason=reason)
        self.step = step
        """The number of the step, from 0."""
        self.answer = answer
        """The InteractResponse or FillFormResponse."""


class TabGone(DomtapError):
    """The daemon does not know the tab: it was closed, or the daemon was restarted. Open another one."""


class Mismatch(DomtapError):
    """A diff does not fit the elements, because a message was lost. Watch again without from_revision, as follow does."""


NO_DAEMON = "domtap serve starts a daemon there; connect(start=True) starts this user's"


def of(error: grpc.RpcError) -> DomtapError:
    """Returns the error for a failed call of a stub."""
    code, message = error.code(), error.details() or ""
    status = _status_pb2.Status()
    for key, value in error.trailing_metadata() or ():
        if key == "grpc-status-details-bin":
            status.ParseFromString(value)
    info = _status_pb2.ErrorInfo()
    for detail in status.details:
        if detail.type_url.endswith("/google.rpc.ErrorInfo"):
            info.ParseFromString(detail.value)
    if code == grpc.StatusCode.UNAVAILABLE and not status.details and "onnect" in message:
        return Unreachable(f"no daemon answers: {message}", code=code, hint=NO_DAEMON)
    return DomtapError(message, code=code, reason=info.reason, metadata=dict(info.metadata))
