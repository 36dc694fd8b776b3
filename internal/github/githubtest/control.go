package githubtest

import (
	"fmt"
	"maps"
	"reflect"
	"strings"
	"time"

	"github.com/org/foreman-action/internal/github/githubtest/internal/render"
	"github.com/org/foreman-action/internal/github/githubtest/internal/state"
)

// Repo returns the repository "owner/name". The first call creates it: public, and empty except for
// the issue types Bug, Feature and Task.
func (s *Server) Repo(fullName string) *Repo {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := strings.ToLower(fullName)
	if r := s.repos[key]; r != nil {
		return &Repo{&s.mu, s.clock, r}
	}
	owner, name, ok := strings.Cut(fullName, "/")
	if !ok {
		panic(fmt.Sprintf("githubtest: repository %q: want owner/name", fullName))
	}
	r := state.NewRepository(s.clock, owner, name)
	s.repos[key] = r
	return &Repo{&s.mu, s.clock, r}
}

// Issue returns a copy of an issue as it is now; the zero Issue when there is none.
func (s *Server) Issue(fullName string, number int) Issue {
	r := s.Repo(fullName)
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := r.state.Issues[number]; i != nil {
		return i.Snapshot()
	}
	return Issue{}
}

// Describe sets the description of the repository "owner/name".
func (s *Server) Describe(fullName string, a About) {
	r := s.Repo(fullName)
	s.mu.Lock()
	defer s.mu.Unlock()
	r.state.About = a
}

// DeleteLabel deletes a label of the repository "owner/name" and removes it from all its issues.
func (s *Server) DeleteLabel(fullName, name string) {
	r := s.Repo(fullName)
	s.mu.Lock()
	defer s.mu.Unlock()
	r.state.DeleteLabel(name)
}

// Labels returns the names of the labels of the repository "owner/name".
func (s *Server) Labels(fullName string) []string {
	r := s.Repo(fullName)
	s.mu.Lock()
	defer s.mu.Unlock()
	var names []string
	for _, l := range r.state.Labels {
		names = append(names, l.Name)
	}
	return names
}

// LabelID returns the GraphQL id of a label of the repository "owner/name"; empty: there is no such label.
func (s *Server) LabelID(fullName, name string) string {
	r := s.Repo(fullName)
	s.mu.Lock()
	defer s.mu.Unlock()
	if l := r.state.Label(name); l != nil {
		return render.NodeID("Label", l.ID)
	}
	return ""
}

// DescribeLabel sets the color and the description of a label, which it creates if there is none.
func (s *Server) DescribeLabel(fullName, name, color, description string) {
	r := s.Repo(fullName)
	s.mu.Lock()
	defer s.mu.Unlock()
	l := r.state.EnsureLabel(name)
	l.Color, l.Description = color, description
}

// RenameLabel renames a label of the repository "owner/name", which keeps its id. Its issues have the
// label under the new name.
func (s *Server) RenameLabel(fullName, from, to string) {
	r := s.Repo(fullName)
	s.mu.Lock()
	defer s.mu.Unlock()
	r.state.RenameLabel(from, to)
}

// Advance moves the server's clock forward by d, in addition to earlier calls. Later events have a
// time that is that much later than [Config].Now.
func (s *Server) Advance(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.clock.Advance(d)
}

// SetBudget makes responses report n remaining calls in the hour, one fewer after each call. The
// search has a separate budget. Calls beyond the budget are not refused.
func (s *Server) SetBudget(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.budget = budget{on: true, left: n}
}

// Before calls f before the server handles a call, with the method and the escaped path of the call.
// f may change the server, so that it changes between two calls of a client. Calls that a [Fault]
// answers are left out. A later Before replaces f; nil ends it.
func (s *Server) Before(f func(method, path string)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.before = f
}

// Calls returns the calls so far, in the order of their arrival.
func (s *Server) Calls() []Call {
	var list []Call
	for _, c := range s.Server.Calls() {
		list = append(list, newCall(c))
	}
	return list
}

// Log returns a line for each call: method, escaped path without query, and status, such as
// "POST /repos/octo/hello/issues/7/comments 201". " cut" at the end means that the client received
// no response. A line with " cut" and no status means that the server did not handle the call
// either. A call in progress has status 0.
func (s *Server) Log() []string {
	var lines []string
	for _, c := range s.Calls() {
		lines = append(lines, c.String())
	}
	return lines
}

// LimitCalls allows the token n calls until the duration reset has passed, and then 5,000 again.
// Responses report the remaining calls; further calls are refused. A call with the response 304
// does not count.
func (s *Server) LimitCalls(n int, reset time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.limit = limit{on: true, left: n, reset: s.clock.Now().Add(reset)}
}

// SetToken replaces the token of the Config: the server accepts only the new one. It does not
// affect the tokens of an App.
func (s *Server) SetToken(token string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.credentials.token = token
}

// RevokeTokens revokes all installation tokens issued so far.
func (s *Server) RevokeTokens() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.credentials.tokens)
}

// MoveInstallation gives the installation of an owner a new id, as if the App was uninstalled and
// installed again.
func (s *Server) MoveInstallation(owner string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.credentials.move(owner)
}

// A lag makes reads show the results of writes late.
type lag struct {
	by  time.Duration
	old []outdated // in the order of the writes
}

// An outdated is the state of an issue before a write. Reads show it until the write is shown.
type outdated struct {
	repo   string // its key in the server's repositories
	number int
	until  time.Time
	was    *state.Record
}

// Lag makes reads show the result of each later write only after d, by the server's clock. The
// write itself is answered immediately, with its result. It stands for a request on which GitHub
// still works after its connection broke, and for a copy of the data that is behind. It applies to
// writes through the API.
func (s *Server) Lag(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lag.by = d
}

// record remembers the state of all issues before a write. The caller calls kept after the write.
func (l *lag) record(repos map[string]*state.Repository, now time.Time) (kept func()) {
	if l.by <= 0 {
		return func() {}
	}
	var before []outdated
	for key, r := range repos {
		for n, i := range r.Issues {
			before = append(before, outdated{key, n, now.Add(l.by), i.Copy()})
		}
	}
	return func() {
		for _, o := range before {
			if !reflect.DeepEqual(o.was, repos[o.repo].Issues[o.number].Copy()) {
				l.old = append(l.old, o)
			}
		}
	}
}

// shown returns the repositories as reads show them.
func (l *lag) shown(repos map[string]*state.Repository, now time.Time) map[string]*state.Repository {
	if len(l.old) == 0 {
		return repos
	}
	repos = maps.Clone(repos)
	hidden := map[*state.Record]bool{}
	for _, o := range l.old {
		current := repos[o.repo].Issues[o.number]
		if hidden[current] || !now.Before(o.until) {
			continue
		}
		view := *repos[o.repo]
		view.Issues = maps.Clone(view.Issues)
		view.Issues[o.number] = o.was
		repos[o.repo], hidden[o.was] = &view, true
	}
	return repos
}

// Deliver records an attempt to deliver an event, with the status of the answer. redeliver is called
// in a goroutine of its own when a client asks for another attempt, which is recorded as accepted.
func (s *Server) Deliver(guid string, status int, redeliver func(guid string)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hooks.redeliver = redeliver
	s.hooks.add(s.clock, guid, status)
}
