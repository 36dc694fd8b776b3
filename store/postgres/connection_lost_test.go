package postgres_test

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"net/url"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/org/foreman-action/queue"
	"github.com/org/foreman-action/store/postgres"
)

// A cutter is a proxy in front of a database. At the first statement that contains a given text
// it ends the connection with the message that a server sends when it shuts down.
type cutter struct {
	network, to string
	url         string

	mu    sync.Mutex
	text  string // the text to wait for; empty: none
	after bool   // cut after the database has executed the statement, and drop its answer
}

// newCutter starts a cutter in front of the database of a URL.
func newCutter(t *testing.T, target string) *cutter {
	t.Helper()
	u, err := url.Parse(target)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	q := u.Query()
	c := &cutter{network: "unix", to: q.Get("host") + "/.s.PGSQL." + portOf(u)}
	q.Del("host")
	q.Set("sslmode", "disable")
	q.Set("default_query_exec_mode", "exec") // so that every statement is sent as text
	u.RawQuery, u.Host = q.Encode(), l.Addr().String()
	c.url = u.String()
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			wg.Go(func() { c.serve(t, client) })
		}
	})
	t.Cleanup(func() {
		l.Close()
		wg.Wait()
	})
	return c
}

// cut makes the cutter end the next connection that sends a text.
func (c *cutter) cut(text string, after bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.text, c.after = text, after
}

// take reports whether a message contains the text that the cutter waits for. If so, it resets
// the text.
func (c *cutter) take(message []byte) (found, after bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.text == "" || !bytes.Contains(message, []byte(c.text)) {
		return false, false
	}
	c.text = ""
	return true, c.after
}

// serve forwards a connection in both directions until the cutter ends it.
func (c *cutter) serve(t *testing.T, client net.Conn) {
	defer client.Close()
	server, err := net.Dial(c.network, c.to)
	if err != nil {
		t.Error(err)
		return
	}
	defer server.Close()
	doomed := make(chan bool, 1)
	var wg sync.WaitGroup
	wg.Go(func() {
		defer server.Close()
		from := bufio.NewReader(client)
		for first := true; ; first = false {
			message, err := frame(from, first)
			if err != nil {
				return
			}
			found, after := c.take(message)
			if found {
				doomed <- true
			}
			if found && !after {
				return
			}
			if _, err := server.Write(message); err != nil {
				return
			}
		}
	})
	from := bufio.NewReader(server)
	for {
		message, err := frame(from, false)
		if len(doomed) > 0 && (err != nil || message[0] == 'Z') {
			_, _ = client.Write(shutDown(t))
			break
		}
		if err != nil {
			break
		}
		if _, err := client.Write(message); err != nil {
			break
		}
	}
	client.Close()
	wg.Wait()
}

// frame reads a message. The first message of a client has no type.
func frame(from *bufio.Reader, first bool) ([]byte, error) {
	start := 1
	if first {
		start = 0
	}
	head := make([]byte, start+4)
	if _, err := io.ReadFull(from, head); err != nil {
		return nil, err
	}
	rest := make([]byte, binary.BigEndian.Uint32(head[start:])-4)
	_, err := io.ReadFull(from, rest)
	return slices.Concat(head, rest), err
}

// shutDown returns the last message of a server that is shut down.
func shutDown(t *testing.T) []byte {
	t.Helper()
	m := &pgproto3.ErrorResponse{Severity: "FATAL", SeverityUnlocalized: "FATAL", Code: "57P01", Message: "terminating connection due to administrator command"}
	data, err := m.Encode(nil)
	if err != nil {
		t.Error(err)
	}
	return data
}

// TestCut ends connections before and after a commit. A call that cannot have been committed is
// repeated. A call that may have been committed is not repeated and returns an error.
func TestCut(t *testing.T) {
	t.Parallel()
	ref := queue.Ref{ID: "1", Attempt: 1}
	verbs := map[string]func(*testing.T, *postgres.Store) error{
		"release": func(t *testing.T, s *postgres.Store) error { return s.Queue().ReleaseClaim(t.Context(), ref, 0) },
		"claim": func(t *testing.T, s *postgres.Store) error {
			_, err := s.Queue().ClaimNext(t.Context(), agent, queue.ClaimOptions{Lease: time.Hour})
			return err
		},
		"stats": func(t *testing.T, s *postgres.Store) error { _, err := s.Queue().Stats(t.Context()); return err },
		"inspect": func(t *testing.T, s *postgres.Store) error {
			_, err := queue.List(t.Context(), s.Queue(), queue.Filter{})
			return err
		},
	}
	tests := []struct {
		name, verb, text string
		after            bool
		unknown          bool // the client cannot know whether the call was committed
		claims, notes    int  // claimed tasks afterwards, and entries in the first task's log
	}{
		{"begin, not carried out", "release", "begin", false, false, 0, 1},
		{"begin, carried out", "release", "begin", true, false, 0, 1},
		{"a statement, not carried out", "release", "UPDATE task SET", false, false, 0, 1},
		{"a statement, carried out", "release", "UPDATE task SET", true, false, 0, 1},
		{"a commit, not carried out", "release", "commit\x00", false, true, 1, 0},
		{"a commit, carried out", "release", "commit\x00", true, true, 0, 1},
		{"a statement that is a transaction, not carried out", "claim", "WITH want", false, true, 1, 0},
		{"a statement that is a transaction, carried out", "claim", "WITH want", true, true, 2, 0},
		{"reads", "stats", "commit\x00", true, false, 1, 0},
		{"a read", "inspect", "SELECT seq", true, false, 1, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c := newCutter(t, postgres.Server(t).Schema(t))
			s := open(t, c.url, postgres.Options{})
			for _, id := range []string{"1", "2", "3"} {
				enqueue(t, s, id)
			}
			if err := verbs["claim"](t, s); err != nil {
				t.Fatal(err)
			}
			c.cut(tt.text, tt.after)
			if err := verbs[tt.verb](t, s); errors.Is(err, queue.ErrUnavailable) != tt.unknown || !tt.unknown && err != nil {
				t.Errorf("got %v, want ErrUnavailable: %v", err, tt.unknown)
			}
			if found, _ := c.take([]byte(tt.text)); found {
				t.Error("nothing was cut")
			}
			stats, err := s.Queue().Stats(t.Context())
			if err != nil || stats.States[queue.Claimed] != tt.claims {
				t.Errorf("got %+v, %v, want %d claimed", stats, err, tt.claims)
			}
			if d, err := s.Queue().Inspect(t.Context(), "1"); err != nil || len(d.Log) != tt.notes {
				t.Errorf("got %+v, %v, want %d entries in the log", d.Log, err, tt.notes)
			}
		})
	}
}
