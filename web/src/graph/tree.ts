// The operators of a network as a tree of groups that fold: by the scopes in their names where
// names have scopes, and by runs of neighbours where a group would have too many members.

/** Members of a group before it is cut into runs. */
export const MOST_MEMBERS = 40;

export interface Group {
  id: number;
  parent: number;
  /** Scope, or "first … last" of a run. */
  label: string;
  depth: number;
  /** Groups and operators below, in network order; operators as ~operator (negative). */
  members: number[];
  /** Operators below, at any depth. */
  size: number;
  first: number;
  last: number;
}

export interface Tree {
  groups: Group[];
  /** Group that holds each operator. */
  parentOf: Int32Array;
}

/** "a/b/c" as scopes a, b. Empty parts vanish, so "/a//b" is "a/b". */
function scopesOf(name: string, separator: string): string[] {
  const parts = name.split(separator).filter((part) => part !== "");
  return parts.slice(0, -1);
}

/** What stands before the last part, "/a/b" of "/a/b/c": enough to tell scopes apart. */
function scopeText(name: string, separator: string): string {
  return name.slice(0, Math.max(0, name.lastIndexOf(separator)));
}

/** The separator whose scopes are runs of neighbours; "" when names tell no structure. */
export function separatorOf(names: string[]): string {
  for (const separator of ["/", "."]) {
    let scoped = 0;
    let runs = 0;
    let before: string | null = null;
    const distinct = new Set<string>();
    for (const name of names) {
      const scope = scopeText(name, separator);
      if (scope !== "") scoped++;
      if (scope !== before) runs++;
      before = scope;
      distinct.add(scope);
    }
    const contiguous = runs <= 3 * distinct.size + 2;
    if (scoped * 2 >= names.length && distinct.size > 1 && (separator === "/" || contiguous)) return separator;
  }
  return "";
}

interface Scope {
  label: string;
  children: Map<string, Scope>;
  /** Child scopes and operators in order of first appearance. */
  order: (Scope | number)[];
}

function scopeTree(names: string[]): Scope {
  const separator = separatorOf(names);
  const root: Scope = { label: "", children: new Map(), order: [] };
  names.forEach((name, operator) => {
    let scope = root;
    if (separator !== "") {
      for (const part of scopesOf(name, separator)) {
        let child = scope.children.get(part);
        if (child === undefined) {
          child = { label: part, children: new Map(), order: [] };
          scope.children.set(part, child);
          scope.order.push(child);
        }
        scope = child;
      }
    }
    scope.order.push(operator);
  });
  return root;
}

/** A chain of scopes with nothing else in them is one scope. */
function collapsed(scope: Scope): Scope {
  let label = scope.label;
  while (scope.order.length === 1 && typeof scope.order[0] !== "number") {
    scope = scope.order[0];
    label = label === "" ? scope.label : `${label}/${scope.label}`;
  }
  return { ...scope, label };
}

export function buildTree(names: string[]): Tree {
  const groups: Group[] = [];
  const parentOf = new Int32Array(names.length);

  const add = (label: string, parent: number): Group => {
    const depth = parent < 0 ? 0 : groups[parent].depth + 1;
    const group: Group = { id: groups.length, parent, label, depth, members: [], size: 0, first: -1, last: -1 };
    groups.push(group);
    if (parent >= 0) groups[parent].members.push(group.id);
    return group;
  };

  const fill = (group: Group, items: (Scope | number)[]): void => {
    if (items.length > MOST_MEMBERS) {
      // Equal runs, so few of them that the next level has a fair size too.
      const levels = Math.ceil(Math.log(items.length) / Math.log(MOST_MEMBERS));
      const runs = Math.ceil(items.length ** (1 / levels));
      const length = Math.ceil(items.length / runs);
      for (let begin = 0; begin < items.length; begin += length) {
        fill(add("", group.id), items.slice(begin, begin + length));
      }
    } else {
      for (const item of items) {
        if (typeof item === "number") {
          group.members.push(~item);
          parentOf[item] = group.id;
          continue;
        }
        const scope = collapsed(item);
        if (scope.order.length === 1 && typeof scope.order[0] === "number") {
          group.members.push(~scope.order[0]);
          parentOf[scope.order[0]] = group.id;
        } else {
          fill(add(scope.label, group.id), scope.order);
        }
      }
    }
    measure(group);
  };

  const measure = (group: Group): void => {
    group.size = 0;
    group.first = names.length;
    group.last = -1;
    for (const member of group.members) {
      const below = member < 0 ? { size: 1, first: ~member, last: ~member } : groups[member];
      group.size += below.size;
      group.first = Math.min(group.first, below.first);
      group.last = Math.max(group.last, below.last);
    }
  };

  const root = collapsed(scopeTree(names));
  fill(add(root.label, -1), root.order);
  return { groups, parentOf };
}

/** Groups from the root's child down to the one that holds `operator`. */
export function ancestors(tree: Tree, operator: number): number[] {
  const chain: number[] = [];
  for (let id = tree.parentOf[operator]; id > 0; id = tree.groups[id].parent) chain.unshift(id);
  return chain;
}

/** What is drawn: groups that are folded and operators in groups that are not, in network order. */
export function visible(tree: Tree, unfolded: ReadonlySet<number>): number[] {
  const seen: number[] = [];
  const walk = (id: number): void => {
    for (const member of tree.groups[id].members) {
      if (member >= 0 && unfolded.has(member)) walk(member);
      else seen.push(member);
    }
  };
  walk(0);
  return seen;
}

/** What stands for each operator among what is drawn. */
export function standIns(tree: Tree, unfolded: ReadonlySet<number>, operators: number): Int32Array {
  const stand = new Int32Array(operators);
  const walk = (id: number, as: number | null): void => {
    for (const member of tree.groups[id].members) {
      if (member < 0) stand[~member] = as ?? member;
      else walk(member, as ?? (unfolded.has(member) ? null : member));
    }
  };
  walk(0, null);
  return stand;
}

/** Groups to unfold at first: the way to `focus`, then from the top while there is room. */
export function firstUnfolded(tree: Tree, focus: number, room: number): Set<number> {
  const unfolded = new Set<number>(focus >= 0 ? ancestors(tree, focus) : []);
  let drawn = visible(tree, unfolded).length;
  for (const group of [...tree.groups].sort((a, b) => a.depth - b.depth || a.size - b.size)) {
    if (group.id === 0 || unfolded.has(group.id)) continue;
    if (group.parent !== 0 && !unfolded.has(group.parent)) continue;
    if (drawn + group.members.length - 1 > room) continue;
    unfolded.add(group.id);
    drawn += group.members.length - 1;
  }
  return unfolded;
}
