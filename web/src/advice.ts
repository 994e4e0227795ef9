// What to try for an operator that is wrong: by what explains it, else by why it got its label.

import type { Report } from "./data";

type Pair = readonly [string, string];

const byExplanation: Record<string, Pair> = {
  clamped: [
    "Values are limited where the golden is not: look for a clip or a saturating conversion in front of this operator, or keep it in float32.",
    "结果被截断:检查算子前的 clip 或饱和转换,或让该算子保持 float32。",
  ],
  rounded: [
    "The result is the golden rounded to a narrower type: keep this operator's type (keep_dtype, or float32 in customize_dtypes).",
    "结果等于舍入到更窄类型的基准:让该算子保持原类型(keep_dtype 或 customize_dtypes 设为 float32)。",
  ],
  truncated: [
    "The result is cut instead of rounded: look at the conversion that feeds or follows this operator.",
    "结果是截断而非舍入:检查该算子前后的类型转换。",
  ],
  scaled: [
    "One factor explains the difference: compare the scale, alpha or quantisation parameters of both models.",
    "差异是一个比例因子:比较两侧的 scale、alpha 或量化参数。",
  ],
  offset: [
    "One offset explains the difference: compare bias, beta and zero point of both models.",
    "差异是一个偏移:比较两侧的 bias、beta 和零点。",
  ],
  affine: [
    "A factor and an offset explain the difference: compare normalisation and quantisation parameters of both models.",
    "差异是线性变换:比较归一化与量化参数。",
  ],
  channel_affine: [
    "Single channels are scaled: compare weights and per-channel quantisation of exactly these channels.",
    "个别通道被缩放:比较这些通道的权重和逐通道量化参数。",
  ],
  permuted: [
    "The axes stand in another order: look at the Transpose or the layout (NCHW, NHWC) in front of this operator.",
    "轴顺序不同:检查该算子前的 Transpose 或数据布局(NCHW、NHWC)。",
  ],
  reversed_channels: ["RGB and BGR are exchanged: look at preprocessing or AIPP.", "RGB/BGR 互换:检查预处理或 AIPP。"],
  swapped_channels: ["Channels are exchanged: look at the channel order of weights or inputs.", "通道被交换:检查权重或输入的通道顺序。"],
  shifted: ["The data are shifted along an axis: look at padding, offsets and slices.", "数据沿轴平移:检查 padding、偏移和切片。"],
  cropped: ["The data are cropped: look at padding and at the shapes both sides were built for.", "数据被裁剪:检查 padding 与两侧的形状。"],
  swapped_rows: [
    "Rows or tiles are exchanged: the kernel's tiling or the layout conversion is to be suspected.",
    "行或分块被交换:怀疑算子的分块(tiling)或布局转换。",
  ],
  padding_only: [
    "Only the padded part differs, which nobody should read: check that the next operators ignore it.",
    "仅填充部分不同:确认后续算子不读取该部分。",
  ],
  other_tensor: [
    "It holds another operator's tensor: a wrong connection, or memory that was reused too early (try disable_reuse_memory).",
    "内容是另一个算子的张量:连接错误,或内存被过早复用(尝试 disable_reuse_memory)。",
  ],
  overwritten: [
    "A range of bytes was overwritten: run again without memory reuse (disable_reuse_memory) and buffer optimisation.",
    "一段内存被覆盖:关闭内存复用(disable_reuse_memory)和缓存优化后重跑。",
  ],
  zero: ["The operator wrote nothing: was it run, and is its input there?", "算子没有输出:它是否执行、输入是否存在?"],
  constant: ["The operator wrote one value everywhere: look at its input and at the dump.", "输出为常数:检查输入和转储。"],
  half_accumulation: [
    "Sums are kept in the storage type: choose the operator's high-precision implementation, or float32 for it.",
    "累加使用了存储类型:选用高精度实现,或让该算子用 float32。",
  ],
  other_function: [
    "Another function or another epsilon was computed: compare the operator's attributes in both models.",
    "计算了另一个函数或不同的 epsilon:比较两侧的算子属性。",
  ],
};

const byCause: Record<string, Pair> = {
  own_error: [
    "The operator computes something else on the same inputs: run it alone on the dumped inputs, compare its attributes and weights, then try it in float32.",
    "相同输入得到不同结果:用转储的输入单独运行该算子,比较属性和权重,再尝试 float32。",
  ],
  local_error: [
    "Only some elements are wrong: look at where they lie (tails, tiles, padding), then run the operator alone on the dumped inputs.",
    "仅少数元素错误:查看其位置(尾块、分块、填充),再用转储输入单独运行。",
  ],
  overflow: [
    "The value does not fit the target's type: keep this operator in float32 (keep_dtype, customize_dtypes), or scale its input down.",
    "数值超出目标类型范围:让该算子保持 float32(keep_dtype、customize_dtypes),或缩小其输入。",
  ],
  nan_made: [
    "NaN or Inf come from finite inputs: look for a division by zero, a logarithm or an overflow inside; float32 for this operator proves it.",
    "有限输入产生 NaN/Inf:检查除零、对数或内部溢出;改用 float32 可验证。",
  ],
  golden_overflow: ["The golden itself holds NaN or Inf: mend the reference run first.", "基准本身含 NaN/Inf:请先修正基准。"],
  saturated: [
    "Values stick at the end of the type's range: keep this operator in float32, or lower its input.",
    "数值停在类型上限:让该算子保持 float32,或缩小其输入。",
  ],
  shape: ["The two sides have other shapes: were both models built for the same input?", "两侧形状不同:两个模型是否针对相同输入构建?"],
  different: ["Integers or bools differ, which no rounding explains: look at the comparison or index that made them.", "整数或布尔值不同,舍入无法解释:检查产生它们的比较或索引。"],
  wider_inputs: ["The device keeps more digits than it dumps; nothing to mend.", "设备内部精度高于转储,无需修复。"],
  gate: ["A limit was crossed. With the golden's model (--graph) opdrift can tell whether this operator is to blame.", "超过阈值。给出基准模型(--graph)后可判断是否是该算子的问题。"],
  not_modelled: ["No model of this operator is known, so only its error is shown.", "没有该算子的模型,仅显示误差。"],
};

const byState: Record<string, Pair> = {
  victim: [
    "Nothing to mend here: the error came in with the inputs. Look at the first divergence upstream.",
    "此处无需修复:误差来自输入,请查看上游的首个分歧算子。",
  ],
  drift: [
    "No single operator is to blame: many small errors of one direction add up. See the findings about the run; a mode that rounds to nearest, or float32 for the longest chain, mends it.",
    "没有单个元凶:许多同向小误差累积。参见整体发现;改用就近舍入,或让最长的链路使用 float32。",
  ],
  broken: ["The two could not be compared; the reason is in the ledger.", "无法比较,原因见文件清单。"],
};

/** Advice for a row, most specific first; empty for rows that need none. */
export function advice(report: Report, row: number): Pair[] {
  const state = report.states[row];
  if (state === "victim" || state === "drift" || state === "broken") return [byState[state]];
  if (state !== "culprit" && state !== "fail") return [];
  const pairs: Pair[] = [];
  for (const explanation of report.raw.explanations[row] ?? []) {
    const pair = Object.hasOwn(byExplanation, explanation.kind) ? byExplanation[explanation.kind] : null;
    if (pair && !pairs.includes(pair) && pairs.length < 2) pairs.push(pair);
  }
  const cause = report.rows.text("cause", row) || "gate";
  if (pairs.length === 0 && Object.hasOwn(byCause, cause)) pairs.push(byCause[cause]);
  return pairs;
}
