// @ts-check
// Building: whether the page, as a person sees it, is still being made. Applications load as an empty shell, or with
// "Loading…", and draw themselves when their scripts and data have come. After a navigation the daemon asks until that is
// over, with the command "building", so that what is read next is the page and not its shell.
//
// A page is being built while something in view says so: a short text, an element with aria-busy that takes a large
// part of the view, or the boxes of a skeleton; and while nothing is in view at all although it loaded scripts or data.
// A bar of progress alone says nothing: many pages have one that stays. Nothing is kept.

/** How many nodes are looked at, from the beginning of the document. */
const BUILDING_NODES = 1500;
/** How long a text is that says that the page is loading. */
const BUILDING_TEXT = 60;
/** How large a part of the view an element takes whose aria-busy is that of the page. */
const BUSY_SHARE = 0.25;

/** Texts by which pages say that they are not there yet. */
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
/** What shows something without a text. */
const DRAWN_TAGS = new Set(["img", "svg", "canvas", "video", "iframe", "frame", "object", "embed", "input", "select", "textarea", "button", "hr", "audio", "math"]);

/**
 * Looks for a sign that the page is being built. Said are its words; empty means that nothing is in view.
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

/** Whether an element says by its state or class that its content is still to come. @param {El} el */
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
 * Whether the page is being built; see the top. Report notices what it says of that, for whoever waited in vain.
 * @param {Agent} agent @param {{report: boolean}} request
 */
function building(agent, { report }) {
  const sign = buildingSign(agent.model.doc);
  if (report && sign.said !== "" && agent.notices.on) agent.notices.make("busy", sign.said, "", null, false);
  return { building: sign.building, empty: sign.empty };
}
