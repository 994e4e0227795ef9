// Words looked for in columns of texts. Every text exists once however many rows bear it, so a word
// is looked for in the distinct texts and rows only ask whether one of theirs has it.

/** Lower-case words of a query. */
export function wordsOf(query: string): string[] {
  return query.toLowerCase().split(/\s+/).filter((word) => word !== "");
}

export class SearchIndex {
  private lower: (string | undefined)[] = [];
  private hits = new Map<string, Uint8Array>();

  /** `columns` hold numbers of `strings`; `extra` is more text of single rows. */
  constructor(
    private strings: string[],
    private columns: ArrayLike<number>[],
    private extra: ReadonlyMap<number, string> = new Map(),
  ) {
    for (const column of columns) {
      for (let row = 0; row < column.length; row++) {
        const at = column[row];
        if (at >= 0 && this.lower[at] === undefined) this.lower[at] = (this.strings[at] ?? "").toLowerCase();
      }
    }
  }

  /** Per row, whether one of its texts holds `word`, which is in lower case. */
  private rowsWith(word: string, rows: number): Uint8Array {
    let hits = this.hits.get(word);
    if (hits !== undefined) return hits;
    const texts = new Uint8Array(this.lower.length);
    for (let at = 0; at < texts.length; at++) texts[at] = Number(this.lower[at]?.includes(word) ?? false);
    hits = new Uint8Array(rows);
    for (const column of this.columns) {
      for (let row = 0; row < rows; row++) hits[row] |= texts[column[row]];
    }
    for (const [row, text] of this.extra) hits[row] |= Number(text.includes(word));
    if (this.hits.size > 64) this.hits.clear();
    this.hits.set(word, hits);
    return hits;
  }

  /** Keeps the rows that hold every word. */
  filter(words: string[], rows: number): Uint8Array | null {
    if (words.length === 0) return null;
    const kept = this.rowsWith(words[0], rows).slice();
    for (const word of words.slice(1)) {
      const hits = this.rowsWith(word, rows);
      for (let row = 0; row < rows; row++) kept[row] &= hits[row];
    }
    return kept;
  }
}
