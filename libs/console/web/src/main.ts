import { mount } from "svelte";

import App from "./App.svelte";
import { preferences } from "./lib/preferences.svelte";
import "./lib/theme.svelte";
import "./ui/tokens.css";
import "./ui/base.css";

// The icon's address is relative to that of the page, which changes.
const icon = document.querySelector<HTMLLinkElement>('link[rel="icon"]');
if (icon) icon.setAttribute("href", icon.href);

preferences.start();
const target = document.getElementById("app");
if (target) mount(App, { target });
