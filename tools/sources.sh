#!/bin/sh
# Lists the C++ sources of the project.
cd "$(dirname "$0")/.." || exit 1
git ls-files --cached --others --exclude-standard -- '*.cpp' '*.hpp' '*.h' '*.inl' |
  while read -r file; do
    [ -f "$file" ] && echo "$file"
  done
