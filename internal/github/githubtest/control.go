package githubtest

import (
	"fmt"
	"strings"
	"time"

	"github.com/org/foreman-action/internal/github/githubtest/internal/state"
)

// Repo returns the repository "owner/name", which is made on first use: public, with
// the issue types Bug, Feature and Task and nothing else.
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

// DeleteLabel deletes a label of the repository "owner/name", and so takes it off its issues.
func (s *Server) DeleteLabel(fullName, name string) {
	r := s.Repo(fullName)
	s.mu.Lock()
	defer s.mu.Unlock()
	r.state.DeleteLabel(name)
}

// Advance moves the server's clock forward: later events are that much later than [Config].Now.
// Calls add up.
func (s *Server) Advance(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.clock.Advance(d)
}

// SetBudget makes answers report n remaining calls in the hour, and one less after each call. The
// search has a separate budget. Calls beyond the budget are not refused.
func (s *Server) SetBudget(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.budget = budget{on: true, left: n}
}

// Calls returns the calls so far, in the order of their arrival.
func (s *Server) Calls() []Call {
	var list []Call
	for _, c := range s.Server.Calls() {
		list = append(list, newCall(c))
	}
	return list
}

// Log returns a line for each call: method, escaped path without query, and status,
// such as "POST /repos/octo/hello/issues/7/comments 201". " cut" at the end means
// that the caller got no answer; without a status, the call was not served either. A
// call under way has status 0.
func (s *Server) Log() []string {
	var lines []string
	for _, c := range s.Calls() {
		lines = append(lines, c.String())
	}
	return lines
}

// LimitCalls leaves the token n calls until a time from now, when there are 5,000 again.
// Answers report how many are left; further calls are refused. Calls that are answered
// with 304 cost nothing.
func (s *Server) LimitCalls(n int, reset time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.limit = limit{on: true, left: n, reset: s.clock.Now().Add(reset)}
}

// SetToken makes another token the only one that is accepted, in place of that of the Config.
// An App's tokens stay as they are.
func (s *Server) SetToken(token string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.credentials.token = token
}

// RevokeTokens makes all installation tokens so far worthless.
func (s *Server) RevokeTokens() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.credentials.tokens)
}

// MoveInstallation gives the installation of an owner another id: the App was taken away
// and installed again.
func (s *Server) MoveInstallation(owner string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.credentials.move(owner)
}
