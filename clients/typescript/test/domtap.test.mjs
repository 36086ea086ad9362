// Tests of the package that need no browser: a daemon of a few lines answers.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { connect as connectTo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";

import { Metadata, Server, ServerCredentials, status } from "@grpc/grpc-js";

import { click, connect, DomtapError, press, ref, StepError, TabGone, Unreachable } from "domtap";
import { ActionServiceService, InteractResponse } from "domtap/v1/action";
import { DomServiceService, Element, GetCompactResponse, GetDomResponse, WatchDomResponse } from "domtap/v1/dom";
import { ListTabsResponse, OpenTabResponse, TabServiceService, TabStatus } from "domtap/v1/tab";
import { defaultSocket, defaultTokenFile, isLoopback, OPTIONS } from "../dist/endpoint.js";
import { ErrorInfo, Status } from "../dist/gen/status.js";

const server = new Server();
const folder = mkdtempSync(join(tmpdir(), "dt"));
const address = `unix://${folder}/s`;
const watches = [];
let port = 0;
let authorization = "";

/** An error with a reason, as the daemon sends it. */
function failure(code, reason, details) {
  const metadata = new Metadata();
  const value = Buffer.from(ErrorInfo.encode(ErrorInfo.fromPartial({ reason, domain: "domtap" })).finish());
  const all = Status.fromPartial({ code, message: details, details: [{ typeUrl: "type.googleapis.com/google.rpc.ErrorInfo", value }] });
  metadata.set("grpc-status-details-bin", Buffer.from(Status.encode(all).finish()));
  return { code, details, metadata };
}

const element = (number) => Element.fromPartial({ ref: number, text: String(number) });

/** Streams a page, breaks the stream off, and continues from the revision that the client names. */
function watchDom(call) {
  watches.push(call.request);
  const send = (fields) => call.write(WatchDomResponse.fromPartial({ epoch: "e", ...fields }));
  if (call.request.tabId !== "t1") return call.emit("error", { code: status.NOT_FOUND, details: "no tab" });
  if (call.request.fromRevision === undefined) {
    send({ sequence: 1, revision: 3, event: { $case: "snapshot", value: { title: "Shop", elements: [element(0), element(1)] } } });
    send({ sequence: 2, revision: 4, event: { $case: "diff", value: { fromRevision: 3, toRevision: 4, added: [{ ...element(2), index: 1 }] } } });
    return call.emit("error", { code: status.UNAVAILABLE, details: "the stream is cut here" });
  }
  send({ sequence: 1, revision: 7, event: { $case: "diff", value: { fromRevision: 4, toRevision: 7, removed: [{ ref: 0 }] } } });
  send({ sequence: 2, revision: 7, event: { $case: "tabStatus", value: { status: TabStatus.TAB_STATUS_CLOSED } } });
  call.end();
}

before(async () => {
  server.addService(TabServiceService, {
    openTab(call, done) {
      authorization = String(call.metadata.get("authorization")[0] ?? "");
      done(null, OpenTabResponse.fromPartial({ tab: { id: "t1", url: call.request.url } }));
    },
    goBack: (_, done) => done(failure(status.FAILED_PRECONDITION, "NO_HISTORY", "there is no earlier page")),
  });
  server.addService(ActionServiceService, {
    interact: (_, done) =>
      done(null, InteractResponse.fromPartial({ results: [{ ok: true }, { reason: "NOT_ACTIONABLE", error: "the button is disabled" }] })),
  });
  server.addService(DomServiceService, {
    watchDom,
    getCompact: (call, done) => done(null, GetCompactResponse.fromPartial({ text: `at most ${call.request.maxTokens} tokens` })),
  });
  const bind = (to) => new Promise((done, failed) => server.bindAsync(to, ServerCredentials.createInsecure(), (e, p) => (e ? failed(e) : done(p))));
  await bind(`unix:${folder}/s`);
  port = await bind("127.0.0.1:0");
});

after(() => {
  server.forceShutdown();
  rmSync(folder, { recursive: true, force: true });
});

