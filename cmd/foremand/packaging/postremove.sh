#!/bin/sh
# Runs after a removal and during an upgrade. The user foremand and /var/lib/foremand stay.
set -e
if [ -d /run/systemd/system ]; then
	systemctl daemon-reload || true
fi
