#!/usr/bin/env python3
"""Writes a result.json of a network of many operators: make_result.py OPERATORS OUT [hostile]

A chain of blocks with side branches, as in a transformer. One operator is the culprit, those behind
it are its victims; names try to be HTML. The same arguments give the same file. "hostile": every
text that comes from a dump is one that a page could stumble over.
"""
import json
import math
import random
import sys

KINDS = ["MatMul", "Add", "LayerNorm", "Softmax", "Mul", "Gelu", "Transpose", "Reshape"]
NASTY = "</script><img src=x onerror=alert(1)>"

HOSTILE = [
    NASTY, '"><svg onload=alert(2)>', "' onmouseover='alert(3)", "javascript:alert(4)", "<!--", "]]>", "&lt;b&gt;&amp;",
    "line\u2028separator\u2029end", "\u202egnp.exe\u202c", "\u2066isolate\u2069", "zero\u200bwidth\ufeff", "bell\x07\x1b[31m\x00",
    "tab\tand\nnewline", "\U0001f9e8\U0001f469\u200d\U0001f469\u200d\U0001f467", "o\u0300\u0301\u0302\u0303" * 40, "\u7b97\u5b50/\u5377\u79ef",
    "x" * 30_000, "a/" * 500 + "end", "__proto__", "constructor", "hasOwnProperty", "toString", "{0} {1}", "$& $1 $`",
    "%s %n", "=1+1", "; ", '": ', "../../etc/passwd", "\\\\host\\share", "@DATA@", "@SUMMARY@",
]


def side(rms):
    return {"dtype": "float16", "finite": 4096, "min": -3 * rms, "max": 3.1 * rms, "mean": 0.01 * rms,
            "rms": rms, "std": rms, "sum": 41.0 * rms, "sum_squares": 4096 * rms * rms,
            "sum_centred_squares": 4096 * rms * rms,
            "classes": {"nan": 0, "positive_inf": 0, "zero": 3, "negative_inf": 0, "subnormal": 1,
                        "saturated": 0}}


def measurement(error, rms, rng):
    golden2 = 4096 * rms * rms
    d2 = error * error * golden2
    worst = 4 * error * rms
    bits = max(0, int(math.log2(error / 5e-4 + 1) + 1))
    histogram = [0] * 18
    left = 4096
    for bucket in range(min(17, bits + 2)):
        histogram[bucket] = left // 2
        left -= histogram[bucket]
    histogram[min(17, bits + 2)] += left
    return {"count": 4096, "finite_pairs": 4096, "class_mismatches": 0, "equal_bits": histogram[0],
            "max_abs": {"value": worst, "index": rng.randrange(4096), "golden": rms, "target": rms + worst},
            "max_scaled": None, "relative_pairs": 4096, "max_relative": 40 * error,
            "within_1e-3": 4000, "within_5e-3": 4080, "kl_divergence": "nan",
            "ulp": {"dtype": "float16", "max": 2 ** bits, "histogram": histogram},
            "sums": {"d": 0.1 * worst, "abs_d": 2048 * error * rms, "d2": d2, "golden": 41.0 * rms,
                     "target": 41.2 * rms, "golden2": golden2, "target2": golden2 + d2,
                     "product": golden2 * (1 - error * error / 2), "relative": 4096 * error},
            "golden": side(rms), "target": side(rms * (1 + error / 10))}


