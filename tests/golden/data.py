"""The small dumps that golden cases run on, the same on every machine; see run.py.

    golden/   conv1, relu1 and 分类 (classifier), float32
    same/     the same bytes
    target/   conv1 rounded to float16, relu1 with one wrong element, 分类 missing, extra added
    broken/   a.npy cut in its data, b.npy without a header, c.npy whole
    matrix/   a matrix of 3 x 5 in float16, as npy
    calls/    a product, a sum and a call no replay knows as dump.json runs: golden in float32,
              target in float16 with one wrong element in the product
"""
import json
import struct


def random_numbers(seed, count):
    """Numbers in [-1, 1) out of a 64-bit linear congruential generator (Knuth's MMIX constants)."""
    state, numbers = seed, []
    for _ in range(count):
        state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
        numbers.append((state >> 40) / 2**23 - 1.0)
    return numbers


def npy(shape, numbers, code="f"):
    descr = {"f": "<f4", "e": "<f2", "i": "<i4"}[code]
    header = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape!r}, }}"
    header += " " * (63 - (10 + len(header)) % 64) + "\n"
    return (b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode("latin1") +
            struct.pack(f"<{len(numbers)}{code}", *numbers))


def half(numbers):
    packed = struct.pack(f"<{len(numbers)}e", *numbers)
    return list(struct.unpack(f"<{len(numbers)}e", packed))


def saved(folder, name, shape, numbers, code, files):
    """A tensor of a dump.json run."""
    files[f"{folder}/dump_tensor_data/{name}.npy"] = npy(shape, numbers, code)
    return {"type": "torch.Tensor", "dtype": "torch.float16" if code == "e" else "torch.float32",
            "shape": list(shape), "Max": max(numbers), "Min": min(numbers), "Mean": 0.0,
            "Norm": 1.0, "requires_grad": False, "data_name": name + ".npy"}


def recorded_calls(folder, code, wrong, files):
    """y = x w with one element off by `wrong`, z = y + 0.25, and a call that copies z."""
    rounded = half if code == "e" else lambda numbers: numbers
    x, w = rounded(random_numbers(5, 24)), rounded(random_numbers(6, 30))
    y = rounded([sum(x[i * 6 + k] * w[k * 5 + j] for k in range(6))
                 for i in range(4) for j in range(5)])
    y[7] += wrong
    z = rounded([value + 0.25 for value in y])

    def call(name, arguments, output):
        leaves = [value if isinstance(value, dict) else
                  saved(folder, f"{name}.input.{i}", *value, code, files)
                  for i, value in enumerate(arguments)]
        return {"input_args": leaves, "input_kwargs": {},
                "output": [saved(folder, f"{name}.output.0", *output, code, files)]}

    data = {
        "Torch.matmul.0.forward": ([((4, 6), x), ((6, 5), w)], ((4, 5), y)),
        "Tensor.add.0.forward": ([((4, 5), y), {"type": "float", "value": 0.25}], ((4, 5), z)),
        "Torch.shuffle.0.forward": ([((4, 5), z)], ((4, 5), z)),
    }
    run = {"task": "tensor", "level": "L1", "framework": "pytorch", "dump_data_dir": None,
           "data": {name: call(name, *both) for name, both in data.items()}}
    files[f"{folder}/dump.json"] = json.dumps(run).encode()


def write(folder):
    files = {}
    conv = random_numbers(1, 48)
    relu = [max(x, 0.0) for x in random_numbers(2, 48)]
    classes = random_numbers(3, 10)
    for side in ("golden", "same"):
        files[f"{side}/conv1.0.1700000000000001.npy"] = npy((1, 3, 4, 4), conv)
        files[f"{side}/relu1.0.1700000000000002.npy"] = npy((1, 3, 4, 4), relu)
        files[f"{side}/分类.0.1700000000000003.npy"] = npy((1, 10), classes)
    wrong = half(relu)
    wrong[17] += 0.5
    files["target/conv1.0.1700000000000001.npy"] = npy((1, 3, 4, 4), half(conv), "e")
    files["target/relu1.0.1700000000000002.npy"] = npy((1, 3, 4, 4), wrong, "e")
    files["target/extra.0.1700000000000004.npy"] = npy((4,), [1, 2, 3, 4], "i")
    files["broken/a.npy"] = npy((8,), random_numbers(4, 8))[:-5]
    files["broken/b.npy"] = b"\x93NUMPY\x01\x00\xff\xff"
    files["broken/c.npy"] = npy((8,), [1, -2, float("nan"), float("inf"), 0, 5, 6, 7])
    files["matrix/m.npy"] = npy((3, 5), [float(i) for i in range(15)], "e")
    recorded_calls("calls/golden", "f", 0.0, files)
    recorded_calls("calls/target", "e", 0.5, files)
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
