#!/usr/bin/env python3
"""How far another implementation of the rule agrees with opdrift, label by label.

    agree.py TOOL ONNXRUNTIME EXPORTED...

TOOL is the folder of that implementation (core.py, judge.py, rule.py, ort_runner.cpp), ONNXRUNTIME
the library, EXPORTED folders that `verdict_eval --export` wrote. ORT_INCLUDE names the folder of
ONNX Runtime's headers. Prints a table in Markdown. Needs numpy, onnx and a C++ compiler.

That implementation knows no DRIFT; its VICTIM stands for both. It has both tiers for weighted
operators; the one that opdrift used counts.
"""
import collections
import os
import pathlib
import subprocess
import sys
import tempfile


def load_tool(tool, library, folder):
    runner = os.path.join(folder, "libve.so")
    subprocess.run(
        ["g++", "-O2", "-std=c++17", "-shared", "-fPIC", "-I" + os.environ["ORT_INCLUDE"],
         os.path.join(tool, "ort_runner.cpp"), "-o", runner, "-ldl"], check=True)
    os.environ["VE_LIB"] = runner
    os.environ["VE_ORT"] = library
    sys.path.insert(0, tool)
    sys.dont_write_bytecode = True
    import core
    import judge
    return core, judge


def rows_of(path):
    with open(path, encoding="utf-8") as lines:
        return [line.rstrip("\n").split("\t") for line in lines]


class Exported:
    """One folder: the model with its golden run, and the judged runs."""

    def __init__(self, core, folder):
        import numpy
        import onnx
        self.folder = pathlib.Path(folder)
        self.numpy = numpy
        self.files = {}
        golden = {name: self.array(file) for name, file in rows_of(self.folder / "golden.tsv")}
        proto = onnx.load(str(self.folder / "model.onnx"))
        inputs = {i.name for i in proto.graph.input}
        feed = {name: value for name, value in golden.items() if name in inputs}
        model = core.Model(self.folder.name, proto, feed)
        model.g = golden
        model.kind = {name: value.dtype for name, value in golden.items()}
        model.shape = {name: value.shape for name, value in golden.items()}
        model.all = [name for name in model.all if name in golden]
        self.model = model

    def array(self, file):
        if file not in self.files:
            self.files[file] = self.numpy.load(str(self.folder / file))
        return self.files[file]

    def runs(self):
        for file, name, number_format, assumption in rows_of(self.folder / "runs.tsv"):
            yield name, number_format, assumption, rows_of(self.folder / file)


def labels_of(judge, exported, number_format, assumption, rows, evaluators):
    key = (number_format, assumption)
    if key not in evaluators:
        half = number_format if assumption == "half" else None
        tf32 = "tf32" if assumption == "tf32" else None
        evaluators[key] = judge.Evaluator(exported.model, number_format, tf32, half)
    # Scalars come back from files without their shape of rank 0 changed; copies keep runs apart.
    values = {row[0]: exported.array(row[1]) for row in rows}
    return evaluators[key].evaluate(values)


def compare(judge, exported, counts, examples):
    evaluators = {}
    for name, number_format, assumption, rows in exported.runs():
        theirs = labels_of(judge, exported, number_format, assumption, rows, evaluators)
        for value, _, label, tier, own, peak in rows:
            record = theirs.get(value, {})
            if label == "-" or "R" not in record:
                continue
            mine = label.upper()
            mine = "VICTIM" if mine == "DRIFT" else mine
            other = record["S" if tier == "sampled" else "R"]
            kind = "faults" if " at " in name else name
            counts[kind][(mine, other)] += 1
            if mine != other:
                examples.append((exported.folder.name, name, value, record.get("op", ""), mine, own,
                                 peak, other, record.get("q", 0.0), record.get("z", 0.0)))


def print_table(counts, examples):
    print("| run | tensors | same label | both CULPRIT | CULPRIT for opdrift only | "
          "CULPRIT for the other only | other differences |")
    print("|---|---|---|---|---|---|---|")
    for kind, pairs in counts.items():
        total = sum(pairs.values())
        same = sum(n for (a, b), n in pairs.items() if a == b)
        mine = sum(n for (a, b), n in pairs.items() if a == "CULPRIT" != b)
        theirs = sum(n for (a, b), n in pairs.items() if b == "CULPRIT" != a)
        print("| %s | %d | %d (%.2f %%) | %d | %d | %d | %d |" % (
            kind, total, same, 100 * same / total, pairs[("CULPRIT", "CULPRIT")], mine, theirs,
            total - same - mine - theirs))
    print("\nDifferences: label and (q_own, z') of opdrift, then of the other.\n")
    print("| pair | tensors | for example |\n|---|---|---|")
    groups = collections.defaultdict(list)
    for example in examples:
        groups[(example[4], example[7])].append(example)
    for (mine, other), members in sorted(groups.items(), key=lambda item: -len(item[1])):
        first = members[0]
        print("| %s, %s | %d | %s, %s: %s `%s` (%.4s, %.4s), (%.2f, %.2f) |" % (
            mine, other, len(members), first[0], first[1], first[3], first[2], first[5], first[6],
            first[8], first[9]))


def main():
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    counts = collections.defaultdict(collections.Counter)
    examples = []
    with tempfile.TemporaryDirectory() as folder:
        core, judge = load_tool(sys.argv[1], sys.argv[2], folder)
        for path in sys.argv[3:]:
            compare(judge, Exported(core, path), counts, examples)
            print("agree: " + pathlib.Path(path).name, file=sys.stderr)
    print_table(counts, examples)
    log = os.environ.get("AGREE_LOG")
    if log:
        with open(log, "w", encoding="utf-8") as out:
            for example in examples:
                out.write("\t".join(str(part) for part in example) + "\n")


if __name__ == "__main__":
    main()
