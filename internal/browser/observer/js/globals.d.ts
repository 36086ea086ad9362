// What the scripts find when they run: the constants that package page puts before them, what the isolated world holds,
// and what Chromium has that the DOM types of TypeScript do not know.

/** The bounds on what is kept in a document; Limits in page.go. */
declare const LIMITS: { readonly elements: number };
/** What the scripts keep to themselves, null when that is nothing; Masks in page.go. */
declare const MASKS: { readonly selectors: string[]; readonly values: boolean } | null;

/** The agent of the document that the window shows. */
declare var __domtap: Agent;
/** Tells the agent which frame the element that it is called on holds. */
declare var __domtapAdopt: (this: any, frame: string) => void;
/** Tells the agent what the browser knows of nodes. */
declare var __domtapLearn: (what: { on: number[]; off: number[] }, nodes: Node[]) => void;
/** Runs a command of the daemon. */
declare var __domtapCall: (command: string, argument: any, digits: (number | number[])[]) => unknown;
/** Sends a message to the daemon; it is missing until the daemon listens. */
declare var __domtapPush: ((message: string) => void) | undefined;

interface PerformanceEntry {
  /** Of a navigation. */
  readonly responseStatus?: number;
}
