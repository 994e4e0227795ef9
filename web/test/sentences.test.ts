import assert from "node:assert/strict";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { PHRASES } from "../src/phrases";
import { chineseOrNull } from "../src/sentences";

const source = join(process.cwd(), "../src/opdrift");

/** Where sentences of results are made. Texts of errors and of names are no sentences. */
const FOLDERS = ["verdict", "verdict/judge", "verdict/explain", "pipeline/judge"];
const FILES = ["match/name_match.cpp", "pipeline/align_pair.cpp", "pipeline/compare.cpp", "pipeline/dump_index.cpp"];
const NOT_SENTENCES = new Set([
  "api_rules.cpp", // words of msprobe's tables
  "api_statistics.cpp",
  "api_signatures.cpp", // names of arguments
  "assumptions.cpp", // errors of options
  "narrow_sums.cpp", // errors that only end a hypothesis
]);
/** Literals that are an error of the command line or a name. */
const ERRORS = [
  /^(gate|rule|assumption|selection) '$/, /^': expected /, /^verdict/, /^wider-inputs or none$/, /^--rule verdict: $/,
  /^allclose$/, /^expected at most one ONNX model/, /^the result was not judged by the replay budget/, /^model$/,
  /^the graph has operator '$/, /^' more than once$/, /^operator '$/, /^' makes a value that exists already$/,
  /^parameter '$/, /^sparse constants are not read$/, /^operator:input:number$/, /^no such (in|out)put$/,
  /^expected an output (like the input|of another shape)$/, /^expected numbers, found elements of type $/,
  /^expected a position below $/, /slope/, /^(exact Gelu|Gelu through tanh)$/, /^tf32 \(/, /^operator $/,
  /^(from -1 to 1|of 0 or more)$/, /^allclose cannot be decided for /, /^ from what the result keeps/, // of --rule
  /^weights of the target (are|need) /, /^limits do not look at them$/, /^expected weights with the names /, // of --target-weights
  /^(tensor|operator|normalised|base) name$/, /^, axes reordered$/, // why two were paired: not on the page
];

function cppFiles(): string[] {
  const below = FOLDERS.flatMap((folder) =>
    readdirSync(join(source, folder))
      .filter((name) => name.endsWith(".cpp") && !NOT_SENTENCES.has(name))
      .map((name) => join(source, folder, name)),
  );
  return [...below, ...FILES.map((name) => join(source, name))].filter((name) => statSync(name).isFile());
}

/** Literals of more than one word; those that only the compiler joins are joined. */
function literals(text: string): string[] {
  const code = text.replace(/^\s*(#include|\/\/).*$/gm, "").replace(/"\s*\n\s*"/g, "");
  return [...code.matchAll(/"((?:[^"\\]|\\.)*)"/g)]
    .map((match) => match[1].replace(/\\"/g, '"'))
    .filter((literal) => /[a-z]{2}/i.test(literal) && /\s/.test(literal));
}

/** Between ";", which joins sentences, without blanks at the ends and what printf puts in. */
function fixedParts(literal: string): string[] {
  return literal
    .split(/%[-+.*\d]*(?:ll)?[a-z]|;(?:\s|$)/)
    .map((part) => part.trim().replace(/^[,.]\s*/, ""))
    .filter((part) => /[a-z]{2}/i.test(part));
}

test("every sentence that the sources can make has a Chinese form", () => {
  // "(s)" stands for both forms, a number of an example for any.
  const lines = PHRASES.flatMap(([english]) => [english.replace(/\(s\)/g, "s"), english.replace(/\(s\)/g, "")]);
  const missing: string[] = [];
  for (const file of cppFiles()) {
    for (const literal of literals(readFileSync(file, "utf8"))) {
      if (ERRORS.some((error) => error.test(literal))) continue;
      for (const part of fixedParts(literal)) {
        if (chineseOrNull(part) === null && !lines.some((line) => line.includes(part))) missing.push(`${file.slice(source.length + 1)}: "${part}"`);
      }
    }
  }
  assert.deepEqual(missing, [], "add a line to web/src/phrases.ts, or a pattern to ERRORS if no result holds it");
});

test("what a model of an operator does not cover has a Chinese form", () => {
  const files = readdirSync(join(source, "replay"), { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".cpp"));
  const missing: string[] = [];
  for (const name of files) {
    for (const call of readFileSync(join(source, "replay", name), "utf8").matchAll(/not_modelled\(([^;]*)\);/g)) {
      // What is put in between is a number for most lines and a text for the others.
      const parts = [...call[1].matchAll(/"((?:[^"\\]|\\.)*)"/g)].map((match) => match[1]);
      const known = PHRASES.some(([english]) => parts.every((part) => english.includes(part)));
      if (parts.length > 0 && !known) missing.push(`${name}: ${parts.join(" # ")}`);
    }
  }
  assert.deepEqual(missing, [], "add a line to web/src/phrases.ts");
});

test("both sides of a line have the same slots", () => {
  for (const [english, chinese] of PHRASES) {
    const slots = (text: string) => (text.match(/\{[a-z]\d\}/g) ?? []).sort();
    assert.deepEqual(slots(chinese), slots(english), english);
  }
});

/** As the sources put them together; the words of a name do not matter. */
const EXAMPLES: [string, string][] = [
  [
    'first divergence at "/a; b/Conv": adds 600 times the error that float16 explains; worst element [0,1]: target 3, expected 2, golden 2.5',
    "首个分歧在“/a; b/Conv”:自身引入的误差是 float16 可解释误差的 600 倍;最差元素 [0,1]:被测 3,期望 2,基准 2.5",
  ],
  [
    "channel 17 (of 64) scaled by 30 (1/0.0333); channel 3 (of 64) constant 0 (residual 0.00058 of the golden's norm, 99.8 % of the squared error explained)",
    "通道 17(共 64)被缩放 30 (1/0.0333) 倍;通道 3(共 64)恒为 0(残差为基准范数的 0.00058,解释了 99.8 % 的平方误差)",
  ],
  ["all of the error lies in channel 17 (of 64), index 3 (of 9) of axis 2", "全部误差位于通道 17(共 64)、2 轴索引 3(共 9)"],
  [
    "expected 1 element, found 4 (judged as one with a, b and 3 more, whose results were not dumped); 2 elements NaN or infinite on both sides alike; not replayed: operator not modelled: a mask by positions",
    "应有 1 个元素,实有 4 个(与 a, b 等另外 3 个未转储结果的算子作为整体判定);2 个元素在两侧同为 NaN 或无穷;未重放:算子未建模:按位置的掩码",
  ],
  ["clamped at +-65504 (the largest float16); 12 elements stand there", "被截断在 ±65504(float16 最大值);12 个元素位于该处"],
  ["tiles [all, 0 to 15] and [all, 16 to 31] are exchanged", "分块 [全部, 0–15] 与 [全部, 16–31] 互换"],
  ["step3: the two runs were not given the same inputs", "step3:两次运行的输入不同"],
  [
    'Div "x" makes 3 Inf and 1 NaN from finite inputs (largest |input| 7e+04); the golden has them as well; reaches the network\'s output through 12 operators, last Add "y"',
    'Div "x" 由有限输入产生 3 Inf and 1 NaN(输入最大绝对值 7e+04);基准中同样存在;经 12 个算子到达网络输出,最后一个为 Add "y"',
  ],
  ["same NaN/Inf, cosine >= 0.99, allclose, rtol = 0.001 (tolerances of the dtype)", "NaN/Inf 相同,余弦 >= 0.99、allclose、rtol = 0.001(类型默认容差)"],
];

test("numbers and names are kept, parts are translated one by one", () => {
  for (const [english, chinese] of EXAMPLES) assert.equal(chineseOrNull(english), chinese);
});

test("what is no sentence of opdrift stays as it is", () => {
  for (const text of ["", "a remark of somebody else", "x: y", "; ".repeat(500)]) assert.equal(chineseOrNull(text), null);
});
