#!/usr/bin/env python3
"""Runs the opdrift command and compares what it prints with recorded text.

    run.py BINARY [--plugin FILE] [--layout-plugin FILE] [--xml FILE] [--update] [CASE...]

A case is a file tests/golden/<verb>/<name>.txt:

    # what the case shows
    $ opdrift compare target golden
    >>> exit 1
    >>> stdout
    ...
    >>> stderr
    ...
    >>> file out/result.csv
    ...

Lines with `$` run one after another in one shell, inside a fresh folder that holds the data of
data.py; `opdrift` is the binary, $PLUGIN and $LAYOUT_PLUGIN the example plug-ins, `fixtures` the
recorded dumps. Names of cases may be patterns (`compare/*`). --update rewrites the cases it is
given, none when no case is named: look at the difference before it is committed.
"""
import argparse
import difflib
import fnmatch
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as xml

import data

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
COLUMNS = 80
SECONDS = 120


class Case:
    """A parsed case file: purpose, commands and sections by title."""

    def __init__(self, path):
        self.path = path
        self.name = path.relative_to(HERE).with_suffix("").as_posix()
        self.head, self.sections = [], {}
        title = None
        for line in path.read_text(encoding="utf-8").splitlines(keepends=True):
            if line.startswith(">>> "):
                title = line[4:].strip()
                self.sections[title] = ""
            elif title is None:
                self.head.append(line)
            else:
                self.sections[title] += line
        self.commands = [line[2:] for line in self.head if line.startswith("$ ")]

    def files(self):
        return [title[5:] for title in self.sections if title.startswith("file ")]

    def text_with(self, sections):
        return "".join(self.head) + "".join(f">>> {title}\n{text}"
                                            for title, text in sections.items())


def ended(text):
    """Text whose last line is whole."""
    return text if not text or text.endswith("\n") else text + "\n"


def read_result(path):
    return ended(path.read_text(encoding="utf-8", errors="replace")) if path.exists() else "(absent)\n"


class Runner:
    def __init__(self, options):
        self.binary = pathlib.Path(options.binary).resolve()
        self.variables = {"PLUGIN": options.plugin, "LAYOUT_PLUGIN": options.layout_plugin}
        self.version = (ROOT / "VERSION").read_text().strip()

    def neutral(self, text, folder):
        """Without what differs between machines and versions."""
        text = text.replace(str(folder), "{folder}").replace(str(self.binary.parent), "{bin}")
        for name, path in self.variables.items():
            text = text.replace(path, "{" + name.lower() + "}") if path else text
        text = text.replace(f"opdrift {self.version}", "opdrift {version}")
        # Front ends of other tools begin their lines with process and time.
        text = re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d+)?", "{time}", text)
        text = re.sub(r"\(\d+\) - \[", "({pid}) - [", text)
        return re.sub(r"_\d{14}\b", "_{stamp}", text)

    def run(self, case):
        """The sections as they come out now."""
        with tempfile.TemporaryDirectory(prefix="opdrift-golden-") as scratch:
            folder = pathlib.Path(scratch).resolve() / "w"
            folder.mkdir()
            data.write(folder)
            (folder / "fixtures").symlink_to(HERE / "fixtures")
            path = f"{self.binary.parent}:/usr/bin:/bin"
            environment = {"PATH": path, "COLUMNS": str(COLUMNS), "LC_ALL": "C.UTF-8",
                           "TERM": "dumb", "OPDRIFT_CPU": "scalar", "TZ": "UTC",
                           "HOME": str(folder)}
            environment.update({k: v for k, v in self.variables.items() if v})
            environment.update({k: v for k, v in os.environ.items() if k.endswith("SAN_OPTIONS")})
            process = subprocess.run(["/bin/sh", "-c", "".join(case.commands)], cwd=folder,
                                     env=environment, capture_output=True, timeout=SECONDS,
                                     check=False)
            sections = {f"exit {process.returncode}": ""}
            for title, raw in (("stdout", process.stdout), ("stderr", process.stderr)):
                text = ended(raw.decode("utf-8", errors="replace"))
                if text:
                    sections[title] = self.neutral(text, folder)
            for name in case.files():
                sections[f"file {name}"] = self.neutral(read_result(folder / name), folder)
            return sections


def too_wide(case, sections):
    """Lines of help that are wider than a terminal."""
    if "--help" not in "".join(case.commands):
        return []
    return [line for line in sections.get("stdout", "").splitlines() if len(line) > COLUMNS]


def problem_of(case, sections):
    """What is wrong with a case, "" for nothing."""
    expected, found = case.text_with(case.sections), case.text_with(sections)
    wide = "".join(f"wider than {COLUMNS} columns: {line}\n" for line in too_wide(case, sections))
    if expected == found:
        return wide
    return wide + "".join(difflib.unified_diff(
        expected.splitlines(keepends=True), found.splitlines(keepends=True),
        f"{case.name} (recorded)", f"{case.name} (now)"))


def write_xml(path, problems):
    """The results in the form the unit tests have."""
    failures = sum(1 for text in problems.values() if text)
    root = xml.Element("testsuites", tests=str(len(problems)), failures=str(failures))
    suite = xml.SubElement(root, "testsuite", name="Golden")
    for name, text in problems.items():
        case = xml.SubElement(suite, "testcase", name=name, classname="Golden", status="run",
                              result="completed")
        if text:
            xml.SubElement(case, "failure", message="differs from the recorded text")
    path = pathlib.Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    xml.ElementTree(root).write(path, encoding="utf-8", xml_declaration=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("binary")
    parser.add_argument("--plugin", default="")
    parser.add_argument("--layout-plugin", default="")
    parser.add_argument("--xml")
    parser.add_argument("--update", action="store_true")
    parser.add_argument("cases", nargs="*")
    options = parser.parse_intermixed_args()
    if options.update and not options.cases:
        parser.error("--update needs the cases to rewrite")
    wanted = options.cases or ["*"]
    cases = [Case(path) for path in sorted(HERE.glob("*/*.txt"))]
    cases = [c for c in cases if any(fnmatch.fnmatch(c.name, pattern) for pattern in wanted)]
    runner, problems = Runner(options), {}
    for case in cases:
        sections = runner.run(case)
        if options.update:
            case.path.write_text(case.text_with(sections), encoding="utf-8")
            print(f"golden: wrote {case.name}")
            continue
        problems[case.name] = problem_of(case, sections)
        print(problems[case.name], end="")
    if options.xml and not options.update:
        write_xml(options.xml, problems)
    failed = sum(1 for text in problems.values() if text)
    print(f"golden: {len(cases)} cases, {failed} failed")
    return 1 if failed or not cases else 0


if __name__ == "__main__":
    sys.exit(main())
