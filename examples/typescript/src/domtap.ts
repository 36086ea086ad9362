// What a client of domtap needs beside its stubs: a connection, and a stream that goes on where it was when the
// connection is lost. Copy it into your program. docs/stream.md has the rules that it follows.

import { credentials, InterceptingCall, status } from "@grpc/grpc-js";
import type { ChannelCredentials, ClientOptions, ServiceError } from "@grpc/grpc-js";
import { setTimeout as sleep } from "node:timers/promises";

import { GetDomResponse, WatchDomRequest } from "../gen/domtap/v1/dom.js";
import type { Diff, DomServiceClient, Element, WatchDomResponse } from "../gen/domtap/v1/dom.js";

/** What the constructors of the stubs take. */
export type Connection = [address: string, credentials: ChannelCredentials, options: ClientOptions];

/**
 * How to reach a daemon at unix:///PATH without a token, or at HOST:PORT on loopback with one. Of a cluster, the address may be
 * IP:PORT,IP:PORT and so on: the first node that answers is used, and another one when that is gone.
 */
export function connection(address: string, token = ""): Connection {
  const options: ClientOptions = {
    "grpc.max_receive_message_length": 64 << 20, // a whole page may be larger than the usual 4 MiB
    "grpc.keepalive_time_ms": 20_000, // finds out when the network is gone without a word
    "grpc.keepalive_timeout_ms": 10_000,
    "grpc.initial_reconnect_backoff_ms": 50,
    "grpc.max_reconnect_backoff_ms": 1_000,
    "grpc.enable_http_proxy": 0,
  };
  if (token !== "") {
    options.interceptors = [
      (call, next) =>
        new InterceptingCall(next(call), {
          start(metadata, listener, start) {
            metadata.set("authorization", `Bearer ${token}`);
            start(metadata, listener);
          },
        }),
    ];
  }
  return [address.includes(",") ? `ipv4:${address}` : address, credentials.createInsecure(), options];
}

/** Makes a promise of a unary call: await answer((done) => tabs.openTab(request, done)). */
export function answer<T>(call: (done: (error: ServiceError | null, value: T) => void) => unknown): Promise<T> {
  return new Promise((resolve, reject) => call((error, value) => (error ? reject(error) : resolve(value))));
}

/** A diff does not fit: something was lost, and the page must be read anew. */
export class Mismatch extends Error {}

/** The daemon does not know the tab: it was closed, or the daemon was started anew. */
export class TabGone extends Error {}

/** Returns what a diff makes of the elements of a view; it does not write to them. */
export function apply(old: Element[], diff: Diff): Element[] {
  const now = new Map(old.map((e) => [e.ref, e]));
  const find = (ref: number): Element => {
    const e = now.get(ref);
    if (e === undefined) throw new Mismatch(`element ${ref} is not there`);
    return e;
  };
  for (const c of diff.changed) {
    find(c.ref);
    now.set(c.ref, c.element!); // the whole element as it is now
  }
  const out = new Set([...diff.removed, ...diff.moved].map((e) => find(e.ref).ref));
  const place = new Map<number, Element>();
  for (const m of diff.moved) place.set(m.toIndex, find(m.ref));
  for (const a of diff.added) place.set(a.index, a); // its ref may be one that was removed
  const stay = old.filter((e) => !out.has(e.ref)).map((e) => find(e.ref));
  const size = old.length - diff.removed.length + diff.added.length;
  let next = 0;
  const result = Array.from({ length: stay.length + place.size }, (_, i) => {
    const e = place.get(i) ?? stay[next++];
    if (e === undefined) throw new Mismatch(`there is no element for place ${i}`);
    return e;
  });
  if (new Set(result.map((e) => e.ref)).size !== size) throw new Mismatch("two elements have one place, or one has two");
  return result;
}