def main():
    operators, out = int(sys.argv[1]), sys.argv[2]
    rng = random.Random(7)
    culprit = operators * 3 // 5
    hostile = sys.argv[3:] == ["hostile"]
    odd = lambda i, usual: HOSTILE[i % len(HOSTILE)] if hostile else usual
    tensors, network, ledger = [], [], []
    error = 2e-4
    for i in range(operators):
        kind = KINDS[i % len(KINDS)]
        block = i // 40
        name = f"/model/layers.{block}/{'attention' if i % 40 < 20 else 'mlp'}/{kind}_{i}"
        if i == culprit:
            name = f"/model/layers.{block}/attention/{kind}{NASTY}"
        name, kind = odd(i, name) + (str(i) if hostile and i >= len(HOSTILE) else ""), odd(i + 1, kind)
        depth = 4e-4 * math.sqrt(1 + i / 50)
        error = 0.5 * depth * rng.uniform(0.7, 1.3) if i < culprit else 0.3 * rng.uniform(0.7, 1.3)
        label = "healthy" if i < culprit else "culprit" if i == culprit else "victim"
        if i < culprit and i % 997 == 3:
            label = "watch"
        own = 600.0 if i == culprit else rng.uniform(0.2, 0.9)
        sentence = {"healthy": "", "watch": "adds 2.5 times the error that float16 explains, not enough to blame it",
                    "victim": f"is {error / depth:.3g} times further off than its depth explains; it adds only {own:.3g} times its own budget",
                    "culprit": "adds 6.00e+02 times the error that float16 explains"}[label]
        judgement = {"label": label, "tier": "replay", "cause": "own_error" if label == "culprit" else
                     "inherited_error" if label == "victim" else "none", "sentence": sentence,
                     "q_own": own, "z": own * 0.8, "q1": own, "z1": own * 0.8, "q_cum": error / depth,
                     "relative": error, "own": own * 3e-4, "rho": 3e-4, "depth": depth,
                     "inherited": error * 0.9, "gain": rng.uniform(0.8, 1.2), "self_check": 0.01,
                     "bias": rng.uniform(-0.1, 0.1), "bias_count": 4096, "flushed": 0, "new_classes": 0,
                     "inherited_classes": 0, "wider_inputs": False, "inputs_replayed": False,
                     "sampled": 576, "worst": {"index": rng.randrange(4096), "golden": 1.25,
                     "target": 1.25 + error, "expected": 1.2501}, "group": []}
        tensor = {"operator": name, "type": kind, "golden_operator": name, "tensor": odd(i + 2, f"{name}_output_0"),
                  "step": odd(i % 2, ""), "role": "output", "index": 0, "order": i, "rule": "name",
                  "target_file": odd(i + 3, f"target/{i:05d}.npy"), "golden_file": odd(i + 4, f"golden/{i:05d}.npy"),
                  "target_shape": [1, 64, 64], "golden_shape": [1, 64, 64], "statistics_only": False,
                  "passed": label != "culprit", "reason": sentence,
                  "measurement": measurement(error, rng.uniform(0.5, 2), rng), "judgement": judgement,
                  "explanations": [], "place": None}
        if label == "culprit":
            tensor["explanations"] = [{"kind": "channel_affine", "sentence": "channel 17 (of 64) scaled by 30",
                                       "residual": 5.8e-4, "explained": 0.998}]
            judgement["group"] = HOSTILE if hostile else []
            tensor["place"] = {"sentence": "all of the error lies in channel 17 (of 64)", "first_bad": 1088,
                               "first_bad_index": [0, 17, 0], "axes": [
                                   {"extent": 1, "top": [], "block": None},
                                   {"extent": 64, "top": [{"first": 17, "count": 1, "share": 0.998}],
                                    "block": {"first": 16, "count": 16, "share": 0.999}},
                                   {"extent": 64, "top": [{"first": 3, "count": 1, "share": 0.05}], "block": None}]}
        tensors.append(tensor)
        producers = [] if i == 0 else [i - 1]
        if i % 40 == 39 and i >= 40:
            producers.insert(0, i - 40)
        network.append({"name": name, "type": kind, "producers": producers, "rows": [i]})
        for where in ("target", "golden"):
            ledger.append({"side": where, "file": f"{where}/{i:05d}.npy", "tensor": f"{name}:output:0",
                           "state": "compared", "reason": ""})
    ledger.append({"side": "target", "file": f"target/{NASTY}", "tensor": "", "state": "unreadable",
                   "reason": "truncated"})
    result = {"schema": "opdrift-result/1",
              "golden": {"path": odd(8, "golden"), "kind": "opdrift dump"},
              "target": {"path": odd(16, "target"), "kind": odd(1, "Ascend dump")},
              "rule": "replay budget: an operator's own error within 4 times its budget",
              "verdict": {"outcome": "fail", "sentence": f"first divergence at \"{tensors[culprit]['operator']}\": "
                          "adds 6.00e+02 times the error that float16 explains",
                          "findings": [{"kind": "wider_inputs", "sentence": "the device reads its inputs with more digits than it dumps",
                                        "value": 0.5, "operators": 12, "assumed": False}],
                          "first_divergence": [culprit], "missing_outputs": 0, "inputs_differ": False},
              "overflow": {"sentence": "", "path": HOSTILE if hostile else [], "headroom": [
                  {"name": tensors[9]["operator"], "value": 60000.0, "ratio": 1.09,
                   "sentence": f"{tensors[9]['operator']}: 60000 is within a factor of 1.09 of the limit of float16"}],
                  "constants": [{"name": "mask", "value": -3.4e38, "ratio": 0.0, "sentence": "constant mask holds -3.4e+38, which becomes -Inf in float16; a mask needs no more than -1e4"}]},
              "summary": {"interrupted": False, "bytes_read": 2_000_000_000, "elapsed_s": 3.2},
              "metrics": {"names": [], "usual": True}, "notes": HOSTILE if hostile else [f"a remark <b>{NASTY}</b>"],
              "tensors": tensors, "network": network, "ledger": ledger}
    with open(out, "w", encoding="utf-8") as file:
        json.dump(result, file)


if __name__ == "__main__":
    main()
