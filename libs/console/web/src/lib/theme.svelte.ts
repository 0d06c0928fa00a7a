const KEY = "trapline.theme";
const THEMES = ["system", "light", "dark"] as const;

export type Theme = (typeof THEMES)[number];

/** The colours of this browser: as the system has them, unless somebody chose. */
class Choice {
  readonly all = THEMES;
  value = $state<Theme>("system");

  constructor() {
    const stored = localStorage.getItem(KEY);
    this.choose(THEMES.find((theme) => theme === stored) ?? "system");
  }

  choose(theme: Theme): void {
    this.value = theme;
    if (theme === "system") {
      localStorage.removeItem(KEY);
      delete document.documentElement.dataset.theme;
    } else {
      localStorage.setItem(KEY, theme);
      document.documentElement.dataset.theme = theme;
    }
  }
}

export const theme = new Choice();
