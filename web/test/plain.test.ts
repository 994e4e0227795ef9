import assert from "node:assert/strict";
import { test } from "node:test";

import { makePlain, plain } from "../src/plain";

test("what cannot be seen or turns the text is written as its code", () => {
  assert.equal(plain("\u202egnp.exe"), "\\u202egnp.exe");
  assert.equal(plain("a\u2028b\u0000c\u200bd"), "a\\u2028b\\u0000c\\u200bd");
  assert.equal(plain("tab\tline\n 算子 👩‍👧 é"), "tab\tline\n 算子 👩‍👧 é");
});

test("very long texts are cut between letters", () => {
  const cut = plain("🧨".repeat(3000));
  assert.equal([...cut].length, 501);
  assert.ok(!/[\ud800-\udbff](?![\udc00-\udfff])/.test(cut));
});

test("every text below a value is made plain, numbers stay", () => {
  const value = { a: ["\u0007", "b"], n: [1, null, "inf"], columns: { relative: [1, "inf"] }, deep: { sentence: "\u202e" }, rows: [{ name: "\u2066" }], none: null };
  assert.deepEqual(makePlain(value), {
    a: ["\\u0007", "b"], n: [1, null, "inf"], columns: { relative: [1, "inf"] }, deep: { sentence: "\\u202e" }, rows: [{ name: "\\u2066" }], none: null,
  });
});
