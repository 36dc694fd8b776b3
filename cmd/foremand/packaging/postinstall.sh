#!/bin/sh
# Runs after an installation and an upgrade, from deb and rpm: the arguments make no difference.
# It creates the user, and restarts a running service, which usually means an upgrade. It neither
# enables nor starts a service.
set -e
if command -v systemd-sysusers >/dev/null; then
	systemd-sysusers foremand.conf
fi
if [ -d /run/systemd/system ]; then
	systemctl daemon-reload || true
	systemctl try-restart foremand.service || true
fi