test("follow resumes where it was", async () => {
  const client = await connect({ address });
  const tab = await client.open("https://shop.example/");
  const lost = [];
  const seen = [];
  for await (const { state, message } of tab.follow({ view: { viewportOnly: true }, lost: (cause) => lost.push(cause.code) })) {
    seen.push([message.event.$case, state.revision, state.elements.map((e) => e.ref).join()]);
  }
  assert.deepEqual(seen, [["snapshot", 3, "0,1"], ["diff", 4, "0,2,1"], ["diff", 7, "2,1"], ["tabStatus", 7, "2,1"]]);
  assert.deepEqual(lost, [status.UNAVAILABLE]);
  assert.deepEqual(watches.map((w) => [w.fromRevision, w.epoch, w.viewportOnly]), [[undefined, "", true], [4, "e", true]]);
  client.close();
});

test("follow resumes from a kept state, ends with a signal, and says that a tab is gone", async () => {
  const client = await connect({ address });
  const state = GetDomResponse.fromPartial({ tabId: "t1", revision: 4, epoch: "e", elements: [element(0)] });
  const seen = [];
  for await (const update of client.tab("t1").follow({ state })) seen.push(update.state.revision);
  assert.deepEqual(seen, [7, 7]);
  await assert.rejects(client.tab("t9").follow().next(), (e) => e instanceof TabGone && e.message.includes("open another one"));
  const stop = AbortSignal.abort(new Error("enough"));
  await assert.rejects(client.tab("t1").follow({ signal: stop }).next(), /enough/);
  client.close();
  await assert.rejects(client.tab("t1").follow().next(), /client was closed/);
});

test("errors have reasons", async () => {
  const client = await connect({ address });
  const tab = client.tab("t1");
  await assert.rejects(tab.back(), (e) => e instanceof DomtapError && e.reason === "NO_HISTORY" && e.message === "there is no earlier page");
  await assert.rejects(tab.act([click(ref(1)), press("Enter")]), (e) => e instanceof StepError && e.step === 1 && e.reason === "NOT_ACTIONABLE");
  assert.equal(await tab.read({ maxTokens: 7 }), "at most 7 tokens");
  await assert.rejects(client.dom.getCompact({}, { signal: AbortSignal.abort(new Error("enough")) }), /enough/);
  client.close();
});

test("a token and several addresses", async () => {
  const client = await connect({ address: `127.0.0.1:1, localhost:${port}`, token: "secret" });
  await client.open();
  assert.equal(authorization, "Bearer secret");
  client.close();
});

/** Starts a node that counts its calls, and may be cut off from its cluster. */
async function startNode(t) {
  const node = { calls: 0, reason: "", port: 0, goOn: () => {} };
  const refused = () => {
    node.calls++;
    return node.reason === "" ? undefined : failure(status.UNAVAILABLE, node.reason, "cut off");
  };
  const server = new Server();
  server.addService(TabServiceService, {
    listTabs(_, done) {
      const error = refused();
      if (error) done(error);
      else done(null, ListTabsResponse.fromPartial({}));
    },
  });
  server.addService(DomServiceService, {
    watchDom(call) {
      const error = refused();
      if (error) return call.emit("error", error);
      const send = (fields) => call.write(WatchDomResponse.fromPartial({ sequence: 1, epoch: "e", ...fields }));
      if (call.request.fromRevision === undefined) {
        send({ revision: 3, event: { $case: "snapshot", value: { elements: [element(0)] } } });
        node.goOn = () => call.emit("error", refused());
        return;
      }
      send({ revision: 4, event: { $case: "diff", value: { fromRevision: 3, toRevision: 4, removed: [{ ref: 0 }] } } });
      call.end();
    },
  });
  const insecure = ServerCredentials.createInsecure();
  node.port = await new Promise((done, failed) => server.bindAsync("127.0.0.1:0", insecure, (e, p) => (e ? failed(e) : done(p))));
  t.after(() => server.forceShutdown());
  return node;
}

/** Makes a client of nodes. */
async function clientOf(t, ...nodes) {
  const client = await connect({ address: nodes.map((n) => `127.0.0.1:${n.port}`).join(), token: "t" });
  t.after(() => client.close());
  return client;
}

