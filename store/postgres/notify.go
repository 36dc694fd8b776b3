package postgres

import (
	"context"
	"crypto/rand"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/org/foreman-action/internal/wait"
	"github.com/org/foreman-action/queue"
)

// The channel on which processes tell each other of changes: lines, of which the first one is
// who tells, and the others are agents; an empty one stands for decisions.
const channel = "foreman_changes"

// maxPayload is how many bytes are told at once; PostgreSQL takes less than 8000.
const maxPayload = 7900

// news tells other processes of changes, and hears of theirs.
type news struct {
	id     string // of this process
	config *pgx.ConnConfig
	log    *slog.Logger
	deaf   bool          // nothing is heard of others: a pooler lends the connections
	silent time.Duration // after which it is asked whether the database is there still, and how long that may take

	mu     sync.Mutex
	agents map[string]bool // to be told of
	signal chan struct{}   // there are some
}

func newNews(config *pgx.ConnConfig, silent time.Duration, log *slog.Logger) *news {
	return &news{id: rand.Text(), config: config, log: log, silent: silent, agents: map[string]bool{}, signal: make(chan struct{}, 1)}
}

// add has others told of a change, soon.
func (n *news) add(c queue.Change) {
	if strings.ContainsAny(c.Agent, "\n") {
		return // no address is like that; they look again by themselves
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.agents[c.Agent] = true
	select {
	case n.signal <- struct{}{}:
	default:
	}
}

// run tells and hears until the context is done.
func (n *news) run(ctx context.Context, pool *pgxpool.Pool, heard func(...queue.Change)) {
	var wg sync.WaitGroup
	wg.Go(func() { n.tell(ctx, pool) })
	if !n.deaf {
		wg.Go(func() { n.hear(ctx, heard) })
	}
	wg.Wait()
}

// linger is how long changes are gathered: who notifies keeps others from committing for
// a moment.
const linger = 2 * time.Millisecond

// tell tells of changes.
func (n *news) tell(ctx context.Context, pool *pgxpool.Pool) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-n.signal:
		}
		if wait.For(ctx, linger) != nil {
			return
		}
		for _, payload := range n.payloads() {
			within, cancel := context.WithTimeout(ctx, n.silent)
			_, err := pool.Exec(within, "SELECT pg_notify($1, $2)", channel, payload)
			cancel()
			if err != nil {
				n.log.DebugContext(ctx, "other processes were not told of changes", "error", err)
				break // it is a hint
			}
		}
	}
}

// payloads returns what is to be told, and forgets it.
func (n *news) payloads() []string {
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

// The time before a connection that was lost is made again, at first and at last.
const (
	firstPause = 100 * time.Millisecond
	lastPause  = 15 * time.Second
)

// hear hears of changes, and connects again whenever the connection is lost.
func (n *news) hear(ctx context.Context, heard func(...queue.Change)) {
	pause := firstPause
	for ctx.Err() == nil {
		err := n.listen(ctx, func(changes ...queue.Change) {
			pause = firstPause
			heard(changes...)
		})
		if ctx.Err() != nil {
			return
		}
		n.log.WarnContext(ctx, "changes of other processes are seen later: the connection was lost", "error", err, "again_in", pause)
		_ = wait.For(ctx, pause)
		pause = min(2*pause, lastPause)
	}
}

// listen hears of changes over one connection.
func (n *news) listen(ctx context.Context, heard func(...queue.Change)) error {
	conn, err := pgx.ConnectConfig(ctx, n.config)
	if err != nil {
		return err
	}
	defer hangUp(ctx, conn)
	within, cancel := context.WithTimeout(ctx, n.silent)
	_, err = conn.Exec(within, "LISTEN "+channel)
	cancel()
	if err != nil {
		return err
	}
	heard(queue.Change{}) // something may have been missed
	for {
		got, err := n.next(ctx, conn)
		if err != nil {
			return err
		}
		who, agents, told := strings.Cut(got, "\n")
		if who == n.id || !told {
			continue
		}
		for agent := range strings.SplitSeq(agents, "\n") {
			heard(queue.Change{Agent: agent})
		}
	}
}

// next returns what is told next; nothing, if that takes long and the database is there still.
func (n *news) next(ctx context.Context, conn *pgx.Conn) (string, error) {
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
