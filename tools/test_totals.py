#!/usr/bin/env python3
"""Adds up the GoogleTest results of a build and writes `passed failed` into test-totals."""
import pathlib
import sys
import xml.etree.ElementTree as xml

build = pathlib.Path(sys.argv[1])
passed = failed = skipped = 0
skips = {}
for path in sorted((build / "test-results").glob("*.xml")):
    for case in xml.parse(path).getroot().iter("testcase"):
        if case.find("failure") is not None:
            failed += 1
        elif case.get("result") == "skipped":
            skipped += 1
            reason = (case.find("skipped").get("message") or "").strip().splitlines()
            text = reason[-1] if reason else "no reason given"
            skips[text] = skips.get(text, 0) + 1
        elif case.get("result") == "completed":
            passed += 1
for text, count in sorted(skips.items()):
    print(f"test: {count} skipped: {text}")
(build / "test-totals").write_text(f"{passed} {failed}\n")
print(f"{passed} passed, {failed} failed, {skipped} skipped")
sys.exit(1 if failed or passed == 0 else 0)
