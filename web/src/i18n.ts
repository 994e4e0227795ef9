import { createContext } from "preact";
import { useContext } from "preact/hooks";

export type Language = "en" | "zh";

const texts = {
  // head
  agree: ["The runs agree", "两次运行一致"],
  differ: ["The runs differ", "两次运行不一致"],
  inconclusive: ["No verdict", "无法判定"],
  theme: ["Light or dark", "浅色 / 深色"],
  help: ["Keys", "快捷键"],
  close: ["Close", "关闭"],
  // sections
  summary: ["Summary", "概要"],
  curve: ["Drift along the network", "误差沿网络的变化"],
  graph: ["Network", "网络图"],
  operators: ["Operators", "算子"],
  range: ["Overflow and headroom", "溢出与数值余量"],
  ledger: ["Ledger", "文件清单"],
  // summary
  target: ["Target", "被测"],
  golden: ["Golden", "基准"],
  rule: ["Rule", "判据"],
  findings: ["Findings about the run", "整体发现"],
  assumed: ["declared by the user", "用户声明"],
  notes: ["Remarks", "备注"],
  first: ["First divergence", "首个分歧算子"],
  firstFail: ["First over a limit", "首个超限张量"],
  tensorsCompared: ["{0} tensors compared", "已比较 {0} 个张量"],
  interrupted: ["Interrupted: what was done is shown", "运行被中断:仅显示已完成部分"],
  inputsDiffer: ["The two runs were not given the same inputs", "两次运行的输入不同"],
  missingOutputs: ["{0} outputs of the network are missing on one side", "有一侧缺少 {0} 个网络输出"],
  readIn: ["{0} read in {1} s", "读取 {0},用时 {1} 秒"],
  // curve
  measured: ["measured error", "实测误差"],
  predicted: ["predicted by precision and depth", "按精度与深度预测"],
  ownError: ["own error", "自身误差"],
  ownBudget: ["own budget", "自身预算"],
  position: ["position in the network", "网络中的位置"],
  relativeError: ["relative error", "相对误差"],
  step: ["Step", "步"],
  allSteps: ["all steps", "全部"],
  curveHelp: [
    "Drag to zoom, double click to see all; arrow keys step from operator to operator.",
    "拖动缩放,双击还原;方向键逐个移动。",
  ],
  noCurve: ["No output was measured.", "没有可比较的输出。"],
  zeroes: ["{0} outputs without error are not drawn", "{0} 个零误差输出未画出"],
  // graph
  chained: [
    "This result holds no network: operators stand in the order of their records, joined by the tensors they read where the records tell. With the golden's model (opdrift compare --graph model.onnx) the network is shown and every operator is judged by its own error.",
    "结果中没有网络:算子按记录顺序排列,记录中注明所读张量时据此连接。比较时给出基准模型(opdrift compare --graph model.onnx)即可显示真实网络,并按算子自身误差判定。",
  ],
  noOperators: ["Nothing was compared, so there is no operator to show.", "没有比较任何张量,因此没有可显示的算子。"],
  edgeLegend: ["Edges: width and colour show the error they carry", "连线的粗细与颜色表示所传递的误差"],
  find: ["Find an operator", "查找算子"],
  fit: ["Whole network", "全图"],
  zoomIn: ["Zoom in", "放大"],
  zoomOut: ["Zoom out", "缩小"],
  unfold: ["Unfold", "展开"],
  fold: ["Fold", "折叠"],
  foldAll: ["Fold all", "全部折叠"],
  toCulprit: ["To the first divergence", "定位首个分歧"],
  operatorsCount: ["{0} operators", "{0} 个算子"],
  fused: ["fused", "已融合"],
  notDumped: ["not dumped", "无转储"],
  graphHelp: [
    "Wheel zooms, drag moves, double click folds and unfolds. Keys: arrows, + −, [ ] next operator, Enter.",
    "滚轮缩放,拖动平移,双击折叠/展开。按键:方向键、+ −、[ ] 切换算子、Enter。",
  ],
  noMatch: ["no match", "无匹配"],
  // table
  search: ["Search operators, types, tensors", "搜索算子、类型、张量"],
  allTypes: ["all types", "全部类型"],
  inputs: ["inputs", "输入"],
  outputs: ["outputs", "输出"],
  bothRoles: ["inputs and outputs", "输入和输出"],
  shown: ["{0} of {1}", "{0} / {1}"],
  reset: ["Reset", "重置"],
  colOrder: ["Order", "序号"],
  colState: ["Label", "判定"],
  colOperator: ["Operator", "算子"],
  colType: ["Type", "类型"],
  colTensor: ["Tensor", "张量"],
  colStep: ["Step", "步"],
  colShape: ["Shape", "形状"],
  colDtype: ["Dtype", "数据类型"],
  colRelative: ["Rel. L2", "相对 L2"],
  colCosine: ["1−cosine", "1−余弦"],
  colMax: ["Max abs", "最大误差"],
  colBudget: ["× budget", "× 预算"],
  colCumulative: ["× depth", "× 深度预测"],
  rowsPrinted: ["{0} of {1} rows", "{1} 行中的 {0} 行"],
  nothing: ["Nothing fits the filters.", "没有符合条件的行。"],
  // panel
  whatHappened: ["What happened", "现象"],
  fix: ["What to do", "建议"],
  explanations: ["Explanations, proved by refitting", "解释(经拟合验证)"],
  explains: ["explains {0} of the squared error, {1} is left", "解释了 {0} 的平方误差,剩余 {1}"],
  where: ["Where the error lies", "误差所在"],
  axis: ["axis {0}, {1} long", "第 {0} 轴,长度 {1}"],
  evenly: ["It is spread evenly.", "误差均匀分布。"],
  firstBad: ["first element out of budget", "首个超预算元素"],
  histogram: ["Errors in units in the last place ({0})", "ULP 误差分布({0})"],
  histogramHelp: [
    "Elements by their distance; green are exact. Heights are logarithms, so that one wrong element shows.",
    "按距离统计元素个数,绿色为精确相等。高度取对数,使单个错误元素也可见。",
  ],
  profile: ["Largest error by size of the golden", "按基准值大小统计的最大误差"],
  numbers: ["Numbers", "数值"],
  sides: ["The two sides", "两侧统计"],
  neighbours: ["Neighbours", "相邻算子"],
  reads: ["reads", "输入来自"],
  readBy: ["read by", "输出到"],
  group: ["Judged as one", "作为整体判定"],
  files: ["Files", "文件"],
  showInGraph: ["Show in the network", "在网络图中显示"],
  worstElement: ["worst element", "最差元素"],
  expected: ["expected", "期望"],
  tier: ["evidence", "证据"],
  cause: ["cause", "原因"],
  statisticsOnly: ["only recorded statistics were compared", "仅比较了已记录的统计量"],
  nothingSelected: ["Choose an operator to see its numbers.", "选择一个算子以查看详情。"],
  more: ["{0} more", "另有 {0} 个"],
  // numbers
  nOwn: ["own error / budget (norm)", "自身误差 / 预算(范数)"],
  nElement: ["own error / budget (worst element)", "自身误差 / 预算(最差元素)"],
  nDepth: ["error / depth prediction", "误差 / 深度预测"],
  nRelative: ["relative error", "相对误差"],
  nPredicted: ["predicted by depth", "深度预测值"],
  nOwnError: ["own error", "自身误差"],
  nOwnBudget: ["own budget", "自身预算"],
  nInherited: ["inherited", "继承误差"],
  nGain: ["gain of inherited error", "继承误差放大"],
  nSelf: ["golden against its own replay, in budgets", "基准与其重放之差(预算倍数)"],
  nBias: ["rounding bias (ulp)", "舍入偏差(ulp)"],
  nFlushed: ["subnormals flushed to 0", "被清零的次正规数"],
  nNewClasses: ["new NaN/Inf", "新出现的 NaN/Inf"],
  nOldClasses: ["inherited NaN/Inf", "继承的 NaN/Inf"],
  nSampled: ["elements replayed", "重放的元素数"],
  nL2: ["relative L2", "相对 L2"],
  nCosine: ["1 − cosine", "1 − 余弦"],
  nSqnr: ["SQNR (dB)", "SQNR(dB)"],
  nRmse: ["RMSE", "RMSE"],
  nMean: ["mean absolute error", "平均绝对误差"],
  nMeanBias: ["bias", "平均偏差"],
  nMaxAbs: ["largest error", "最大误差"],
  nMaxRel: ["largest relative error", "最大相对误差"],
  nWithin1: ["within 1e-3", "在 1e-3 以内"],
  nWithin5: ["within 5e-3", "在 5e-3 以内"],
  nEqual: ["equal bit by bit", "逐位相等"],
  nMismatch: ["NaN/Inf in other places", "NaN/Inf 位置不同"],
  nKl: ["KL divergence", "KL 散度"],
  nUlp: ["largest ULP distance", "最大 ULP 距离"],
  nElements: ["elements", "元素数"],
  sDtype: ["dtype", "数据类型"],
  sMin: ["minimum", "最小值"],
  sMax: ["maximum", "最大值"],
  sMean: ["mean", "均值"],
  sStd: ["deviation", "标准差"],
  sNan: ["NaN", "NaN"],
  sInf: ["Inf", "Inf"],
  sZero: ["zeros", "零"],
  sSubnormal: ["subnormal", "次正规数"],
  sSaturated: ["saturated", "饱和"],
  // range
  overflowPath: ["From there to the output", "传播到输出的路径"],
  headroom: ["Tensors with little room", "余量不足的张量"],
  constants: ["Constants the target's type cannot hold", "目标类型无法表示的常量"],
  colName: ["Name", "名称"],
  colValue: ["Largest |value|", "最大绝对值"],
  colRoom: ["Room", "余量"],
  noOverflow: ["No NaN or Inf was made, and every tensor has room.", "没有产生 NaN 或 Inf,数值余量充足。"],
  // ledger
  side: ["Side", "侧"],
  state: ["State", "状态"],
  file: ["File", "文件"],
  tensor: ["Tensor", "张量"],
  reason: ["Reason", "原因"],
  all: ["all", "全部"],
  entries: ["{0} entries", "{0} 项"],
  leftOut: ["{0} lines of uneventful entries are left out; result.json has them all.", "省略了 {0} 行普通条目;完整清单见 result.json。"],
  // trends
  trends: ["Trends", "趋势"],
  drifts: ["Drift", "漂移"],
  steadyWord: ["Steady", "稳定"],
  heat: ["Errors by operator and run", "各算子、各次运行的误差"],
  heatLabel: ["Heat map of {0} outputs in {1} runs", "{1} 次运行中 {0} 个输出的热图"],
  heatHelp: ["Rows are operators, columns are runs. Point at a cell or use the arrow keys; a click or Enter chooses.", "行为算子,列为运行。指向单元格或用方向键移动,单击或 Enter 选择。"],
  run: ["Run", "运行"],
  begins: ["Begins in", "起始于"],
  beginsIn: ["Begins to be wrong in {0}.", "自 {0} 起出错。"],
  growth: ["Growth", "增长"],
  errorByRun: ["Error by run", "各次误差"],
  onlyWrong: ["only those that drift", "仅漂移的"],
  onlyChanged: ["only those that changed", "仅有变化的"],
  steady: ["none of {0} outputs drifts in {1} runs", "{1} 次运行中 {0} 个输出均无漂移"],
  driftFirst: ["{0} of {1} outputs drift, first {2} in {3}", "{1} 个输出中有 {0} 个漂移,最早是 {3} 的 {2}"],
  mendedWord: ["Mended", "已修复"],
  mended: ["{0} mended, {1} still wrong, {2} newly wrong", "修复 {0} 个,仍错 {1} 个,新错 {2} 个"],
  // list
  results: ["Results", "结果"],
  allResults: ["All results", "全部结果"],
  compareTwo: ["Compare two", "对比两个结果"],
  noResults: ["No result.json here. 'opdrift compare -o DIR' writes one.", "没有 result.json。可用 opdrift compare -o DIR 生成。"],
  failedOf: ["{0} of {1} failed", "{1} 个中 {0} 个失败"],
  unreadable: ["Unreadable", "不可读"],
  // keys
  keySearch: ["search", "搜索"],
  keyNext: ["next, previous operator to blame", "下一个 / 上一个问题算子"],
  keyMove: ["move in the table, the curve or the network", "在表格、曲线或网络图中移动"],
  keyClose: ["close the panel", "关闭详情"],
  keyLanguage: ["language", "切换语言"],
  keyTheme: ["light or dark", "切换主题"],
} as const;

