"""Counts hand-written lines of Go and C below a checkout, by layer: python3 benchmarks/lines.py [DIR]."""
import collections
import pathlib
import re
import subprocess
import sys

root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".")
files = subprocess.run(["git", "ls-files"], cwd=root, capture_output=True, text=True, check=True).stdout.split()
code, tests, generated = collections.Counter(), collections.Counter(), 0
for name in files:
    if not name.endswith((".go", ".c", ".h")) or "/testdata/" in name:
        continue
    text = (root / name).read_text(errors="replace")
    lines, parts = text.count("\n"), name.split("/")
    if "Code generated" in text[:400]:
        generated += lines
        continue
    layer = "/".join(parts[:2]) if parts[0] == "pkg" else parts[0]
    is_test = name.endswith("_test.go") or re.search(r"/(\w*test|torture|interop)/", name)
    (tests if is_test else code)[layer] += lines
for layer in sorted(set(code) | set(tests)):
    print(f"| `{layer}` | {code[layer]:,} | {tests[layer]:,} |")
print(f"| sum | {sum(code.values()):,} | {sum(tests.values()):,} |\n\ngenerated: {generated:,}")
