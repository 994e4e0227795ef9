import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";

import { STATES, type Report, type State } from "../data";
import { brief, ending, shorten } from "../format";
import { useText, type Translator } from "../i18n";
import { edgesOf, layout, NODE_HEIGHT, NODE_WIDTH, type Edge, type Placed } from "./layout";
import { ancestors, buildTree, firstUnfolded, standIns, visible, type Group, type Tree } from "./tree";

/** Most nodes drawn at once: layout stays well below the time of a frame or two. */
const MOST_DRAWN = 220;
const AT_FIRST = 70;

interface View {
  x: number;
  y: number;
  scale: number;
}

type Counts = Map<State | "absent", number>;

function groupCounts(report: Report, tree: Tree): Counts[] {
  const counts: Counts[] = tree.groups.map(() => new Map());
  const states = report.network.names.map((_, op) => report.operatorState(op) ?? "absent");
  states.forEach((state, op) => {
    for (let id = tree.parentOf[op]; id >= 0; id = tree.groups[id].parent) {
      counts[id].set(state, (counts[id].get(state) ?? 0) + 1);
    }
  });
  return counts;
}

function worstOf(counts: Counts): State | "absent" {
  return STATES.find((state) => counts.has(state)) ?? "absent";
}

function groupLabel(report: Report, group: Group): string {
  if (group.label !== "") return group.label;
  const end = (op: number) => report.operatorName(op).split("/").filter((part) => part !== "").pop() ?? "";
  return `${shorten(end(group.first), 13)} – ${shorten(end(group.last), 13)}`;
}

/** Line width of an edge: one step per two powers of ten above 1e-7. */
function edgeWidth(error: number): number {
  if (!(error > 0)) return 1;
  return Math.min(6, 1 + Math.max(0, Math.log10(error) + 6) * 0.7);
}

function edgeState(report: Report, edge: Edge): State | "absent" {
  return report.operatorState(edge.operator) ?? "absent";
}

function Bar(props: { counts: Counts; size: number; y: number }) {
  let x = 10;
  const width = NODE_WIDTH - 20;
  const parts = [...STATES, "absent" as const].flatMap((state) => {
    const share = (props.counts.get(state) ?? 0) / props.size;
    if (share === 0) return [];
    const part = <rect class={`fill-${state}`} x={x} y={props.y} width={Math.max(2, share * width)} height={4} />;
    x += share * width;
    return [part];
  });
  return <g>{parts}</g>;
}

function OperatorNode(props: { report: Report; op: number; text: Translator }) {
  const { report, op, text } = props;
  const state = report.operatorState(op);
  const error = report.operatorError(op);
  const rows = report.operatorRows(op).length;
  const sub = rows > 0 ? (Number.isNaN(error) ? "" : brief(error, 3)) : text.t(state === null ? "notDumped" : "fused");
  return (
    <>
      <title>{`${report.operatorName(op)} (${report.operatorType(op)})\n${text.state(state ?? "absent")}`}</title>
      <rect class={`box box-${state ?? "absent"}${rows === 0 ? " hidden-inside" : ""}`} width={NODE_WIDTH} height={NODE_HEIGHT} rx={6} />
      <rect class={`fill-${state ?? "absent"}`} width={6} height={NODE_HEIGHT} rx={3} />
      <text x={14} y={18} class="name">{ending(report.operatorName(op), 27)}</text>
      <text x={14} y={35} class="sub">
        {[shorten(report.operatorType(op), 14), sub].filter(Boolean).join(" · ")}
      </text>
    </>
  );
}

function GroupNode(props: { report: Report; group: Group; counts: Counts; text: Translator }) {
  const { report, group, counts, text } = props;
  const label = groupLabel(report, group);
  return (
    <>
      <title>
        {`${label}\n${[...counts].map(([state, n]) => `${n} ${text.state(state)}`).join(", ")}`}
      </title>
      <rect class="box stack" x={4} y={4} width={NODE_WIDTH} height={NODE_HEIGHT} rx={6} />
      <rect class={`box box-${worstOf(counts)}`} width={NODE_WIDTH} height={NODE_HEIGHT} rx={6} />
      <text x={10} y={17} class="name">{`▸ ${shorten(label, 27)}`}</text>
      <text x={10} y={32} class="sub">{text.t("operatorsCount", group.size)}</text>
      <Bar counts={counts} size={group.size} y={NODE_HEIGHT - 8} />
    </>
  );
}

