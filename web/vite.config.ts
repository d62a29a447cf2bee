import { defineConfig } from "vite";

export default defineConfig({
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
