// What is known of the network where no model was given: operators in the order of their records,
// each behind the operators whose tensors it reads where records tell, else behind the one before.

import type { RawReport, Table } from "../data";

export function chainOf(rows: Table): RawReport["network"] {
  const network: RawReport["network"] = { names: [], types: [], producers: [], rows: [] };
  const operators = rows.column("operator");
  const goldenOperators = rows.column("golden_operator");
  const types = rows.column("type");
  const tensors = rows.column("tensor");
  const outputs = rows.column("role");
  const numberOf = new Map<number, number>();
  const inputs: number[][] = [];
  const makers = new Map<number, number>();
  for (let row = 0; row < rows.rows; row++) {
    const name = operators[row] || goldenOperators[row];
    let op = numberOf.get(name);
    if (op === undefined) {
      op = network.names.length;
      numberOf.set(name, op);
      network.names.push(name);
      network.types.push(types[row]);
      network.rows.push([]);
      inputs.push([]);
    }
    if (outputs[row] === 1) {
      network.rows[op].push(row);
      if (tensors[row] > 0 && !makers.has(tensors[row])) makers.set(tensors[row], op);
    } else {
      inputs[op].push(row);
    }
  }
  inputs.forEach((read, op) => {
    const known = read.map((row) => makers.get(tensors[row])).filter((maker) => maker !== undefined && maker < op);
    network.producers.push(known.length > 0 ? [...new Set(known as number[])] : op > 0 ? [op - 1] : []);
    if (network.rows[op].length === 0) network.rows[op] = read;
  });
  return network;
}
