// Package budget counts the server's calls to GitHub for each repository, and keeps how many calls
// GitHub still accepts from each account in its current hour.
package budget

import (
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/org/foreman-action/harness/observe"
	"github.com/org/foreman-action/internal/github/rest"
	"github.com/org/foreman-action/internal/wait"
)

const (
	// maxRepos and maxAccounts are how many repositories and accounts are counted apart. Further ones
	// are counted together, as [Other].
	maxRepos    = 1000
	maxAccounts = 200
)

// Other is the name of the repositories beyond the maximum, and of calls that concern no repository.
const Other = "other"

// An Account is what GitHub accepts of one account for one of its resources.
type Account struct {
	Name     string `json:"account"`
	Resource string `json:"resource"` // "core" for the REST API, or "graphql", "search" or another name of GitHub
	// Calls counts this server's calls of the last hour, and Total those since the process started. Of the
	// GraphQL API they are requests, and not GitHub's points.
	Calls int `json:"calls_last_hour"`
	Total int `json:"calls_total"`
	// Left and Limit are the calls that GitHub still accepts until Reset, and those of a whole hour. They
	// include the calls of other programs with the account. After Reset, Left is Limit and Reset is zero.
	// Limit 0: GitHub has not reported a limit.
	Left  int       `json:"left"`
	Limit int       `json:"limit"`
	Reset time.Time `json:"reset,omitzero"`
}

// A Repository is the calls of one repository.
type Repository struct {
	Name    string `json:"repository"`
	Account string `json:"account"` // of the last call
	// Calls are those of the last hour, and ForEvents the ones of them that carried out decisions. Events
	// are the tasks that ended in this hour. So an event took ForEvents/Events calls.
	Calls     int `json:"calls_last_hour"`
	ForEvents int `json:"event_calls_last_hour"`
	Events    int `json:"events_last_hour"`
	// Total and TotalForEvents count since the process started.
	Total          int `json:"calls_total"`
	TotalForEvents int `json:"event_calls_total"`
}

// A Report is the state of the budget at one time.
type Report struct {
	Accounts     []Account    `json:"accounts"`
	Repositories []Repository `json:"repositories"` // in the order of their first calls
}

// Of returns the account for the REST API with a name; ok is false if there is none.
func (r Report) Of(account string) (one Account, ok bool) {
	for _, a := range r.Accounts {
		if a.Name == account && a.Resource == core {
			return a, true
		}
	}
	return Account{}, false
}

// A Counter counts calls. It is safe for concurrent use, and outlives a reload of the configuration.
type Counter struct {
	now func() time.Time

	mu       sync.Mutex
	accounts map[accountKey]*account
	order    []accountKey
	repos    map[string]*repository // by name in lower case
	names    []string               // the keys of repos, in order
}

type accountKey struct{ name, resource string }

type account struct {
	total       int
	hour        hour
	left, limit int
	reset       time.Time
}

type repository struct {
	name, account         string
	total, forEvents      int
	calls, events, ending hour
}

// New returns a Counter without calls. now may be nil: time.Now.
func New(now func() time.Time) *Counter {
	return &Counter{now: wait.Clock(now), accounts: map[accountKey]*account{}, repos: map[string]*repository{}}
}

// core is GitHub's name of the limit of the REST API.
const core = "core"

// Transport returns a transport that counts the requests that base sends. A request counts if GitHub
// answered it, unless nothing had changed: GitHub does not count such an answer.
func (c *Counter) Transport(base http.RoundTripper) http.RoundTripper { return transport{base, c} }

type transport struct {
	base    http.RoundTripper
	counter *Counter
}

// RoundTrip implements http.RoundTripper.
func (t transport) RoundTrip(r *http.Request) (*http.Response, error) {
	res, err := t.base.RoundTrip(r)
	if err == nil {
		t.counter.note(rest.CallOf(r.Context()), res)
	}
	return res, err
}

