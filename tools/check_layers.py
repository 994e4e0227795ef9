#!/usr/bin/env python3
"""Fails when a room includes a room above it. The table is the one of docs/architecture.md."""
import pathlib
import re
import sys

# room -> rooms it may include directly; what those may include comes with them.
ROOMS = {
    "base": [],
    "tensor": ["base"],
    "graph": ["tensor"],
    "io": ["graph"],
    "match": ["graph"],
    "metrics": ["tensor"],
    "replay": ["graph"],
    "verdict": ["metrics", "match", "replay"],
    "report": ["verdict", "io"],
    "pipeline": ["io", "match", "metrics", "replay", "verdict", "report"],
    "engine": ["io"],
    "diagnose": ["pipeline", "engine"],
    "shell": ["diagnose", "pipeline", "engine"],
    "cli": ["diagnose", "pipeline", "engine", "shell", "compat"],
    "compat": ["diagnose", "pipeline", "engine"],
}
INCLUDE = re.compile(r'^\s*#\s*include\s*"opdrift/([a-z_]+)/')


def reachable(room):
    seen, todo = {room}, [room]
    while todo:
        for below in ROOMS[todo.pop()]:
            if below not in seen:
                seen.add(below)
                todo.append(below)
    return seen


def main():
    root = pathlib.Path(__file__).resolve().parent.parent / "src" / "opdrift"
    problems, files = [], 0
    for path in sorted(root.rglob("*.[chi]*")):
        room = path.relative_to(root).parts[0]
        if path.suffix not in {".hpp", ".cpp", ".h", ".inl"}:
            continue
        files += 1
        if room not in ROOMS:
            problems.append(f"{path}: room '{room}' is not in the table")
            continue
        allowed = reachable(room)
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            match = INCLUDE.match(line)
            if match and match.group(1) not in allowed:
                problems.append(f"{path}:{number}: {room} must not include {match.group(1)}")
    for problem in problems:
        print(problem, file=sys.stderr)
    print(f"layers: {files} files, {len(problems)} problems")
    return 1 if problems or files == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
