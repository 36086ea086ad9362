// Bundles every app into dist/APP.js and dist/APP.css. Run by scripts/install-apps, in a copy of this folder.
import { readFile } from "node:fs/promises";
import { relative } from "node:path";
import { build } from "esbuild";
import { compile } from "svelte/compiler";

const apps = ["react", "vue", "svelte", "lit", "preact", "solid", "virtual", "grid", "plain"];

/** Compiles the components of the svelte app. */
const svelte = {
  name: "svelte",
  setup(build) {
    build.onLoad({ filter: /\.svelte$/ }, async ({ path }) => {
      const source = await readFile(path, "utf8");
      const { js } = compile(source, { filename: relative(process.cwd(), path), css: "injected", generate: "client" });
      return { contents: js.code };
    });
  },
};

await build({
  entryPoints: Object.fromEntries(apps.map((app) => [app, `${app}/main.js`])),
  outdir: "dist",
  bundle: true,
  minify: true,
  format: "esm",
  target: "es2022",
  jsx: "automatic",
  loader: { ".js": "jsx" },
  conditions: ["browser", "production"],
  define: {
    "process.env.NODE_ENV": '"production"',
    __VUE_OPTIONS_API__: "false",
    __VUE_PROD_DEVTOOLS__: "false",
    __VUE_PROD_HYDRATION_MISMATCH_DETAILS__: "false",
  },
  plugins: [svelte],
  logLevel: "warning",
});
