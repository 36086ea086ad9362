// The types that the scripts share: the constants that package observer writes before them, the
// globals of the isolated world, the DOM as the scripts use it, and the arguments and answers of
// commands.

/** The bounds on what is kept in a document; Limits in observer.go. */
declare const LIMITS: { readonly elements: number };
/** What is masked, or null; Masks in observer.go. */
declare const MASKS: { readonly selectors: string[]; readonly values: boolean } | null;

/** The agent of the window's current document. */
declare var __domtap: Agent;
/** Tells the agent of which frame the element that it is called on is the host. */
declare var __domtapAdopt: (this: El, frame: string) => void;
/** Takes the answer of a probe; see ListenerProbe.takeAnswer. */
declare var __domtapLearn: (what: { on: number[]; off: number[] }, nodes: DomNode[]) => void;
/** Runs a command of the daemon. The argument has the type that the command takes. */
declare var __domtapCall: (command: string, argument: never, digits: Digit[]) => unknown;
/** Sends a message to the daemon; it is missing until the daemon listens. */
declare var __domtapPush: ((message: string) => void) | undefined;

/** One of the digits of an acknowledgement, or numbers as they are; Ack.Digits in ack.go. */
type Digit = number | number[];

/** A node that carries a value under the key of an Expando. */
type Carrier<T> = Node & Record<symbol, T | undefined>;

/** A node of any kind. isElement, isText, isShadow and isDocument tell which. */
type DomNode = El | Text | Shadow | Document;
/** The root of a tree, in which elements are found by id or selector. */
type Tree = Document | Shadow;

/**
 * An element, with the properties of all kinds of elements that the scripts read. The scripts check
 * the tag before they read a property that only some elements have, because a tag does not narrow a
 * type.
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
  readonly labels: NodeList | null;
  readonly webkitdirectory: boolean;
  readonly validity: ValidityState;
  readonly validationMessage: string;
  readonly selectionStart: number | null;
  readonly selectionEnd: number | null;
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
  assignedNodes(how?: { flatten: boolean }): (El | Text)[];

  /** On elements whose click listener makes them something to act on; see ListenerProbe. */
  [CLICKABLE]?: boolean;
  [HOVERED]?: boolean;
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

/** A point of the viewport. */
interface Point {
  x: number;
  y: number;
}

/**
 * Where to act on an element, and what covers that point: null, a node, or the document when
 * nothing is there.
 */
interface ActionPoint {
  point: Point;
  cover: El | Document | null;
}

/** What is to be found; see Finder. */
interface FindRequest {
  by: string;
  words: string;
  ref: number;
  role?: string;
  onHover?: boolean;
  whole?: boolean;
}

/** What an action needs of an element; see waitActionable. */
interface ReachRequest {
  ref: number;
  /** Milliseconds to wait until the element is actionable. */
  patience: number;
  /** What the action needs: "point", "view", "drop", "focus" or "node". */
  need: string;
  /** The text of the element that the point is to be at. */
  words?: string;
  known?: Known;
  /** Text is entered: it replaces what is there, or goes behind it, or to where the caret is. */
  edit?: "replace" | "append" | "keep" | "";
  text?: string;
  /** The text must become a tag. */
  tag?: boolean;
  /** Options to select. */
  values?: string[];
  /** A check mark to set or clear. */
  want?: boolean;
  /** The element must be stable, also when no animation runs. */
  still?: boolean;
  /** The action needs no element that is enabled. */
  passive?: boolean;
  /** The ref of what is dragged here. */
  dragged?: number;
  /** How often the element is to be pressed right after: the guard is armed for that. */
  clicks?: number;
}

/** The attempts to reach an element so far. */
interface ReachState {
  /** How often it was scrolled into view. */
  scrolls: number;
  /** Its box at the last attempt. */
  box: string;
  /** When it is acted on although it moves. */
  stableBy: number;
  checked?: string;
}

/**
 * The answer of an action. Error is a code of package input for why it failed; the other fields are
 * details of it.
 */
interface Answer {
  error?: string;
  detail?: string;
  /** The ref of the element that covers the target, or received an event instead of it. */
  cover?: number;
  x?: number;
  y?: number;
  w?: number;
  h?: number;
  was?: string;
  now?: string;
  /** The guard is armed for the press. */
  armed?: boolean;
  /** The state of a check mark: true, false or mixed. */
  checked?: string;
  type?: string;
  /** The action is complete. */
  done?: boolean;
  same?: boolean;
  held?: string;
  /** The labels of the options, and how many more there are. */
  options?: string[];
  more?: number;
  /** Of a text target: it has content, it is an editing host, its caret cannot be set. */
  full?: boolean;
  /** It shows no text itself, but takes it for an editor that is drawn by other means. */
  proxy?: boolean;
  rich?: boolean;
  end?: boolean;
}

