// What report/page_data.cpp writes, and the model the views read. Rows are tensors in execution
// order; a column is one array, or {"all": v} where every row has the same value. The data come in
// pieces: the first holds what the views show at once, later ones are joined to it.

import { chainOf } from "./graph/chain";
import { SearchIndex } from "./search";

export type Cell = number | null | "inf" | "-inf";
export type Column = Cell[] | { all: Cell };

export interface Explanation {
  kind: string;
  sentence: string;
  residual: number | string;
  explained: number | string;
}

export interface Slice {
  first: number;
  count: number;
  share: number | string;
}

export interface Place {
  sentence: string;
  first_bad: number | null;
  first_bad_index: number[];
  axes: { extent: number; top: Slice[]; block: Slice | null }[];
}

export interface RangeNote {
  name: string;
  value: number | string;
  ratio: number | string;
  sentence: string;
}

export interface Finding {
  kind: string;
  sentence: string;
  value: number | string;
  operators: number;
  assumed: boolean;
}

export interface Verdict {
  outcome: "pass" | "fail" | "inconclusive";
  sentence: string;
  findings: Finding[];
  first_divergence: number[];
  missing_outputs: number;
  inputs_differ: boolean;
}

export interface Totals {
  [state: string]: number;
}

export interface Run {
  target: { path: string; kind: string };
  golden: { path: string; kind: string };
  rule: string;
  verdict: Verdict | null;
  overflow: {
    sentence: string;
    path: string[];
    headroom: RangeNote[];
    constants: RangeNote[];
  } | null;
  notes: string[];
  interrupted: boolean;
  bytes_read: number;
  elapsed_s: number;
  totals: { golden: Totals; target: Totals };
}

export interface RawReport {
  kind: "report";
  version: string;
  run: Run;
  strings: string[];
  rows: number;
  columns: Record<string, Column>;
  metrics: { name: string; values: Column }[];
  histograms: (number[] | null)[];
  explanations: Record<string, Explanation[]>;
  places: Record<string, Place>;
  profiles: Record<string, [number, number, number | string][]>;
  groups: Record<string, string[]>;
  network: { names: number[]; types: number[]; producers: number[][]; rows: number[][] };
  ledger: { rows: number; columns: Record<string, Column>; left_out: number };
}

/** Labels of a judged run, then the outcomes of limits, then what could not be compared. */
export const STATES = [
  "culprit",
  "drift",
  "victim",
  "fail",
  "broken",
  "watch",
  "unjudged",
  "healthy",
  "pass",
] as const;
export type State = (typeof STATES)[number];

export const BAD: ReadonlySet<State> = new Set<State>(["culprit", "drift", "victim", "fail", "broken"]);

export function toNumber(value: number | string | null | undefined): number {
  if (typeof value === "number") return value;
  if (value === "inf") return Infinity;
  if (value === "-inf") return -Infinity;
  return NaN;
}

function decode(column: Column, rows: number): Float64Array {
  const values = new Float64Array(rows);
  if (!Array.isArray(column)) return values.fill(toNumber(column.all));
  for (let i = 0; i < rows; i++) {
    const cell = column[i];
    values[i] = typeof cell === "number" ? cell : toNumber(cell);
  }
  return values;
}

/** Columns that are decoded when they are first asked for; one that is not there is all NaN. */
export class Table {
  private decoded = new Map<string, Float64Array>();
  private missing: Float64Array | null = null;

  constructor(
    readonly rows: number,
    private columns: Record<string, Column>,
    private strings: string[],
  ) {}

  column(name: string): Float64Array {
    let values = this.decoded.get(name);
    if (values !== undefined) return values;
    if (!Object.hasOwn(this.columns, name)) return (this.missing ??= new Float64Array(this.rows).fill(NaN));
    values = decode(this.columns[name], this.rows);
    this.decoded.set(name, values);
    return values;
  }

  number(name: string, row: number): number {
    return this.column(name)[row];
  }

  text(name: string, row: number): string {
    return this.strings[this.column(name)[row]] ?? "";
  }
}

/** What the first piece may lack. */
const LATER = {
  metrics: [],
  groups: {},
  histograms: [],
  profiles: {},
  network: { names: [], types: [], producers: [], rows: [] },
  ledger: { rows: 0, columns: {}, left_out: 0 },
};

export class Report {
  readonly raw: RawReport;
  readonly rows: Table;
  readonly states: State[];
  readonly steps: string[];
  readonly judged: boolean;
  ledger!: Table;
  metrics: { name: string; values: Float64Array }[] = [];
  network: RawReport["network"] = LATER.network;
  /** Operators by their records' order, because the result has no network. */
  chained = false;
  /** Operator of the network that made each row, -1 for none. */
  operatorOf: Int32Array;
  consumers: number[][] = [];
  /** Row of the fused operator that an operator without rows is part of, -1 for none. */
  fusedInto: Int32Array = new Int32Array(0);
  /** Whether the piece with the table and the network is there. */
  tabled = false;
  private index: SearchIndex | null = null;

