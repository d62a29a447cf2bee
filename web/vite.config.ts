import { defineConfig, runnerImport, type Plugin } from "vite";

/**
 * The Chinese texts, built as a list in the order of the English ones. As written, each of the 800 keys stands in both dictionaries,
 * too far apart for gzip to see: without the second copies the script is 4 kB smaller.
 */
const textsInOrder: Plugin = {
  name: "texts-in-order",
  apply: "build",
  async load(id) {
    if (!id.endsWith("/src/text/zh.ts")) return null;
    const { en } = (await runnerImport<{ en: Record<string, string> }>(id.replace(/zh\.ts$/, "en.ts"))).module;
    const { zh } = (await runnerImport<{ zh: Record<string, string> }>(id)).module;
    const texts = JSON.stringify(Object.keys(en).map((key) => zh[key]));
    return `import { en } from "./en";\nconst texts = ${texts};\nexport const zh = Object.fromEntries(Object.keys(en).map((key, at) => [key, texts[at]]));`;
  },
};

export default defineConfig({
  plugins: [textsInOrder],
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  build: {
    // A fixed target and fixed names: the built files are committed, and a check compares them with a fresh build.
    target: "es2022",
    // The server's content security policy admits files only, so nothing may be inlined as data: or script text.
    assetsInlineLimit: 0,
    modulePreload: false,
    rollupOptions: {
      output: {
        entryFileNames: "assets/app.js",
        chunkFileNames: "assets/[name].js",
        assetFileNames: "assets/app[extname]",
      },
    },
  },
});
