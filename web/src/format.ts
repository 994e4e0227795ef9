/** A number for people: four digits, powers of ten where they are shorter. */
export function brief(value: number, digits = 4): string {
  if (Number.isNaN(value)) return "–";
  if (!Number.isFinite(value)) return value > 0 ? "∞" : "−∞";
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (Number.isInteger(value) && size < 1e9) return String(value);
  if (size >= 1e-3 && size < 1e5) return String(Number(value.toPrecision(digits)));
  return value.toExponential(Math.max(0, digits - 2)).replace("e+", "e");
}

export function percent(share: number): string {
  if (Number.isNaN(share)) return "–";
  const value = share * 100;
  return `${value >= 99.95 || value === 0 ? Math.round(value) : Number(value.toPrecision(3))} %`;
}

export function count(value: number): string {
  if (Number.isNaN(value)) return "–";
  return String(Math.round(value)).replace(/\B(?=(\d{3})+$)/g, "\u202f");
}

export function bytes(value: number): string {
  const units = ["B", "kB", "MB", "GB", "TB"];
  let unit = 0;
  while (value >= 1000 && unit < units.length - 1) {
    value /= 1000;
    unit++;
  }
  return `${Number(value.toPrecision(3))} ${units[unit]}`;
}

/** Cut in the middle, the end being what tells names apart. */
export function shorten(text: string, length: number): string {
  const letters = [...text];
  if (letters.length <= length) return text;
  const head = Math.max(1, Math.floor((length - 1) / 3));
  return `${letters.slice(0, head).join("")}…${letters.slice(letters.length - (length - 1 - head)).join("")}`;
}

/** The end of a name, which tells operators apart better than the scopes in front. */
export function ending(text: string, length: number): string {
  const letters = [...text];
  return letters.length <= length ? text : `…${letters.slice(letters.length - length + 1).join("")}`;
}

/** Coordinates of a flat index. */
export function coordinates(flat: number, shape: number[]): number[] {
  const at: number[] = new Array(shape.length).fill(0);
  for (let axis = shape.length - 1; axis >= 0; axis--) {
    at[axis] = flat % shape[axis];
    flat = Math.floor(flat / shape[axis]);
  }
  return at;
}
