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
    // Styles that come with a screen would be asked for once only, and the screen shown without those that were missed.
    cssCodeSplit: false,
    reportCompressedSize: false,
    rolldownOptions: {
      output: {
        codeSplitting: {
          // Many small files compress badly, and each is a request: what several screens share that come later is one.
          groups: [
            { name: "first", tags: ["$initial"], priority: 2 },
            { name: "shared", minShareCount: 2, priority: 1 },
          ],
        },
      },
    },
  },
  server: { proxy: Object.fromEntries(passedOn.map((path) => [path, server])) },
});
