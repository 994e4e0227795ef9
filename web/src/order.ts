// Rows in the order of a column.

export type Key = (row: number) => number | string;

/** Stable; rows without a number come last whichever way it goes. */
export function inOrder(rows: number[], key: Key, down: boolean): number[] {
  if (rows.length === 0) return rows;
  const sign = down ? -1 : 1;
  if (typeof key(rows[0]) === "string") {
    const texts = rows.map((row) => key(row) as string);
    return permuted(rows, (a, b) => (texts[a] === texts[b] ? a - b : texts[a] < texts[b] ? -sign : sign));
  }
  const numbers = Float64Array.from(rows, (row) => key(row) as number);
  return permuted(rows, (a, b) => {
    const x = numbers[a];
    const y = numbers[b];
    const missing = Number(Number.isNaN(x)) - Number(Number.isNaN(y));
    return missing !== 0 ? missing : x === y || Number.isNaN(x) ? a - b : x < y ? -sign : sign;
  });
}

function permuted(rows: number[], compare: (a: number, b: number) => number): number[] {
  const places = Uint32Array.from(rows, (_, i) => i).sort(compare);
  return Array.from(places, (place) => rows[place]);
}
