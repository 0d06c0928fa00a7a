import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import type { Plugin } from "vite";

/** What is worth compressing, by the end of its name. */
const COMPRESSED = /\.(js|css|svg|txt)$/;

/** Writes beside each file its forms in gzip and Brotli, so that the server never compresses. */
export function compressed(): Plugin {
  let folder = "";
  return {
    name: "compressed",
    apply: "build",
    configResolved(config) {
      folder = join(config.root, config.build.outDir);
      if (config.build.outDir.startsWith("/")) folder = config.build.outDir;
    },
    async closeBundle() {
      const names = await readdir(folder, { recursive: true });
      for (const name of names.filter((name) => COMPRESSED.test(name))) {
        const path = join(folder, name);
        const bytes = await readFile(path);
        const params = { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY };
        await writeFile(`${path}.gz`, gzipSync(bytes, { level: 9 }));
        await writeFile(`${path}.br`, brotliCompressSync(bytes, { params }));
      }
    },
  };
}