export type TextKey = keyof typeof texts;

const states: Record<string, [string, string]> = {
  culprit: ["culprit", "元凶"],
  drift: ["drift", "漂移"],
  victim: ["victim", "受害"],
  watch: ["watch", "关注"],
  healthy: ["healthy", "正常"],
  unjudged: ["unjudged", "未判定"],
  fail: ["over a limit", "超限"],
  pass: ["within limits", "通过"],
  broken: ["not comparable", "无法比较"],
  absent: ["not dumped", "无转储"],
};

const outcomes: Record<string, TextKey> = { pass: "agree", fail: "differ", inconclusive: "inconclusive", drifts: "drifts", steady: "steadyWord", mended: "mendedWord", results: "results", unreadable: "unreadable" };

const ledgerStates: Record<string, [string, string]> = {
  compared: ["compared", "已比较"],
  equal: ["equal", "相等"],
  unmatched: ["unmatched", "未匹配"],
  unreadable: ["unreadable", "不可读"],
  superseded: ["superseded", "被取代"],
  ignored: ["ignored", "忽略"],
  skipped: ["skipped", "跳过"],
};

const causes: Record<string, [string, string]> = {
  none: ["none", "无"],
  own_error: ["adds error of its own", "自身引入误差"],
  local_error: ["a few elements are wrong", "少数元素错误"],
  overflow: ["overflow of the target's type", "超出目标类型范围"],
  nan_made: ["NaN or Inf from finite inputs", "有限输入产生 NaN/Inf"],
  golden_overflow: ["the golden holds NaN or Inf", "基准含 NaN/Inf"],
  saturated: ["clamped at the largest finite value", "饱和到最大有限值"],
  shape: ["element counts differ", "元素个数不同"],
  different: ["integers or bools differ", "整数或布尔值不同"],
  tie: ["another index of the same value", "同值不同索引"],
  inherited_class: ["NaN or Inf of its inputs", "输入带来的 NaN/Inf"],
  inherited_error: ["error of its inputs", "输入带来的误差"],
  wider_inputs: ["inputs wider than dumped", "输入精度高于转储"],
  below_precision: ["below what the precision costs anyway", "低于精度本身的代价"],
  above_budget: ["somewhat above its budget", "略超预算"],
  not_modelled: ["no model of this operator", "无该算子模型"],
  gate: ["a limit was crossed", "超过阈值"],
};

