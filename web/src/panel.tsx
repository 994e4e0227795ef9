import { advice } from "./advice";
import { toNumber, type Place, type Report, type Slice } from "./data";
import { brief, coordinates, count, percent } from "./format";
import { useText, type TextKey } from "./i18n";
import { Chip, placeOf } from "./operators";
import { Said } from "./said";

const MOST_NEIGHBOURS = 12;
const LEAST_SHARE = 0.001;

function Bars(props: { values: number[]; labels: string[]; title: string }) {
  const { values, labels } = props;
  // Counts span many powers of ten: heights are logarithms, so that one wrong element shows.
  const height = (value: number) => (value > 0 ? 6 + (66 * Math.log10(value + 1)) / Math.log10(Math.max(...values) + 1) : 0);
  const width = Math.min(34, 360 / values.length);
  return (
    <svg class="bars" viewBox={`0 0 ${width * values.length} 104`} role="img" aria-label={props.title}>
      {values.map((value, i) => (
        <g>
          <title>{`${labels[i]}: ${count(value)}`}</title>
          <rect class={i === 0 ? "bar exact" : "bar"} x={i * width + 1} y={86 - height(value)} width={width - 2} height={height(value)} />
          <rect class="hit" x={i * width} y={0} width={width} height={100} />
          {(values.length < 12 || i % 2 === 0) && (
            <text x={i * width + width / 2} y={99}>{labels[i]}</text>
          )}
        </g>
      ))}
    </svg>
  );
}

/** Bucket k > 0 holds distances in [2^(k-1), 2^k). */
function ulpLabel(bucket: number): string {
  if (bucket < 2) return String(bucket);
  const low = 2 ** (bucket - 1);
  return low < 1024 ? `${low}` : `2^${bucket - 1}`;
}

function sliceText(slice: Slice): string {
  return slice.count > 1 ? `${slice.first}–${slice.first + slice.count - 1}` : String(slice.first);
}

function AxisBar(props: { axis: Place["axes"][number]; number: number }) {
  const { t } = useText();
  const { axis } = props;
  // A share too small to read says nothing; the largest is always there.
  const slices = [...axis.top, ...(axis.block ? [axis.block] : [])].filter((slice, i) => i === 0 || toNumber(slice.share) >= LEAST_SHARE);
  return (
    <div class="axis">
      <div class="axis-title">{t("axis", props.number, count(axis.extent))}</div>
      <svg viewBox="0 0 360 16" preserveAspectRatio="none" role="img" aria-label={t("axis", props.number, axis.extent)}>
        <rect class="track" width={360} height={16} />
        {slices.map((slice) => (
          <rect class="share" x={(slice.first / axis.extent) * 360} width={Math.max(2, (slice.count / axis.extent) * 360)}
            height={16} style={{ opacity: 0.25 + 0.75 * Math.min(1, Math.max(0, toNumber(slice.share))) }}>
            <title>{`${sliceText(slice)}: ${percent(toNumber(slice.share))}`}</title>
          </rect>
        ))}
      </svg>
      <ul class="slices">
        {slices.map((slice) => (
          <li><b>{sliceText(slice)}</b> {percent(toNumber(slice.share))}</li>
        ))}
      </ul>
    </div>
  );
}

const judgedNumbers: [TextKey, string][] = [
  ["nOwn", "q_own"],
  ["nElement", "z"],
  ["nDepth", "q_cum"],
  ["nRelative", "relative"],
  ["nPredicted", "depth"],
  ["nOwnError", "own"],
  ["nOwnBudget", "rho"],
  ["nInherited", "inherited"],
  ["nGain", "gain"],
  ["nSelf", "self_check"],
  ["nBias", "bias"],
  ["nFlushed", "flushed"],
  ["nNewClasses", "new_classes"],
  ["nOldClasses", "inherited_classes"],
  ["nSampled", "sampled"],
];

