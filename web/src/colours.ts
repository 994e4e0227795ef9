import type { State } from "./data";

/** The colour a label has in the present theme; canvases cannot use CSS variables themselves. */
export function colourOf(name: State | "absent"): string {
  return variable(`--${name}`);
}

export function variable(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}
