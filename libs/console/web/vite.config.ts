import { svelte } from "@sveltejs/vite-plugin-svelte";
import { defineConfig } from "vite";

import { compressed } from "./plugins/compressed.ts";
import { notices } from "./plugins/notices.ts";

/** Where `npm run dev` passes on what is asked of the API. */
const server = process.env.TRAPLINE_URL ?? "http://127.0.0.1:8025";
const passedOn = ["/api", "/docs", "/status"];

export default defineConfig({
  // References are relative, so that any path may be before them.
  base: "./",
  plugins: [svelte(), notices(), compressed()],
  build: {
    target: "es2022",
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
  },
  server: { proxy: Object.fromEntries(passedOn.map((path) => [path, server])) },
});