  constructor(first: Partial<RawReport>) {
    const raw = { ...LATER, ...first } as RawReport;
    this.raw = raw;
    this.rows = new Table(raw.rows, raw.columns, raw.strings);
    this.judged = raw.run.verdict !== null;
    const labels = this.rows.column("label");
    const passed = this.rows.column("passed");
    const measured = this.rows.column("measured");
    this.states = Array.from({ length: raw.rows }, (_, i) => {
      if (!measured[i]) return "broken";
      const label = raw.strings[labels[i]];
      if (label && (label !== "unjudged" || passed[i])) return label as State;
      return passed[i] ? "pass" : "fail";
    });
    const steps = new Set(this.rows.column("step"));
    this.steps = [...steps].map((step) => raw.strings[step] ?? "");
    this.operatorOf = new Int32Array(raw.rows).fill(-1);
    this.take(first);
  }

  /** Adds a later piece of the data. */
  join(piece: Partial<RawReport>): void {
    const { raw } = this;
    const { columns, strings, ...others } = piece;
    Object.assign(raw.columns, columns);
    for (const text of strings ?? []) raw.strings.push(text);
    Object.assign(raw, others);
    this.take(piece);
  }

  /** What follows from parts that are new. */
  private take(piece: Partial<RawReport>): void {
    const { raw } = this;
    this.ledger = new Table(raw.ledger.rows, raw.ledger.columns, raw.strings);
    if (piece.metrics) this.metrics = raw.metrics.map((m) => ({ name: m.name, values: decode(m.values, raw.rows) }));
    if (piece.network) {
      this.link();
      this.tabled = true;
    }
  }

  private link(): void {
    const { raw } = this;
    this.chained = raw.network.names.length === 0;
    this.network = this.chained ? chainOf(this.rows) : raw.network;
    const { names, producers, rows } = this.network;
    this.consumers = names.map(() => []);
    rows.forEach((made, op) => made.forEach((row) => (this.operatorOf[row] = op)));
    producers.forEach((from, op) => from.forEach((p) => this.consumers[p].push(op)));
    this.fusedInto = this.findFused();
  }

  private findFused(): Int32Array {
    const fused = new Int32Array(this.network.names.length).fill(-1);
    const hidden = new Map<string, number>();
    this.network.rows.forEach((rows, op) => rows.length === 0 && hidden.set(this.operatorName(op), op));
    for (const [row, members] of Object.entries(this.raw.groups)) {
      for (const member of members) {
        const op = hidden.get(member);
        if (op !== undefined) fused[op] = Number(row);
      }
    }
    return fused;
  }

  /** Whether any record tells its operator's type. */
  get typed(): boolean {
    return this.rows.column("type").some((type) => type > 0);
  }

  get run(): Run {
    return this.raw.run;
  }

  get operators(): number {
    return this.network.names.length;
  }

  operatorName(op: number): string {
    return this.raw.strings[this.network.names[op]];
  }

  operatorType(op: number): string {
    return this.raw.strings[this.network.types[op]];
  }

  operatorRows(op: number): number[] {
    return this.network.rows[op];
  }

  /** The worst state of what an operator or the one it is fused into made; null for no row. */
  operatorState(op: number): State | null {
    if (this.fusedInto[op] >= 0) return this.states[this.fusedInto[op]];
    return worst(this.operatorRows(op).map((row) => this.states[row]));
  }

  /** What the operator is called in the target: rows of fused operators bear its name. */
  rowTitle(row: number): string {
    return this.rows.text("operator", row) || this.rows.text("golden_operator", row);
  }

  /**
   * Measured error of a row: against the golden's size, as the judge scales it where it did. A NaN
   * or Inf on one side only is beyond any error of numbers.
   */
  error(row: number): number {
    if (this.rows.number("class_mismatches", row) > 0) return Infinity;
    const relative = this.rows.number("relative", row);
    return Number.isNaN(relative) ? this.rows.number("relative_l2", row) : relative;
  }

  /** Own error in budgets: the norm or the worst element, whichever speaks louder. */
  budget(row: number): number {
    const norm = this.rows.number("q_own", row);
    const element = this.rows.number("z", row);
    if (Number.isNaN(norm)) return element;
    return Number.isNaN(element) ? norm : Math.max(norm, element);
  }

  operatorError(op: number): number {
    let largest = NaN;
    for (const row of this.operatorRows(op)) {
      const error = this.error(row);
      if (!(error <= largest)) largest = Number.isNaN(error) ? largest : error;
    }
    return largest;
  }

  /** What the search looks in: names, types, tensors, steps and members of fused operators. */
  get search(): SearchIndex {
    if (this.index === null) {
      const columns = ["operator", "golden_operator", "type", "tensor", "step"].map((name) => this.rows.column(name));
      const members = Object.entries(this.raw.groups).map(([row, names]) => [Number(row), names.join("\n").toLowerCase()] as const);
      this.index = new SearchIndex(this.raw.strings, columns, new Map(members));
    }
    return this.index;
  }
}

export function worst(states: State[]): State | null {
  let best: State | null = null;
  for (const state of states) {
    if (best === null || STATES.indexOf(state) < STATES.indexOf(best)) best = state;
  }
  return best;
}
