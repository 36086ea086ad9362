// Client and Tab: the methods that most programs need.

import type { Connection } from "./connection.js";
import { findAndDial } from "./endpoint.js";
import type { ConnectOptions } from "./endpoint.js";
import { DomtapError, StepError } from "./errors.js";
import { ActionServiceService, FormField } from "./gen/domtap/v1/action.js";
import type { FillFormRequest, FillFormResponse, InteractRequest, InteractResponse, Step, StepResult } from "./gen/domtap/v1/action.js";
import { ClusterServiceService } from "./gen/domtap/v1/cluster.js";
import { ContextServiceService } from "./gen/domtap/v1/context.js";
import { DaemonServiceService } from "./gen/domtap/v1/daemon.js";
import { DomServiceService } from "./gen/domtap/v1/dom.js";
import type { Element, FindRequest, FindResponse, GetCompactRequest, GetDomRequest, WaitForResponse } from "./gen/domtap/v1/dom.js";
import { NetworkServiceService } from "./gen/domtap/v1/network.js";
import { PageServiceService } from "./gen/domtap/v1/page.js";
import type { PdfRequest, ReadPageRequest, ReadPageResponse, ScreenshotRequest } from "./gen/domtap/v1/page.js";
import { RecordingServiceService, ReplayServiceService } from "./gen/domtap/v1/recording.js";
import { SearchServiceService } from "./gen/domtap/v1/search.js";
import { SessionServiceService } from "./gen/domtap/v1/session.js";
import { StatsServiceService } from "./gen/domtap/v1/stats.js";
import { StorageServiceService } from "./gen/domtap/v1/storage.js";
import { TabServiceService } from "./gen/domtap/v1/tab.js";
import type {
  Dialog,
  GoBackResponse,
  GoForwardResponse,
  NavigateRequest,
  NavigateResponse,
  OpenTabRequest,
  ReloadResponse,
  Tab as TabInfo,
} from "./gen/domtap/v1/tab.js";
import { TimelineServiceService } from "./gen/domtap/v1/timeline.js";
import type { WaitCondition } from "./gen/domtap/v1/wait.js";
import { service } from "./service.js";
import { duration } from "./steps.js";
import { follow } from "./stream.js";
import type { FollowOptions, Update } from "./stream.js";

/**
 * Finds a daemon. With start, starts one if none runs, which needs the domtap program. Without start, the first call
 * connects.
 */
export async function connect(options: ConnectOptions = {}): Promise<Client> {
  return new Client(await findAndDial(options));
}

/** A connection to a daemon, with the services of the API for calls without a method here. close ends it; the tabs stay open. */
export class Client {
  readonly tabs;
  readonly dom;
  readonly actions;
  readonly pages;
  readonly sessions;
  readonly context;
  readonly storage;
  readonly search;
  readonly network;
  readonly cluster;
  readonly daemon;
  readonly stats;
  readonly recordings;
  readonly replays;
  readonly timeline;
  #connection: Connection;
  #closed = false;

  constructor(connection: Connection) {
    this.#connection = connection;
    this.tabs = service(connection, TabServiceService);
    this.dom = service(connection, DomServiceService);
    this.actions = service(connection, ActionServiceService);
    this.pages = service(connection, PageServiceService);
    this.sessions = service(connection, SessionServiceService);
    this.context = service(connection, ContextServiceService);
    this.storage = service(connection, StorageServiceService);
    this.search = service(connection, SearchServiceService);
    this.network = service(connection, NetworkServiceService);
    this.cluster = service(connection, ClusterServiceService);
    this.daemon = service(connection, DaemonServiceService);
    this.stats = service(connection, StatsServiceService);
    this.recordings = service(connection, RecordingServiceService);
    this.replays = service(connection, ReplayServiceService);
    this.timeline = service(connection, TimelineServiceService);
  }

  /** Closes the connection and ends every call on it. */
  close(): void {
    this.#closed = true;
    this.#connection.close();
  }

  /** Reports whether the client was closed. */
  get closed(): boolean {
    return this.#closed;
  }

  /**
   * Opens a tab, and returns when the page is loaded. With options.restore, the tab is restored with the same id when its renderer,
   * its browser or the daemon dies.
   */
  async open(url = "", options: Partial<OpenTabRequest> = {}): Promise<Tab> {
    return new Tab(this, (await this.tabs.openTab({ ...options, url })).tab!.id);
  }

  /** Returns the tab with an id, which need not be open. */
  tab(id: string): Tab {
    return new Tab(this, id);
  }

  /** Returns the open tabs, oldest first. */
  async list(sessionId = ""): Promise<TabInfo[]> {
    return (await this.tabs.listTabs({ sessionId })).tabs;
  }
}

/** A tab of the daemon's browser. It has only the id: calls on a closed tab fail with NOT_FOUND. */
export class Tab {
  constructor(
    readonly client: Client,
    readonly id: string,
  ) {}

  /** Closes the tab. */
  async close(): Promise<void> {
    await this.client.tabs.closeTab({ tabId: this.id });
  }

  /** Returns URL, title, status, revision and open dialog. It works while the page hangs. */
  async info(): Promise<TabInfo> {
    return (await this.client.tabs.getTab({ tabId: this.id })).tab!;
  }

