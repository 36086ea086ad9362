// Finds, starts and connects to a daemon, with the same sockets, tokens and variables as the command line.

import { Client, credentials, InterceptingCall } from "@grpc/grpc-js";
import type { ChannelCredentials, ClientOptions } from "@grpc/grpc-js";
import { execFile } from "node:child_process";
import { lookup } from "node:dns/promises";
import { readFileSync, statSync } from "node:fs";
import { homedir, platform, tmpdir, userInfo } from "node:os";
import { isAbsolute, join, resolve } from "node:path";

import { Connection } from "./connection.js";
import { DomtapError, Unreachable } from "./errors.js";

const START_LIMIT = 40_000; // the time in ms in which a daemon must start to serve
const MAX_SOCKET_PATH = 100; // the systems that domtap supports allow at least 103

/** The gRPC options of all connections. Tests shorten the times. */
export const OPTIONS: ClientOptions = {
  "grpc.max_receive_message_length": 64 << 20, // a whole page may be larger than the usual 4 MiB
  "grpc.keepalive_time_ms": 10_000, // detects a silently lost network, or a node that hangs
  "grpc.keepalive_timeout_ms": 5_000,
  "grpc.keepalive_permit_without_calls": 1, // so that the next call avoids such a node
  "grpc.initial_reconnect_backoff_ms": 50,
  "grpc.max_reconnect_backoff_ms": 1_000,
  "grpc.enable_http_proxy": 0,
};

export interface ConnectOptions {
  /**
   * unix:///PATH, HOST:PORT, or HOST:PORT,HOST:PORT with the nodes of a cluster. The client uses the first node that answers, and
   * another one when that node is unavailable or cut off. If unset, it is $DOMTAP_ADDR unless stateDir is set, or else the socket
   * of this user's daemon.
   */
  address?: string;
  /** The bearer token, which only TCP needs. If unset, the token in tokenFile. */
  token?: string;
  /** If unset, $DOMTAP_TOKEN_FILE, or else the file of this user's daemon. */
  tokenFile?: string;
  /**
   * A PEM file with the authority that signed the daemon's certificate. If unset, $DOMTAP_TLS_CA, or else the
   * authorities of Node.js.
   */
  tlsCA?: string;
  /**
   * The state directory of a separate instance. If unset, $DOMTAP_STATE_DIR, or else the default
   * directories.
   */
  stateDir?: string;
  /** Starts a daemon if none listens on the socket. It outlives this program. */
  start?: boolean;
  /** The domtap program to start. If unset, the one in $PATH. */
  program?: string;
  /** The name of this client in the daemon's log. */
  agent?: string;
}

const env = (name: string): string => process.env[name] ?? "";

/** Returns the path of the socket of this user's daemon, or of the instance with a state directory. */
export function defaultSocket(stateDir: string): string {
  if (process.env.DOMTAP_SOCKET !== undefined) return process.env.DOMTAP_SOCKET;
  if (stateDir !== "") return join(resolve(stateDir), "domtap.sock");
  const folders: string[] = [];
  const run = env("XDG_RUNTIME_DIR");
  if (isAbsolute(run) && statSync(run, { throwIfNoEntry: false })?.isDirectory()) folders.push(join(run, "domtap"));
  const cache = env("XDG_CACHE_HOME");
  if (platform() === "darwin") folders.push(join(homedir(), "Library", "Caches", "domtap"));
  else folders.push(join(isAbsolute(cache) ? cache : join(homedir(), ".cache"), "domtap"));
  folders.push(join(tmpdir(), `domtap-${userInfo().uid}`));
  const paths = folders.map((folder) => join(folder, "domtap.sock"));
  return paths.find((path) => path.length <= MAX_SOCKET_PATH) ?? paths[paths.length - 1];
}

/** Returns the path of the file with the token for TCP. */
export function defaultTokenFile(stateDir: string): string {
  if (env("DOMTAP_TOKEN_FILE") !== "") return env("DOMTAP_TOKEN_FILE");
  if (stateDir !== "") return join(stateDir, "token");
  if (platform() === "darwin") return join(homedir(), "Library", "Application Support", "domtap", "token");
  const config = env("XDG_CONFIG_HOME");
  return join(isAbsolute(config) ? config : join(homedir(), ".config"), "domtap", "token");
}

/**
 * Reads a token. Returns an empty string if there is no file, because the daemon's error is more
 * informative.
 */
function readToken(path: string): string {
  try {
    return readFileSync(path, "utf8").trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return "";
    throw new DomtapError(`read the token: ${(error as Error).message}`, { hint: "domtap token prints it", cause: error });
  }
}

const hostOf = (address: string): string => address.slice(0, address.lastIndexOf(":")).replace(/^\[|\]$/g, "");

