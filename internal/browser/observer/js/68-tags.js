// @ts-check
// Tag fields take a text as a tag when Enter is pressed, and show it as a chip beside the text that is typed next.
//
// A text that was filled in is no tag yet, and is lost when the field loses the focus. After a fill, the daemon therefore
// presses Enter in a tag field (armTag), and tagOutcome reports whether the field shows the chip. Enter would submit the
// form of another field, or send a message, so a field must give evidence that it takes tags.

/** The number of ancestors of a field that may be its box, and the maximum number of elements that are examined in a box. */
const MAX_TAG_BOXES = 4, MAX_TAG_PARTS = 200;
/** The maximum number of characters in the box of a field. What holds more is a part of the page. */
const MAX_TAG_BOX_TEXT = 20_000;
/** Class names of tag fields and their chips. Names in camelCase are first separated by hyphens. */
const TAG_CLASS = /(?:^|[-_\s])(?:tags|tagify|chips?|tokens|pills|tag[-_]?(?:input|field|editor|box))(?=$|[-_\s])/i;
/** Class names of a combobox that takes several values. */
const SEVERAL_CLASS = /(?:^|[-_\s])multiple(?=$|[-_\s])/i;
/** Names of a combobox that takes tags, and of buttons that remove a chip or send a message. */
const TAG_NAME = /\b(?:tags|keywords|chips)\b/i, REMOVES = /^\s*(?:remove|delete|[×✕✖])/i, SENDS = /\bsend\b/i;
/** Matches hints such as "press Enter to add". */
const ENTER_ADDS = /\b(?:press|hit)\W{0,3}(?:enter|return)\b|\benter\b.{0,20}\badd\b/i;

/** Returns the tag and the class names of an element, with hyphens between the words of camelCase. @param {El} el */
function hyphenated(el) {
  return `${tagOf(el)} ${attr(el, "class") || ""}`.replace(/([a-z])([A-Z])/g, "$1-$2");
}

/** Returns the elements around a field, inward to outward, as far as they contain no other field or section. @param {El} el */
function boxesOf(el) {
  const boxes = [];
  for (let n = flatElement(el); n && boxes.length < MAX_TAG_BOXES && !SECTIONS.has(tagOf(n)); n = flatElement(n)) {
    if (safe.textContent(n).length > MAX_TAG_BOX_TEXT) break;
    if (parts(n, EDITABLE).some((other) => other !== el && isEditable(other) && !isWithinNode(other, el) && !isOutOfSight(other))) break;
    boxes.push(n);
  }
  return boxes;
}

/** Returns the name of a part of a field: what a button says or is called. @param {El} el */
function partName(el) {
  return attr(el, "aria-label") || attr(el, "title") || safe.textContent(el).slice(0, MAX_CAPTION);
}

/** Whether a box shows a chip: a text with a control of its own that removes it. @param {El} box @param {El} field */
function showsChip(box, field) {
  return [...queryWithin(box, "button,[role=button],[aria-label],svg,i")].slice(0, MAX_TAG_PARTS).some((part) => {
    const chip = flatElement(part);
    if (chip === null || chip === box || isWithinNode(field, chip) || !isWithinNode(chip, box)) return false;
    return (REMOVES.test(partName(part)) || /(?:^|[-_\s])(?:remove|delete)/i.test(hyphenated(part))) && hasText(safe.textContent(chip));
  });
}

/** Whether a text that is filled into a field may be a tag. @param {El} el @param {string} text */
function mayBeTag(el, text) {
  return hasText(text) && !text.includes("\n") && tagOf(el) !== "textarea" && el.type !== "password";
}

/** Whether a field takes tags. @param {El} el */
function isTagField(el) {
  const boxes = boxesOf(el);
  const isCombobox = explicitRole(el) === "combobox";
  const classes = [el, ...boxes.slice(0, 2)].map(hyphenated);
  if (classes.some((words) => TAG_CLASS.test(words))) return true;
  if (isRich(el) || boxes.some((box) => [...queryWithin(box, "button,[role=button]")].slice(0, MAX_TAG_PARTS).some((b) => SENDS.test(partName(b))))) return false;
  if (isCombobox && (boxes.map(hyphenated).some((words) => SEVERAL_CLASS.test(words)) || closestOf(el, "[role=option]"))) return true;
  if (isCombobox && [...(el.labels || [])].map((label) => safe.textContent(label)).concat(attr(el, "aria-label") || "").some((name) => TAG_NAME.test(name))) return true;
  return boxes.some((box) => showsChip(box, el) || ENTER_ADDS.test(safe.textContent(box).slice(0, MAX_BESIDE_FIELD)));
}

