// @ts-check
// Hints: reasons for an element to count that its tag and attributes do not show. For example, the
// element has cursor: pointer, is the label of a hidden control, is in an editable document, or was
// named by a caller as a target.
//
// Hints owns the hint bits of each element (HINT_… in 10-roles.js) and the proxies: visible labels
// that are listed in place of hidden controls. Refresh reads the bits of each element. Sweeps,
// scans and Finder set them.

/** The maximum distance from a hidden checkbox or radio up to its drawn switch, and the maximum size of the switch in CSS pixels. */
const MAX_SWITCH_DEPTH = 3, MAX_SWITCH_WIDTH = 160, MAX_SWITCH_HEIGHT = 60;

class Hints {
  /** @param {Model} model */
  constructor(model) {
    this.model = model;
    /** The hints of each element, as bits HINT_…. @type {Expando<number>} */
    this.bits = new Expando();
    /** Whether some element has or had hints. */
    this.given = false;
    this.cursors = new Cursors(model.styles);
    /** Whether this update has already searched the whole document for cursors. */
    this.cursorsFound = false;
    /** Hidden checkboxes, radios, file inputs and selects. @type {Set<Rec>} */
    this.hiddenControls = new Set();
    /**
     * The proxies: labels, drawn switches and drawn selects that are listed in place of hidden controls, by control.
     * @type {Map<El, El>}
     */
    this.proxyLabels = new Map();
    /** The hidden controls by their proxies. @type {Map<El, El>} */
    this.proxiedControls = new Map();
    /** Whether the document as a whole is editable (designMode). */
    this.designMode = false;
  }

  /** @param {El} node */
  get(node) {
    return this.given ? this.bits.get(node) || 0 : 0;
  }

  /**
   * Sets or clears a hint. Reports whether the hint changed.
   * @param {El} node @param {number} hint @param {boolean} on
   */
  set(node, hint, on) {
    const was = this.get(node);
    const now = on ? was | hint : was & ~hint;
    if (now !== was) {
      this.given = true;
      this.bits.set(node, now);
    }
    return now !== was;
  }

  /** Whether a person can act on an element for reasons other than the given hints. @param {El} el @param {string} tag @param {number} but */
  isInteractiveBut(el, tag, but) {
    return isInteractive(el, tag, hasAttr(el, "role") ? explicitRole(el) : "", this.get(el) & ~but);
  }

  // ---- cursors ------------------------------------------------------------------------------

  /** Records whether an element counts because of its cursor. @param {El} node @param {boolean} on */
  setCursorHint(node, on) {
    if (on) this.cursors.found.add(node);
    else if (!this.cursors.found.delete(node)) return;
    if (!this.set(node, HINT_POINTER, on)) return;
    this.model.sweep.found++;
    this.model.changes.checkNodes.add(node);
  }

  /**
   * Reads the sheets, and finds all elements that count because of their cursor. It is a generator,
   * so that sweeps can pause it.
   */
  *findCursorHints() {
    const { doc, styles, sweep } = this.model;
    styles.begin();
    /** @type {Set<El>} */
    const found = new Set();
    for (const tree of [doc, ...sweep.shadows]) {
      styles.read(tree);
      for (const el of this.cursors.candidates(tree)) {
        if (this.cursors.isPointer(el)) found.add(el);
        yield;
      }
    }
    for (const el of this.cursors.found) if (!found.has(el)) this.setCursorHint(el, false);
    for (const el of found) this.setCursorHint(el, true);
  }

  /** Checks again which elements in a subtree count because of their cursor. @param {El} root */
  reviewCursorHints(root) {
    const { cursors } = this;
    if (this.cursorsFound || !safe.isConnected(root)) return;
    for (const el of cursors.candidatesWithin(root)) this.setCursorHint(el, cursors.isPointer(el));
    if (cursors.found.size * (1 + this.model.changes.restyled.size) > MAX_POINTERS) return; // the next sweep checks them
    for (const el of cursors.found) if (safe.contains(root, el) && !cursors.isPointer(el)) this.setCursorHint(el, false);
  }

  /** Reads the sheets and cursors of a shadow tree that a scan reaches. @param {Shadow} root */
  walkShadowRoot(root) {
    const { changes, labels, naming, styles, visibility } = this.model;
    // Shadow trees have their own labels and styles. The first scan learns here that one exists.
    labels.hasShadowTrees = naming.generated.inShadows = true;
    visibility.drawerless = null;
    styles.read(root);
    for (const el of this.cursors.candidates(root)) {
      this.setCursorHint(el, this.cursors.isPointer(el));
      if (el !== root.host) changes.checkNodes.delete(el); // the scan visits it next
    }
  }

