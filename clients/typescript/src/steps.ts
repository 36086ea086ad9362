// Functions that create targets, steps, form fields and conditions. domtap/v1/action and domtap/v1/wait have all
// options.

import { FormField, Step, Target } from "./gen/domtap/v1/action.js";
import type { DeepPartial } from "./gen/domtap/v1/action.js";
import { ElementState, WaitCondition } from "./gen/domtap/v1/wait.js";

type Cases = NonNullable<Step["action"]>;
type Value<C extends Cases["$case"]> = DeepPartial<Extract<Cases, { $case: C }>["value"]>;

const target = (fields: DeepPartial<Target>): Target => Target.fromPartial(fields);
const make = <C extends Cases["$case"]>($case: C, value: Value<C>): Step => Step.fromPartial({ action: { $case, value } } as DeepPartial<Step>);

/** Converts milliseconds to a Duration. */
export const duration = (ms: number) => ({ seconds: Math.floor(ms / 1000), nanos: Math.round((ms % 1000) * 1e6) });

/** The element with a ref. */
export const ref = (number: number) => target({ ref: number });
/** The element with an ARIA role and an accessible name; within: a text of its row, card, group, form or dialog. */
export const named = (role: string, name: string, within = "") => target({ role, name, within });
/** The field with a label. */
export const label = (text: string, within = "") => target({ label: text, within });
/** The element with a visible text, or a part of one. */
export const text = (part: string, within = "") => target({ text: part, within });
/** The field with a placeholder. */
export const placeholder = (part: string) => target({ placeholder: part });
/** The element with a data-testid, data-test-id, data-test or data-cy. */
export const testId = (id: string) => target({ testId: id });
/** The element that matches a CSS selector. */
export const selector = (css: string) => target({ selector: css });
/** The point in CSS pixels of the viewport. */
export const at = (x: number, y: number) => target({ x, y });

/** Clicks the target. */
export const click = (t: Target, options: Value<"click"> = {}) => make("click", { ...options, target: t });
/** Double-clicks the target. */
export const doubleClick = (t: Target) => make("doubleClick", { target: t });
/** Moves the pointer over the target. */
export const hover = (t: Target) => make("hover", { target: t });
/**
 * Types after the existing text, key by key. Without a target, types into the focused element or the
 * document.
 */
export const type = (t: Target | undefined, typed: string, submit = false) => make("type", { target: t, text: typed, submit });
/** Replaces the value of a field. */
export const fill = (t: Target, value: string) => make("fill", { target: t, text: value });
/** Presses a key, such as Enter or Control+a. */
export const press = (key: string, t?: Target) => make("press", { key, target: t });
/** Selects options by their values or labels, and deselects the others. */
export const select = (t: Target, ...options: string[]) => make("select", { target: t, values: options });
/** Checks a checkbox, radio button or switch. */
export const check = (t: Target) => make("check", { target: t });
/** Unchecks a checkbox or switch. */
export const uncheck = (t: Target) => make("uncheck", { target: t });
/** Scrolls the target into view or, with a distance in CSS pixels, turns the wheel over the target or the page. */
export const scroll = (t?: Target, deltaX = 0, deltaY = 0) => make("scroll", { target: t, deltaX, deltaY });
/** Drags the target to another one. */
export const drag = (t: Target, to: Target) => make("drag", { target: t, to });
/** Drags the target by CSS pixels. */
export const dragBy = (t: Target, deltaX: number, deltaY: number) => make("drag", { target: t, deltaX, deltaY });
/** Holds a key for a time. The key repeats while it is held. */
export const holdKey = (key: string, ms: number, t?: Target) => make("press", { key, target: t, hold: duration(ms) });
/**
 * Presses a button on the target, or at the pointer's position without one, and keeps it down for the next
 * steps.
 */
export const mouseDown = (t?: Target, options: Value<"mouseDown"> = {}) => make("mouseDown", { ...options, target: t });
/** Moves the pointer to the target, through waypoints. */
export const mouseMove = (t: Target, ...waypoints: Target[]) => make("mouseMove", { target: t, waypoints });
/** Moves the pointer by CSS pixels from its position. */
export const mouseMoveBy = (deltaX: number, deltaY: number) => make("mouseMove", { deltaX, deltaY });
/** Releases the button. */
export const mouseUp = () => make("mouseUp", {});
/** Sets the files of a file input: files of this program, at most 4 MiB in total. */
export const upload = (t: Target, files: Record<string, Uint8Array>) =>
  make("upload", { target: t, files: Object.entries(files).map(([name, content]) => ({ name, content: Buffer.from(content) })) });
/** Waits within the turn. */
export const waitUntil = (until: WaitCondition, timeoutMs = 10_000) => make("wait", { until, timeout: duration(timeoutMs) });
/** Reads the page within the turn. The step's result has the text. */
export const readText = () => make("read", {});
/** Takes a picture within the turn. The step's result has the image. */
export const takeScreenshot = () => make("screenshot", {});
/** Goes back in the history within the turn. */
export const goBack = () => make("back", {});

/** A field of a form, with its label and the value to fill in. */
export const field = (labelText: string, value: string) => FormField.fromPartial({ label: labelText, value });

const condition = (fields: DeepPartial<WaitCondition>): WaitCondition => WaitCondition.fromPartial(fields);
/** Holds when a visible element has the role, and the name or a part of it. */
export const forElement = (role: string, name = "") => condition({ element: { role, name, state: ElementState.ELEMENT_STATE_VISIBLE } });
/** Holds when no element has the role and the name. */
export const forGone = (role: string, name = "") => condition({ element: { role, name, state: ElementState.ELEMENT_STATE_GONE } });
/** Holds when the page shows a text, ignoring case. */
export const forText = (part: string) => condition({ text: part });
/** Holds when the URL contains a part. A part with a "*" must match the whole URL. */
export const forURL = (pattern: string) => condition({ url: pattern });
/** Holds when no request was in progress for a time. To cover the requests of a step, wait in the same turn. */
export const forNetworkIdle = (ms = 500) => condition({ networkIdle: duration(ms) });
/** Holds when elements and texts did not change for a time. */
export const forQuiet = (ms: number) => condition({ quiet: duration(ms) });
/** Holds when anything changed since the wait began. */
export const forChange = () => condition({ change: true });
