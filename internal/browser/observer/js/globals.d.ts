// What the scripts find when they run: the constants that package observer puts before them, what the isolated world holds,
// and the DOM as they see it.

/** The bounds on what is kept in a document; Limits in page.go. */
declare const LIMITS: { readonly elements: number };
/** What the scripts keep to themselves, null when that is nothing; Masks in page.go. */
declare const MASKS: { readonly selectors: string[]; readonly values: boolean } | null;

/** The agent of the document that the window shows. */
declare var __domtap: Agent;
/** Tells the agent which frame the element that it is called on holds. */
declare var __domtapAdopt: (this: El, frame: string) => void;
/** Tells the agent what the browser knows of nodes. */
declare var __domtapLearn: (what: { on: number[]; off: number[] }, nodes: DomNode[]) => void;
/** Runs a command of the daemon; the argument is what the command takes. */
declare var __domtapCall: (command: string, argument: any, digits: Digit[]) => unknown;
/** Sends a message to the daemon; it is missing until the daemon listens. */
declare var __domtapPush: ((message: string) => void) | undefined;

/** One of the digits of an acknowledgement, or numbers as they are; Ack.Digits in ack.go. */
type Digit = number | number[];

/** A node that carries a value under the key of an Expando. */
type Carrier<T> = Node & Record<symbol, T | undefined>;

/** A node of any kind. isElement, isText, isShadow and isDocument tell which. */
type DomNode = El | Text | Shadow | Document;
/** What holds a tree: its elements are found there by id or selector. */
type Tree = Document | Shadow;

/**
 * An element, with the properties of all kinds of element that the scripts read. Which of them an element has, its tag
 * tells, so the scripts look at that first: the tag is text, and text does not narrow a type.
 */
interface El extends HTMLElement {
  readonly firstElementChild: El | null;
  readonly lastElementChild: El | null;
  readonly nextElementSibling: El | null;
  readonly previousElementSibling: El | null;
  readonly shadowRoot: Shadow | null;
  readonly assignedSlot: (HTMLSlotElement & El) | null;
  readonly offsetParent: El | null;

  // Controls.
  type: string;
  value: string;
  checked: boolean;
  indeterminate: boolean;
  disabled: boolean;
  readonly readOnly: boolean;
  readonly required: boolean;
  readonly multiple: boolean;
  readonly size: number;
  readonly maxLength: number;
  readonly files: FileList;
  readonly webkitdirectory: boolean;
  readonly validity: ValidityState;
  readonly selectionStart: number | null;
  readonly form: El | null;
  select(): void;
  setSelectionRange(start: number, end: number): void;

  // Lists and their options.
  readonly selectedIndex: number;
  readonly selectedOptions: HTMLCollectionOf<El>;
  readonly options: HTMLCollectionOf<El>;
  readonly label: string;
  readonly text: string;
  selected: boolean;

  // What is labelled or opened.
  readonly control: El | null;
  readonly open: boolean;

  // Links and images; those of drawings are animated.
  readonly href: string | SVGAnimatedString;
  readonly src: string;
  readonly currentSrc: string;

  // Tables.
  readonly cells: HTMLCollectionOf<El>;
  readonly rows: HTMLCollectionOf<El>;
  readonly tBodies: HTMLCollectionOf<El>;

  // Slots.
  assignedElements(): El[];
  assignedNodes(): (El | Text)[];

  /** On elements whose click listener makes them something to act on; see ListenerProbe. */
  [CLICKABLE]?: boolean;
  /** Where a label stands in the index of its tree; see Labels. */
  [INDEXED]?: { index: Map<string, Set<El>>; id: string };
}

/** A shadow root. */
interface Shadow extends ShadowRoot {
  readonly host: El;
  readonly firstElementChild: El | null;
  readonly lastElementChild: El | null;
  readonly activeElement: El | null;
  getElementById(id: string): El | null;
  elementFromPoint(x: number, y: number): El | null;
}

interface ParentNode {
  querySelector(selectors: string): El | null;
  querySelectorAll(selectors: string): NodeListOf<El>;
}

interface PerformanceEntry {
  /** Of a navigation. */
  readonly responseStatus?: number;
}

/** What a patch of the wire holds of a rectangle, or an event of the pointer: a place in the viewport. */
interface Point {
  x: number;
  y: number;
}

