// @ts-check
// Secrets: the fields of the document that hold a secret, and the values that they held.
//
// A field that was secret once stays secret, even if its type changes. A field that replaces it is secret
// too: it has the same value, or it has the same attributes and the first field has left the document. A
// value that a secret field held is also masked wherever the document shows it.
//
// Values are learned when a field is described, when its document is updated, and from each input event,
// before the page can print the typed text. They are kept as long as the document.

/** Values of autocomplete that mark a field as secret. */
const SECRET_FIELDS = new Set(["one-time-code", "current-password", "new-password", "cc-csc"]);
/** Selects elements that may be secret. */
const MAYBE_SECRET = "[type=password i],[autocomplete],[style*=text-security i]";
/**
 * If a secret has at least SECRET_WITHIN characters, fields with the same value are secret, and texts that
 * consist of it are masked. If it has at least SECRET_PART characters, it is also searched for within
 * texts.
 */
const SECRET_WITHIN = 4, SECRET_PART = 6;
/** The maximum numbers of stored values and of stored fields. */
const MAX_SECRETS = 64;
/** The maximum length of a value that is kept, in characters. */
const MAX_SECRET = 1000;

/** The fields that have held a secret. */
const secrets = new WeakSet();
/** Fields that had the value before the secret field did, such as a user name that equals the password. */
const hadItFirst = new WeakSet();
/** Fields whose style was checked. */
const styled = new WeakSet();
/** The secret fields by the attributes that a copy of them shares; see secretKey. @type {Map<string, WeakRef<El>>} */
const secretKeys = new Map();
let secretsMarked = 0;
/** The last learned value of a field. @type {WeakMap<El, string>} */
const heldSecrets = new WeakMap();
/** The values, and whether each is masked within texts. The newest is last. @type {Map<string, boolean>} */
const secretValues = new Map();

/**
 * Whether the value of a field is secret. A field that was secret once stays secret.
 * @param {El} el
 */
function isSecret(el) {
  if (el === secretFree) return false;
  if (!secrets.has(el)) {
    if (!becomesSecret(el)) {
      if (el === probed) secretFree = el;
      return false;
    }
    markSecret(el);
  }
  learnSecret(el, false);
  return true;
}

/** Elements that take no typed text. */
const UNTYPED = new Set(["a", "button", "summary", "option"]);

/** Whether a field that was not secret so far is secret now. @param {El} el */
function becomesSecret(el) {
  if (UNTYPED.has(el.localName)) return false;
  const auto = attr(el, "autocomplete");
  if (el.type === "password" || (attr(el, "type") || "").toLowerCase() === "password") return true;
  // A combobox offers options, so its text is no secret: pages use "new-password" there to switch off the browser's own list.
  if (auto !== null && attr(el, "role") !== "combobox" && auto.split(/[\t\n\f\r ]+/).some((token) => SECRET_FIELDS.has(token.toLowerCase()))) return true;
  if (!isTextField(el)) return false;
  if (!styled.has(el)) {
    styled.add(el);
    if (isDotted(el)) return true;
  }
  if (secretValues.size && !hadItFirst.has(el) && el.value.length >= SECRET_WITHIN && secretValues.has(foldedSecret(el.value))) return true;
  const earlier = secretKeys.size ? secretKeys.get(secretKey(el)) : undefined;
  const field = earlier && earlier.deref();
  return earlier !== undefined && (field === undefined || !safe.isConnected(field));
}

/** Whether people type text into a field. @param {El} el */
function isTextField(el) {
  const tag = tagOf(el);
  return (tag === "textarea" || (tag === "input" && SECRET_TYPES.test(el.type))) && typeof el.value === "string";
}

const SECRET_TYPES = /^(text|search|tel|url|email|number|password|hidden)$/;

/** Whether a field shows dots instead of its characters. @param {El} el */
function isDotted(el) {
  if (el.type === "password") return true;
  return getComputedStyle(el).webkitTextSecurity !== "none";
}

/** @param {El} el */
function markSecret(el) {
  secrets.add(el);
  const key = secretKey(el) || "\u001e" + secretsMarked++; // a key that no copy has
  if (secretKeys.size >= MAX_SECRETS) secretKeys.delete(/** @type {string} */ (secretKeys.keys().next().value));
  secretKeys.set(key, new WeakRef(el));
}

/** What a field has in common with the field that replaces it on a redraw. Empty if that is too little to compare. @param {El} el */
function secretKey(el) {
  const id = attr(el, "id") || "", name = attr(el, "name") || "";
  return id || name ? [id, name, attr(el, "placeholder"), attr(el, "aria-label")].join("\u001f") : "";
}

/** @param {string} value */
function foldedSecret(value) {
  return value.replace(SPACES, " ").trim();
}

/**
 * Records the value that a secret field has now.
 * @param {El} el @param {boolean} typed whether an input event reported it, so that the page cannot have printed it yet
 */
