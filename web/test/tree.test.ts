import assert from "node:assert/strict";
import { test } from "node:test";

import { edgesOf, layout } from "../src/graph/layout";
import { ancestors, buildTree, firstUnfolded, MOST_MEMBERS, separatorOf, standIns, visible } from "../src/graph/tree";

const scoped = Array.from({ length: 400 }, (_, i) => `/model/layers.${Math.floor(i / 40)}/${i % 40 < 20 ? "attn" : "mlp"}/Op_${i}`);
const flat = Array.from({ length: 20000 }, (_, i) => `p2o.${["Conv", "Relu", "Add"][i % 3]}.${i}`);

test("scopes come from slashes, never from dots that name types", () => {
  assert.equal(separatorOf(scoped), "/");
  assert.equal(separatorOf(flat), "");
  assert.equal(separatorOf(["a.b.x", "a.b.y", "a.c.z"]), ".");
});

test("scopes are groups, and a chain of single scopes is one", () => {
  const tree = buildTree(scoped);
  assert.equal(tree.groups[0].members.length, 10);
  const chain = ancestors(tree, 45).map((id) => tree.groups[id].label);
  assert.deepEqual(chain, ["layers.1", "attn"]);
  assert.equal(tree.groups[0].size, 400);
});

test("no group has more members than can be drawn, and every operator is in one", () => {
  const tree = buildTree(flat);
  assert.ok(tree.groups.every((group) => group.members.length <= MOST_MEMBERS));
  const all = new Set(tree.groups.flatMap((group) => group.members.filter((member) => member < 0)));
  assert.equal(all.size, flat.length);
  assert.equal(tree.groups[0].size, flat.length);
});

test("a folded group stands for everything below it", () => {
  const tree = buildTree(scoped);
  const unfolded = new Set(ancestors(tree, 45));
  const stand = standIns(tree, unfolded, scoped.length);
  assert.equal(stand[45], ~45);
  assert.equal(stand[0], tree.groups[0].members[0]);
  assert.deepEqual([...new Set(stand)].sort(), visible(tree, unfolded).sort());
});

test("the way to the focus is open at first, and more where there is room", () => {
  const tree = buildTree(flat);
  const unfolded = firstUnfolded(tree, 12345, 70);
  assert.ok(visible(tree, unfolded).includes(~12345));
  const small = buildTree(scoped.slice(0, 60));
  assert.equal(visible(small, firstUnfolded(small, -1, 70)).length, 60);
});

test("edges between drawn nodes carry the largest error once", () => {
  const stand = Int32Array.from([~0, ~0, 5, 5]);
  const edges = edgesOf([[], [0], [0, 1], [1, 2]], stand, (op) => [1e-3, 0.5, NaN, 1][op]);
  assert.deepEqual(edges, [{ from: ~0, to: 5, error: 0.5, operator: 1 }]);
});

test("the layout goes downwards and survives cycles between groups", () => {
  const placed = layout([1, 2, ~3], [
    { from: 1, to: 2, error: 0, operator: 0 },
    { from: 2, to: ~3, error: 0, operator: 0 },
    { from: ~3, to: 1, error: 0, operator: 0 },
  ]);
  assert.equal(placed.nodes.size, 3);
  assert.ok(placed.paths.every((path) => path.startsWith("M")));
  assert.ok(placed.nodes.get(1)!.y < placed.nodes.get(2)!.y);
});
