#!/bin/sh
# Runs before a removal and during an upgrade. The first argument is remove (deb) or 0 (rpm) only
# for a removal. An upgrade does not stop the service: postinstall.sh of the new version restarts it.
set -e
case $1 in
remove | 0) ;;
*) exit 0 ;;
esac
if command -v systemctl >/dev/null; then
	systemctl --no-reload --quiet disable foremand.service || true # also where systemd does not run
fi
if [ -d /run/systemd/system ]; then
	systemctl stop foremand.service || true
fi
