#!/bin/sh
# The page of the HTML reports (web/), made from TypeScript by esbuild. What it makes is committed
# in web/dist, so building opdrift needs neither Node.js nor npm.
#
#   tools/web.sh build           bundles web/src into web/dist
#   tools/web.sh check           types, unit tests, and whether web/dist is what web/src makes
#   tools/web.sh browse OPDRIFT  opens reports of that program in headless Chromium
#
# check and browse exit with 77 and a line that tells why where they cannot run.
set -eu
cd "$(dirname "$0")/../web"

have() { command -v "$1" >/dev/null 2>&1; }
skip() {
  echo "web: skipped: $*"
  exit 77
}
fail() {
  echo "web: $*" >&2
  exit 1
}

# Whether node_modules holds what package-lock.json asks for.
is_current() { [ -f node_modules/.from ] && cmp -s node_modules/.from package-lock.json; }

install() {
  is_current && return 0
  have npm || return 1
  npm ci --ignore-scripts --no-audit --no-fund --prefer-offline --loglevel error >&2 || return 1
  cp package-lock.json node_modules/.from
}

browser() {
  for name in "${CHROMIUM:-}" chromium chromium-browser google-chrome; do
    [ -n "$name" ] && have "$name" && command -v "$name" && return 0
  done
  return 1
}

case ${1:-build} in
  install)
    install || fail "npm could not install the packages of web/package.json (is npm there, and the network?)"
    ;;
  build)
    have node || fail "Node.js is missing; tools/setup.sh web installs it"
    install || fail "npm could not install the packages of web/package.json (is npm there, and the network?)"
    node build.mjs
    ;;
  check)
    have node || skip "no Node.js"
    install || skip "no packages in web/node_modules (no npm, or no network)"
    node node_modules/typescript/bin/tsc --noEmit
    node build.mjs --check
    node test/unit.mjs
    ;;
  browse)
    have node || skip "no Node.js"
    install || skip "no packages in web/node_modules (no npm, or no network)"
    CHROMIUM=$(browser) || skip "no Chromium (tools/setup.sh web installs it)"
    [ -x "${2:-}" ] || fail "browse: expected the path of opdrift"
    OPDRIFT=$2
    export CHROMIUM OPDRIFT
    node --test --test-timeout 600000 test/browser.test.mjs
    ;;
  *) fail "unknown argument '$1'; expected install, build, check or browse" ;;
esac