const measuredNumbers: [TextKey, string][] = [
  ["nL2", "relative_l2"],
  ["nCosine", "cosine"],
  ["nRmse", "rmse"],
  ["nMean", "mean_abs"],
  ["nMeanBias", "mean_bias"],
  ["nMaxAbs", "max_abs"],
  ["nMaxRel", "max_relative"],
  ["nKl", "kl"],
  ["nUlp", "ulp_max"],
  ["nElements", "count"],
  ["nEqual", "equal_bits"],
  ["nWithin1", "within_1e3"],
  ["nWithin5", "within_5e3"],
  ["nMismatch", "class_mismatches"],
];

/** Numbers that are 0 on almost every row and say nothing then. */
const quiet = new Set(["flushed", "new_classes", "inherited_classes", "sampled", "class_mismatches"]);

function Numbers(props: { report: Report; row: number }) {
  const { report, row } = props;
  const { t } = useText();
  const line = (key: TextKey, value: string) => (
    <tr><th scope="row">{t(key)}</th><td>{value}</td></tr>
  );
  const shown = (names: [TextKey, string][]) =>
    names.flatMap(([key, name]) => {
      const value = report.rows.number(name, row);
      return Number.isNaN(value) || (value === 0 && quiet.has(name)) ? [] : [line(key, brief(value, 5))];
    });
  const error = report.rows.number("relative_l2", row);
  return (
    <table class="numbers">
      <tbody>
        {shown(judgedNumbers)}
        {shown(measuredNumbers)}
        {error > 0 && Number.isFinite(error) && line("nSqnr", brief(-20 * Math.log10(error), 4))}
        {report.metrics.map((metric) => (
          <tr><th scope="row">{metric.name}</th><td>{brief(metric.values[row], 6)}</td></tr>
        ))}
      </tbody>
    </table>
  );
}

const sideNumbers: [TextKey, string][] = [
  ["sMin", "min"],
  ["sMax", "max"],
  ["sMean", "mean"],
  ["sStd", "std"],
  ["sNan", "nan"],
  ["sInf", "inf"],
  ["sZero", "zero"],
  ["sSubnormal", "subnormal"],
  ["sSaturated", "saturated"],
];

function Sides(props: { report: Report; row: number }) {
  const { report, row } = props;
  const { t } = useText();
  const value = (side: string, name: string) => brief(report.rows.number(`${side}_${name}`, row), 5);
  return (
    <table class="numbers sides">
      <thead>
        <tr><td /><th scope="col">{t("target")}</th><th scope="col">{t("golden")}</th></tr>
      </thead>
      <tbody>
        <tr>
          <th scope="row">{t("sDtype")}</th>
          <td>{report.rows.text("target_dtype", row)}</td>
          <td>{report.rows.text("golden_dtype", row)}</td>
        </tr>
        <tr>
          <th scope="row">{t("colShape")}</th>
          <td>{report.rows.text("target_shape", row)}</td>
          <td>{report.rows.text("golden_shape", row)}</td>
        </tr>
        {sideNumbers.map(([key, name]) => (
          <tr><th scope="row">{t(key)}</th><td>{value("target", name)}</td><td>{value("golden", name)}</td></tr>
        ))}
      </tbody>
    </table>
  );
}

function shapeOf(text: string): number[] {
  return text === "" ? [] : text.split(",").map(Number);
}

function WorstElement(props: { report: Report; row: number }) {
  const { report, row } = props;
  const { t } = useText();
  const judged = !Number.isNaN(report.rows.number("worst_index", row));
  const names = judged
    ? { index: "worst_index", golden: "worst_golden", target: "worst_target" }
    : { index: "max_abs_index", golden: "max_abs_golden", target: "max_abs_target" };
  const index = report.rows.number(names.index, row);
  if (Number.isNaN(index)) return null;
  const shape = shapeOf(report.rows.text("golden_shape", row));
  const at = shape.length > 0 ? `[${coordinates(index, shape).join(",")}]` : String(index);
  const expected = report.rows.number("worst_expected", row);
  return (
    <p class="element">
      {t("worstElement")} <b>{at}</b>: {t("target").toLowerCase()} {brief(report.rows.number(names.target, row), 6)},{" "}
      {judged && !Number.isNaN(expected) && <>{t("expected")} {brief(expected, 6)}, </>}
      {t("golden").toLowerCase()} {brief(report.rows.number(names.golden, row), 6)}
    </p>
  );
}

