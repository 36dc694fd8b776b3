#!/bin/sh
# Runs after a removal and during an upgrade. The user foreman and /var/lib/foreman stay.
set -e
if [ -d /run/systemd/system ]; then
	systemctl daemon-reload || true
fi
