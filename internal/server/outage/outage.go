// Package outage detects outages of GitHub: times in which GitHub fails every request of the
// server, or refuses its credentials. The credentials can be refused for all repositories, or for
// one account on which a GitHub App is installed.
//
// A Monitor sees all requests of the server through their transport: those of the executor, those
// of the poller, and those for the tokens of an App. It only reports outages: by a log line at the
// beginning and the end, by the health of the server, and by a metric. Packages executor and poll
// decide how to retry decisions and polls.
package outage

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/org/foreman-action/harness/observe"
	"github.com/org/foreman-action/internal/server/health"
	"github.com/org/foreman-action/internal/text"
	"github.com/org/foreman-action/internal/wait"
)

const (
	// confirm is how long all requests must fail before an outage is reported. Retries handle shorter
	// failures of GitHub.
	confirm       = 10 * time.Second
	leastFailures = 2
	maxError      = 200                         // characters of an error in the log
	probeInterval = 30 * time.Second            // between two probes during an outage
	silence       = probeInterval - time.Second // without a request, before a probe
	maxProbes     = 5                           // maximum number of repositories at a time
	maxNames      = 10                          // maximum number of repositories in a message
	unusedAfter   = 24 * time.Hour              // without requests other than probes, an outage ends
)

// A Cause is the kind of an outage, as used in the log and the metric.
type Cause string

// The causes.
const (
	Credentials Cause = "credentials" // GitHub refuses the token, or the App
	Unavailable Cause = "unavailable" // no answer, or a status of 500 or more
)

// advice returns what an operator should do. named means that the outage concerns only certain
// repositories.
func (c Cause) advice(named bool) string {
	switch {
	case c == Unavailable:
		return "check githubstatus.com, the network, the proxy and identity.api_url; decisions wait, and are applied when GitHub answers"
	case named:
		return "the App was suspended or removed there, or lost its access to the repository: install it again with its permissions; decisions there wait, and then continue by themselves"
	}
	return "the credentials expired, were revoked or lost their access: replace them under identity in the configuration, and restart the server; decisions wait until then"
}

// An Error is a current outage.
type Error struct {
	Cause Cause
	// Repos are the repositories, "owner/name", for which the App is refused; empty: the outage
	// concerns all.
	Repos []string
	Since time.Time
	Last  string // the last failure; it may contain untrusted text
}

// Error states the outage and what to do.
func (e *Error) Error() string {
	of := ""
	if n := len(e.Repos); n > 0 {
		of = " of " + strings.Join(e.Repos[:min(n, maxNames)], ", ")
		if n > maxNames {
			of += fmt.Sprintf(" and %d more", n-maxNames)
		}
	}
	return fmt.Sprintf("GitHub outage since %s (%s)%s: %s; %s", e.Since.UTC().Format(time.DateTime), e.Cause, of, e.Last, e.Cause.advice(of != ""))
}

// Options configure a [Monitor]. The zero value is usable.
type Options struct {
	Now     func() time.Time // nil: time.Now
	Observe observe.Func     // gets GitHubFailed and GitHubRecovered
	Log     *slog.Logger     // nil discards
}

// A Monitor detects outages. It is safe for concurrent use. The methods of a nil Monitor do
// nothing.
type Monitor struct {
	o Options

	mu      sync.Mutex  // guards the fields below
	service health.Peer // failed or unanswered requests
	// refused are the refusals of credentials, by repository; the key everywhere is for the token, or
	// the App itself.
	refused map[string]*repository
	// accounts are the accounts with an outage of a repository, by the owner's name. An App is
	// installed, suspended and removed per account, so the log has one line per account.
	accounts map[string]*incident
}

// everywhere is used as the repository when GitHub refuses the credentials for all repositories.
const everywhere = ""

// A repository is the health of the credentials for one repository.
type repository struct {
	health.Peer

	used time.Time // time of the last request that was neither accepted nor a probe
}

// An incident is an outage of an account.
type incident struct {
	since    time.Time
	failures int // number of failures in repositories whose outage has ended
	repos    int // number of repositories with a current outage
}

// New returns a Monitor without an outage.
func New(o Options) *Monitor {
	o.Now = wait.Clock(o.Now)
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	return &Monitor{o: o, service: newPeer(), refused: map[string]*repository{}, accounts: map[string]*incident{}}
}

// newPeer returns a peer without failures.
func newPeer() health.Peer {
	return health.Peer{Policy: health.Policy{Failures: leastFailures, Lasting: confirm}}
}