function learnSecret(el, typed) {
  if (tagOf(el) === "select") return;
  const raw = typeof el.value === "string" ? el.value : attr(el, "value");
  if (!raw || raw.length > MAX_SECRET || heldSecrets.get(el) === raw) return;
  const before = heldSecrets.get(el);
  heldSecrets.set(el, raw);
  const value = foldedSecret(raw);
  if (value.length < SECRET_WITHIN || secretValues.has(value)) return;
  const tree = treeOf(el);
  const fields = inTree(tree, "input,textarea");
  for (let i = 0; i < fields.length && i < MAX_SOURCES; i++) {
    if (!secrets.has(fields[i]) && fields[i].value === raw) hadItFirst.add(fields[i]);
  }
  // A value that grows as it is typed counts as one secret.
  if (before && value.startsWith(foldedSecret(before))) secretValues.delete(foldedSecret(before));
  if (secretValues.size >= MAX_SECRETS) secretValues.delete(/** @type {string} */ (secretValues.keys().next().value));
  secretValues.set(value, value.length >= SECRET_PART && !(typed && isWordOf(tree, value)));
}

/**
 * Whether a value is a word that the page already contains, such as "password".
 * @param {Tree} tree @param {string} value
 */
function isWordOf(tree, value) {
  if (!/^\p{L}+$/u.test(value)) return false;
  const times = (/** @type {string} */ text) => text.split(value).length - 1;
  const all = isDocument(tree) ? safe.documentElement(tree) : tree;
  let n = all ? times(slow.textContent(all)) : 0;
  if (n > 0) for (const el of inTree(tree, "script,style,template,textarea,noscript")) n -= times(safe.textContent(el));
  return n > 0;
}

/** Marks the fields that were password fields until now as secret. @param {MutationRecord[]} records */
function markFormerPasswords(records) {
  for (const { target, oldValue } of records) {
    if (oldValue !== null && oldValue.toLowerCase() === "password" && isElement(target)) markSecret(/** @type {El} */ (target));
  }
}

/** Learns the text that a person or a script has entered. @param {El} el */
function learnSecretInput(el) {
  if (!isElement(el)) return;
  styled.delete(el);
  if (secrets.has(el)) learnSecret(el, true);
  else if (isTextField(el) && becomesSecret(el)) {
    markSecret(el);
    learnSecret(el, true);
  }
}

/** Learns the secrets in a subtree before it is described, because the content before a field may print its value. @param {El | Tree} root */
function learnSecrets(root) {
  const found = isElement(root) ? queryWithin(root, MAYBE_SECRET) : inTree(/** @type {Tree} */ (root), MAYBE_SECRET);
  for (let i = 0; i < found.length && i < MAX_SOURCES; i++) isSecret(found[i]);
}

/** Learns the values that scripts gave to the secret fields. */
function relearnSecrets() {
  for (const field of secretKeys.values()) {
    const el = field.deref();
    if (el) learnSecret(el, false);
  }
}

/** Returns a text with MASK in place of each secret of the document. @param {string} text */
function withoutSecretValues(text) {
  for (const [value, within] of secretValues) {
    if (text.length < value.length) continue;
    if (within) text = text.replaceAll(value, MASK);
    else if (text.length < value.length + MAX_SECRET && foldedSecret(text) === value) return MASK;
  }
  return text;
}

/** Returns a text that was cut, with MASK in place of the beginning of a secret at its end. @param {string} text */
function withoutSecretEnd(text) {
  for (const [value, within] of secretValues) {
    if (!within) continue;
    for (let n = Math.min(value.length - 1, text.length); n >= SECRET_WITHIN; n--) {
      if (text.endsWith(value.slice(0, n))) return text.slice(0, -n) + MASK;
    }
  }
  return text;
}

/** Whether a text contains a secret. A short secret, or one that is a word of the page, counts only if it is the whole text. @param {string} text */
function holdsSecretValue(text) {
  for (const [value, within] of secretValues) {
    if (within ? text.includes(value) || (value.includes(" ") && foldedSecret(text).includes(value)) : text.length < value.length + MAX_SECRET && foldedSecret(text) === value) return true;
  }
  return false;
}

/** Yields the text nodes among the children of a node. @param {El | Shadow} node */
function* childTexts(node) {
  for (let n = safe.firstChild(node); n; n = safe.nextSibling(n)) if (isText(n)) yield n;
}

/** Yields the text nodes in an element that are drawn. @param {El} root */
function* textsOf(root) {
  /** @type {(El | Text | null)[]} */
  const stack = [safe.firstChild(root)];
  for (let seen = 0; stack.length && seen < MASK_NODES; seen++) {
    const node = stack.pop();
    if (!node) continue;
    stack.push(safe.nextSibling(node));
    if (isText(node)) yield node;
    else if (isElement(node) && !UNDRAWN.has(tagOf(node))) stack.push(safe.firstChild(node));
  }
}