/** Returns the addresses HOST:PORT of the nodes of a cluster, or the address of one daemon. */
export function split(address: string): string[] {
  const all = address.split(",").map((one) => one.trim());
  for (const one of all) {
    if (!/.:\d+$/.test(one)) {
      const hint = "use unix:///PATH, HOST:PORT, or HOST:PORT,HOST:PORT for the nodes of a cluster";
      throw new DomtapError(`invalid address ${JSON.stringify(one)}`, { hint });
    }
  }
  return all;
}

/** Reports whether HOST:PORT is on this machine. */
export function isLoopback(address: string): boolean {
  const host = hostOf(address);
  return host === "localhost" || host === "::1" || /^127\.\d+\.\d+\.\d+$/.test(host);
}

/**
 * Returns an address with the IP address of its host, because gRPC accepts several addresses only
 * in this form.
 */
async function numbered(address: string): Promise<string> {
  try {
    return (await lookup(hostOf(address), 4)).address + address.slice(address.lastIndexOf(":"));
  } catch (error) {
    throw new Unreachable((error as Error).message, { hint: "several addresses need IPv4", cause: error });
  }
}

/** Starts this user's daemon if none runs, and returns the path of its socket. */
function start(program: string, stateDir: string): Promise<string> {
  const args = ["socket", ...(stateDir === "" ? [] : ["--state-dir", stateDir])];
  const { DOMTAP_ADDR: _, ...own } = process.env;
  return new Promise((done, failed) => {
    execFile(program, args, { env: own, timeout: START_LIMIT }, (error, out, said) => {
      if (error === null) return done(out.trim());
      if ((error as NodeJS.ErrnoException).code === "ENOENT") {
        const hint = "put domtap into $PATH, or give its path with program";
        return failed(new Unreachable(`start a daemon: there is no program ${program}`, { hint, cause: error }));
      }
      failed(new Unreachable(`start a daemon: ${said.trim().replace(/^domtap: /, "") || error.message}`, { cause: error }));
    });
  });
}

/** Creates a connection. The first call connects. */
async function dial(address: string, token: string, tokenFile: string, tlsCA: string, agent: string): Promise<Connection> {
  const options: ClientOptions = { ...OPTIONS, "grpc.primary_user_agent": agent };
  if (address.startsWith("unix:")) {
    const path = address.replace(/^unix:(\/\/)?/, "");
    if (!isAbsolute(path)) throw new DomtapError(`invalid socket ${JSON.stringify(address)}: it must be an absolute path`, { hint: "unix:///PATH" });
    return new Connection([() => new Client(`unix:${path}`, credentials.createInsecure(), options)]);
  }
  const addresses = split(address);
  const sent = token || readToken(tokenFile);
  if (sent !== "") options.interceptors = [bearer(sent)];
  let secure: ChannelCredentials = credentials.createInsecure();
  if (tlsCA !== "" || !addresses.every(isLoopback)) {
    try {
      secure = credentials.createSsl(tlsCA === "" ? null : readFileSync(tlsCA));
    } catch (error) {
      throw new DomtapError(`read the certificate authority: ${(error as Error).message}`, { hint: "tlsCA names a PEM file", cause: error });
    }
    if (addresses.length > 1) options["grpc.ssl_target_name_override"] = hostOf(addresses[0]); // gRPC would check the IP address instead of the name
  }
  if (addresses.length === 1) return new Connection([() => new Client(`dns:${addresses[0]}`, secure, options)]);
  const numbers = await Promise.all(addresses.map(numbered));
  return new Connection(numbers.map((_, first) => () => new Client(`ipv4:${[...numbers.slice(first), ...numbers.slice(0, first)].join(",")}`, secure, options)));
}

/** Adds a token to every call. */
function bearer(token: string): NonNullable<ClientOptions["interceptors"]>[number] {
  return (call, next) =>
    new InterceptingCall(next(call), {
      start(metadata, listener, begin) {
        metadata.set("authorization", `Bearer ${token}`);
        begin(metadata, listener);
      },
    });
}

/** Finds or starts a daemon, and creates a connection to it. */
export async function findAndDial(o: ConnectOptions): Promise<Connection> {
  let address = o.address || (o.stateDir ? "" : env("DOMTAP_ADDR"));
  const stateDir = o.stateDir || env("DOMTAP_STATE_DIR");
  if (address === "") {
    const path = o.start ? await start(o.program ?? "domtap", stateDir) : defaultSocket(stateDir);
    address = path !== "" ? `unix://${path}` : env("DOMTAP_LISTEN") || "127.0.0.1:7411";
  }
  return dial(address, o.token ?? "", o.tokenFile || defaultTokenFile(stateDir), o.tlsCA || env("DOMTAP_TLS_CA"), o.agent ?? "domtap-typescript");
}
