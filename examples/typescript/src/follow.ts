// Opens a page in domtap, reads it, clicks a button, and follows what happens from then on.
// README.md says how to run it.

import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { parseArgs } from "node:util";

import { ActionServiceClient, InteractRequest, verdictToJSON } from "../gen/domtap/v1/action.js";
import type { InteractResponse } from "../gen/domtap/v1/action.js";
import { DomServiceClient, GetCompactRequest, GetDomResponse } from "../gen/domtap/v1/dom.js";
import type { Diff, GetCompactResponse } from "../gen/domtap/v1/dom.js";
import { OpenTabRequest, TabServiceClient, tabStatusToJSON } from "../gen/domtap/v1/tab.js";
import type { OpenTabResponse } from "../gen/domtap/v1/tab.js";
import { answer, connection, follow, TabGone } from "./domtap.js";
import type { Connection, Update } from "./domtap.js";

/** Opens, reads and acts; returns the tab. */
async function begin(to: Connection, url: string, click?: string): Promise<string> {
  const tabs = new TabServiceClient(...to);
  const dom = new DomServiceClient(...to);
  const actions = new ActionServiceClient(...to);

  const opened = await answer<OpenTabResponse>((done) => tabs.openTab(OpenTabRequest.fromPartial({ url }), done));
  const tabId = opened.tab!.id;
  console.log(`opened: ${tabId} ${opened.tab!.url}`);

  const page = await answer<GetCompactResponse>((done) => dom.getCompact(GetCompactRequest.fromPartial({ tabId }), done));
  console.log(page.text.trimEnd());

  if (click !== undefined) {
    const steps = [{ action: { $case: "click" as const, value: { target: { role: "button", name: click } } } }];
    const did = await answer<InteractResponse>((done) => actions.interact(InteractRequest.fromPartial({ tabId, steps }), done));
    console.log(`acted: ${did.results[0].summary} ${verdictToJSON(did.verdict)}, ${counts(did.diff)}`);
  }
  return tabId;
}

function counts(diff?: Diff): string {
  return `+${diff?.addedCount ?? 0} -${diff?.removedCount ?? 0} ~${diff?.changedCount ?? 0}`;
}

/** Says in a line what a message brought. */
function describe({ state, message }: Update): string {
  const now = `revision ${state.revision}, ${state.elements.length} elements`;
  const event = message.event;
  switch (event?.$case) {
    case "snapshot":
      return `snapshot: ${now}`;
    case "diff":
      return `diff: ${event.value.fromRevision} -> ${now}, ${counts(event.value)}`;
    case "resync":
      return `resync: ${now}, because ${event.value.reason}`;
    case "navigated":
      return `navigated: ${event.value.url}`;
    case "tabStatus":
      return `status: ${tabStatusToJSON(event.value.status)}`;
    default:
      return `heartbeat: ${now}`;
  }
}

/** Writes the state so that it is the old one or the new one, whenever this process is killed. */
function save(file: string, state: GetDomResponse): void {
  writeFileSync(`${file}.new`, JSON.stringify(GetDomResponse.toJSON(state)));
  renameSync(`${file}.new`, file);
}

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { addr: { type: "string" }, token: { type: "string" }, state: { type: "string" }, click: { type: "string" } },
  });
  if (positionals.length !== 1) {
    throw new Error("usage: follow [--addr unix:///PATH|HOST:PORT] [--token TOKEN] [--state FILE] [--click BUTTON] URL");
  }
  const address = values.addr ?? process.env.DOMTAP_ADDR ?? `unix://${execFileSync("domtap", ["socket"], { encoding: "utf8" }).trim()}`;
  const to = connection(address, values.token ?? process.env.DOMTAP_TOKEN);

  let state: GetDomResponse | undefined;
  if (values.state !== undefined && existsSync(values.state)) {
    state = GetDomResponse.fromJSON(JSON.parse(readFileSync(values.state, "utf8")));
  }
  const tabId = state?.tabId ?? (await begin(to, positionals[0], values.click));
  console.log(`following: ${tabId} from ${state ? `revision ${state.revision}` : "the beginning"}`);
  const lost = (cause: Error, waitMs: number) => console.log(`lost: ${cause.message}; again in ${(waitMs / 1000).toFixed(2)} s`);
  for await (const update of follow(new DomServiceClient(...to), { tabId, state, lost })) {
    console.log(describe(update)); // what the program is there for; then the state, so that nothing is missed
    if (values.state !== undefined) save(values.state, update.state);
  }
  console.log("closed");
}

main().then(
  () => process.exit(0),
  (error: Error) => {
    console.error(error instanceof TabGone ? `${error.message} (delete the state file to begin anew)` : error.message);
    process.exit(1);
  },
);