function Neighbours(props: { report: Report; operator: number; onOperator: (operator: number) => void }) {
  const { report, operator, onOperator } = props;
  const { t } = useText();
  const list = (title: string, operators: number[]) =>
    operators.length > 0 && (
      <div>
        <h4>{title}</h4>
        <ul class="links">
          {operators.slice(0, MOST_NEIGHBOURS).map((op) => (
            <li>
              <button type="button" onClick={() => onOperator(op)}>{report.operatorName(op)}</button>{" "}
              <span class="muted">{report.operatorType(op)} {brief(report.operatorError(op), 3)}</span>{" "}
              <Chip state={report.operatorState(op) ?? "absent"} />
            </li>
          ))}
          {operators.length > MOST_NEIGHBOURS && <li class="muted">{t("more", operators.length - MOST_NEIGHBOURS)}</li>}
        </ul>
      </div>
    );
  return (
    <>
      {list(t("reads"), report.network.producers[operator])}
      {list(t("readBy"), report.consumers[operator])}
    </>
  );
}

function Found(props: { report: Report; row: number }) {
  const { report, row } = props;
  const text = useText();
  const { t } = text;
  const sentence = report.rows.text("sentence", row) || report.rows.text("reason", row);
  const pairs = advice(report, row);
  const explanations = report.raw.explanations[row] ?? [];
  const place: Place | undefined = report.raw.places[row];
  const cause = report.rows.text("cause", row);
  const tier = report.rows.text("tier", row);
  return (
    <>
      <h3>{t("whatHappened")}</h3>
      {sentence !== "" && <p><Said text={sentence} /></p>}
      <p class="muted">
        {cause !== "" && cause !== "none" && <>{t("cause")}: {text.cause(cause)} · </>}
        {tier !== "" && <>{t("tier")}: {text.tier(tier)}</>}
        {report.rows.number("statistics_only", row) === 1 && <> · {t("statisticsOnly")}</>}
      </p>
      {!sentence.includes("worst element") && <WorstElement report={report} row={row} />}
      {pairs.length > 0 && (
        <div class="advice">
          <h3>{t("fix")}</h3>
          {pairs.map((pair) => <p>{text.pick(pair)}</p>)}
        </div>
      )}
      {explanations.length > 0 && (
        <>
          <h3>{t("explanations")}</h3>
          <ol class="explanations">
            {explanations.map((explanation) => (
              <li>
                <Said text={explanation.sentence} />
                {!explanation.sentence.includes("(residual ") && (
                  <div class="muted">{t("explains", percent(toNumber(explanation.explained)), brief(toNumber(explanation.residual), 3))}</div>
                )}
              </li>
            ))}
          </ol>
        </>
      )}
      {place && (
        <>
          <h3>{t("where")}</h3>
          <p>{place.sentence ? <Said text={place.sentence} /> : t("evenly")}</p>
          {place.first_bad_index.length > 0 && (
            <p class="muted">{t("firstBad")} [{place.first_bad_index.join(",")}]</p>
          )}
          {place.axes.map((axis, i) => axis.extent > 1 && <AxisBar axis={axis} number={i} />)}
        </>
      )}
    </>
  );
}