/** The outcome of keys; see typedOutcome. */
interface TypedAnswer extends Answer {
  reached: boolean;
  same: boolean;
  held: string;
  /** How much of a text was delivered: "all", "part" or "none". */
  delivered: string;
  /** Why it was not all, or what else happened. */
  cause: string;
  kept: number;
  of: number;
  limit?: number;
  /** The content of the field may be reported. */
  reported?: boolean;
  /** What changed without a change of the reported text; see Content. */
  unseen?: string;
}

/** The outcome of a press; see Press.outcome. */
interface PressOutcome {
  reached: boolean;
  presses?: number;
  clicks?: number;
  complete?: boolean;
  captured?: boolean;
  offTarget?: boolean;
  unclickable?: string;
  navigated?: boolean;
  /** The page had begun to navigate to another document before the press. */
  leaving?: boolean;
  dragging?: boolean;
  effect?: string;
}

/** A point of a frame to map into the viewport of its parent; see mapFramePoint. */
interface ThroughRequest extends Point {
  frame: string;
  patience: number;
  /** No other element may cover it. */
  open: boolean;
  /** It may be scrolled into view. */
  scroll: boolean;
  /** The guard then denies all input in this document. */
  arm?: boolean;
}

/**
 * Something that a person would notice; see Notices. One with the number of an earlier one replaces
 * that.
 */
interface Notice {
  id: number;
  /** "alert", "status", "log", "dialog", "invalid", "heading", "toast", "busy", "text" or "look". */
  kind: string;
  text: string;
  /** Of a dialog that opened: the first text in it beside its name. Of a text: how many more changed. Of a look: the refs of others. */
  detail: string;
  /** The ref of the element, -1 while it has none. */
  ref: number;
  /** It is no longer shown; of a dialog: it was closed. */
  gone: boolean;
  /** Of a look: whether it is reported only if nothing else has changed. */
  minor?: boolean;
}

/** What became of an element that was dragged. */
interface Displacement {
  /** How far it moved, in CSS pixels. */
  x: number;
  y: number;
  /** It is known to be where it was. */
  stays?: boolean;
  /** How far its content moved while it stayed where it was. */
  content?: { x: number; y: number };
  /** It did not move, and is or holds a canvas, whose drawing may have changed. */
  canvas?: boolean;
  /** It is not on the page any more, nor anything like it. */
  gone?: boolean;
  /** Which one it was in its parent, 0 for another parent, and which one it is. */
  from?: number;
  to?: number;
}

/** The scroll positions before the wheel turned. */
interface WheelState {
  boxes: { node: El; left: number; top: number }[];
  left: number;
  top: number;
  /** The pointer is over a frame. */
  foreign: boolean;
  /** The event by which the page heard of the wheel, and what notes it. */
  event: WheelEvent | null;
  onWheel: (event: WheelEvent) => void;
}

/**
 * What is different of an element since an action was decided on: "renamed", "reused" or "beside";
 * "hidden" or "disabled" since the pointer moved.
 */
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

/** The table of a plan. */
interface PlanTable {
  headers: string[];
  caption: string;
}

/** The value of a field of a plan, nested like the fields. */
type PlanValue = string | null | PlanValue[];

/** The bounds of an extraction. */
interface PlanLimits {
  rows: number;
  characters: number;
  values: number;
  milliseconds: number;
}

/** A rule of a style sheet, with the properties of all kinds of rules that the scripts read. */
interface AnyRule extends CSSRule {
  readonly selectorText?: string;
  readonly style?: CSSStyleDeclaration;
  readonly cssRules?: CSSRuleList;
  readonly styleSheet?: CSSStyleSheet | null;
  readonly media?: MediaList;
  readonly conditionText?: string;
  readonly containerName?: string;
  readonly name?: string;
  readonly nameList?: readonly string[];
}

/** An element whose content is being gathered for a name; see Naming.gather. */
interface Level {
  nodes: FlatNodes;
  /** The text before and after its content. */
  before: string;
  after: string;
  /** Its tooltip, which counts when its content is empty. */
  title: string;
  /** How many pieces of text there were before it. */
  words: number;
  /** Its own text is hidden, but that of its descendants may be visible. */
  muted: boolean;
}

interface CSSStyleDeclaration {
  /** "none", or the shape that is drawn in place of each character. "" in a rule that does not set it. */
  readonly webkitTextSecurity: string;
}