/** Where to act on an element, and what covers that: null, a node, or the document when nothing is there. */
interface ActionPoint {
  point: Point;
  cover: El | Document | null;
}

/** What an action is asked to reach; see waitActionable. */
interface ReachRequest {
  ref: number;
  /** Milliseconds to wait until it works. */
  patience: number;
  /** What the action needs: "point", "view", "drop", "focus" or "node". */
  need: string;
  known?: Known;
  /** Text is entered: it replaces what is there, or goes behind it. */
  edit?: "replace" | "append" | "";
  text?: string;
  /** Options to select. */
  values?: string[];
  /** A check mark to set or clear. */
  want?: boolean;
  /** The element is to rest. */
  still?: boolean;
  /** The action needs no element that is enabled. */
  passive?: boolean;
  /** The ref of what is dragged here. */
  dragged?: number;
}

/** What became of the attempts to reach an element so far. */
interface ReachState {
  /** How often it was scrolled into view. */
  scrolls: number;
  /** Its box at the last attempt. */
  box: string;
  /** When it is acted on although it moves. */
  stableBy: number;
  checked?: string;
}

/** What an action answers. Error is why it did not work, in a word of package input; the rest is what that word needs. */
interface Answer {
  error?: string;
  detail?: string;
  /** The ref of what covers the element, or received an event instead of it. */
  cover?: number;
  x?: number;
  y?: number;
  w?: number;
  h?: number;
  was?: string;
  now?: string;
  /** The state of a check mark: true, false or mixed. */
  checked?: string;
  type?: string;
  /** It was done in the same breath. */
  done?: boolean;
  same?: boolean;
  held?: string;
  /** Options that there are, and how many more. */
  options?: string[];
  more?: number;
  /** Of what takes text: it holds some, it is an editor, its caret cannot be placed. */
  full?: boolean;
  rich?: boolean;
  end?: boolean;
}

/** How keys went; see typedOutcome. */
interface TypedAnswer extends Answer {
  reached: boolean;
  same: boolean;
  held: string;
  /** How much of a text was delivered: "all", "part" or "none". */
  delivered: string;
  /** Why it was not all, or what else is to be told. */
  cause: string;
  kept: number;
  of: number;
  limit?: number;
  /** What the field holds may be told. */
  told?: boolean;
}

/** How a press went; see Press.outcome. */
interface PressOutcome {
  reached: boolean;
  presses?: number;
  clicks?: number;
  whole?: boolean;
  via?: boolean;
  beside?: boolean;
  fate?: string;
  left?: boolean;
  dragging?: boolean;
}

/** A point of a frame that is to be moved into its parent's viewport; see mapFramePoint. */
interface ThroughRequest extends Point {
  frame: string;
  patience: number;
  /** Nothing may cover it. */
  open: boolean;
  /** It may be scrolled into view. */
  scroll: boolean;
  /** Nothing gets through in this document from then on. */
  arm?: boolean;
}

/** What was scrolled how far before the wheel turned. */
interface WheelState {
  boxes: { node: El; left: number; top: number }[];
  left: number;
  top: number;
  /** The pointer is over a frame. */
  foreign: boolean;
}

/** What is different of an element since an action was decided on: "renamed", "reused" or "beside". */
interface Difference {
  error: string;
  was: string;
  now: string;
}

/** A field of a plan of package extract. */
interface PlanField {
  path: string;
  selector?: string;
  role?: string;
  name?: string;
  all?: boolean;
  attribute?: string;
  url?: boolean;
  fields?: PlanField[];
}

/** A table that a plan asks for. */
interface PlanTable {
  headers: string[];
  caption: string;
}

/** A value that a plan gives, as deep as its fields nest. */
type PlanValue = string | null | PlanValue[];

/** The bounds of an extraction. */
interface PlanLimits {
  rows: number;
  characters: number;
  values: number;
  milliseconds: number;
}

/** A rule of a style sheet, with what the kinds of rules have that the scripts read. */
interface AnyRule extends CSSRule {
  readonly selectorText?: string;
  readonly style?: CSSStyleDeclaration;
  readonly cssRules?: CSSRuleList;
  readonly styleSheet?: CSSStyleSheet | null;
}
