// What `import` finds in a script: k6's modules are files of this runner, and nothing comes from elsewhere.

const MODULES = new Map([
  ["k6", "core"],
  ["k6/http", "http"],
  ["k6/metrics", "metrics"],
  ["k6/execution", "execution"],
  ["k6/data", "data"],
  ["k6/crypto", "crypto"],
  ["k6/encoding", "encoding"],
]);

export async function resolve(specifier, context, next) {
  const file = MODULES.get(specifier);
  if (file) return { url: new URL(`./k6/${file}.mjs`, import.meta.url).href, shortCircuit: true };
  if (specifier === "k6" || specifier.startsWith("k6/"))
    throw new Error(`the runner has no ${specifier}`);
  if (/^https?:/.test(specifier)) throw new Error(`no remote imports: ${specifier}`);
  return next(specifier, context);
}
