#!/bin/sh
# Runs a command inside a throw-away desktop: an X server, a session bus and an unlocked keyring, all gone afterwards.
#   build/with-desktop.sh playwright test --config e2e/playwright.config.ts
set -eu
home=$(mktemp -d)
trap 'rm -rf "$home"' EXIT
mkdir -m 700 "$home/run" "$home/data" "$home/cache" "$home/config"
export XDG_RUNTIME_DIR="$home/run" XDG_DATA_HOME="$home/data" XDG_CACHE_HOME="$home/cache" XDG_CONFIG_HOME="$home/config"

# A desktop that is already there must not be touched: not its screen, not its bus, not its keyring.
unset DBUS_SESSION_BUS_ADDRESS WAYLAND_DISPLAY DISPLAY GNOME_KEYRING_CONTROL

xvfb-run --auto-servernum --server-args='-screen 0 1280x900x24' dbus-run-session -- sh -euc '
  printf %s deckhand | gnome-keyring-daemon --unlock --components=secrets >/dev/null
  "$@"
' sh "$@"
