// The entry point of the bundle: PDF.js with its worker in the same script. The parser runs on the main thread of a hidden page that is
// closed after each document.
import * as worker from "pdfjs-dist/legacy/build/pdf.worker.mjs";
import { getDocument, Util } from "pdfjs-dist/legacy/build/pdf.mjs";

globalThis.pdfjsWorker = worker;
globalThis.domtapPDF = { getDocument, Util };
