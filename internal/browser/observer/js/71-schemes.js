// @ts-check
// External protocols are URL schemes of links that would open another program.
//
// Before Chromium opens a telephone, mail or shop application, it asks the user in a dialog that
// blocks all input to the page. No user answers here, so such navigations are cancelled and the
// dialog never opens.

/** The schemes that stay in the browser. */
const BROWSER_SCHEMES = /^(https?|about|blob|data|javascript|file|filesystem|chrome|chrome-error|chrome-extension|devtools|view-source|ws|wss|ftp):/i;

/** @param {NavigateEvent} event */
function preventForeignSchemes(event) {
  if (event.cancelable && !BROWSER_SCHEMES.test(event.destination.url)) event.preventDefault();
}

if (globalThis.navigation) navigation.addEventListener("navigate", preventForeignSchemes, true);
