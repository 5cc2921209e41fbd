#!/bin/sh
# PostgreSQL and a browser for the tests: installed where we may, said how where we may not. Silent where both are there.
set -eu

packages=""
ls /usr/lib/postgresql/*/bin/postgres >/dev/null 2>&1 || packages="postgresql"
command -v nginx >/dev/null || [ -x /usr/sbin/nginx ] || packages="$packages nginx-light openssl"
[ -x /usr/bin/chromium ] || [ -x /usr/bin/chromium-browser ] || packages="$packages chromium"
[ -n "$packages" ] || exit 0

as_root=""
if [ "$(id -u)" -ne 0 ]; then
  as_root="sudo"
  if ! sudo -n true 2>/dev/null; then
    as_root="no"
  fi
fi

if command -v apt-get >/dev/null && [ "$as_root" != no ]; then
  echo "installing for the tests:$(printf ' %s' $packages)"
  export DEBIAN_FRONTEND=noninteractive
  if $as_root apt-get update -qq && $as_root apt-get install -y -qq --no-install-recommends $packages >/dev/null; then
    exit 0
  fi
fi

echo "The tests of the store and of the pages run against a real PostgreSQL and a real browser. Missing:$(printf ' %s' $packages)" >&2
echo "On Debian or Ubuntu: sudo apt-get install$(printf ' %s' $packages)" >&2
if [ -n "${CI:-}" ]; then
  exit 1
fi
echo "Until then the tests that need them are skipped." >&2
