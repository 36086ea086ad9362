// The reader runs in a hidden page after the bundle. It returns an object whose methods take the bytes of a document and return its text
// with positions. All limits are arguments, so that they are in one place (pdfreader.go).
(() => {
  "use strict";
  const { getDocument, Util } = globalThis.domtapPDF;
  const chunks = [];
  // The browser delays the timers of hidden pages, and PDF.js sets timers to yield.
  const channel = new MessageChannel();
  const due = [];
  channel.port1.onmessage = () => due.shift()();
  const later = globalThis.setTimeout;
  globalThis.setTimeout = (run, delay, ...args) => (delay > 0 ? later(run, delay, ...args) : (due.push(() => run(...args)), channel.port2.postMessage(0), 0));
  let doc = null;

  const round = (n) => Math.round(n * 10) / 10;

  const onPage = (t, x, y) => [t[0] * x + t[2] * y + t[4], t[1] * x + t[3] * y + t[5]];

  /** The text of one page. Positions are in points from the top left corner of the page as it is shown; y is the baseline. */
  async function readPage(number, limits) {
    const page = await doc.getPage(number);
    const view = page.getViewport({ scale: 1 });
    const out = { w: round(view.width), h: round(view.height), items: [], links: [], more: false };
    const content = await page.getTextContent();
    for (const item of content.items) {
      if (!item.str) continue;
      if (out.items.length >= limits.items || limits.left <= 0) {
        out.more = true;
        break;
      }
      limits.left -= item.str.length + limits.cost;
      const t = Util.transform(view.transform, item.transform);
      const angle = Math.atan2(t[1], t[0]);
      out.items.push([
        item.str.isWellFormed() ? item.str : item.str.toWellFormed(), round(t[4]), round(t[5]), round(item.width), round(Math.hypot(t[2], t[3])),
        (Math.abs(angle) > 0.1 ? 1 : 0) | (item.dir === "rtl" ? 2 : 0) | (content.styles[item.fontName]?.vertical ? 1 : 0),
      ]);
    }
    const annotations = await page.getAnnotations({ intent: "display" }).catch(() => []); // a page without links is better than none
    for (const a of annotations) {
      if (a.subtype !== "Link" || typeof a.url !== "string") continue;
      if (out.links.length >= limits.links || limits.left <= 0) break;
      const url = a.url.slice(0, 2000);
      limits.left -= url.length + limits.cost;
      const [x1, y1] = onPage(view.transform, a.rect[0], a.rect[1]);
      const [x2, y2] = onPage(view.transform, a.rect[2], a.rect[3]);
      out.links.push([url.toWellFormed(), round(Math.min(x1, x2)), round(Math.min(y1, y2)), round(Math.max(x1, x2)), round(Math.max(y1, y2))]);
    }
    page.cleanup();
    return out;
  }

  return {
    add(base64) {
      chunks.push(Uint8Array.from(atob(base64), (c) => c.charCodeAt(0)));
    },
    async open() {
      const data = new Uint8Array(chunks.reduce((n, c) => n + c.length, 0));
      let at = 0;
      for (const chunk of chunks.splice(0)) {
        data.set(chunk, at);
        at += chunk.length;
      }
      try {
        doc = await getDocument({
          data, verbosity: 0, isEvalSupported: false, disableFontFace: true, useSystemFonts: false, useWorkerFetch: false, useWasm: false, maxImageSize: 1,
          enableXfa: false,
        }).promise;
      } catch (e) {
        return JSON.stringify({ pages: 0, problem: e?.name === "PasswordException" ? "password" : "damaged" });
      }
      let title = "";
      try {
        title = String((await doc.getMetadata()).info?.Title || "").slice(0, 300).toWellFormed();
      } catch {}
      return JSON.stringify({ pages: doc.numPages, title });
    },
    /** Reads pages until their text has `enough` characters. A page that is damaged is marked. */
    async read(first, last, limits, enough) {
      const pages = [];
      const before = limits.left;
      for (let n = first; n <= last && limits.left > 0 && before - limits.left < enough; n++) {
        try {
          pages.push(await readPage(n, limits));
        } catch {
          pages.push({ w: 0, h: 0, items: [], links: [], more: false, damaged: true });
        }
      }
      return JSON.stringify({ pages, left: limits.left });
    },
  };
})();
