//go:build linux

package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/org/foreman-action/internal/testkit/programtest"
)

// TestNotifications starts the program as a systemd unit of Type=notify with a watchdog, and reads
// what it reports at the start, after reloads and at the end.
func TestNotifications(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(dir, "foremand") // this test is foremand under that name
	if err := os.Symlink(self, program); err != nil {
		t.Fatal(err)
	}
	const config = "mode: shadow\nidentity: {github_user: bot}\nserver: {webhook_secret: " + hookSecret + "}\n"
	write(t, filepath.Join(dir, "config.yaml"), config)
	address := fmt.Sprintf("@foremand-%d", os.Getpid())
	l, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: address, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	ctx, cancel := context.WithTimeout(t.Context(), deadline)
	defer cancel()
	end, _ := ctx.Deadline()
	if err := l.SetReadDeadline(end); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(ctx, program, "serve", "--config", "config.yaml", "--queue-db", "q.db", "--port", "0")
	cmd.Dir = dir
	var log strings.Builder
	cmd.Stderr = &log
	cmd.Env = []string{"HOME=" + dir, "NOTIFY_SOCKET=" + address, "WATCHDOG_USEC=20000", programtest.RaceDetector(os.Getenv)}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	// want reads messages up to one that begins with a text. Before it only the watchdog may have pings.
	want := func(prefix string) {
		t.Helper()
		buf := make([]byte, 4096)
		for {
			n, err := l.Read(buf)
			if err != nil {
				t.Fatalf("waiting for %q: %v\n%s", prefix, err, log.String())
			}
			got := string(buf[:n])
			if strings.HasPrefix(got, prefix) {
				return
			}
			if got != "WATCHDOG=1" {
				t.Errorf("got %q, want %q", got, prefix)
			}
		}
	}
	signal := func(s os.Signal) {
		t.Helper()
		if err := cmd.Process.Signal(s); err != nil {
			t.Fatal(err)
		}
	}
	want("READY=1\nSTATUS=listening on http://")
	for range 3 {
		want("WATCHDOG=1")
	}
	signal(syscall.SIGHUP)
	want("RELOADING=1\nMONOTONIC_USEC=")
	want("READY=1\nSTATUS=listening on http://")
	write(t, filepath.Join(dir, "config.yaml"), "no: such key\n")
	signal(syscall.SIGHUP)
	want("RELOADING=1\nMONOTONIC_USEC=")
	want("READY=1\nSTATUS=the new configuration was refused: ")
	want("WATCHDOG=1")
	signal(syscall.SIGTERM)
	want("STOPPING=1\nSTATUS=")
	if err := cmd.Wait(); err != nil {
		t.Errorf("%v\n%s", err, log.String())
	}
}
