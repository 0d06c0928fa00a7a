import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Plugin } from "vite";

/** Licences that ask for no more than their notice. */
const PERMISSIVE = new Set(["0BSD", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "ISC", "MIT"]);

/** Writes `licenses.txt` with the notice of each package that the build holds code of, and fails where a
 * licence is not permissive or a notice is missing. */
export function notices(): Plugin {
  return {
    name: "notices",
    apply: "build",
    generateBundle(_, bundle) {
      const folders = new Set<string>();
      for (const file of Object.values(bundle)) {
        if (file.type !== "chunk") continue;
        for (const module of file.moduleIds) {
          const folder = packageOf(module);
          if (folder) folders.add(folder);
        }
      }
      const source = [...folders]
        .sort()
        .map(noticeOf)
        .join(`\n${"-".repeat(80)}\n\n`);
      this.emitFile({ type: "asset", fileName: "licenses.txt", source });
    },
  };
}

/** The folder of the package that a module belongs to. */
function packageOf(module: string): string | undefined {
  const path = module.replace(/^\0/, "").split("?")[0] ?? "";
  if (!path.includes("/node_modules/")) return undefined;
  let folder = dirname(path);
  while (!isPackage(folder)) folder = dirname(folder);
  return folder;
}

function isPackage(folder: string): boolean {
  const manifest = join(folder, "package.json");
  return existsSync(manifest) && "version" in JSON.parse(readFileSync(manifest, "utf8"));
}

function noticeOf(folder: string): string {
  const manifest = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const { name, version, license } = manifest;
  if (!PERMISSIVE.has(license)) throw new Error(`${name} is under ${license}`);
  const file = readdirSync(folder).find((file) => /^licen[cs]e/i.test(file));
  if (!file) throw new Error(`${name} has no notice`);
  return `${name} ${version} (${license})\n\n${readFileSync(join(folder, file), "utf8").trim()}\n`;
}
