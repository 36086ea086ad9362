"""Opens a page in domtap, reads it, clicks a button, and follows what happens from then on. README.md says how to
run it."""

import argparse
import asyncio
import os
import sys

from google.protobuf import json_format

import domtap
from domtap.v1 import action_pb2, dom_pb2, tab_pb2


async def begin(client, url, click):
    """Opens, reads and acts; returns the tab."""
    tab = await client.open(url, restore=True)  # it outlives a crash of the daemon
    print(f"opened: {tab.id} {(await tab.info()).url}")
    print((await tab.read()).rstrip())
    if click is not None:
        did = await tab.act(domtap.click(domtap.named("button", click)))
        print(f"acted: {did.results[0].summary} {action_pb2.Verdict.Name(did.verdict)}, {counts(did.diff)}")
    return tab


def counts(diff):
    return f"+{diff.added_count} -{diff.removed_count} ~{diff.changed_count}"


def describe(update):
    """Says in a line what a message brought."""
    state, message = update.state, update.message
    now = f"revision {state.revision}, {len(state.elements)} elements"
    if update.event == "diff":
        return f"diff: {message.diff.from_revision} -> {now}, {counts(message.diff)}"
    if update.event == "resync":
        return f"resync: {now}, because {message.resync.reason}"
    if update.event == "navigated":
        return f"navigated: {message.navigated.url}"
    if update.event == "tab_status":
        return f"status: {tab_pb2.TabStatus.Name(message.tab_status.status)}"
    return f"{update.event}: {now}"


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


async def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--addr", default="", help="unix:///PATH or HOST:PORT; without it, a daemon is started where none runs")
    parser.add_argument("--token", default=os.environ.get("DOMTAP_TOKEN", ""), help="the bearer token, for HOST:PORT")
    parser.add_argument("--state", metavar="FILE", help="keep the state here, and go on from it")
    parser.add_argument("--click", metavar="BUTTON", help="the name of a button to click")
    parser.add_argument("url")
    args = parser.parse_args()

    async with await domtap.connect(args.addr, token=args.token, start=not args.addr) as client:
        state = load(args.state)
        tab = client.tab(state.tab_id) if state else await begin(client, args.url, args.click)
        print(f"following: {tab.id} from {f'revision {state.revision}' if state else 'the beginning'}")
        lost = lambda cause, wait: print(f"lost: {cause}; again in {wait:.2f} s")
        async for update in tab.follow(state, lost=lost):
            print(describe(update))  # what the program is there for; then the state, so that nothing is missed
            if args.state:
                save(args.state, update.state)
        print("closed")


if __name__ == "__main__":
    sys.stdout.reconfigure(line_buffering=True)
    try:
        asyncio.run(main())
    except domtap.TabGone as gone:
        sys.exit(f"{gone} (delete the state file to begin anew)")
    except domtap.DomtapError as error:
        sys.exit(str(error))
