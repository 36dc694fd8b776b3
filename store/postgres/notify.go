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

// The channel of notifications between processes. A payload has the id of the sender in its
// first line, and an agent with ready tasks in each other line; an empty one stands for
// decisions.
const channel = "foreman_changes"

// maxPayload bounds the bytes of a notification; PostgreSQL takes less than 8000.
const maxPayload = 7900

// A notifier sends changes to other processes and receives theirs, by NOTIFY and LISTEN.
type notifier struct {
	id     string // of this process
	config *pgx.ConnConfig
	log    *slog.Logger
	deaf   bool          // it does not listen: connections are shared by a pooler
	silent time.Duration // without a notification for so long, the connection is pinged, with the same timeout
	alive  atomic.Bool   // the connection that listens has the lock of this process: see holders

	mu     sync.Mutex
	agents map[string]bool // to be sent
	signal chan struct{}   // agents is not empty
}

func newNotifier(config *pgx.ConnConfig, silent time.Duration, log *slog.Logger) *notifier {
	return &notifier{id: rand.Text(), config: config, log: log, silent: silent, agents: map[string]bool{}, signal: make(chan struct{}, 1)}
}

// add sends a change soon.
func (n *notifier) add(c queue.Change) {
	if strings.ContainsAny(c.Agent, "\n") {
		return // no address is like that; other processes also poll
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

// rest is the time after a notification in which changes are gathered for the next one: the
// first is sent at once, and many cost no more than fifty a second.
const rest = 20 * time.Millisecond

// send sends changes until the context is done, by a function for one payload.
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
				n.log.DebugContext(ctx, "notifying other processes of changes failed", "error", err)
				break // it is a hint
			}
		}
		if wait.For(ctx, rest) != nil {
			n.sendLast(ctx, notify)
			return
		}
	}
}

// sendLast sends the changes that came during a rest when the context is done.
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
			return // it is a hint
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
	lastPause  = 15 * time.Second
)

// receive listens for changes, and reconnects whenever the connection is lost.
func (n *notifier) receive(ctx context.Context, heard func(...queue.Change)) {
	pause := firstPause
	for ctx.Err() == nil {
		err := n.listen(ctx, func(changes ...queue.Change) {
			pause = firstPause
			heard(changes...)
		})
		if ctx.Err() != nil {
			return
		}
		n.log.WarnContext(ctx, "connection that receives changes by other processes lost; reconnecting", "error", err, "again_in", pause)
		_ = wait.For(ctx, pause)
		pause = min(2*pause, lastPause)
	}
}

// listen listens for changes over one connection, until it is lost.
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
	heard(queue.Change{}) // something may have been missed
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

// next returns the next payload; empty: none came for a while, but the database answers a
// ping.
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

// hangUp closes a connection, without waiting long for a server that does not answer. A
// pooler may lend the server's to others if no transaction is left open.
func hangUp(ctx context.Context, conn *pgx.Conn) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	if conn.PgConn().TxStatus() == 'T' {
		_, _ = conn.Exec(ctx, "ROLLBACK")
	}
	_ = conn.Close(ctx) // the server notices by itself
}
