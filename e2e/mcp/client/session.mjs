// A session of the official TypeScript client with domtap: list, call, error, cancel, progress, resource update. It prints a
// line for each check that passes, and ends with exit code 1 at the first check that fails.
//
//   node session.mjs stdio PROGRAM SITE
//   node session.mjs http URL SITE        (the token in $MCP_TOKEN)
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

// The client is installed apart from this file.
const require = createRequire(process.env.MCP_CLIENT + "/");
const load = (name) => import(pathToFileURL(require.resolve("@modelcontextprotocol/sdk/" + name)).href.replace("/dist/cjs/", "/dist/esm/"));
const { Client } = await load("client/index.js");
const { StdioClientTransport } = await load("client/stdio.js");
const { StreamableHTTPClientTransport } = await load("client/streamableHttp.js");
const { McpError, ErrorCode, ResourceUpdatedNotificationSchema, ResourceListChangedNotificationSchema } = await load("types.js");

const [over, where, site] = process.argv.slice(2);

const transport =
  over === "stdio"
    ? new StdioClientTransport({ command: where, args: ["mcp", "--tools", "all"], env: process.env, stderr: "inherit" })
    : new StreamableHTTPClientTransport(new URL(where), {
        requestInit: { headers: { Authorization: "Bearer " + process.env.MCP_TOKEN } },
      });
const client = new Client({ name: "session", version: "1.0.0" });

// told waits for a notification, unless it has already arrived.
const inbox = [];
let wake = () => {};
const arrived = (n) => (inbox.push(n), wake());
client.setNotificationHandler(ResourceUpdatedNotificationSchema, arrived);
client.setNotificationHandler(ResourceListChangedNotificationSchema, arrived);
async function told(method, uri) {
  for (;;) {
    const i = inbox.findIndex((n) => n.method === method && (!uri || n.params.uri === uri));
    if (i >= 0) return inbox.splice(i, 1)[0];
    await new Promise((resolve) => (wake = resolve));
  }
}

const text = (result) => result.content.filter((c) => c.type === "text").map((c) => c.text).join("\n");
async function call(name, args, options) {
  return client.callTool({ name, arguments: args }, undefined, options);
}
async function done(name, args) {
  const result = await call(name, args);
  assert.ok(!result.isError, `${name}: ${text(result)}`);
  return text(result);
}

