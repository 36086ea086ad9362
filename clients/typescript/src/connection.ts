// The connection of a client: to a daemon, or to the nodes of a cluster.

import type { Client } from "@grpc/grpc-js";

import type { DomtapError } from "./errors.js";

/** The reasons of a node that is cut off from its cluster. */
const CUT_OFF = ["FENCED", "REGISTRY_UNAVAILABLE"];

/**
 * A connection. In a cluster, gRPC connects to the first address that answers, and to another one when that node is unavailable. A node
 * that is cut off from its cluster still answers, with an error that reports it. The next calls then use a gRPC client that starts with the
 * next address. Calls in progress are not affected. If a node is unavailable, the answering node may not be the first address, so calls may
 * fail once per node before they reach a working one.
 */
export class Connection {
  /**
   * Functions that create a gRPC client, one for each first address. The clients share their
   * connections.
   */
  #dial: (() => Client)[];
  #clients: Client[] = [];
  #first = 0;

  constructor(dial: (() => Client)[]) {
    this.#dial = dial;
  }

  /** The gRPC client for the next call. */
  get current(): Client {
    return (this.#clients[this.#first] ??= this.#dial[this.#first]());
  }

  /** Handles the failure of a call of a gRPC client before the caller learns of it. */
  heard(from: Client, error: DomtapError): void {
    // Another call may already have detected this.
    if (from === this.current && CUT_OFF.includes(error.reason)) this.#first = (this.#first + 1) % this.#dial.length;
  }

  /** Ends every call. Later calls fail. */
  close(): void {
    this.current; // there is one that is closed
    for (const client of this.#clients) client?.close();
  }
}
