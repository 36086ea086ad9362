// @ts-check
// The command "building" reports whether the visible page is still being built. Applications load as an empty shell, or
// with "Loading…", and draw themselves once their scripts and data have arrived. After a navigation the daemon repeats the
// command until the page is complete, so that the next read returns the page and not its shell.
//
// A page is being built while there is a sign in view: a short loading text, an element with aria-busy that covers a large
// part of the view, or the boxes of a skeleton. It is also being built while nothing is in view although it loaded scripts
// or data. A progress bar alone is no sign, because many pages have a permanent one. The file keeps no state.

/** The maximum number of nodes that are examined, from the start of the document. */
const BUILDING_NODES = 1500;
/** The maximum length of a loading text. */
const BUILDING_TEXT = 60;
/** The minimum share of the view that an element with aria-busy must cover to count for the page. */
const BUSY_SHARE = 0.25;

/** Matches texts by which pages show that they are loading. */
const BUILDING = new RegExp(
  "^\\W*(?:" +
    "(?:re)?(?:loading|initiali[sz]ing|starting|preparing|redirecting|connecting|fetching|authenticating|verifying|checking)\\b(?: [^ .…]+){0,5} ?(?:…|\\.\\.+)" +
    "|(?:loading|please wait|just a moment|one moment|hang on|hold on)(?:,? please)?\\W*" +
    "|(?:wird|seite wird) geladen\\W*|lädt\\W*|bitte warten\\W*|chargement(?: [^ .…]+){0,3}\\W*|veuillez patienter\\W*|cargando(?: [^ .…]+){0,3}\\W*|caricamento(?: [^ .…]+){0,3}\\W*|carregando(?: [^ .…]+){0,3}\\W*" +
    "|(?:正在)?加载中\\W*|正在加载\\W*|読み込み中\\W*|ロード中\\W*" +
    ")$",
  "i",
);
const SKELETON = /skeleton|shimmer/i;
/** Tags of elements that show content without text. */
const DRAWN_TAGS = new Set(["img", "svg", "canvas", "video", "iframe", "frame", "object", "embed", "input", "select", "textarea", "button", "hr", "audio", "math"]);

/**
 * Searches for a sign that the page is being built. said contains its text. empty means that nothing is in view.
 * @param {Document} doc
 */
function buildingSign(doc) {
  const root = safe.documentElement(doc);
  /** @type {(El | Text)[]} */
  const stack = root ? [root] : [];
  let shown = false;
  for (let left = BUILDING_NODES; stack.length && left > 0; left--) {
    const node = /** @type {El | Text} */ (stack.pop());
    if (isText(node)) {
      const around = flatElement(node);
      if (!around || !hasText(node.data)) continue;
      const text = node.data.length > 4 * BUILDING_TEXT ? "" : clean(node.data, BUILDING_TEXT);
      const said = BUILDING.test(text);
      if ((said || !shown) && isVisibleInView(around)) {
        if (said) return { building: true, said: text, empty: false };
        shown = true;
      }
      continue;
    }
    if (!isElement(node)) continue;
    const tag = tagOf(node);
    if (SKIPPED.has(tag)) continue;
    if (isBusyBox(node)) return { building: true, said: "", empty: false };
    if (!shown && DRAWN_TAGS.has(tag)) shown = isVisibleInView(node);
    const nodes = flatNodes(node, tag);
    for (let i = nodes.length - 1; i >= 0; i--) stack.push(nodes[i]);
  }
  const empty = !shown && !stack.length && loadsMore();
  return { building: empty, said: "", empty };
}

/** Whether an element shows by its state or class that its content is still loading. @param {El} el */
function isBusyBox(el) {
  if (hasNoAttributes(el)) return false;
  if (attr(el, "aria-busy") === "true") {
    const { width, height } = safe.rect(el);
    return width * height >= BUSY_SHARE * innerWidth * innerHeight && isVisibleInView(el);
  }
  return SKELETON.test(attr(el, "class") || "") && !hasText(safe.textContent(el)) && isVisibleInView(el);
}

/** Whether the document loaded scripts or data, which may draw it. */
function loadsMore() {
  const entries = /** @type {PerformanceResourceTiming[]} */ (performance.getEntriesByType("resource"));
  return entries.some((e) => e.initiatorType === "script" || e.initiatorType === "fetch" || e.initiatorType === "xmlhttprequest");
}

/**
 * Returns whether the page is being built; see the top of the file. report creates a notice with the sign, for a caller
 * whose wait has expired.
 * @param {Agent} agent @param {{report: boolean}} request
 */
function building(agent, { report }) {
  const sign = buildingSign(agent.model.doc);
  if (report && sign.said !== "" && agent.notices.on) agent.notices.make("busy", sign.said, "", null, false);
  return { building: sign.building, empty: sign.empty };
}