// Err returns the current outages, each as an [*Error]; nil: no outage.
func (m *Monitor) Err() error {
	if m == nil {
		return nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	var errs []error
	if m.service.Open {
		errs = append(errs, &Error{Cause: Unavailable, Since: m.service.Since, Last: m.service.Err})
	}
	if r := m.refused[everywhere]; r != nil && r.Open {
		return errors.Join(append(errs, &Error{Cause: Credentials, Since: r.Since, Last: r.Err})...)
	}
	var e *Error
	for _, repo := range slices.Sorted(maps.Keys(m.refused)) {
		r := m.refused[repo]
		switch {
		case !r.Open:
			continue
		case e == nil:
			e = &Error{Cause: Credentials, Since: r.Since, Last: r.Err}
			errs = append(errs, e)
		case r.Since.Before(e.Since):
			e.Since = r.Since
		}
		e.Repos = append(e.Repos, repo)
	}
	return errors.Join(errs...)
}

// Run calls probe during an outage if no other request was sent for a while, until ctx ends. So it
// notices the end of an outage although no task waits. probe sends a request to GitHub about a
// repository; an empty name means any repository.
func (m *Monitor) Run(ctx context.Context, probe func(ctx context.Context, repo string) error) error {
	for wait.For(ctx, probeInterval) == nil {
		m.forget(ctx)
		for _, repo := range m.silent() {
			_ = probe(context.WithValue(ctx, probing{}, true), repo) // the transport sees its result
		}
	}
	return nil
}

// silent returns the repositories with an outage for which no request was sent for a while, those
// with the longest silence first.
func (m *Monitor) silent() (repos []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.service.State(m.o.Now()) == health.HalfOpen {
		return []string{everywhere}
	}
	for repo, r := range m.refused {
		if r.State(m.o.Now()) == health.HalfOpen {
			repos = append(repos, repo)
		}
	}
	slices.SortFunc(repos, func(a, b string) int { return m.refused[a].Probe.Compare(m.refused[b].Probe) })
	return repos[:min(len(repos), maxProbes)]
}

// answered records that GitHub answered a request. That ends an outage with the cause Unavailable.
func (m *Monitor) answered(ctx context.Context) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if before := m.service.Succeed(); before.Open {
		m.ended(ctx, Unavailable, incident{since: before.Since, failures: before.Failures}, nil)
	}
}

// failed records that GitHub did not answer a request, or failed it.
func (m *Monitor) failed(ctx context.Context, begin time.Time, err string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.fail(&m.service, begin, err) {
		m.began(ctx, Unavailable, m.service, nil)
	}
}

// fail records a failure now, and reports whether an outage begins with it. The caller holds m.mu.
func (m *Monitor) fail(p *health.Peer, begin time.Time, err string) (opened bool) {
	now := m.o.Now()
	p.Probe = now.Add(silence)
	return p.Fail(begin, now, text.Shorten(err, maxError))
}

// forget ends the outages of repositories that are no longer used, for example because the App was
// removed on purpose.
func (m *Monitor) forget(ctx context.Context) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for repo, r := range m.refused {
		if repo != everywhere && r.Open && m.o.Now().Sub(r.used) >= unusedAfter {
			m.o.Log.WarnContext(ctx, "GitHub outage no longer counted: requests to the repository have stopped", "repository", repo)
			m.end(ctx, repo, r.Peer)
			delete(m.refused, repo)
		}
	}
}

// seen records a request about a repository that is not evidence about credentials.
func (m *Monitor) seen(ctx context.Context, repo string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if r := m.refused[repo]; r != nil {
		r.asked(ctx, m.o.Now())
		r.Probe = m.o.Now().Add(silence)
	}
}

// refuse records that credentials were refused for a repository.
func (m *Monitor) refuse(ctx context.Context, repo string, begin time.Time, err string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := m.refused[repo]
	if r == nil {
		r = &repository{Peer: newPeer()}
		m.refused[repo] = r
	}
	r.asked(ctx, m.o.Now())
	if !m.fail(&r.Peer, begin, err) {
		return
	}
	name := owner(repo)
	i := m.accounts[name]
	if i == nil {
		i = &incident{since: r.Since}
		m.accounts[name] = i
		var args []any
		if repo != everywhere {
			args = []any{"account", name, "repository", repo}
		}
		m.began(ctx, Credentials, r.Peer, args)
	}
	i.repos++
}

// accept records that credentials were accepted for a repository.
func (m *Monitor) accept(ctx context.Context, repo string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if r := m.refused[repo]; r != nil {
		if before := r.Succeed(); before.Open {
			m.end(ctx, repo, before)
		}
	}
}

// end ends the outage of a repository. It reports the end of the account's outage if that was the
// account's last repository with one. The caller holds m.mu.
func (m *Monitor) end(ctx context.Context, repo string, before health.Peer) {
	name := owner(repo)
	i := m.accounts[name]
	i.failures += before.Failures
	if i.repos--; i.repos > 0 {
		return
	}
	delete(m.accounts, name)
	var args []any
	if repo != everywhere {
		args = []any{"account", name}
	}
	m.ended(ctx, Credentials, *i, args)
}

// probing marks the context of a probe.
type probing struct{}

// asked records a request about a repository, unless it is a probe.
func (r *repository) asked(ctx context.Context, now time.Time) {
	if ctx.Value(probing{}) == nil {
		r.used = now
	}
}

// owner returns the account of a repository in lower case; empty for everywhere.
func owner(repo string) string {
	name, _, _ := strings.Cut(repo, "/")
	return strings.ToLower(name)
}

// began reports that an outage began.
func (m *Monitor) began(ctx context.Context, cause Cause, p health.Peer, args []any) {
	args = append([]any{"cause", string(cause)}, args...)
	args = append(args, "since", p.Since, "failed_requests", p.Failures, "error", p.Err, "advice", cause.advice(len(args) > 2))
	m.o.Log.WarnContext(ctx, "GitHub outage began", args...)
	if cause == Unavailable || len(m.accounts) == 1 {
		m.o.Observe.Report(observe.Observation{Event: observe.GitHubFailed, Status: string(cause), N: 1})
	}
}

// ended reports that an outage ended.
func (m *Monitor) ended(ctx context.Context, cause Cause, i incident, args []any) {
	took := m.o.Now().Sub(i.since)
	args = append([]any{"cause", string(cause)}, args...)
	m.o.Log.WarnContext(ctx, "GitHub outage ended", append(args, "duration", took, "failed_requests", i.failures)...)
	if cause == Unavailable || len(m.accounts) == 0 {
		m.o.Observe.Report(observe.Observation{Event: observe.GitHubRecovered, Status: string(cause), N: 1, Took: took})
	}
}
