import { mount } from "svelte";

import App from "./App.svelte";
import { root } from "./lib/root";
import "./lib/theme.svelte";
import "./ui/tokens.css";
import "./ui/base.css";

// The icon's address is relative to that of the page, which changes.
const icon = document.querySelector<HTMLLinkElement>('link[rel="icon"]');
if (icon) icon.href = new URL("favicon.svg", root).href;

const target = document.getElementById("app");
if (target) mount(App, { target });
