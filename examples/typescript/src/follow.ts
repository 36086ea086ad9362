// Opens a page in domtap, reads it, clicks a button, and follows what happens from then on.
// README.md says how to run it.

import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { parseArgs } from "node:util";

import { click, connect, named, TabGone } from "domtap";
import type { Client, Tab, Update } from "domtap";
import { verdictToJSON } from "domtap/v1/action";
import { GetDomResponse } from "domtap/v1/dom";
import type { Diff } from "domtap/v1/dom";
import { tabStatusToJSON } from "domtap/v1/tab";

/** Opens, reads and acts; returns the tab. */
async function begin(client: Client, url: string, button?: string): Promise<Tab> {
  const tab = await client.open(url, { restore: true }); // it outlives a crash of the daemon
  console.log(`opened: ${tab.id} ${(await tab.info()).url}`);
  console.log((await tab.read()).trimEnd());
  if (button !== undefined) {
    const did = await tab.act(click(named("button", button)));
    console.log(`acted: ${did.results[0].summary} ${verdictToJSON(did.verdict)}, ${counts(did.diff)}`);
  }
  return tab;
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
  const token = values.token ?? process.env.DOMTAP_TOKEN;
  const client = await connect({ address: values.addr, token, start: values.addr === undefined });

  let state: GetDomResponse | undefined;
  if (values.state !== undefined && existsSync(values.state)) {
    state = GetDomResponse.fromJSON(JSON.parse(readFileSync(values.state, "utf8")));
  }
  const tab = state ? client.tab(state.tabId) : await begin(client, positionals[0], values.click);
  console.log(`following: ${tab.id} from ${state ? `revision ${state.revision}` : "the beginning"}`);
  const lost = (cause: Error, waitMs: number) => console.log(`lost: ${cause.message}; again in ${(waitMs / 1000).toFixed(2)} s`);
  for await (const update of tab.follow({ state, lost })) {
    console.log(describe(update)); // what the program is there for; then the state, so that nothing is missed
    if (values.state !== undefined) save(values.state, update.state);
  }
  console.log("closed");
  client.close();
}

main().then(
  () => process.exit(0),
  (error: Error) => {
    console.error(error instanceof TabGone ? `${error.message} (delete the state file to begin anew)` : error.message);
    process.exit(1);
  },
);