function Histograms(props: { report: Report; row: number }) {
  const { report, row } = props;
  const { t } = useText();
  const histogram = report.raw.histograms[row];
  const profile = report.raw.profiles[row];
  return (
    <>
      {histogram && (
        <>
          <h3>{t("histogram", report.rows.text("ulp_dtype", row))}</h3>
          <Bars values={histogram} labels={histogram.map((_, i) => ulpLabel(i))} title={t("histogram", "")} />
          <p class="hint">{t("histogramHelp")}</p>
        </>
      )}
      {profile && (
        <>
          <h3>{t("profile")}</h3>
          <table class="numbers">
            <tbody>
              {profile.map(([exponent, members, largest]) => (
                <tr>
                  <th scope="row">{exponent <= -2000 ? "0" : `2^${exponent}`}</th>
                  <td class="muted">{count(members)}</td>
                  <td>{brief(toNumber(largest))}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </>
      )}
    </>
  );
}

export function Panel(props: {
  report: Report;
  row: number;
  operator: number;
  onOperator: (operator: number) => void;
  onRow: (row: number) => void;
  onReveal: (operator: number) => void;
  onClose: () => void;
}) {
  const { report, row, operator } = props;
  const text = useText();
  const { t } = text;
  if (row < 0 && operator < 0) {
    return <aside class="panel" aria-label={t("whatHappened")}><p class="empty">{t("nothingSelected")}</p></aside>;
  }
  const title = row >= 0 ? report.rowTitle(row) : report.operatorName(operator);
  const type = row >= 0 ? report.rows.text("type", row) : report.operatorType(operator);
  const others = operator >= 0 ? report.operatorRows(operator) : [];
  const group = report.raw.groups[row] ?? [];
  const golden = row >= 0 ? report.rows.text("golden_operator", row) : "";
  return (
    <aside class="panel open" aria-label={title}>
      <header>
        <div>
          <Chip state={row >= 0 ? report.states[row] : "absent"} /> <span class="muted">{type}</span>
          <h2 class="title">{title}</h2>
          {row >= 0 && (
            <div class="muted">
              {[report.rows.text("step", row), placeOf(report, row), report.rows.text("tensor", row)].filter(Boolean).join(" · ")}
            </div>
          )}
          {golden !== "" && golden !== title && <div class="muted">{t("golden")}: {golden}</div>}
        </div>
        <button type="button" class="close" onClick={props.onClose} aria-label={t("close")}>×</button>
      </header>
      <div class="tools">
        {operator >= 0 && <button type="button" onClick={() => props.onReveal(operator)}>{t("showInGraph")}</button>}
        {others.length > 1 && (
          <select aria-label={t("colTensor")} value={row} onChange={(e) => props.onRow(Number(e.currentTarget.value))}>
            {others.map((other) => (
              <option value={other}>
                {`${report.rows.text("step", other)} ${t("outputs")} ${report.rows.number("index", other)} ${report.rows.text("tensor", other)}`}
              </option>
            ))}
          </select>
        )}
      </div>
      {row >= 0 && report.tabled && (
        <>
          <Found report={report} row={row} />
          {!Number.isNaN(report.rows.number("count", row)) && (
            <>
              <Histograms report={report} row={row} />
              <h3>{t("numbers")}</h3>
              <Numbers report={report} row={row} />
              <h3>{t("sides")}</h3>
              <Sides report={report} row={row} />
            </>
          )}
        </>
      )}
      {group.length > 0 && (
        <>
          <h3>{t("group")}</h3>
          <ul class="plain">{group.map((member) => <li>{member}</li>)}</ul>
        </>
      )}
      {operator >= 0 && (
        <>
          <h3>{t("neighbours")}</h3>
          <Neighbours report={report} operator={operator} onOperator={props.onOperator} />
        </>
      )}
      {row >= 0 && (
        <>
          <h3>{t("files")}</h3>
          <dl class="files">
            <dt>{t("target")}</dt><dd>{report.rows.text("target_file", row)}</dd>
            <dt>{t("golden")}</dt><dd>{report.rows.text("golden_file", row)}</dd>
          </dl>
        </>
      )}
    </aside>
  );
}
