import assert from "node:assert/strict";
import { test } from "node:test";

import { advice } from "../src/advice";
import { Report, type RawReport } from "../src/data";
import { EVERYTHING, filterRows, sortRows } from "../src/filter";
import { heat, Trends, type RawTrends } from "../src/trends";

const strings = ["", "conv1", "relu1", "conv2", "Conv", "Relu", "healthy", "culprit", "unjudged", "overflow", "other"];

function sample(): RawReport {
  return {
    kind: "report",
    version: "0",
    run: {
      target: { path: "t", kind: "" }, golden: { path: "g", kind: "" }, rule: "", notes: [], interrupted: false,
      bytes_read: 0, elapsed_s: 0, totals: { golden: {}, target: {} }, overflow: null,
      verdict: { outcome: "fail", sentence: "", findings: [], first_divergence: [2], missing_outputs: 0, inputs_differ: false },
    },
    strings,
    rows: 4,
    columns: {
      operator: [1, 2, 3, 3], type: [4, 5, 4, 4], label: [6, 6, 7, 8], cause: [0, 0, 9, 0], passed: [1, 1, 0, 0],
      measured: [1, 0, 1, 1], role: { all: 1 }, relative: [1e-4, null, "inf", null], relative_l2: [2e-4, null, 0.5, 0.25],
      q_own: [0.5, null, 9, null], z: [2, null, null, null], step: { all: 0 },
    },
    metrics: [{ name: "mine", values: [3, null, 1, 2] }],
    histograms: [null, null, null, null],
    explanations: {},
    places: {},
    profiles: {},
    groups: { 2: ["relu1", "conv2"] },
    network: { names: [1, 2, 3], types: [4, 5, 4], producers: [[], [0], [1]], rows: [[0], [], [2, 3]] },
    ledger: { rows: 0, columns: {}, left_out: 0 },
  };
}

test("labels are states, and what could not be compared or judged and failed is said so", () => {
  const report = new Report(sample());
  assert.deepEqual(report.states, ["healthy", "broken", "culprit", "fail"]);
});

test("errors are the judge's, or the relative L2 where it had none", () => {
  const report = new Report(sample());
  assert.equal(report.error(0), 1e-4);
  assert.equal(report.error(2), Infinity);
  assert.equal(report.error(3), 0.25);
  const raw = sample();
  raw.columns.class_mismatches = [3, null, 0, 0];
  assert.equal(new Report(raw).error(0), Infinity);
  assert.equal(report.budget(0), 2);
  assert.equal(report.budget(2), 9);
});

test("an operator inside a fused one has the state of the fused one", () => {
  const report = new Report(sample());
  assert.equal(report.fusedInto[1], 2);
  assert.equal(report.operatorState(1), "culprit");
  assert.equal(report.operatorState(0), "healthy");
  assert.deepEqual(report.consumers, [[1], [2], []]);
});

test("later pieces bring the network, more columns and more texts", () => {
  const whole = sample();
  const { network, metrics, groups, histograms, profiles, ledger, ...first } = whole;
  const { q_own, cause, ...columns } = whole.columns;
  const report = new Report({ ...first, columns, strings: strings.slice(0, 9) });
  assert.equal(report.tabled, false);
  assert.deepEqual(report.states, ["healthy", "broken", "culprit", "fail"]);
  assert.equal(report.operatorOf[2], -1);
  assert.ok(Number.isNaN(report.rows.number("q_own", 0)));
  report.join({ columns: { q_own, cause }, network, groups, metrics, strings: strings.slice(9) });
  assert.equal(report.operatorOf[2], 2);
  assert.equal(report.fusedInto[1], 2);
  assert.equal(report.rows.number("q_own", 0), 0.5);
  assert.equal(report.rows.text("cause", 2), "overflow");
  report.join({ histograms, profiles, ledger: { rows: 1, columns: { file: { all: 11 } }, left_out: 0 }, strings: ["a.npy"] });
  assert.equal(report.ledger.text("file", 0), strings[11] ?? "a.npy");
});

test("without a network operators are joined by what they read, else by their order", () => {
  const raw = sample();
  raw.network = { names: [], types: [], producers: [], rows: [] };
  raw.columns.tensor = [6, 7, 6, 8];
  raw.columns.role = [1, 1, 0, 1];
  const report = new Report(raw);
  assert.equal(report.chained, true);
  assert.deepEqual([0, 1, 2].map((op) => report.operatorName(op)), ["conv1", "relu1", "conv2"]);
  // relu1 has no record of what it reads, conv2 reads the tensor that conv1 made.
  assert.deepEqual(report.network.producers, [[], [0], [0]]);
  assert.deepEqual(report.network.rows, [[0], [1], [3]]);
});

test("every word must be there, members of a fused operator included", () => {
  const report = new Report(sample());
  assert.deepEqual(filterRows(report, { ...EVERYTHING, text: "CONV" }), [0, 2, 3]);
  assert.deepEqual(filterRows(report, { ...EVERYTHING, text: "relu1 conv2" }), [2]);
  assert.deepEqual(filterRows(report, { ...EVERYTHING, states: new Set(["fail", "culprit"]) }), [2, 3]);
  assert.deepEqual(filterRows(report, { ...EVERYTHING, type: "Relu", role: "input" }), []);
});

test("rows without a number come last whichever way the column sorts", () => {
  const report = new Report(sample());
  const rows = [0, 1, 2, 3];
  assert.deepEqual(sortRows(report, rows, { key: "metric:mine", down: false }), [2, 3, 0, 1]);
  assert.deepEqual(sortRows(report, rows, { key: "metric:mine", down: true }), [0, 3, 2, 1]);
  assert.deepEqual(sortRows(report, rows, { key: "state", down: false }), [2, 3, 1, 0]);
});

test("advice follows the cause and keeps away from what is fine", () => {
  const report = new Report(sample());
  assert.match(advice(report, 2)[0][0], /float32/);
  assert.deepEqual(advice(report, 0), []);
});

test("a line changed when its label did or its error moved by more than two", () => {
  const raw: RawTrends = {
    kind: "trends", version: "0", title: "", rows: 3, strings,
    lines: { operator: [1, 2, 3], type: { all: 4 }, output: { all: 0 }, begins: [null, 1, null], growth: [1.5, 900, 3] },
    runs: [
      { name: "a", error: [1e-4, 1e-4, 1e-4], excess: { all: 1 }, state: { all: 6 } },
      { name: "b", error: [1.5e-4, 0.09, 3e-4], excess: { all: 1 }, state: [6, 7, 6] },
    ],
  };
  const trends = new Trends(raw);
  assert.deepEqual([0, 1, 2].map((line) => trends.changed(line)), [false, true, true]);
  assert.deepEqual([0, 1, 2].map((line) => trends.begins(line)), [-1, 1, -1]);
  assert.equal(heat(NaN), 0);
  assert.equal(heat(1e-3), 0.5);
  assert.equal(heat(50), 1);
});
