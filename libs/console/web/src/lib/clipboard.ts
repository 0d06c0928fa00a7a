/** Puts a text on the clipboard; false where the browser does not let it. */
export async function copy(value: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(value);
    return true;
  } catch {
    return copySelected(value);
  }
}

/** Over plain http a page has no clipboard of its own, but may copy what is selected. */
function copySelected(value: string): boolean {
  const field = document.createElement("textarea");
  const before = document.activeElement;
  field.value = value;
  field.className = "sr-only";
  // What is beside an open dialog can't be selected.
  (document.querySelector("dialog[open]") ?? document.body).append(field);
  field.select();
  const done = document.execCommand("copy");
  field.remove();
  if (before instanceof HTMLElement) before.focus();
  return done;
}
