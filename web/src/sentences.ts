// Turns a sentence of opdrift into Chinese, numbers and names kept, by the lines of phrases.ts.

import { PHRASES, type Phrase } from "./phrases";

const NUMBER = "[-+]?(?:\\d[\\d.]*(?:e[-+]?\\d+)?|inf|nan)";
const SLOT = /\{([nxslrk])(\d)\}/;
/** Sentences nest at most so deep; what goes on is text of others that only looks like ours. */
const DEEPEST = 8;

interface Pattern {
  fits: RegExp;
  slots: string[];
  chinese: string;
}

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&").replace(/\\\(s\\\)/g, "s?");
}

function compiled([english, chinese]: Phrase): Pattern {
  const parts = english.split(/(\{[nxslrk]\d\})/);
  const slots: string[] = [];
  const source = parts
    .map((part) => {
      if (!SLOT.test(part)) return escaped(part);
      slots.push(part);
      return part[1] === "n" ? `(${NUMBER})` : "([^]+?)";
    })
    .join("");
  return { fits: new RegExp(`^${source}$`), slots, chinese };
}

let patterns: Pattern[] | null = null;
const known = new Map<string, string | null>();

/** What stands in a slot of the Chinese line; null where it has to be known and is not. */
function slotText(kind: string, value: string, depth: number): string | null {
  switch (kind) {
    case "k": return chineseOrNull(value, depth + 1);
    case "s": return chineseOrNull(value, depth + 1) ?? value;
    case "l": return value.split(", ").map((item) => chineseOrNull(item, depth + 1) ?? item).join("、");
    case "r": return value.replace(/ to /g, "–").replace(/\ball\b/g, "全部");
    default: return value;
  }
}

function filled(pattern: Pattern, values: string[], depth: number): string | null {
  const texts = new Map<string, string>();
  for (const [i, slot] of pattern.slots.entries()) {
    const text = slotText(slot[1], values[i], depth);
    if (text === null) return null;
    texts.set(slot, text);
  }
  return pattern.chinese.replace(/\{[nxslrk]\d\}/g, (slot) => texts.get(slot) ?? slot);
}

function whole(sentence: string, depth: number): string | null {
  patterns ??= PHRASES.map(compiled);
  for (const pattern of patterns) {
    const match = pattern.fits.exec(sentence);
    const text = match && filled(pattern, match.slice(1), depth);
    if (text) return text;
  }
  return null;
}

/** Parts with "; " between; names may hold that too, so only where the part before it is known. */
function inParts(sentence: string, depth: number): string | null {
  for (let at = sentence.indexOf("; "); at > 0; at = sentence.indexOf("; ", at + 1)) {
    const head = whole(sentence.slice(0, at), depth);
    if (head === null) continue;
    const rest = sentence.slice(at + 2);
    return `${head};${chineseOrNull(rest, depth + 1) ?? rest}`;
  }
  return null;
}

/** The Chinese form, or null for a text that is not known, which then stays as it is. */
export function chineseOrNull(sentence: string, depth = 0): string | null {
  if (depth > DEEPEST || sentence.length > 4000) return null;
  let found = known.get(sentence);
  if (found === undefined) {
    found = inParts(sentence, depth) ?? whole(sentence, depth);
    if (known.size > 20_000) known.clear();
    known.set(sentence, found);
  }
  return found;
}
