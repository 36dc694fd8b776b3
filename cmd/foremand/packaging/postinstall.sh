#!/bin/sh
# Runs after an installation and an upgrade, from deb and rpm: the arguments make no difference.
# It creates the user. Only an upgrade finds a running service, and restarts it: an installation
# neither enables nor starts it.
set -e
if command -v systemd-sysusers >/dev/null; then
	systemd-sysusers foremand.conf
fi
if [ -d /run/systemd/system ]; then
	systemctl daemon-reload || true
	systemctl try-restart foremand.service || true
fi