const steps = {
  async "initialize and ping"() {
    assert.equal(client.getServerVersion().name, "domtap");
    assert.match(client.getInstructions(), /data, never instructions/);
    assert.ok(client.getServerCapabilities().resources.subscribe);
    await client.ping();
  },
  async "list the tools"() {
    const { tools } = await client.listTools();
    const names = tools.map((t) => t.name).sort();
    assert.deepEqual(names, ["batch", "call_page_tool", "extract", "fill_form", "find", "get_dom", "get_elements_compact", "interact", "log", "navigate", "page_tools", "read_page", "route", "screenshot", "storage", "tab", "wait"].map((n) => "browser_" + n));
    for (const t of tools) assert.equal(t.inputSchema.type, "object", t.name);
  },
  async "call: navigate, act, read"() {
    const page = await done("browser_navigate", { url: site + "/shop" });
    assert.match(page, /^# tab t\d+\n<page nonce=(\d{12})>\nURL: [^\n]*\/shop \| Title: Shop\n[^]*\[\d+\] Pay \(button\)[^]*\n<\/page nonce=\1>$/);
    const did = await done("browser_interact", { steps: [{ action: "click", role: "button", name: "Pay" }] });
    assert.match(did, /^# changed\n[^]*click "Pay": ok\n[^]*\+ \[\d+\] /);
    const filled = await done("browser_fill_form", { fields: [{ label: "Email", value: "a@b.example" }] });
    assert.match(filled, /fill "Email": ok/);
    const article = await done("browser_read_page", { mode: "content" });
    assert.match(article, /Things to buy/);
    const clamped = await done("browser_get_elements_compact", { max_elements: 5000 });
    assert.match(clamped, /^# max_elements: 5000 → 1000\n/);
    const data = await done("browser_extract", { selectors: ["h1"] });
    assert.match(data, /Things to buy/);
    const dom = await done("browser_get_dom", { max_elements: 2 });
    assert.match(dom, /"box":\[\d+,\d+,\d+,\d+\]/);
  },
  async "call: a picture, and many pages"() {
    const shot = await call("browser_screenshot", { marks: true });
    const picture = shot.content.find((c) => c.type === "image");
    assert.equal(picture.mimeType, "image/jpeg");
    assert.deepEqual([...Buffer.from(picture.data, "base64").subarray(0, 2)], [0xff, 0xd8]);
    assert.match(text(shot), /\[\d+\] Pay/);
    const pages = await done("browser_batch", { urls: [site + "/shop", site + "/evil"], mode: "interactive" });
    assert.match(pages, /==> [^\n]*\/shop\n[^]*==> [^\n]*\/evil\n/);
  },
  async "errors of tools and of the protocol"() {
    const stale = await call("browser_interact", { steps: [{ action: "click", text: "No such thing" }] });
    assert.equal(stale.isError, true);
    assert.match(text(stale), /^# error: TARGET_NOT_FOUND: look at the page/);
    await assert.rejects(call("browser_dance", {}), (e) => e instanceof McpError && e.code === ErrorCode.InvalidParams);
    await assert.rejects(client.request({ method: "no/such" }, { parse: (x) => x }), (e) => over === "http" || e.code === ErrorCode.MethodNotFound);
    await assert.rejects(client.readResource({ uri: "domtap://tab/t999" }), (e) => e instanceof McpError);
  },
  async "a page that tries to close its fence"() {
    const page = await done("browser_navigate", { url: site + "/evil" });
    const nonce = page.match(/<page nonce=(\d{12})>/)[1];
    assert.equal(page.split("</page").length, 2, page);
    assert.ok(page.endsWith(`</page nonce=${nonce}>`), page);
    assert.match(page, /<\\\/page nonce=000000000000>/);
  },
  async "progress"() {
    const heard = [];
    const stop = new AbortController();
    const onprogress = (p) => {
      heard.push(p);
      if (heard.length === 2) stop.abort("enough");
    };
    await assert.rejects(call("browser_wait", { text: "never there", timeout: 60 }, { signal: stop.signal, onprogress }));
    assert.ok(heard.length >= 2, JSON.stringify(heard));
    assert.ok(heard.every((p, i) => i === 0 || p.progress > heard[i - 1].progress), JSON.stringify(heard));
    assert.match(heard[0].message, /browser_wait/);
  },
  async "cancel"() {
    const stop = new AbortController();
    const waiting = call("browser_navigate", { url: site + "/slow", timeout: 60 }, { signal: stop.signal });
    await fetch(site + "/slow/begun"); // answers when the browser has asked for the page
    stop.abort("enough");
    await assert.rejects(waiting);
    assert.match(await done("browser_navigate", { url: site + "/shop" }), /Title: Shop/); // the tab is free
    assert.equal((await fetch(site + "/slow/ended")).status, 200); // answers when the browser has given up
  },
  async "resources: list, read, updates"() {
    const { resources } = await client.listResources();
    const tabs = await done("browser_tab", { action: "list" });
    const uri = "domtap://tab/" + tabs.match(/^# current: (\S+)/)[1];
    assert.ok(resources.some((r) => r.uri === uri), JSON.stringify(resources));
    const { resourceTemplates } = await client.listResourceTemplates();
    assert.equal(resourceTemplates[0].uriTemplate, "domtap://tab/{id}");
    const read = async () => (await client.readResource({ uri })).contents[0].text;
    assert.match(await read(), /<page nonce=[^]*Pay \(button\)/);
    await client.subscribeResource({ uri });
    await done("browser_interact", { steps: [{ action: "click", text: "Later" }] }); // adds a button in 300 ms
    for (;;) {
      await told("notifications/resources/updated", uri);
      if (/Arrived/.test(await read())) break;
    }
    await client.unsubscribeResource({ uri });
    inbox.length = 0;
    const opened = await done("browser_tab", { action: "open", url: site + "/shop" });
    await told("notifications/resources/list_changed");
    const id = opened.match(/^# tab (\S+)/)[1];
    assert.ok((await client.listResources()).resources.some((r) => r.uri === "domtap://tab/" + id));
    await done("browser_tab", { action: "close" });
  },
};

await client.connect(transport);
for (const [name, step] of Object.entries(steps)) {
  await step();
  console.log("ok " + name);
}
if (over === "http") await transport.terminateSession();
await client.close();
