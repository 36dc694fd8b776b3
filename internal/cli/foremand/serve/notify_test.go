//go:build linux

package serve

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// systemd is a notification socket.
type systemd struct{ *net.UnixConn }

func listenAs(t *testing.T, address string) systemd {
	t.Helper()
	l, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: address, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return systemd{l}
}

// next returns the next message.
func (s systemd) next(t *testing.T) string {
	t.Helper()
	buf := make([]byte, 4096)
	n, err := s.Read(buf)
	if err != nil {
		t.Fatal(err)
	}
	return string(buf[:n])
}

func TestNotify(t *testing.T) {
	t.Parallel()
	dir, err := os.MkdirTemp("", "n") //nolint:usetesting // the path of a socket must be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	for _, address := range []string{filepath.Join(dir, "notify"), fmt.Sprintf("@foremand-test-%d-%s", os.Getpid(), filepath.Base(dir))} {
		s := listenAs(t, address)
		env := map[string]string{"NOTIFY_SOCKET": address, "WATCHDOG_USEC": "30000000", "WATCHDOG_PID": fmt.Sprint(os.Getpid())}
		n := newNotifier(t.Context(), func(name string) string { return env[name] }, slog.New(slog.DiscardHandler))
		if n == nil || n.watchdog != 30*time.Second {
			t.Fatalf("got %+v", n)
		}
		n.ready("the new configuration was refused: line 1\nSTOPPING=1\n")
		if got, want := s.next(t), "READY=1\nSTATUS=the new configuration was refused: line 1 STOPPING=1"; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
		n.reloading()
		var usec int64
		if _, err := fmt.Sscanf(s.next(t), "RELOADING=1\nMONOTONIC_USEC=%d\nSTATUS=", &usec); err != nil && !strings.Contains(err.Error(), "EOF") || usec == 0 {
			t.Errorf("MONOTONIC_USEC=%d: %v", usec, err)
		}
		n.stopping()
		if got := s.next(t); !strings.HasPrefix(got, "STOPPING=1\nSTATUS=") {
			t.Errorf("got %q", got)
		}
		n.close()
	}
	// Without systemd, and for another process's watchdog.
	n := newNotifier(t.Context(), func(string) string { return "" }, nil)
	if n != nil {
		t.Errorf("got %+v", n)
	}
	n.ready("")
	n.run(t.Context(), nil)
	n.close()
	env := map[string]string{"NOTIFY_SOCKET": filepath.Join(dir, "notify"), "WATCHDOG_USEC": "30000000", "WATCHDOG_PID": "1"}
	if n = newNotifier(t.Context(), func(name string) string { return env[name] }, nil); n == nil || n.watchdog != 0 {
		t.Errorf("got %+v", n)
	}
	var log bytes.Buffer
	n = newNotifier(t.Context(), func(string) string { return filepath.Join(dir, "none") }, slog.New(slog.NewTextHandler(&log, nil)))
	if n != nil || strings.Count(log.String(), "level=WARN") != 1 || !strings.Contains(log.String(), "NOTIFY_SOCKET") {
		t.Errorf("without a socket: got %+v and the log %q", n, log.String())
	}
}

// TestWatchdog lets a loop hang and continue.
func TestWatchdog(t *testing.T) {
	t.Parallel()
	address := fmt.Sprintf("@foremand-watchdog-%d", os.Getpid())
	s := listenAs(t, address)
	var log bytes.Buffer
	n := newNotifier(t.Context(), func(name string) string { return map[string]string{"NOTIFY_SOCKET": address}[name] }, slog.New(slog.NewTextHandler(&log, nil)))
	if n == nil {
		t.Fatal(log.String())
	}
	defer n.close()
	answers := [][]string{nil, {"loop decisions"}, {"loop decisions"}, nil, nil}
	ticks := make(chan time.Time, len(answers))
	for range answers {
		ticks <- time.Time{}
	}
	close(ticks)
	n.watch(t.Context(), ticks, func(context.Context) []string {
		next := answers[0]
		answers = answers[1:]
		return next
	})
	n.send("the end")
	var got []string
	for m := s.next(t); m != "the end"; m = s.next(t) {
		got = append(got, m)
	}
	want := []string{"WATCHDOG=1", "STATUS=stuck: loop decisions", "WATCHDOG=1\nSTATUS=working again", "WATCHDOG=1"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if text := log.String(); strings.Count(text, "parts of the server are stuck") != 1 || !strings.Contains(text, "TestWatchdog") {
		t.Errorf("the log has no list of goroutines:\n%s", text)
	}
}
