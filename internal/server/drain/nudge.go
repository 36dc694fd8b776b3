package drain

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"sync"
	"syscall"
	"time"

	"github.com/org/foreman-action/internal/address"
	"github.com/org/foreman-action/queue"
)

const (
	nudgeTime  = 5 * time.Second         // that an agent has to answer a nudge
	nudgeAgain = 3700 * time.Millisecond // before it is told of a task once more; with maxGap less than five seconds
	defaultCap = 8
	maxCap     = 64
)

// answered is the status of a Nudged agent that took the word. Any other one says what was
// wrong.
const answered = "ok"

// peers are the agents that there was something to tell.
type peers struct {
	remote http.RoundTripper // for agents that answer with the decision; nil: their own

	mu    sync.Mutex
	known map[string]*peer
}

// A peer is what is known of one agent.
type peer struct {
	address  string
	standing standing // of one that is asked
	absence  absence

	mu     sync.Mutex // guards what follows
	busy   bool       // it is its turn
	missed bool       // there was news meanwhile
	down   bool       // it did not answer the last time
	tried  time.Time  // when it was tried last
	told   map[string]time.Time
	said   string // the status that the log has
}

// get returns the peer of an address.
func (p *peers) get(addr string) *peer {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.known[addr] == nil {
		p.known[addr] = &peer{address: addr, told: map[string]time.Time{}}
	}
	return p.known[addr]
}

// begin begins a turn, unless it is the agent's turn already.
func (p *peer) begin() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.busy {
		p.missed = true
		return false
	}
	p.busy = true
	return true
}

// end ends a turn, and reports whether there was news meanwhile.
func (p *peer) end() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	missed := p.missed
	p.busy, p.missed = false, false
	return missed
}

// nudge gives each agent that has work a turn of its own: none waits for another.
func (d *Drainer) nudge(ctx context.Context) error {
	list, err := d.o.Queue.Backlog(ctx, maxCap)
	if err != nil {
		return err
	}
	for _, b := range list {
		p := d.peers.get(b.Agent)
		if b.Agent == "" || !p.begin() {
			continue
		}
		d.turns.Go(func() {
			defer func() {
				if r := recover(); r != nil {
					d.o.Log.ErrorContext(ctx, "panic while an agent was told of tasks", "agent", p.address, "error", panicked(r))
				}
				if p.end() {
					d.nudges.wake()
				}
			}()
			d.turn(ctx, p, b)
		})
	}
	return nil
}

// turn tells an agent of its tasks.
func (d *Drainer) turn(ctx context.Context, p *peer, b queue.Backlog) {
	a, ok := d.o.Agents(b.Agent)
	if !ok {
		d.heard(ctx, p, "it is not configured")
		return
	}
	room := min(cmp.Or(a.Cap, defaultCap), maxCap) - b.Claimed
	if a.Sync {
		d.ask(ctx, p, a, min(room, b.Pending))
		return
	}
	list := p.news(b.IDs[:max(min(room, len(b.IDs)), 0)])
	if len(list) > 0 {
		// The loop may look before it is time to tell of them once more, because something
		// else happens, and then not again for a while.
		time.AfterFunc(nudgeAgain, d.nudges.wake)
	}
	for _, id := range list {
		if !p.mayTry(nudgeAgain) {
			return
		}
		status := d.post(ctx, a, id)
		if ctx.Err() != nil {
			return
		}
		d.heard(ctx, p, status)
		if status != answered {
			return
		}
	}
}

// news returns those of the tasks that the agent was not told of lately, and takes it that
// it is told now. The others are forgotten.
func (p *peer) news(ids []string) []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	told := make(map[string]time.Time, len(ids))
	var list []string
	for _, id := range ids {
		at, known := p.told[id]
		if !known || time.Since(at) >= nudgeAgain {
			list = append(list, id)
			at = time.Now()
		}
		told[id] = at
	}
	p.told = told
	return list
}

// mayTry reports whether the agent is worth a try: one that does not answer is tried only
// from time to time.
func (p *peer) mayTry(every time.Duration) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.down && time.Since(p.tried) < every {
		return false
	}
	p.tried = time.Now()
	return true
}

// heard counts what came of a word to an agent, and logs it when it is not as before.
func (d *Drainer) heard(ctx context.Context, p *peer, status string) {
	p.mu.Lock()
	p.down = status != answered
	changed := p.said != status
	p.said = status
	p.mu.Unlock()
	d.o.Observe(Observation{Event: Nudged, Status: status, Agent: p.address, N: 1})
	if !changed {
		return
	}
	level := slog.LevelInfo
	if status != answered {
		level = slog.LevelWarn
	}
	d.o.Log.Log(ctx, level, "agent was told of a task", "agent", p.address, "answer", status)
}

// post tells an agent of a task. What it answers beside the status is of no interest.
func (d *Drainer) post(ctx context.Context, a Agent, id string) string {
	body, err := json.Marshal(struct {
		TaskID string `json:"task_id"`
	}{id})
	if err != nil {
		return err.Error()
	}
	_, said := d.knock(ctx, a, http.MethodPost, "/task", body)
	return said
}

// knock sends an agent a request and returns the status, 0 if there is no answer. said is
// answered, or what went wrong in a few words that hold no secret.
func (d *Drainer) knock(ctx context.Context, a Agent, method, path string, body []byte) (code int, said string) {
	ctx, cancel := context.WithTimeout(ctx, nudgeTime)
	defer cancel()
	req, err := request(ctx, a, method, path, body)
	if err != nil {
		return 0, "its address cannot be used: " + err.Error()
	}
	// Not through http.Client: it follows redirects, and its errors hold addresses.
	resp, err := d.o.Transport.RoundTrip(req)
	if err != nil {
		return 0, unanswered(ctx, err)
	}
	defer func() { _ = resp.Body.Close() }()
	_, _ = io.CopyN(io.Discard, resp.Body, 64<<10) // so that the connection can be used again
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		return resp.StatusCode, fmt.Sprintf("status %d", resp.StatusCode)
	}
	return resp.StatusCode, answered
}

// request makes a request to an agent. Its error repeats nothing of the address.
func request(ctx context.Context, a Agent, method, path string, body []byte) (*http.Request, error) {
	base, err := address.Canonical(a.URL)
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, method, base+path, bytes.NewReader(body))
	if err != nil {
		return nil, errors.New("no request can be made to it")
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", "foremand")
	u, err := url.Parse(a.URL)
	if err != nil || u.User == nil {
		return req, nil //nolint:nilerr // Canonical has read it
	}
	if u.Scheme == "http" && !address.Nearby(u.Hostname()) {
		return nil, errors.New("a secret would go over plain http; want https://, or a host on this machine or in a private network")
	}
	password, _ := u.User.Password()
	req.Header.Set("Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(u.User.Username()+":"+password)))
	return req, nil
}

// unanswered says in a few words why there is no answer.
func unanswered(ctx context.Context, err error) string {
	if n, ok := errors.AsType[net.Error](err); ctx.Err() != nil || ok && n.Timeout() {
		return fmt.Sprintf("no answer within %s", nudgeTime)
	}
	if _, ok := errors.AsType[*net.DNSError](err); ok {
		return "its host is not known"
	}
	if errors.Is(err, syscall.ECONNREFUSED) {
		return "connection refused"
	}
	return "not reachable"
}
