#!/usr/bin/env python3
"""Runs clang-tidy over the sources of a build, in parallel, skipping files whose inputs have not
changed since they were last found clean."""
import concurrent.futures
import hashlib
import json
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
SOURCES = ("src/", "tools/")


def digest_of(command, path):
    """Hash of the preprocessed source: any header that matters is in it."""
    arguments = [a for a in command.split() if not a.startswith("-o") and a != "-c"]
    while "ccache" in arguments[0]:
        arguments = arguments[1:]
    arguments = [a for a in arguments if not a.endswith(".o")]
    text = subprocess.run(arguments + ["-E", "-P"], capture_output=True, check=False,
                          cwd=path.parent)
    config = (ROOT / ".clang-tidy").read_bytes()
    return hashlib.sha256(text.stdout + config).hexdigest()


def check(build, path):
    run = subprocess.run(["clang-tidy", "--quiet", "-p", str(build), str(path)],
                         capture_output=True, text=True, check=False)
    return run.returncode, run.stdout


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    seen_path = build / "tidy-clean.json"
    seen = json.loads(seen_path.read_text()) if seen_path.exists() else {}
    commands = json.loads((build / "compile_commands.json").read_text())
    todo = []
    for entry in commands:
        path = pathlib.Path(entry["file"])
        name = path.relative_to(ROOT).as_posix() if path.is_relative_to(ROOT) else ""
        if not name.startswith(SOURCES):
            continue
        digest = digest_of(entry["command"], path)
        if seen.get(name) != digest:
            todo.append((name, path, digest))
    print(f"tidy: {len(todo)} files to check")
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for (name, _, digest), (code, text) in zip(
                todo, pool.map(lambda item: check(build, item[1]), todo)):
            if code == 0:
                seen[name] = digest
            else:
                failed += 1
                print(text)
    seen_path.write_text(json.dumps(seen, indent=0, sort_keys=True))
    print(f"tidy: {failed} files with findings")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
