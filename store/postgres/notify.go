package postgres

import (
	"context"
	"crypto/rand"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/org/foreman-action/internal/wait"
	"github.com/org/foreman-action/queue"
)

// channel is the channel of notifications between processes. The first line of a payload is the
// id of the sender. Each other line names an agent with ready tasks; an empty line means
// decisions.
const channel = "foreman_changes"

// maxPayload is the most bytes of a notification; PostgreSQL accepts fewer than 8000.
const maxPayload = 7900

// A notifier sends changes to other processes by NOTIFY, and receives their changes by LISTEN.
type notifier struct {
	id     string // of this process
	config *pgx.ConnConfig
	log    *slog.Logger
	deaf   bool          // it does not listen, because a pooler shares the connections
	silent time.Duration // idle time before a ping, and the ping's timeout
	alive  atomic.Bool   // the listening connection has the lock of this process; see holders

	mu     sync.Mutex
	agents map[string]bool // agents whose changes are not sent yet
	signal chan struct{}   // has a value when agents is not empty
}

func newNotifier(config *pgx.ConnConfig, silent time.Duration, log *slog.Logger) *notifier {
	return &notifier{id: rand.Text(), config: config, log: log, silent: silent, agents: map[string]bool{}, signal: make(chan struct{}, 1)}
}

// add queues a change, which run sends soon.
func (n *notifier) add(c queue.Change) {
	if strings.ContainsAny(c.Agent, "\n") {
		return // no agent's address contains a newline; other processes also poll
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.agents[c.Agent] = true
	select {
	case n.signal <- struct{}{}:
	default:
	}
}

// run sends and listens until the context is done.
func (n *notifier) run(ctx context.Context, pool *pgxpool.Pool, heard func(...queue.Change)) {
	var wg sync.WaitGroup
	wg.Go(func() {
		n.send(ctx, func(ctx context.Context, payload string) error {
			_, err := pool.Exec(ctx, "SELECT pg_notify($1, $2)", channel, payload)
			return err
		})
	})
	if !n.deaf {
		wg.Go(func() { n.receive(ctx, heard) })
	}
	wg.Wait()
}

// rest is how long changes are collected after a notification. The first change is sent at once,
// and at most 50 notifications are sent per second.
const rest = 20 * time.Millisecond

// send calls notify with payloads until the context is done.
func (n *notifier) send(ctx context.Context, notify func(ctx context.Context, payload string) error) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-n.signal:
		}
		for _, payload := range n.payloads() {
			within, cancel := context.WithTimeout(ctx, n.silent)
			err := notify(within, payload)
			cancel()
			if err != nil {
				n.log.DebugContext(ctx, "cannot notify other processes of changes", "error", err)
				break // a lost notification does no harm, because other processes also poll
			}
		}
		if wait.For(ctx, rest) != nil {
			n.sendLast(ctx, notify)
			return
		}
	}
}

// sendLast sends the changes that were collected before the context was done.
func (n *notifier) sendLast(ctx context.Context, notify func(ctx context.Context, payload string) error) {
	select {
	case <-n.signal:
	default:
		return
	}
	within, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	for _, payload := range n.payloads() {
		if notify(within, payload) != nil {
			return // a lost notification does no harm
		}
	}
}

// payloads returns the notifications to send, and clears agents.
func (n *notifier) payloads() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	var list []string
	payload := n.id
	for agent := range n.agents {
		if len(payload)+1+len(agent) > maxPayload {
			list = append(list, payload)
			payload = n.id
		}
		payload += "\n" + agent
	}
	n.agents = map[string]bool{}
	return append(list, payload)
}

// The first and the longest wait before a reconnection.
const (
	firstPause = 100 * time.Millisecond
	lastPause  = time.Second
)

// receive listens for changes, and reconnects whenever the connection is lost.
func (n *notifier) receive(ctx context.Context, heard func(...queue.Change)) {
	pause, failures := firstPause, 0
	for ctx.Err() == nil {
		err := n.listen(ctx, func(changes ...queue.Change) {
			pause, failures = firstPause, 0
			heard(changes...)
		})
		if ctx.Err() != nil {
			return
		}
		if failures++; failures&(failures-1) == 0 { // the 1st, 2nd, 4th, 8th …
			n.log.WarnContext(ctx, "connection that receives changes by other processes lost; reconnecting", "error", err, "again_in", pause, "failures", failures)
		}
		_ = wait.For(ctx, pause)
		pause = min(2*pause, lastPause)
	}
}

// listen receives changes over one connection until the connection is lost.
func (n *notifier) listen(ctx context.Context, heard func(...queue.Change)) error {
	conn, err := pgx.ConnectConfig(ctx, n.config)
	if err != nil {
		return err
	}
	defer hangUp(ctx, conn)
	within, cancel := context.WithTimeout(ctx, n.silent)
	_, err = conn.Exec(within, "LISTEN "+channel)
	if err == nil {
		_, err = conn.Exec(within, "SELECT pg_advisory_lock_shared("+holderLock+")", n.id)
	}
	cancel()
	if err != nil {
		return err
	}
	n.alive.Store(true)
	defer n.alive.Store(false)
	heard(queue.Change{}) // changes may have been missed before
	for {
		got, err := n.next(ctx, conn)
		if err != nil {
			return err
		}
		sender, agents, found := strings.Cut(got, "\n")
		if sender == n.id || !found {
			continue
		}
		for agent := range strings.SplitSeq(agents, "\n") {
			heard(queue.Change{Agent: agent})
		}
	}
}

// next returns the next payload. It returns "" if none arrived for a while, but the database
// answered a ping.
func (n *notifier) next(ctx context.Context, conn *pgx.Conn) (string, error) {
	within, cancel := context.WithTimeout(ctx, n.silent)
	got, err := conn.WaitForNotification(within)
	cancel()
	if err == nil {
		return got.Payload, nil
	}
	if within.Err() == nil || ctx.Err() != nil {
		return "", err
	}
	within, cancel = context.WithTimeout(ctx, n.silent)
	defer cancel()
	return "", conn.Ping(within)
}

// hangUp closes a connection, and waits at most a second for a server that does not answer. It
// ends an open transaction first, so that a pooler can lend the server's connection to other
// clients.
func hangUp(ctx context.Context, conn *pgx.Conn) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	if conn.PgConn().TxStatus() == 'T' {
		_, _ = conn.Exec(ctx, "ROLLBACK")
	}
	_ = conn.Close(ctx) // if it fails, the server detects the lost connection itself
}
