"""Opens a page in domtap, reads it, clicks a button, and follows what happens from then on. README.md says how to
run it."""

import argparse
import os
import subprocess
import sys

import grpc
from google.protobuf import json_format

from domtap.v1 import action_pb2, action_pb2_grpc, dom_pb2, dom_pb2_grpc, tab_pb2, tab_pb2_grpc
from domtap_follow import TabGone, connect, follow


def begin(channel, url, click):
    """Opens, reads and acts; returns the id of the tab."""
    tab = tab_pb2_grpc.TabServiceStub(channel).OpenTab(tab_pb2.OpenTabRequest(url=url)).tab
    print(f"opened: {tab.id} {tab.url}")

    page = dom_pb2_grpc.DomServiceStub(channel).GetCompact(dom_pb2.GetCompactRequest(tab_id=tab.id))
    print(page.text.rstrip())

    if click is not None:
        target = action_pb2.Target(role="button", name=click)
        step = action_pb2.Step(click=action_pb2.ClickStep(target=target))
        did = action_pb2_grpc.ActionServiceStub(channel).Interact(
            action_pb2.InteractRequest(tab_id=tab.id, steps=[step])
        )
        print(f"acted: {did.results[0].summary} {action_pb2.Verdict.Name(did.verdict)}, {counts(did.diff)}")
    return tab.id


def counts(diff):
    return f"+{diff.added_count} -{diff.removed_count} ~{diff.changed_count}"


def describe(state, message):
    """Says in a line what a message brought."""
    now = f"revision {state.revision}, {len(state.elements)} elements"
    event = message.WhichOneof("event")
    if event == "diff":
        return f"diff: {message.diff.from_revision} -> {now}, {counts(message.diff)}"
    if event == "resync":
        return f"resync: {now}, because {message.resync.reason}"
    if event == "navigated":
        return f"navigated: {message.navigated.url}"
    if event == "tab_status":
        return f"status: {tab_pb2.TabStatus.Name(message.tab_status.status)}"
    return f"{event}: {now}"


def load(file):
    """Reads the state that was kept; None: there is none."""
    if file is None or not os.path.exists(file):
        return None
    with open(file, encoding="utf-8") as f:
        return json_format.Parse(f.read(), dom_pb2.GetDomResponse())


def save(file, state):
    """Writes the state so that it is the old one or the new one, whenever this process is killed."""
    with open(file + ".new", "w", encoding="utf-8") as f:
        f.write(json_format.MessageToJson(state, indent=None))
    os.replace(file + ".new", file)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--addr", default=os.environ.get("DOMTAP_ADDR"), help="unix:///PATH or HOST:PORT")
    parser.add_argument("--token", default=os.environ.get("DOMTAP_TOKEN", ""), help="the bearer token, for HOST:PORT")
    parser.add_argument("--state", metavar="FILE", help="keep the state here, and go on from it")
    parser.add_argument("--click", metavar="BUTTON", help="the name of a button to click")
    parser.add_argument("url")
    args = parser.parse_args()
    address = args.addr or "unix://" + subprocess.check_output(["domtap", "socket"], text=True).strip()

    with connect(address, args.token) as channel:
        grpc.channel_ready_future(channel).result(timeout=30)  # while the daemon starts, say
        state = load(args.state)
        tab_id = state.tab_id if state else begin(channel, args.url, args.click)
        print(f"following: {tab_id} from {f'revision {state.revision}' if state else 'the beginning'}")
        dom = dom_pb2_grpc.DomServiceStub(channel)
        for state, message in follow(dom, tab_id, state, lost=say_lost):
            print(describe(state, message))  # what the program is there for; then the state, so that nothing is missed
            if args.state:
                save(args.state, state)
        print("closed")


def say_lost(cause, wait):
    why = cause.details() if isinstance(cause, grpc.RpcError) else cause
    print(f"lost: {why}; again in {wait:.2f} s")


if __name__ == "__main__":
    sys.stdout.reconfigure(line_buffering=True)
    try:
        main()
    except grpc.FutureTimeoutError:
        sys.exit("no daemon answers there: domtap doctor checks what it needs")
    except TabGone as gone:
        sys.exit(f"{gone} (delete the state file to begin anew)")
    except grpc.RpcError as error:
        sys.exit(f"{error.code().name}: {error.details()}")
