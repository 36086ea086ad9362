// Creates clients from the generated service definitions: promises for calls, async iterables for streams, DomtapErrors
// for failures.

import { Metadata } from "@grpc/grpc-js";

import type { Connection } from "./connection.js";
import { errorOf } from "./errors.js";

/** The options of every call. */
export interface CallOptions {
  /** Cancels the call. */
  signal?: AbortSignal;
  /** The maximum duration of the call. If unset, there is no limit. */
  timeoutMs?: number;
}

interface Method<Q, R> {
  path: string;
  responseStream: boolean;
  requestSerialize: (value: Q) => Buffer;
  requestDeserialize: (bytes: Buffer) => Q;
  responseDeserialize: (bytes: Buffer) => R;
}

/** The calls of a service. A request needs only the fields that are set; messages in them come from fromPartial. */
export type Service<D> = {
  [M in keyof D]: D[M] extends {
    responseStream: infer S;
    requestSerialize: (value: infer Q) => Buffer;
    responseDeserialize: (bytes: Buffer) => infer R;
  }
    ? (request?: Partial<Q>, options?: CallOptions) => S extends true ? AsyncIterable<R> : Promise<R>
    : never;
};

/** Creates a client of a service on a connection. */
export function service<D extends object>(connection: Connection, definition: D): Service<D> {
  const calls = Object.entries(definition as Record<string, Method<object, unknown>>).map(([name, method]) => [
    name,
    (request: object = {}, options: CallOptions = {}) => {
      const whole = { ...method.requestDeserialize(Buffer.alloc(0)), ...set(request) };
      return method.responseStream ? stream(connection, method, whole, options) : unary(connection, method, whole, options);
    },
  ]);
  return Object.fromEntries(calls) as Service<D>;
}

/** Removes fields that are undefined, so that they keep their default. */
function set(request: object): object {
  return Object.fromEntries(Object.entries(request).filter(([, value]) => value !== undefined));
}

const deadline = ({ timeoutMs }: CallOptions) => (timeoutMs === undefined ? {} : { deadline: Date.now() + timeoutMs });

function unary<Q, R>(connection: Connection, m: Method<Q, R>, request: Q, o: CallOptions): Promise<R> {
  return new Promise((done, failed) => {
    if (o.signal?.aborted) return failed(o.signal.reason);
    const abort = () => call.cancel();
    const at = connection.current;
    const call = at.makeUnaryRequest(m.path, m.requestSerialize, m.responseDeserialize, request, new Metadata(), deadline(o), (error, value) => {
      o.signal?.removeEventListener("abort", abort);
      if (error === null) return done(value as R);
      const cause = errorOf(error);
      connection.heard(at, cause);
      failed(o.signal?.aborted ? o.signal.reason : cause);
    });
    o.signal?.addEventListener("abort", abort);
  });
}

async function* stream<Q, R>(connection: Connection, m: Method<Q, R>, request: Q, o: CallOptions): AsyncGenerator<R> {
  o.signal?.throwIfAborted();
  const at = connection.current;
  const call = at.makeServerStreamRequest(m.path, m.requestSerialize, m.responseDeserialize, request, new Metadata(), deadline(o));
  const abort = () => call.cancel();
  call.on("error", () => {}); // the loop below receives the error; without this listener, a later error would end the process
  o.signal?.addEventListener("abort", abort);
  try {
    for await (const message of call as AsyncIterable<R>) yield message;
  } catch (error) {
    const cause = errorOf(error);
    connection.heard(at, cause);
    throw o.signal?.aborted ? o.signal.reason : cause;
  } finally {
    o.signal?.removeEventListener("abort", abort);
    call.cancel();
  }
}
