// Bundles the page of every scenario NAME.txtar into dist/NAME/app.js and app.css, unless that is there already. Run by
// scripts/install-components, in a copy of this folder.
import { createHash } from "node:crypto";
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { relative } from "node:path";
import { build } from "esbuild";
import { compile, compileModule } from "svelte/compiler";

/** Compiles the components of Svelte. */
const svelte = {
  name: "svelte",
  setup(build) {
    build.onLoad({ filter: /\.svelte(\.js)?$/ }, async ({ path }) => {
      const source = await readFile(path, "utf8");
      const options = { filename: relative(process.cwd(), path), generate: "client" };
      const { js } = path.endsWith(".js") ? compileModule(source, options) : compile(source, { ...options, css: "injected" });
      return { contents: js.code };
    });
  },
};

/** The files of a txtar archive, by name. */
function sections(text) {
  const files = {};
  let name = "";
  for (const line of text.split("\n")) {
    const header = /^-- (.+) --$/.exec(line);
    if (header) files[(name = header[1])] = "";
    else if (name) files[name] += line + "\n";
  }
  return files;
}

const common = (await readFile("build.mjs", "utf8")) + (await readFile("package-lock.json", "utf8"));
let failed = false;
for (const file of (await readdir(".")).filter((f) => f.endsWith(".txtar")).sort()) {
  const name = file.slice(0, -".txtar".length);
  const { steps, page, ...sources } = sections(await readFile(file, "utf8"));
  const stamp = createHash("sha256").update(common + JSON.stringify(sources)).digest("hex");
  const folder = `dist/${name}`;
  if ((await readFile(`${folder}/stamp`, "utf8").catch(() => "")) === stamp) continue;
  await rm(folder, { recursive: true, force: true });
  await rm(`src/${name}`, { recursive: true, force: true });
  await mkdir(`src/${name}`, { recursive: true });
  for (const [path, text] of Object.entries(sources)) await writeFile(`src/${name}/${path}`, text);
  const begun = Date.now();
  try {
    await build({
      entryPoints: { app: `src/${name}/${Object.keys(sources).find((path) => path.startsWith("app."))}` },
      outdir: folder,
      bundle: true,
      minify: true,
      format: "esm",
      target: "es2022",
      jsx: "automatic",
      loader: { ".js": "jsx", ".svg": "dataurl", ".png": "dataurl", ".gif": "dataurl", ".ttf": "empty", ".woff": "empty", ".woff2": "empty", ".eot": "empty" },
      conditions: ["browser", "production", "svelte"],
      define: {
        "process.env.NODE_ENV": '"production"',
        "process.env": "{}",
        global: "globalThis",
        __VUE_OPTIONS_API__: "true",
        __VUE_PROD_DEVTOOLS__: "false",
        __VUE_PROD_HYDRATION_MISMATCH_DETAILS__: "false",
      },
      alias: { vue: "vue/dist/vue.esm-bundler.js" },
      plugins: [svelte],
      logLevel: "error",
    });
    await writeFile(`${folder}/stamp`, stamp);
    console.error(`${name}: ${Date.now() - begun} ms`);
  } catch {
    failed = true; // esbuild has said why
  }
}
process.exitCode = failed ? 1 : 0;