// note counts an answered request.
func (c *Counter) note(call rest.CallInfo, res *http.Response) {
	now, h := c.now(), res.Header
	resource := h.Get("X-Ratelimit-Resource")
	switch {
	case resource == "" && call.GraphQL:
		resource = "graphql"
	case resource == "", len(resource) > 50:
		resource = core
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	a := c.accountOf(accountKey{call.Account, resource})
	a.limits(h)
	if res.StatusCode == http.StatusNotModified {
		return
	}
	a.total++
	a.hour.add(now, 1)
	r := c.repoOf(call.Repo)
	r.account = call.Account
	r.total++
	r.calls.add(now, 1)
	if call.ForEvent {
		r.forEvents++
		r.events.add(now, 1)
	}
}

// limits stores what an answer reports of the limit. Answers may arrive in another order than GitHub
// counted them, so within an hour of GitHub the smallest number counts.
func (a *account) limits(h http.Header) {
	left, err := strconv.Atoi(h.Get("X-Ratelimit-Remaining"))
	limit, lerr := strconv.Atoi(h.Get("X-Ratelimit-Limit"))
	unix, rerr := strconv.ParseInt(h.Get("X-Ratelimit-Reset"), 10, 64)
	if err != nil || lerr != nil || rerr != nil || left < 0 || limit <= 0 || unix <= 0 {
		return
	}
	switch reset := time.Unix(unix, 0).UTC(); {
	case reset.After(a.reset):
		a.left, a.limit, a.reset = left, limit, reset
	case reset.Equal(a.reset):
		a.left, a.limit = min(a.left, left), limit
	}
}

// Observe counts the tasks that ended. It is an [observe.Func].
func (c *Counter) Observe(o observe.Observation) {
	if o.Event != observe.LeaseEnded || o.Repo == "" {
		return
	}
	switch o.Status {
	case "done", "failed", "given_up":
	default:
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.repoOf(o.Repo).ending.add(c.now(), o.N)
}

// Report returns the state at this time.
func (c *Counter) Report() Report {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.now()
	out := Report{Accounts: []Account{}, Repositories: []Repository{}}
	for _, key := range c.order {
		a := c.accounts[key]
		one := Account{
			Name: key.name, Resource: key.resource, Calls: a.hour.sum(now), Total: a.total,
			Left: a.left, Limit: a.limit, Reset: a.reset,
		}
		if !a.reset.IsZero() && !now.Before(a.reset) {
			one.Left, one.Reset = a.limit, time.Time{}
		}
		out.Accounts = append(out.Accounts, one)
	}
	for _, key := range c.names {
		r := c.repos[key]
		out.Repositories = append(out.Repositories, Repository{
			Name: r.name, Account: r.account, Calls: r.calls.sum(now), ForEvents: r.events.sum(now), Events: r.ending.sum(now),
			Total: r.total, TotalForEvents: r.forEvents,
		})
	}
	return out
}

// accountOf returns an account. The caller holds c.mu.
func (c *Counter) accountOf(key accountKey) *account {
	if key.name == "" {
		key.name = Other
	}
	a := c.accounts[key]
	if a == nil && len(c.order) >= maxAccounts {
		key = accountKey{Other, core}
		a = c.accounts[key]
	}
	if a == nil {
		a = &account{}
		c.accounts[key] = a
		c.order = append(c.order, key)
	}
	return a
}

// repoOf returns a repository. The caller holds c.mu.
func (c *Counter) repoOf(name string) *repository {
	if name == "" {
		name = Other
	}
	key := strings.ToLower(name)
	r := c.repos[key]
	if r == nil && len(c.names) >= maxRepos {
		name, key = Other, Other
		r = c.repos[key]
	}
	if r == nil {
		r = &repository{name: name}
		c.repos[key] = r
		c.names = append(c.names, key)
	}
	return r
}

// An hour counts what happened in each of the last 60 minutes.
type hour struct {
	minutes [60]int
	last    int64 // the newest minute, since 1970
}

func (h *hour) add(now time.Time, n int) {
	h.advance(now)
	h.minutes[h.last%60] += n
}

func (h *hour) sum(now time.Time) int {
	h.advance(now)
	n := 0
	for _, m := range h.minutes {
		n += m
	}
	return n
}

// advance removes the minutes that are older than an hour. If the clock was set back, the newest minute
// stays, unless the clock was set back by more than an hour.
func (h *hour) advance(now time.Time) {
	minute := now.Unix() / 60
	switch {
	case minute < h.last && h.last-minute < 60:
		return
	case minute < h.last, minute-h.last >= 60:
		h.minutes, h.last = [60]int{}, max(minute, 0)
		return
	}
	for ; h.last < minute; h.last++ {
		h.minutes[(h.last+1)%60] = 0
	}
}