const tiers: Record<string, [string, string]> = {
  exact: ["exact", "精确"],
  replay: ["replayed in double", "双精度重放"],
  sampled: ["replayed at samples", "抽样重放"],
  norms: ["norms", "范数"],
  shape: ["inputs only", "仅输入"],
  golden_pair: ["second golden", "第二基准"],
  statistics: ["statistics", "统计量"],
  gates: ["limits", "阈值"],
  none: ["none", "无"],
};

export interface Translator {
  language: Language;
  t(key: TextKey, ...values: (string | number)[]): string;
  state(name: string): string;
  outcome(name: string): string;
  ledger(name: string): string;
  cause(name: string): string;
  tier(name: string): string;
  pick(pair: readonly [string, string]): string;
}

export function translator(language: Language): Translator {
  const column = language === "zh" ? 1 : 0;
  const of = (table: Record<string, [string, string]>) => (name: string) =>
    Object.hasOwn(table, name) ? table[name][column] : name;
  const t = (key: TextKey, ...values: (string | number)[]) =>
    texts[key][column].replace(/\{(\d)\}/g, (_, i: string) => String(values[Number(i)] ?? ""));
  return {
    language,
    t,
    state: of(states),
    outcome: (name) => (Object.hasOwn(outcomes, name) ? t(outcomes[name]) : name),
    ledger: of(ledgerStates),
    cause: of(causes),
    tier: of(tiers),
    pick: (pair) => pair[column],
  };
}

export const LanguageContext = createContext<Translator>(translator("en"));

export function useText(): Translator {
  return useContext(LanguageContext);
}
