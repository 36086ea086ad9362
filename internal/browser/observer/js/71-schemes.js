// @ts-check
// What would leave the browser for another program.
//
// A browser with a person before it asks first whether to open a telephone, a mail program or a shop. Nobody answers here,
// and while it asks, the page receives no click and no key: so the page stays, and nothing is asked.

/** The schemes that stay in the browser. */
const STAYING = /^(https?|about|blob|data|javascript|file|filesystem|chrome|chrome-error|chrome-extension|devtools|view-source|ws|wss|ftp):/i;

/** @param {NavigateEvent} event */
function keepInBrowser(event) {
  if (event.cancelable && !STAYING.test(event.destination.url)) event.preventDefault();
}

if (globalThis.navigation) navigation.addEventListener("navigate", keepInBrowser, true);
