import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const [cases, home] = process.argv.slice(2); // home: the folder whose node_modules has the package
const from = pathToFileURL(`${home}/node_modules/domtap/dist/`);
const { Diff, Element } = await import(new URL("gen/domtap/v1/dom.js", from));
const { apply, Mismatch } = await import(new URL("index.js", from));

const old = [..."abcd"].map((text, i) => Element.fromPartial({ ref: i, index: i, text }));
for (const { diff } of JSON.parse(readFileSync(cases, "utf8"))) {
  try {
    console.log(apply(old, Diff.fromJSON(diff)).map((e) => `${e.ref} ${e.text}`).join(", "));
  } catch (error) {
    if (!(error instanceof Mismatch)) throw error;
    console.log("mismatch");
  }
}
