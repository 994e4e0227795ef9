// Texts of the data as they may stand on the page. Names come from files of anybody: what cannot be
// seen or turns the text around it is written as its code, and very long ones are cut.

/** Control characters but tab and newline, marks of direction, invisible spaces, line separators. */
const UNSEEN =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/g;
const LONGEST = 500;

/** `text` with "\u202e" for what it cannot show, cut in the middle. */
export function plain(text: string): string {
  let seen = text.replace(UNSEEN, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`);
  if (seen.length > LONGEST) {
    // By letters, so that no half of one is left.
    const letters = [...seen];
    const half = LONGEST / 2;
    if (letters.length > LONGEST) seen = `${letters.slice(0, half).join("")}…${letters.slice(-half).join("")}`;
  }
  return seen;
}

/** Parts of the data that hold numbers, and much of them. */
const NUMBERS: ReadonlySet<string> = new Set(["columns", "network", "histograms", "profiles", "values", "lines", "error", "excess", "state"]);

/** Makes every text below `value` plain, in place. */
export function makePlain<T>(value: T): T {
  if (typeof value === "string") return plain(value) as T;
  if (Array.isArray(value)) {
    value.forEach((item, i) => (value[i] = makePlain(item)));
  } else if (typeof value === "object" && value !== null) {
    const record = value as Record<string, unknown>;
    for (const key of Object.keys(record)) {
      if (!NUMBERS.has(key)) record[key] = makePlain(record[key]);
    }
  }
  return value;
}