/** Returns a text without the signs around it, such as the cross of a chip. @param {string} text */
function withoutSigns(text) {
  const plain = foldWhiteSpace(text), characters = [...plain];
  let from = 0, to = characters.length;
  while (from < to && !hasWord(characters[from])) from++;
  while (to > from && !hasWord(characters[to - 1])) to--;
  return characters.slice(from, to).join("") || plain;
}

/** Returns how many elements of a box, except the field, show exactly a text. @param {El | null} box @param {El} field @param {string} text */
function countChips(box, field, text) {
  if (!box) return 0;
  const wanted = withoutSigns(text), most = wanted.length + 2 * MAX_CAPTION;
  const isChip = (/** @type {El} */ part) => {
    if (isWithinNode(part, field) || isWithinNode(field, part)) return false;
    const words = safe.textContent(part);
    if (words.length > most || (withoutSigns(words) !== wanted && withoutSigns(ownText(part)) !== wanted)) return false;
    const list = closestOf(part, "[role=listbox]");
    return list === null || isWithinNode(field, list) || !isWithinNode(list, box); // an open list also shows the text
  };
  const inside = elementsIn(box, "*");
  let chips = 0;
  for (let i = 0; i < MAX_TAG_PARTS && inside[i] !== undefined; i++) if (isChip(inside[i])) chips++;
  return chips;
}

/** Tagging is the entry of one tag: the field, its box and the number of chips that already had its text. */
class Tagging {
  /** @param {El} el @param {string} text */
  constructor(el, text) {
    this.el = el;
    this.text = text;
    const boxes = boxesOf(el);
    this.box = boxes.length > 0 ? boxes[boxes.length - 1] : null;
    this.chips = countChips(this.box, el, text);
  }

  /** Whether the field no longer holds the text as typed. */
  isTaken() {
    return !safe.isConnected(this.el) || foldWhiteSpace(contentOf(this.el)) !== foldWhiteSpace(this.text);
  }

  /** Whether a new chip shows the text. */
  isShown() {
    return this.isTaken() && this.box !== null && safe.isConnected(this.box) && countChips(this.box, this.el, this.text) > this.chips;
  }
}

/** Returns the text of the option that Enter would choose, or "". @param {El} el */
function activeOption(el) {
  const id = attr(el, "aria-activedescendant");
  const option = id ? elementOf(treeOf(el), id) : null;
  return option ? foldWhiteSpace(attr(option, "aria-label") || safe.textContent(option)) : "";
}

/** Whether an option is the typed text, or offers to add it. @param {string} option @param {string} text */
function isOfferOf(option, text) {
  const plain = foldWhiteSpace(text).toLowerCase(), said = option.toLowerCase();
  return said === plain || ['"', "'", "“", "”", "‘", "’", "«", "»", "„"].some((mark) => said.includes(mark + plain) || said.includes(plain + mark));
}

/**
 * Prepares the press of Enter that makes a filled-in text a tag. Returns "armed", or why Enter must not be pressed.
 * @param {Agent} agent
 */
function armTag(agent) {
  const { tagging } = agent;
  if (!tagging || tagging.isTaken() || !holdsFocus(tagging.el)) return {};
  const option = activeOption(tagging.el);
  if (option !== "" && !isOfferOf(option, tagging.text)) return {};
  if (!isTagField(tagging.el)) return {};
  agent.guard.arm("keys", tagging.el, "one");
  agent.guard.preventSubmission();
  return { armed: true };
}

/**
 * Waits until a tag field shows the chip of the text for which Enter was pressed, and reports that.
 * @param {Agent} agent
 */
async function tagOutcome(agent) {
  const { tagging } = agent;
  agent.guard.disarm();
  agent.tagging = null;
  const end = performance.now() + TAKES_AT_MOST;
  while (tagging && !tagging.isShown() && performance.now() < end) await nextFrame();
  return { made: !!tagging && tagging.isShown(), taken: !!tagging && tagging.isTaken() };
}