  /**
   * Loads a URL, waits until the page is loaded, and returns the changes that a person would
   * notice.
   */
  navigate(url: string, options: Partial<NavigateRequest> = {}): Promise<NavigateResponse> {
    return this.client.tabs.navigate({ ...options, tabId: this.id, url });
  }

  /** Goes one entry back in the history. */
  back(): Promise<GoBackResponse> {
    return this.client.tabs.goBack({ tabId: this.id });
  }

  /** Goes one entry forward. */
  forward(): Promise<GoForwardResponse> {
    return this.client.tabs.goForward({ tabId: this.id });
  }

  /** Loads the URL again. This also makes a crashed tab usable. */
  reload(): Promise<ReloadResponse> {
    return this.client.tabs.reload({ tabId: this.id });
  }

  /**
   * Returns the page as text, one line for each interactive element, with its ref, within the default limits of 300 elements and
   * 8,000 tokens.
   */
  async read(options: Partial<GetCompactRequest> = {}): Promise<string> {
    return (await this.client.dom.getCompact({ ...options, tabId: this.id })).text;
  }

  /** Returns the elements. */
  async elements(options: Partial<GetDomRequest> = {}): Promise<Element[]> {
    return (await this.client.dom.getDom({ ...options, tabId: this.id })).elements;
  }

  /** Returns the page for a model: Markdown, a tree, or a picture with refs. */
  readPage(options: Partial<ReadPageRequest> = {}): Promise<ReadPageResponse> {
    return this.client.pages.readPage({ ...options, tabId: this.id });
  }

  /** Returns the elements that match the words of a query, best match first. No match is not an error. */
  find(query: string, options: Partial<FindRequest> = {}): Promise<FindResponse> {
    return this.client.dom.find({ ...options, tabId: this.id, query });
  }

  /** Returns a picture: a PNG of the viewport by default. */
  async screenshot(options: Partial<ScreenshotRequest> = {}): Promise<Buffer> {
    return (await this.client.pages.screenshot({ ...options, tabId: this.id })).image;
  }

  /** Prints the page. */
  async pdf(options: Partial<PdfRequest> = {}): Promise<Buffer> {
    return (await this.client.pages.pdf({ ...options, tabId: this.id })).pdf;
  }

  /**
   * Reads the fields of a schema, as described in docs/extract.md: { title: "h1" }. Fields that are missing on the page are
   * null or empty.
   */
  async extract<T = unknown>(schema: Record<string, unknown>): Promise<T> {
    return JSON.parse((await this.client.pages.extract({ tabId: this.id, schemaJson: JSON.stringify(schema) })).resultJson) as T;
  }

  /** Runs a script, if the daemon allows it (domtap serve --allow-eval), and returns its value. */
  async evaluate<T = unknown>(expression: string): Promise<T> {
    const { exception, resultJson } = await this.client.pages.evaluate({ tabId: this.id, expression });
    if (exception !== "") throw new DomtapError(`the script threw: ${exception}`);
    return (resultJson === "" ? undefined : JSON.parse(resultJson)) as T;
  }

  /**
   * Performs up to 32 steps as one turn of the tab, and returns the changes when the page has settled. If a step fails, it throws a
   * StepError with the answer, or a DomtapError if no step was done.
   */
  async act(steps: Step | Step[], options: Partial<InteractRequest> = {}): Promise<InteractResponse> {
    const request = { ...options, tabId: this.id, steps: Array.isArray(steps) ? steps : [steps] };
    return judge(await this.client.actions.interact(request));
  }

  /** Fills fields by their labels. With submit, it then submits the form if every field was filled. */
  async fillForm(fields: Record<string, string> | FormField[], options: Partial<FillFormRequest> = {}): Promise<FillFormResponse> {
    const all = Array.isArray(fields) ? fields : Object.entries(fields).map(([label, value]) => FormField.fromPartial({ label, value }));
    return judge(await this.client.actions.fillForm({ ...options, tabId: this.id, fields: all }));
  }

  /** Returns as soon as a condition holds. After timeoutMs, at most 5 minutes, the error has the reason WAIT_TIMEOUT. */
  wait(until: WaitCondition, timeoutMs = 30_000): Promise<WaitForResponse> {
    return this.client.dom.waitFor({ tabId: this.id, until, timeout: duration(timeoutMs) });
  }

  /** Presses OK or Cancel in the open dialog. If promptText is set, it is entered first. */
  async answerDialog(accept: boolean, promptText?: string): Promise<Dialog> {
    return (await this.client.tabs.answerDialog({ tabId: this.id, accept, promptText })).dialog!;
  }

  /**
   * Yields the page and then every change, in order, without gaps or repetitions. When the connection is lost or the daemon ends,
   * it retries with increasing waits and resumes at the last state. It ends when the tab is closed. It throws TabGone, an error
   * that a retry cannot fix, or after options.patienceMs without an answer the last failure.
   */
  follow(options: FollowOptions = {}): AsyncGenerator<Update> {
    return follow(this.client.dom, this.id, options, () => this.client.closed);
  }
}

function judge<A extends { results: StepResult[] }>(answer: A): A {
  const i = answer.results.findIndex((result) => !result.ok);
  if (i >= 0) throw new StepError(i, answer.results[i].reason, answer.results[i].error, answer);
  return answer;
}
