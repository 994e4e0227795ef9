import assert from "node:assert/strict";
import { test } from "node:test";

import { brief, bytes, coordinates, count, percent, shorten } from "../src/format";
import { translator } from "../src/i18n";

test("numbers are short and never lose their size", () => {
  assert.equal(brief(0.00123456), "0.001235");
  assert.equal(brief(1.23456e-7), "1.23e-7");
  assert.equal(brief(2630.4), "2630");
  assert.equal(brief(3.4e38), "3.40e38");
  assert.equal(brief(NaN), "–");
  assert.equal(brief(-Infinity), "−∞");
  assert.equal(count(1234567), "1\u202f234\u202f567");
  assert.equal(percent(0.998), "99.8 %");
  assert.equal(percent(1), "100 %");
  assert.equal(bytes(1.5e9), "1.5 GB");
});

test("names are cut in the middle, by letters and not by halves of them", () => {
  assert.equal(shorten("abcdefghij", 10), "abcdefghij");
  assert.equal(shorten("abcdefghij", 7), "ab…ghij");
  assert.equal(shorten("😀😀😀😀😀😀", 4), "😀…😀😀");
});

test("flat indexes are coordinates of the shape", () => {
  assert.deepEqual(coordinates(1088, [1, 64, 64]), [0, 17, 0]);
  assert.deepEqual(coordinates(0, []), []);
});

test("both languages fill in values and keep words they do not know", () => {
  assert.equal(translator("en").t("axis", 1, 64), "axis 1, 64 long");
  assert.equal(translator("zh").state("culprit"), "元凶");
  assert.equal(translator("zh").cause("new_cause"), "new_cause");
  assert.equal(translator("en").state("constructor"), "constructor");
});
