/**
 * Client of domtap: opens tabs, reads them, acts on them, and follows them through lost connections and restarts.
 *
 *     const client = await connect({ start: true });
 *     const tab = await client.open("https://example.com");
 *     console.log(await tab.read());
 *     await tab.act(click(named("link", "More information...")));
 *     for await (const { state } of tab.follow()) …
 *
 * The messages of the API are in domtap/v1/*: import { GetDomResponse } from "domtap/v1/dom".
 */
export * from "./client.js";
export type { ConnectOptions } from "./endpoint.js";
export { DomtapError, Mismatch, StepError, TabGone, Unreachable } from "./errors.js";
export type { CallOptions, Service } from "./service.js";
export * from "./steps.js";
export { apply, follow, take } from "./stream.js";
export type { FollowOptions, Update } from "./stream.js";