/** Returns the state after a message. The state is what GetDom with the same options would answer, without boxes. */
export function take(old: GetDomResponse | undefined, message: WatchDomResponse): GetDomResponse {
  const { event, revision, epoch } = message;
  const snapshot = event?.$case === "snapshot" ? event.value : event?.$case === "resync" ? event.value.snapshot : undefined;
  if (snapshot !== undefined) {
    const { url, title, elements, metadata } = snapshot;
    return GetDomResponse.fromPartial({ url, title, elements, metadata, revision, epoch });
  }
  if (old === undefined) throw new Mismatch("the first message is no snapshot");
  const now = { ...old, revision, epoch };
  if (event?.$case === "diff") {
    if (event.value.fromRevision !== old.revision || epoch !== old.epoch) {
      throw new Mismatch(`a diff from revision ${event.value.fromRevision} does not fit to revision ${old.revision}`);
    }
    now.elements = apply(old.elements, event.value);
  } else if (event?.$case === "navigated") {
    now.url = event.value.url;
    now.title = event.value.title;
  }
  return now;
}

export interface FollowOptions {
  tabId: string;
  /** The state to go on from, also in another process; unset: from the page as it is. */
  state?: GetDomResponse;
  /** Which elements; see WatchDomRequest. */
  view?: Partial<WatchDomRequest>;
  /** How long to go on without hearing anything. */
  patienceMs?: number;
  /** Is told when a stream was lost, and after how long the next attempt is made. */
  lost?: (cause: Error, waitMs: number) => void;
}

export interface Update {
  state: GetDomResponse;
  message: WatchDomResponse;
}

const SHORTEST_WAIT = 100;
const LONGEST_WAIT = 5_000;

/** What may work a little later. */
const PASSING = [
  status.UNAVAILABLE,
  status.DEADLINE_EXCEEDED,
  status.ABORTED,
  status.RESOURCE_EXHAUSTED,
  status.INTERNAL,
  status.CANCELLED,
];

/**
 * Yields what a tab shows, and then every change, without a gap. When the connection is lost it goes on where it was.
 * It ends when the tab is closed, and throws what trying again does not mend.
 */
export async function* follow(dom: DomServiceClient, options: FollowOptions): AsyncGenerator<Update> {
  const { tabId, view = {}, patienceMs = 120_000, lost = () => {} } = options;
  let state = options.state;
  let failures = 0;
  let since = 0;
  for (;;) {
    const began = Date.now();
    let heard = false;
    let sequence = 0;
    const call = dom.watchDom(
      WatchDomRequest.fromPartial({ ...view, tabId, fromRevision: state?.revision, epoch: state?.epoch ?? "" }),
    );
    call.on("error", () => {}); // the loop below gets it; this keeps one that comes later from ending the process
    try {
      for await (const message of call as AsyncIterable<WatchDomResponse>) {
        if (message.sequence !== ++sequence) throw new Mismatch(`message ${message.sequence} came as number ${sequence}`);
        state = { ...take(state, message), tabId };
        // A page that crashed says so to each stream at once: that is no sign of life.
        heard ||= message.event?.$case !== "tabStatus";
        yield { state, message };
      }
      return; // the tab was closed
    } catch (error) {
      const cause = error as ServiceError;
      if (cause.code === status.NOT_FOUND) throw new TabGone(cause.details);
      if (cause instanceof Mismatch) state = undefined;
      else if (!PASSING.includes(cause.code)) throw cause;
      if (heard || Date.now() - began > LONGEST_WAIT) failures = 0;
      if (failures === 0) since = Date.now();
      if (Date.now() - since > patienceMs) throw cause;
      // Each time up to twice as long, and by chance, so that many clients do not come back at once.
      const wait = Math.min(LONGEST_WAIT, SHORTEST_WAIT * 2 ** failures) * (0.5 + Math.random() / 2);
      failures++;
      lost(cause, wait);
      await sleep(wait);
    } finally {
      call.cancel();
    }
  }
}

