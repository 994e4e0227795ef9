#!/usr/bin/env python3
"""Runs clang-tidy over the sources of a build, in parallel, skipping files whose inputs have not
changed since they were last found clean.

    tools/tidy.py BUILD_FOLDER [PATH_PREFIX...]     default: src/ tools/
"""
import concurrent.futures
import hashlib
import json
import os
import pathlib
import shlex
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
SOURCES = ("src/", "tools/")


def run(arguments, folder):
    return subprocess.run(arguments, capture_output=True, text=True, errors="replace", check=False,
                          cwd=folder)


def preprocess_command(entry):
    """The compiler call of an entry without launcher and output, as a preprocessor call."""
    words = shlex.split(entry["command"])
    while "ccache" in words[0]:
        words = words[1:]
    output = words.index("-o") if "-o" in words else -1
    kept = [w for i, w in enumerate(words) if w != "-c" and i not in (output, output + 1)]
    return kept + ["-E", "-P"]


class Checker:
    def __init__(self, build):
        self.build = build
        self.base = (ROOT / ".clang-tidy").read_bytes()
        self.base += run(["clang-tidy", "--version"], ROOT).stdout.encode()

    def digest_of(self, entry):
        """Hash of the preprocessed source: any header that matters is in it. None: no idea."""
        text = run(preprocess_command(entry), entry["directory"])
        if text.returncode != 0:
            return None
        return hashlib.sha256(text.stdout.encode() + self.base).hexdigest()

    def check(self, entry, known):
        """(digest, seconds or None when skipped, what to show or None when clean)"""
        digest = self.digest_of(entry)
        if digest is not None and digest == known:
            return digest, None, None
        begin = time.monotonic()
        tidy = run(["clang-tidy", "--quiet", "-p", str(self.build), entry["file"]], ROOT)
        seconds = time.monotonic() - begin
        if tidy.returncode == 0:
            return digest, seconds, None
        # Findings are on the first stream; what kept clang-tidy from working is on the second.
        shown = tidy.stdout.strip() or tidy.stderr.strip() or f"exit code {tidy.returncode}"
        return digest, seconds, shown


def name_of(entry):
    path = pathlib.Path(entry["file"])
    return path.relative_to(ROOT).as_posix() if path.is_relative_to(ROOT) else ""


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    prefixes = tuple(sys.argv[2:]) or SOURCES
    seen_path = build / "tidy-clean.json"
    seen = json.loads(seen_path.read_text()) if seen_path.exists() else {}
    commands = json.loads((build / "compile_commands.json").read_text())
    entries = {name_of(e): e for e in commands if name_of(e).startswith(prefixes)}
    checker = Checker(build)
    checked = failed = 0
    with concurrent.futures.ThreadPoolExecutor(int(os.environ.get("OPDRIFT_JOBS", 0))
                                               or os.cpu_count()) as pool:
        tasks = {pool.submit(checker.check, e, seen.get(n)): n for n, e in entries.items()}
        for task in concurrent.futures.as_completed(tasks):
            name = tasks[task]
            digest, seconds, shown = task.result()
            if seconds is None:
                continue
            checked += 1
            if shown is not None:
                failed += 1
                seen.pop(name, None)
                print(f"tidy: {name} ({seconds:.0f} s)\n{shown}", flush=True)
            elif digest is not None:
                seen[name] = digest
                seen_path.write_text(json.dumps(seen, indent=0, sort_keys=True))
    print(f"tidy: {len(entries)} files, {checked} checked, {len(entries) - checked} unchanged, "
          f"{failed} with findings")
    return 1 if failed or not entries else 0


if __name__ == "__main__":
    sys.exit(main())
