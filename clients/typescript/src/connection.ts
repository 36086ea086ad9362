// The connection of a client: to a daemon, or to the nodes of a cluster.

import type { Client } from "@grpc/grpc-js";

import type { DomtapError } from "./errors.js";

/** The reasons of a node that is cut off from its cluster. */
const CUT_OFF = ["FENCED", "REGISTRY_UNAVAILABLE"];

/**
 * A connection. Of a cluster, gRPC connects to the first address that answers, and to another one when that is gone. A node that is cut off
 * from its cluster answers as before, and says so: then the next calls go over a client of gRPC that begins with the next address. Calls
 * under way stay where they are. A node that is gone makes the order of addresses and that of the answers differ, so it may take several
 * such answers, one from each node, until calls go to a good one.
 */
export class Connection {
  /** What makes a client of gRPC for each address to begin with. They share the connections. */
  #dial: (() => Client)[];
  #clients: Client[] = [];
  #first = 0;

  constructor(dial: (() => Client)[]) {
    this.#dial = dial;
  }

  /** The client of gRPC for the next call. */
  get current(): Client {
    return (this.#clients[this.#first] ??= this.#dial[this.#first]());
  }

  /** Takes the failure of a call that was made with a client of gRPC, before the caller learns it. */
  heard(from: Client, error: DomtapError): void {
    // Other calls may have found it out before.
    if (from === this.current && CUT_OFF.includes(error.reason)) this.#first = (this.#first + 1) % this.#dial.length;
  }

  /** Ends every call. Later ones fail. */
  close(): void {
    this.current; // there is one that is closed
    for (const client of this.#clients) client?.close();
  }
}
