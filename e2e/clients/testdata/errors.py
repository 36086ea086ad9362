"""Makes calls that fail with long errors, and prints what a client on gRPC's C core sees of each: a line of JSON."""

import json
import sys

import grpc

from domtap.v1 import action_pb2, action_pb2_grpc, dom_pb2, dom_pb2_grpc, session_pb2, session_pb2_grpc, tab_pb2, tab_pb2_grpc

address, url, name = sys.argv[1:]
channel = grpc.insecure_channel(address, options=[("grpc.enable_http_proxy", 0)])
tab = tab_pb2_grpc.TabServiceStub(channel).OpenTab(tab_pb2.OpenTabRequest(url=url)).tab.id


def ambiguous():
    step = action_pb2.Step(click=action_pb2.ClickStep(target=action_pb2.Target(text=name)))
    action_pb2_grpc.ActionServiceStub(channel).Interact(action_pb2.InteractRequest(tab_id=tab, steps=[step]))


def permissions():
    settings = session_pb2.SessionSettings(permissions=[f"no-such-permission-{i}" for i in range(20)])
    session_pb2_grpc.SessionServiceStub(channel).CreateSession(session_pb2.CreateSessionRequest(settings=settings))


def stream():
    request = dom_pb2.WatchDomRequest(tab_id=tab, include_attributes=["語" * 100] * 30)
    for _ in dom_pb2_grpc.DomServiceStub(channel).WatchDom(request):
        pass


for call in (ambiguous, permissions, stream):
    try:
        call()
        print(json.dumps({"call": call.__name__}))
    except grpc.RpcError as e:
        details = dict(e.trailing_metadata()).get("grpc-status-details-bin", b"")
        print(json.dumps({
            "call": call.__name__, "code": e.code().name, "message": e.details(), "details": details.decode("latin-1"),
        }))
