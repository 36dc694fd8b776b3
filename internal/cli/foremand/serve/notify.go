package serve

import (
	"bytes"
	"context"
	"log/slog"
	"net"
	"os"
	"runtime/pprof"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/org/foreman-action/internal/text"
)

// A notifier reports the state of the process to systemd: see sd_notify(3). The nil notifier reports
// nothing. It is safe for concurrent use.
type notifier struct {
	conn     net.Conn
	watchdog time.Duration // the process is killed after so long without a ping; 0: never
	log      *slog.Logger
}

// newNotifier returns the notifier of a process; nil: systemd expects no notifications, or cannot be
// reached. That is logged, because the server works without systemd.
func newNotifier(ctx context.Context, getenv func(string) string, log *slog.Logger) *notifier {
	address := getenv("NOTIFY_SOCKET")
	if address == "" {
		return nil
	}
	// "@" stands for an abstract socket, here and in package net.
	conn, err := new(net.Dialer).DialContext(ctx, "unixgram", address)
	if err != nil {
		log.WarnContext(ctx, "systemd is not notified, because the socket in NOTIFY_SOCKET cannot be reached", "error", err)
		return nil
	}
	n := &notifier{conn: conn, log: log}
	if pid := getenv("WATCHDOG_PID"); pid == "" || pid == strconv.Itoa(os.Getpid()) {
		if usec, err := strconv.ParseInt(getenv("WATCHDOG_USEC"), 10, 32); err == nil && usec > 0 {
			n.watchdog = time.Duration(usec) * time.Microsecond
		}
	}
	return n
}

// sendTime is the longest wait for systemd to take a notification.
const sendTime = time.Second

// send sends assignments, such as "READY=1". An error is logged, because the server works without
// systemd.
func (n *notifier) send(assignments ...string) {
	if n == nil {
		return
	}
	for i, a := range assignments { // a line is an assignment, and an error can have several
		assignments[i] = text.Shorten(strings.Join(strings.Fields(a), " "), 1000)
	}
	// A manager that does not read must not stop the server, or keep it from ending.
	_ = n.conn.SetWriteDeadline(time.Now().Add(sendTime))
	if _, err := n.conn.Write([]byte(strings.Join(assignments, "\n"))); err != nil {
		n.log.Warn("notifying systemd failed", "error", err)
	}
}

// ready reports that the server accepts requests, at the start and after a reload.
func (n *notifier) ready(status string) { n.send("READY=1", "STATUS="+status) }

// reloading reports that a reload begins. It ends with ready.
func (n *notifier) reloading() {
	n.send("RELOADING=1", "MONOTONIC_USEC="+strconv.FormatInt(monotonic().Microseconds(), 10), "STATUS=reading the configuration again")
}

// stopping reports that the server stops.
func (n *notifier) stopping() { n.send("STOPPING=1", "STATUS=finishing the writes under way") }

// watch sends a ping to the watchdog at each tick, unless parts of the server are stuck. Then systemd
// restarts the server, so watch logs what the goroutines wait for. It returns when ticks is closed,
// or when ctx ends.
func (n *notifier) watch(ctx context.Context, ticks <-chan time.Time, stuck func(context.Context) []string) {
	var before []string
	for {
		select {
		case <-ctx.Done():
			return
		case _, ok := <-ticks:
			if !ok {
				return
			}
		}
		now := stuck(ctx)
		switch {
		case len(now) == 0 && len(before) == 0:
			n.send("WATCHDOG=1")
		case len(now) == 0:
			n.send("WATCHDOG=1", "STATUS=working again")
		case !slices.Equal(now, before):
			var goroutines bytes.Buffer
			_ = pprof.Lookup("goroutine").WriteTo(&goroutines, 1) // writing to a buffer does not fail
			n.log.ErrorContext(ctx, "parts of the server are stuck; systemd restarts it unless they continue", "stuck", now, "goroutines", text.Shorten(goroutines.String(), 64<<10))
			n.send("STATUS=stuck: " + strings.Join(now, ", "))
		}
		before = now
	}
}

// run calls watch with the watchdog's interval, until ctx ends.
func (n *notifier) run(ctx context.Context, stuck func(context.Context) []string) {
	if n == nil || n.watchdog == 0 {
		return
	}
	ticks := time.NewTicker(n.watchdog / 2)
	defer ticks.Stop()
	n.watch(ctx, ticks.C, stuck)
}

// close closes the socket.
func (n *notifier) close() {
	if n != nil {
		_ = n.conn.Close()
	}
}