  // ---- editing ------------------------------------------------------------------------------

  /** Checks designMode, which changes without a mutation. */
  checkDesignMode() {
    const on = safe.designMode(this.model.doc) === "on";
    if (on === this.designMode) return;
    this.designMode = on;
    const body = safe.querySelector(this.model.doc, "body");
    if (body && this.set(body, HINT_EDITED, on)) this.model.changes.checkNodes.add(body);
  }

  // ---- hidden controls ----------------------------------------------------------------------

  /** Records that a control is hidden. One of its labels may become its proxy. @param {Rec} rec */
  recordHiddenControl(rec) {
    rec.live = liveState(rec.node, rec.tag);
    if (rec.tag !== "select" && !isToggle(rec.node, rec.tag)) return;
    this.hiddenControls.add(rec);
    this.model.changes.proxiesDirty = true;
  }

  /**
   * Returns the small widget that is drawn around a hidden checkbox or radio and takes its clicks, or
   * null.
   * @param {El} toggle @returns {El | null}
   */
  switchOf(toggle) {
    if (toggle.type === "file" || !safe.checkVisibility(toggle, VISIBLE_OR_TRANSPARENT)) return null;
    for (let n = flatElement(toggle), up = 0; n && up < MAX_SWITCH_DEPTH; n = flatElement(n), up++) {
      const tag = tagOf(n);
      if (NO_FACES.has(tag) || holdsMoreFields(n, toggle)) return null;
      if (hasAttr(n, "role") || !this.isInteractiveBut(n, tag, HINT_PROXY)) continue;
      const { width, height } = safe.rect(n);
      const small = width >= MIN_FACE && height >= MIN_FACE && width <= MAX_SWITCH_WIDTH && height <= MAX_SWITCH_HEIGHT;
      return small && safe.checkVisibility(n, VISIBLE) ? n : null;
    }
    return null;
  }

  /**
   * Returns the hidden checkbox, radio or file input of a proxy, if any.
   * @param {El} proxy
   */
  toggleOf(proxy) {
    const control = this.proxiedControls.get(proxy);
    return control && isToggle(control, tagOf(control)) ? control : undefined;
  }

  /** Returns the hidden select of a proxy, if any. @param {El} proxy */
  selectOf(proxy) {
    const control = this.proxiedControls.get(proxy);
    return control && tagOf(control) === "select" ? control : undefined;
  }

  /**
   * Returns the proxy of a hidden control, or null: the first visible label of a checkbox, radio or file input, or else the
   * switch that is drawn around it; or the box that is drawn in place of a select, for as long as it shows.
   * @param {Rec} rec @param {Set<El>} taken the proxies of other controls
   */
  proxyOf(rec, taken) {
    const { node, tag } = rec;
    const { visibility } = this.model;
    if (tag === "select") {
      const face = this.proxyLabels.get(node);
      return face && safe.isConnected(face) && safe.checkVisibility(face, VISIBLE) ? face : faceOfSelect(node, this, taken);
    }
    if (isDrawnByHost(node) || !isToggle(node, tag)) return null;
    const label = visibility.labelOf(node) || this.switchOf(node);
    return label && !visibility.isDrawnBeside(node) ? label : null;
  }

  /** Finds the proxies of hidden controls. */
  findProxyLabels() {
    const { changes } = this.model;
    changes.proxiesDirty = false;
    /** @type {Map<El, El>} */
    const now = new Map();
    /** @type {Set<El>} */
    const taken = new Set();
    for (const rec of this.hiddenControls) {
      if (rec.shown || rec.inert || !safe.isConnected(rec.node)) continue;
      const proxy = this.proxyOf(rec, taken);
      if (!proxy) continue;
      now.set(rec.node, proxy);
      taken.add(proxy);
    }
    const was = this.proxyLabels;
    this.proxyLabels = now;
    this.proxiedControls = new Map();
    for (const [control, label] of now) this.proxiedControls.set(label, control);
    for (const [, label] of was) if (!this.proxiedControls.has(label) && this.set(label, HINT_PROXY, false)) changes.checkNodes.add(label);
    for (const [label, control] of this.proxiedControls) {
      if (this.set(label, HINT_PROXY, true) || was.get(control) !== label) changes.checkNodes.add(label);
    }
  }
}

/** Whether a checkbox, radio or switch is in the shadow tree of an element with such a role, which people use. @param {El} toggle */
function isDrawnByHost(toggle) {
  const host = hostOf(toggle);
  return host !== null && DRAWN_TOGGLES.has(explicitRole(host));
}
