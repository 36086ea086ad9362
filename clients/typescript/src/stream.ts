// A stream of a tab that resumes after a lost connection. docs/clients.md defines the rules.

import { status } from "@grpc/grpc-js";
import { setTimeout as sleep } from "node:timers/promises";

import { DomtapError, errorOf, Mismatch, TabGone } from "./errors.js";
import { GetDomResponse } from "./gen/domtap/v1/dom.js";
import type { Diff, DomServiceService, Element, WatchDomRequest, WatchDomResponse } from "./gen/domtap/v1/dom.js";
import type { Service } from "./service.js";

/** Applies a diff to the elements of a view and returns the new list. It modifies neither. */
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
  for (const a of diff.added) place.set(a.index, a); // the ref may be a removed one
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

/** Returns the state after a message. It does not modify the old state. */
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
  /**
   * The state of an earlier Update from which to resume, also in another process. If unset, the stream starts
   * with the current page.
   */
  state?: GetDomResponse;
  /** Selects elements; see WatchDomRequest. */
  view?: Partial<WatchDomRequest>;
  /** The maximum time of retries without an answer. If unset, two minutes. */
  patienceMs?: number;
  /** Called when a stream was lost, with the wait before the next attempt. */
  lost?: (cause: DomtapError, waitMs: number) => void;
  /** Ends the loop with its reason. */
  signal?: AbortSignal;
}

/** One message of a stream, and the state after it. */
export interface Update {
  /**
   * The response that GetDom would return with the same options, without boxes. Keep it, for example in a file,
   * to resume from it.
   */
  state: GetDomResponse;
  /** A diff, a resync, a snapshot, a navigation, a status or a heartbeat. */
  message: WatchDomResponse;
}

const SHORTEST_WAIT = 100;
const LONGEST_WAIT = 5_000;
const SILENCE = 60_000; // the maximum silence of a stream; the daemon sends a heartbeat every 15 s

/** The codes of errors that a retry may fix. */
const PASSING: (status | undefined)[] = [
  status.UNAVAILABLE,
  status.DEADLINE_EXCEEDED,
  status.ABORTED,
  status.RESOURCE_EXHAUSTED,
  status.INTERNAL,
  status.CANCELLED,
];

/** The error of a stream that was silent for too long. */
class Silent extends DomtapError {}

/** Throws an error that a retry cannot fix. */
function judge(cause: DomtapError, tabId: string, view: Partial<WatchDomRequest>): void {
  const gone = cause.code === status.NOT_FOUND || cause.reason === "TAB_CLOSED";
  if (gone && !view.frameId) {
    const { code, reason } = cause;
    throw new TabGone(`the tab ${tabId} is gone: ${cause.message}`, { code, reason, hint: "open another one", cause });
  }
  if (!(cause instanceof Mismatch || cause instanceof Silent || PASSING.includes(cause.code))) throw cause;
}

/**
 * Yields the page of a tab, and then every change; see Tab.follow. closed reports whether the client was
 * closed.
 */
export async function* follow(
  dom: Pick<Service<DomServiceService>, "watchDom">,
  tabId: string,
  { state, view = {}, patienceMs = 120_000, lost = () => {}, signal }: FollowOptions = {},
  closed: () => boolean = () => false,
): AsyncGenerator<Update> {
  let failures = 0;
  let since = 0;
  for (;;) {
    signal?.throwIfAborted();
    const began = Date.now();
    let heard = false;
    let sequence = 0;
    const silence = new AbortController();
    const leave = () => silence.abort(signal!.reason);
    signal?.addEventListener("abort", leave);
    const wait = () => setTimeout(() => silence.abort(new Silent(`the daemon sent nothing for ${SILENCE / 1000} s`)), SILENCE);
    let silent = wait();
    try {
      const request = { ...view, tabId, fromRevision: state?.revision, epoch: state?.epoch ?? "" };
      for await (const message of dom.watchDom(request, { signal: silence.signal })) {
        clearTimeout(silent); // the time that the caller takes does not count
        if (message.sequence !== ++sequence) throw new Mismatch(`message ${message.sequence} came as number ${sequence}`);
        state = { ...take(state, message), tabId };
        // A crashed page reports that to each new stream immediately, so this is no sign of life.
        heard ||= message.event?.$case !== "tabStatus";
        yield { state, message };
        silent = wait();
      }
      return; // the tab was closed
    } catch (error) {
      signal?.throwIfAborted();
      const cause = errorOf(error);
      if (closed()) throw new DomtapError(`the client was closed: ${cause.message}`, { cause });
      judge(cause, tabId, view);
      if (cause instanceof Mismatch) state = undefined;
      if (heard || Date.now() - began > LONGEST_WAIT) failures = 0;
      if (failures === 0) since = Date.now();
      if (Date.now() - since > patienceMs) throw cause;
      // The wait at most doubles each time, and is random, so that many clients do not reconnect at
      // the same time.
      const waitMs = Math.min(LONGEST_WAIT, SHORTEST_WAIT * 2 ** failures) * (0.5 + Math.random() / 2);
      failures++;
      lost(cause, waitMs);
      await sleep(waitMs, undefined, { signal });
    } finally {
      clearTimeout(silent);
      signal?.removeEventListener("abort", leave);
    }
  }
}
