import dagre from "@dagrejs/dagre";

export const NODE_WIDTH = 208;
export const NODE_HEIGHT = 44;

export interface Edge {
  from: number;
  to: number;
  /** Largest error it carries; NaN where nothing was measured. */
  error: number;
  /** Operator that makes the worst of it. */
  operator: number;
}

export interface Placed {
  nodes: Map<number, { x: number; y: number }>;
  paths: string[];
  width: number;
  height: number;
}

/** Edges between what is drawn; parallel ones become one that carries the largest error. */
export function edgesOf(
  producers: number[][],
  stand: Int32Array,
  errorOf: (operator: number) => number,
): Edge[] {
  const edges = new Map<string, Edge>();
  producers.forEach((list, operator) => {
    const to = stand[operator];
    for (const producer of list) {
      const from = stand[producer];
      if (from === to) continue;
      const key = `${from},${to}`;
      const error = errorOf(producer);
      const known = edges.get(key);
      if (known === undefined) edges.set(key, { from, to, error, operator: producer });
      else if (!(error <= known.error) && !Number.isNaN(error)) Object.assign(known, { error, operator: producer });
    }
  });
  return [...edges.values()];
}

function curve(points: { x: number; y: number }[]): string {
  let path = `M${points[0].x.toFixed(1)},${points[0].y.toFixed(1)}`;
  for (let i = 1; i < points.length; i++) {
    const a = points[i - 1];
    const b = points[i];
    const middle = (a.y + b.y) / 2;
    path += `C${a.x.toFixed(1)},${middle.toFixed(1)} ${b.x.toFixed(1)},${middle.toFixed(1)} ${b.x.toFixed(1)},${b.y.toFixed(1)}`;
  }
  return path;
}

/** Layers from top to bottom. Tight trees cost a tenth of the network simplex at equal looks. */
export function layout(drawn: number[], edges: Edge[]): Placed {
  const graph = new dagre.graphlib.Graph();
  graph.setGraph({ rankdir: "TB", nodesep: 26, ranksep: 34, edgesep: 12, ranker: "tight-tree", marginx: 20, marginy: 20 });
  graph.setDefaultEdgeLabel(() => ({}));
  for (const id of drawn) graph.setNode(String(id), { width: NODE_WIDTH, height: NODE_HEIGHT });
  for (const edge of edges) graph.setEdge(String(edge.from), String(edge.to), {});
  dagre.layout(graph);
  const nodes = new Map<number, { x: number; y: number }>();
  for (const id of drawn) {
    const node = graph.node(String(id));
    nodes.set(id, { x: node.x ?? 0, y: node.y ?? 0 });
  }
  const paths = edges.map((edge) => {
    const points = graph.edge({ v: String(edge.from), w: String(edge.to) }).points ?? [];
    return points.length > 0 ? curve(points) : "";
  });
  const size = graph.graph();
  return { nodes, paths, width: size.width ?? 0, height: size.height ?? 0 };
}
