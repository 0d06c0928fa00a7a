import js from "@eslint/js";
import svelte from "eslint-plugin-svelte";
import ts from "typescript-eslint";

/** What would turn text into markup or code. */
const MARKUP = ["innerHTML", "outerHTML", "insertAdjacentHTML", "srcdoc"].map((property) => ({
  property,
  message: "Text never becomes markup here.",
}));
const SCREENS = [
  "account",
  "auth",
  "forwarding",
  "gallery",
  "idps",
  "inboxes",
  "mail",
  "mocks",
  "shell",
  "start",
  "team",
  "webhooks",
];

export default ts.config(
  { ignores: ["dist", "node_modules", "src/api/schema.d.ts"] },
  js.configs.recommended,
  ...ts.configs.strict,
  ...svelte.configs.recommended,
  {
    rules: {
      "max-lines": ["error", 300],
      "no-eval": "error",
      "no-undef": "off",
      "no-restricted-properties": ["error", ...MARKUP],
      "no-restricted-globals": ["error", { name: "fetch", message: "api/client.ts asks the API." }],
      "prefer-const": "off",
      "@typescript-eslint/no-non-null-assertion": "error",
    },
  },
  {
    files: ["**/*.svelte", "**/*.svelte.ts"],
    languageOptions: { parserOptions: { parser: ts.parser } },
    rules: {
      "svelte/no-at-html-tags": "error",
      "svelte/prefer-svelte-reactivity": "off",
      "no-restricted-syntax": [
        "error",
        { selector: 'SvelteAttribute[key.name="style"]', message: "The policy blocks it." },
      ],
      "svelte/no-navigation-without-resolve": "off",
    },
  },
  { files: ["src/api/client.ts"], rules: { "no-restricted-globals": "off" } },
  ...SCREENS.filter((screen) => screen !== "shell").map((screen) => ({
    files: [`src/${screen}/**`],
    rules: {
      "no-restricted-imports": [
        "error",
        {
          patterns: SCREENS.filter((other) => other !== screen).map((other) => ({
            group: [`../${other}/*`, `../../${other}/*`],
            message: "A screen never imports another.",
          })),
        },
      ],
    },
  })),
);