/** Arrows with the error they carry written beside the first of every source. */
function Edges(props: { report: Report; edges: Edge[]; placed: Placed; labelled: boolean }) {
  const { report, edges, placed } = props;
  const written = props.labelled ? [...new Map(edges.map((edge) => [edge.from, edge]))] : [];
  return (
    <>
      {edges.map((edge, i) => (
        <path key={`${edge.from},${edge.to}`} d={placed.paths[i]} class={`edge line-${edgeState(report, edge)}`}
          style={{ strokeWidth: edgeWidth(edge.error) }} marker-end="url(#arrow)">
          <title>{`${report.operatorName(edge.operator)}: ${brief(edge.error)}`}</title>
        </path>
      ))}
      {written.map(([from, edge]) => {
        const at = placed.nodes.get(from);
        if (!at || !(edge.error > 0)) return null;
        return (
          <text key={`t${from}`} class="carried" x={at.x + 7} y={at.y + NODE_HEIGHT / 2 + 14}>{brief(edge.error, 3)}</text>
        );
      })}
    </>
  );
}

export interface Reveal {
  operator: number;
  /** Grows with every request, so that asking twice works. */
  request: number;
}

export function NetworkView(props: {
  report: Report;
  focus: number;
  reveal: Reveal | null;
  selected: number;
  onSelect: (operator: number) => void;
}) {
  const { report, focus, reveal, selected, onSelect } = props;
  const text = useText();
  const { t } = text;
  const names = useMemo(() => report.network.names.map((_, op) => report.operatorName(op)), [report]);
  const tree = useMemo(() => buildTree(names), [names]);
  const counts = useMemo(() => groupCounts(report, tree), [report, tree]);
  const [unfolded, setUnfolded] = useState<ReadonlySet<number>>(() => firstUnfolded(tree, focus, AT_FIRST));
  const [view, setView] = useState<View>({ x: 0, y: 0, scale: 1 });
  const [query, setQuery] = useState("");
  const [found, setFound] = useState<{ at: number; of: number } | null>(null);
  const svg = useRef<SVGSVGElement>(null);
  const centreOn = useRef<{ id: number; operator: number } | null>(null);
  const drag = useRef<{ x: number; y: number; view: View; moved: boolean } | null>(null);
  const [current, setCurrent] = useState<number | null>(null);

  const drawn = useMemo(() => visible(tree, unfolded), [tree, unfolded]);
  const edges = useMemo(() => {
    const stand = standIns(tree, unfolded, names.length);
    return edgesOf(report.network.producers, stand, (op) => report.operatorError(op));
  }, [tree, unfolded, report]);
  const placed = useMemo(() => layout(drawn, edges), [drawn, edges]);

  const size = () => {
    const box = svg.current?.getBoundingClientRect();
    return { width: box?.width || 800, height: box?.height || 500 };
  };
  const fit = () => {
    const { width, height } = size();
    const scale = Math.min(1.2, Math.max(0.05, Math.min(width / placed.width, height / placed.height)));
    setView({ scale, x: (width - placed.width * scale) / 2, y: (height - placed.height * scale) / 2 });
  };
  const centre = (id: number) => {
    const at = placed.nodes.get(id);
    if (at === undefined) return fit();
    const { width, height } = size();
    setView((v) => {
      const scale = Math.max(0.8, v.scale);
      return { scale, x: width / 2 - at.x * scale, y: height / 2 - at.y * scale };
    });
  };

  /** Unfolds, folding what is farthest from `keep` when there would be too many nodes. */
  const unfold = (wanted: number[], keep: number) => {
    const next = new Set(unfolded);
    wanted.forEach((id) => next.add(id));
    const needed = new Set(keep >= 0 ? ancestors(tree, keep) : []);
    wanted.forEach((id) => {
      for (let up = id; up > 0; up = tree.groups[up].parent) needed.add(up);
    });
    const spare = [...next].filter((id) => !needed.has(id)).sort((a, b) => tree.groups[b].depth - tree.groups[a].depth);
    while (visible(tree, next).length > MOST_DRAWN && spare.length > 0) next.delete(spare.shift()!);
    setUnfolded(next);
  };
  const fold = (id: number) => {
    if (id <= 0) return;
    const next = new Set(unfolded);
    next.delete(id);
    setUnfolded(next);
    setCurrent(id);
    centreOn.current = { id, operator: -1 };
  };
  const show = (operator: number) => {
    centreOn.current = { id: ~operator, operator };
    setCurrent(~operator);
    if (placed.nodes.has(~operator)) {
      centre(~operator);
      centreOn.current = null;
    } else {
      unfold(ancestors(tree, operator), operator);
    }
  };
  const activate = (id: number) => {
    setCurrent(id);
    if (id < 0) onSelect(~id);
  };
  const toggle = (id: number) => {
    if (id >= 0) {
      centreOn.current = { id: tree.groups[id].members[0], operator: -1 };
      unfold([id], -1);
      setCurrent(tree.groups[id].members[0]);
    } else {
      fold(tree.parentOf[~id]);
    }
  };

  useLayoutEffect(() => {
    const wanted = centreOn.current;
    centreOn.current = null;
    if (wanted !== null) centre(wanted.id);
  }, [placed]);
  useEffect(() => {
    if (focus >= 0) centre(~focus);
    else fit();
  }, []);
  useEffect(() => {
    if (reveal !== null) show(reveal.operator);
  }, [reveal]);

  const zoom = (factor: number, x?: number, y?: number) => {
    const { width, height } = size();
    const px = x ?? width / 2;
    const py = y ?? height / 2;
    setView((v) => {
      const scale = Math.min(3, Math.max(0.04, v.scale * factor));
      return { scale, x: px - ((px - v.x) * scale) / v.scale, y: py - ((py - v.y) * scale) / v.scale };
    });
  };
  useEffect(() => {
    const element = svg.current;
    if (!element) return;
    // Only a listener that is not passive may keep the page from scrolling.
    const onWheel = (event: WheelEvent) => {
      event.preventDefault();
      const box = element.getBoundingClientRect();
      zoom(Math.exp(-event.deltaY * 0.0015), event.clientX - box.left, event.clientY - box.top);
    };
    element.addEventListener("wheel", onWheel, { passive: false });
    return () => element.removeEventListener("wheel", onWheel);
  }, []);

  const onPointerDown = (event: PointerEvent) => {
    drag.current = { x: event.clientX, y: event.clientY, view, moved: false };
  };
  const onPointerMove = (event: PointerEvent) => {
    const from = drag.current;
    if (from === null) return;
    const dx = event.clientX - from.x;
    const dy = event.clientY - from.y;
    if (!from.moved && Math.hypot(dx, dy) < 4) return;
    if (!from.moved) svg.current?.setPointerCapture(event.pointerId);
    from.moved = true;
    setView({ ...from.view, x: from.view.x + dx, y: from.view.y + dy });
  };
  const onPointerUp = () => {
    drag.current = null;
  };

  const search = (event: SubmitEvent) => {
    event.preventDefault();
    const wanted = query.trim().toLowerCase();
    if (wanted === "") return setFound(null);
    const hits = names.flatMap((name, op) => (name.toLowerCase().includes(wanted) ? [op] : []));
    if (hits.length === 0) return setFound({ at: 0, of: 0 });
    const before = hits.indexOf(current !== null && current < 0 ? ~current : -1);
    const at = (before + 1) % hits.length;
    setFound({ at: at + 1, of: hits.length });
    show(hits[at]);
    onSelect(hits[at]);
  };

  const onKeyDown = (event: KeyboardEvent) => {
    const step = 60;
    const pan = { ArrowLeft: [step, 0], ArrowRight: [-step, 0], ArrowUp: [0, step], ArrowDown: [0, -step] }[event.key];
    if (pan) setView((v) => ({ ...v, x: v.x + pan[0], y: v.y + pan[1] }));
    else if (event.key === "+" || event.key === "=") zoom(1.25);
    else if (event.key === "-") zoom(0.8);
    else if (event.key === "0") fit();
    else if (event.key === "[" || event.key === "]") {
      const at = current === null ? -1 : drawn.indexOf(current);
      const next = drawn[Math.min(drawn.length - 1, Math.max(0, at + (event.key === "]" ? 1 : -1)))];
      activate(next);
      centre(next);
    } else if (event.key === "Enter" && current !== null) {
      if (current >= 0) toggle(current);
      else onSelect(~current);
    } else if (event.key === "Backspace" && current !== null) {
      fold(current >= 0 ? tree.groups[current].parent : tree.parentOf[~current]);
    } else return;
    event.preventDefault();
  };

  const chain = current === null ? [] : current < 0 ? ancestors(tree, ~current) : ancestorsOfGroup(tree, current);
  const present = counts[0];
  const labelled = view.scale > 0.7 && edges.length < 300;

  // Moving and zooming change the transform around it only.
  const drawing = useMemo(() => {
    const isOn = (id: number) => id === current || (id < 0 && ~id === selected);
    const onNode = (id: number) => {
      if (!drag.current?.moved) activate(id);
    };
    return (
      <>
        <Edges report={report} edges={edges} placed={placed} labelled={labelled} />
        {drawn.map((id) => {
          const at = placed.nodes.get(id)!;
          return (
            <g key={id} class={`node${isOn(id) ? " on" : ""}`} data-node={id < 0 ? report.operatorName(~id) : undefined}
              data-group={id >= 0 ? id : undefined}
              transform={`translate(${at.x - NODE_WIDTH / 2},${at.y - NODE_HEIGHT / 2})`}
              onClick={() => onNode(id)} onDblClick={() => toggle(id)}>
              {id < 0
                ? <OperatorNode report={report} op={~id} text={text} />
                : <GroupNode report={report} group={tree.groups[id]} counts={counts[id]} text={text} />}
            </g>
          );
        })}
      </>
    );
  }, [placed, selected, current, labelled, text, unfolded]);

  if (names.length === 0) {
    return (
      <section id="graph" aria-labelledby="graph-title">
        <h2 id="graph-title">{t("graph")}</h2>
        <p class="empty">{t("noOperators")}</p>
      </section>
    );
  }
  return (
    <section id="graph" aria-labelledby="graph-title">
      <h2 id="graph-title">{t("graph")}</h2>
      {report.chained && <p class="hint">{t("chained")}</p>}
      <div class="tools">
        <form onSubmit={search} role="search">
          <input type="search" value={query} placeholder={t("find")} aria-label={t("find")}
            onInput={(e) => { setQuery(e.currentTarget.value); setFound(null); }} />
          <output>{found === null ? "" : found.of === 0 ? t("noMatch") : `${found.at}/${found.of}`}</output>
        </form>
        <button type="button" onClick={() => zoom(1.25)} aria-label={t("zoomIn")}>+</button>
        <button type="button" onClick={() => zoom(0.8)} aria-label={t("zoomOut")}>−</button>
        <button type="button" onClick={fit}>{t("fit")}</button>
        {tree.groups.length > 1 && (
          <button type="button" onClick={() => { setUnfolded(new Set()); setCurrent(null); centreOn.current = { id: NaN, operator: -1 }; }}>
            {t("foldAll")}
          </button>
        )}
        {focus >= 0 && <button type="button" onClick={() => show(focus)}>{t("toCulprit")}</button>}
      </div>
      <nav class="crumbs" aria-label={t("fold")}>
        {chain.map((id) => (
          <button type="button" onClick={() => fold(id)} title={t("fold")}>
            ▾ {shorten(groupLabel(report, tree.groups[id]), 40)}
          </button>
        ))}
      </nav>
      <svg ref={svg} class="network" tabindex={0} role="application" aria-label={t("graph")}
        onKeyDown={onKeyDown} onPointerDown={onPointerDown} onPointerMove={onPointerMove}
        onPointerUp={onPointerUp} onPointerCancel={onPointerUp}>
        <defs>
          <marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="9" markerHeight="9" markerUnits="userSpaceOnUse" orient="auto">
            <path d="M0,0L8,4L0,8z" class="arrow" />
          </marker>
        </defs>
        <g transform={`translate(${view.x},${view.y}) scale(${view.scale})`}>{drawing}</g>
      </svg>
      <ul class="legend">
        {STATES.filter((state) => present.has(state)).map((state) => (
          <li><span class={`dot back-${state}`} /> {text.state(state)}</li>
        ))}
        <li class="muted">{t("edgeLegend")}</li>
      </ul>
      <p class="hint screen">{t("graphHelp")}</p>
    </section>
  );
}

function ancestorsOfGroup(tree: Tree, group: number): number[] {
  const chain: number[] = [];
  for (let id = tree.groups[group].parent; id > 0; id = tree.groups[id].parent) chain.unshift(id);
  return chain;
}