for (const reason of ["FENCED", "REGISTRY_UNAVAILABLE"]) {
  test(`it leaves a node that is cut off: ${reason}`, async (t) => {
    const [one, two] = [await startNode(t), await startNode(t)];
    const client = await clientOf(t, one, two);
    await client.list();
    one.reason = reason;
    await assert.rejects(client.list(), (e) => e instanceof DomtapError && e.reason === reason);
    for (let i = 0; i < 3; i++) await client.list();
    assert.deepEqual([one.calls, two.calls], [2, 3]);
    [one.reason, two.reason] = ["", reason];
    await assert.rejects(client.list(), (e) => e.reason === reason);
    await client.list();
    assert.deepEqual([one.calls, two.calls], [3, 4]);
  });
}

test("other failures leave it where it is", async (t) => {
  const [one, two] = [await startNode(t), await startNode(t)];
  const client = await clientOf(t, one, two);
  one.reason = "TAB_RESTORING";
  for (let i = 0; i < 2; i++) await assert.rejects(client.list(), (e) => e.reason === "TAB_RESTORING");
  assert.deepEqual([one.calls, two.calls], [2, 0]);
});

test("follow goes on at another node", async (t) => {
  const [one, two] = [await startNode(t), await startNode(t)];
  const client = await clientOf(t, one, two);
  const lost = [];
  const seen = [];
  for await (const { state, message } of client.tab("t1").follow({ lost: (cause) => lost.push(cause.reason) })) {
    seen.push([message.event.$case, state.revision, one.calls, two.calls]);
    if (seen.length > 1) continue;
    one.reason = "FENCED";
    await assert.rejects(client.list(), (e) => e.reason === "FENCED");
    await client.list(); // the stream continues meanwhile
    one.goOn();
  }
  assert.deepEqual(seen, [["snapshot", 3, 1, 0], ["diff", 4, 3, 2]]);
  assert.deepEqual(lost, ["FENCED"]);
});

test("it leaves a node that is silent", { timeout: 60_000 }, async (t) => {
  const [one, two] = [await startNode(t), await startNode(t)];
  let cut = false;
  const wire = createServer((near) => {
    const far = connectTo(one.port, "127.0.0.1");
    for (const [from, to] of [[near, far], [far, near]]) {
      from.on("data", (data) => cut || to.write(data));
      from.on("error", () => to.destroy()).on("close", () => to.destroy());
    }
  });
  await new Promise((done) => wire.listen(0, "127.0.0.1", done));
  t.after(() => wire.close());
  const usual = { ...OPTIONS };
  t.after(() => Object.assign(OPTIONS, usual));
  Object.assign(OPTIONS, { "grpc.keepalive_time_ms": 1_000, "grpc.keepalive_timeout_ms": 2_000 });
  const client = await clientOf(t, wire.address(), two);
  await client.list();
  cut = true;
  await assert.rejects(client.list(), (e) => e.code === status.UNAVAILABLE);
  await client.list();
  assert.deepEqual([one.calls, two.calls], [1, 1]);
});

test("what cannot be done says what to do", async () => {
  const stateDir = mkdtempSync(join(folder, "x"));
  for (const [options, says] of [
    [{ address: "nowhere" }, /HOST:PORT/],
    [{ address: "unix:relative" }, /absolute/],
    [{ start: true, stateDir, program: join(folder, "none") }, /give its path with program/],
    [{ address: "127.0.0.1:1", tlsCA: join(folder, "none") }, /PEM/],
  ]) {
    await assert.rejects(connect(options), says);
  }
  const client = await connect({ stateDir });
  await assert.rejects(client.list(), (e) => e instanceof Unreachable && e.message.includes("domtap serve"));
  client.close();
});

test("places are those of the command line", () => {
  const own = { ...process.env };
  Object.assign(process.env, { XDG_RUNTIME_DIR: "", XDG_CACHE_HOME: "/c", XDG_CONFIG_HOME: "/k" });
  assert.equal(defaultSocket(""), process.platform === "darwin" ? defaultSocket("") : "/c/domtap/domtap.sock");
  assert.equal(defaultSocket("/mine"), "/mine/domtap.sock");
  assert.equal(defaultTokenFile("/mine"), "/mine/token");
  process.env = own;
  assert.deepEqual(["127.0.0.1:1", "[::1]:1", "localhost:1", "10.0.0.1:1", "a.example:1"].map(isLoopback), [true, true, true, false, false]);
});
