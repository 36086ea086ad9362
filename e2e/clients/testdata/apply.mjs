import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const [cases, dist] = process.argv.slice(2);
const { Diff, Element } = await import(pathToFileURL(`${dist}/gen/domtap/v1/dom.js`));
const { apply, Mismatch } = await import(pathToFileURL(`${dist}/src/domtap.js`));

const old = [..."abcd"].map((text, i) => Element.fromPartial({ ref: i, index: i, text }));
for (const { diff } of JSON.parse(readFileSync(cases, "utf8"))) {
  try {
    console.log(apply(old, Diff.fromJSON(diff)).map((e) => `${e.ref} ${e.text}`).join(", "));
  } catch (error) {
    if (!(error instanceof Mismatch)) throw error;
    console.log("mismatch");
  }
}
