// The errors of the client. All of them are DomtapErrors.

import { status } from "@grpc/grpc-js";
import type { ServiceError } from "@grpc/grpc-js";

import { ErrorInfo, Status } from "./gen/status.js";

export interface ErrorOptions {
  code?: status;
  reason?: string;
  metadata?: Record<string, string>;
  hint?: string;
  cause?: unknown;
}

/** A call that failed. Its message describes what failed, why, and what to do next. */
export class DomtapError extends Error {
  /** The gRPC code, or undefined for an error of the client. */
  readonly code?: status;
  /** The reason, such as STALE_REF or PAGE_LOST. Empty if there is none or the daemon did not answer. */
  readonly reason: string;
  /** Details for programs, such as the url of a wait that timed out. */
  readonly metadata: Record<string, string>;
  /** What to do next, if the daemon's message does not describe it. */
  readonly hint: string;

  constructor(message: string, { code, reason = "", metadata = {}, hint = "", cause }: ErrorOptions = {}) {
    super(hint === "" ? message : `${message} (${hint})`, { cause });
    this.name = new.target.name;
    this.code = code;
    this.reason = reason;
    this.metadata = metadata;
    this.hint = hint;
  }
}

/** No daemon answers, or none can be started. */
export class Unreachable extends DomtapError {}

/** A step or a field failed. answer has the results of the earlier steps. */
export class StepError<A = unknown> extends DomtapError {
  constructor(
    /** The number of the step, from 0. */
    readonly step: number,
    reason: string,
    message: string,
    /** The InteractResponse or FillFormResponse. */
    readonly answer: A,
  ) {
    super(`step ${step + 1}: ${message}`, { reason });
  }
}

/** The daemon does not know the tab: it was closed, or the daemon was restarted. Open another one. */
export class TabGone extends DomtapError {}

/**
 * A diff does not fit the elements, because a message was lost. Watch again without fromRevision, as follow
 * does.
 */
export class Mismatch extends DomtapError {}

/** Returns the error for a failed call. */
export function errorOf(error: unknown): DomtapError {
  if (error instanceof DomtapError) return error;
  const { code, details = "", metadata } = error as ServiceError;
  if (code === undefined) return new DomtapError((error as Error).message, { cause: error });
  const raw = metadata?.get("grpc-status-details-bin")[0];
  const parts = raw === undefined ? [] : Status.decode(Buffer.from(raw as Buffer)).details;
  const detail = parts.find((d) => d.typeUrl.endsWith("/google.rpc.ErrorInfo"));
  const info = detail === undefined ? undefined : ErrorInfo.decode(detail.value);
  if (code === status.UNAVAILABLE && parts.length === 0 && details.includes("onnect")) {
    const hint = "domtap serve starts a daemon there; connect({ start: true }) starts this user's";
    return new Unreachable(`no daemon answers: ${details}`, { code, hint, cause: error });
  }
  return new DomtapError(details, { code, reason: info?.reason, metadata: info?.metadata, cause: error });
}
