package intake

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/org/foreman-action/internal/address"
	"github.com/org/foreman-action/internal/eventkind"
	"github.com/org/foreman-action/memory"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/queue"
	"github.com/org/foreman-action/runner"
	"github.com/org/foreman-action/triage"
)

// A Protocol is the version of the protocol that an agent uses.
type Protocol string

// The protocols.
const (
	ProtocolQueue Protocol = "queue" // the agent claims its tasks; the default
	ProtocolSync  Protocol = "sync"  // the whole task is posted to it, and it answers with the decision
)

// A Route sends events of a repository to an agent. If a repository has several routes, the first
// one that accepts the event and has an address is used.
type Route struct {
	Repo string // "owner/name", without regard to case; empty: every repository
	Type string // such as "issue-triage"
	// URL is the agent's base address, in any form that address.Canonical accepts. A route without an
	// address is skipped.
	URL string
	// Events are the events that the agent accepts: types of tasks such as "issue.triage", and
	// events such as "issues.labeled". Nil: the type of tasks that has the same prefix as Type,
	// up to the first "-".
	Events     []string
	AllowClose bool     // whether tasks permit the agent to close issues
	Protocol   Protocol // empty: ProtocolQueue
}

// isTriage reports whether an event has the type issue.triage. Other events go only to rules, and
// to agents that list them.
func isTriage(e triage.Delivery) bool {
	return slices.ContainsFunc(eventkind.Kinds(), func(k eventkind.Kind) bool {
		return k.Name == e.Name && slices.Contains(k.Routed, e.Action)
	})
}

// takes reports whether the agent accepts an event.
func (r Route) takes(e triage.Delivery) bool {
	if r.Events != nil {
		return slices.Contains(r.Events, e.Key()) || isTriage(e) && slices.Contains(r.Events, protocol.TypeIssueTriage)
	}
	kind, _, _ := strings.Cut(protocol.TypeIssueTriage, ".")
	prefix, _, _ := strings.Cut(r.Type, "-")
	return prefix == kind && isTriage(e)
}

// normalized returns the route with a canonical URL and its Protocol set.
func (r Route) normalized() (Route, error) {
	if _, _, ok := protocol.SplitRepo(r.Repo); !ok && r.Repo != "" {
		return Route{}, fmt.Errorf("agent %q: want a repository as owner/name, got %q", r.Type, r.Repo)
	}
	switch r.Protocol {
	case "":
		r.Protocol = ProtocolQueue
	case ProtocolQueue, ProtocolSync:
	default:
		return Route{}, fmt.Errorf("agent %q of %s: want the protocol %s or %s, got %q", r.Type, r.Repo, ProtocolQueue, ProtocolSync, r.Protocol)
	}
	if r.URL == "" {
		return r, nil
	}
	url, err := address.Canonical(r.URL)
	if err != nil {
		return Route{}, fmt.Errorf("agent %q of %s: %w", r.Type, r.Repo, err)
	}
	r.URL = url
	return r, nil
}

// byRepo returns the routes by repository in lower case, in order. Routes for every repository are
// under "", and also in the list of each repository.
func byRepo(routes []Route, repos []string) (map[string][]Route, error) {
	m := make(map[string][]Route)
	for _, name := range repos {
		if _, _, ok := protocol.SplitRepo(name); !ok {
			return nil, fmt.Errorf("want a repository as owner/name, got %q", name)
		}
		m[strings.ToLower(name)] = nil
	}
	for _, r := range routes {
		m[strings.ToLower(r.Repo)] = nil
	}
	for _, r := range routes {
		r, err := r.normalized()
		if err != nil {
			return nil, err
		}
		keys := []string{strings.ToLower(r.Repo)}
		if r.Repo == "" {
			keys = slices.Collect(maps.Keys(m))
		}
		for _, key := range keys {
			m[key] = append(m[key], r)
		}
	}
	return m, nil
}

// route returns the route for an event. If only rules apply, its URL is empty. If there is no
// route, reason says why.
func (t *Intake) route(ctx context.Context, e triage.Delivery) (r Route, reason string) {
	routes, known := t.repos[strings.ToLower(e.FullRepo())]
	if !known && t.o.AllRepos {
		routes, known = t.repos[""], true
	}
	if !known {
		t.o.Log.Warn("event skipped: the repository is not configured", "repo", e.FullRepo(), "event", e.Key())
		return Route{}, "the repository is not configured"
	}
	answering := runner.AnsweringOf(e, t.o.Bot)
	if reason := t.skipReason(e, answering); reason != "" {
		return Route{}, reason
	}
	switch answering {
	case runner.Answer: // it is handled without an agent
		return Route{}, ""
	case runner.OwnComment:
		return Route{}, "the edit is no answer to a proposal"
	case runner.NoAnswer:
	}
	for _, r := range routes {
		switch {
		case !r.takes(e):
		case r.URL != "":
			return r, ""
		default:
			t.o.Log.Warn("agent without an address skipped", "repo", e.FullRepo(), "agent_type", r.Type)
		}
	}
	if t.ruled(e) || runner.Undoes(e, func() memory.Record { return valueOr(t.record(ctx, e)) }) {
		return Route{}, ""
	}
	return Route{}, "neither an agent nor a rule takes the event " + e.Key()
}

// valueOr returns a record; nil: an empty one.
func valueOr(r *memory.Record) memory.Record {
	if r == nil {
		return memory.Record{}
	}
	return *r
}

// ruled reports whether the server's rules apply to an event.
func (t *Intake) ruled(e triage.Delivery) bool {
	return t.o.Rules != nil && t.o.Rules(e.Name, e.Action)
}

// unlessAnswered returns the route of an event, as proposals on its issue change it. An agent whose
// proposals wait is not asked, and a command that answers proposals is ignored if there are none. record
// is the memory of the issue; nil: it is not available, and the route stays.
func (t *Intake) unlessAnswered(a Arrival, route Route, record *memory.Record) (Route, string) {
	e := a.Event
	switch {
	case record == nil:
		return route, ""
	case route.URL != "" && runner.AgentWaits(*record, e, a.Origin.Source == queue.SourcePoll):
		if t.ruled(e) || runner.HasCommand(e) {
			return Route{}, ""
		}
		return Route{}, "proposals of the agent wait for an answer"
	case route.URL == "" && len(record.Proposals) == 0 && e.Action == "created" && !t.ruled(e) && runner.AnsweringOf(e, t.o.Bot) == runner.Answer:
		return Route{}, "no proposal waits on the issue"
	}
	return route, ""
}

// skipReason returns why an event is ignored, or "" if it is not ignored.
func (t *Intake) skipReason(e triage.Delivery, answering runner.Answering) string {
	if e.Issue == nil {
		return "the event contains no issue"
	}
	if e.Pull != nil || e.Issue.PullRequest {
		return fmt.Sprintf("#%d is a pull request", e.Number)
	}
	if reason := e.SkipReason(t.o.Bot); reason != "" {
		return reason
	}
	// Ignore comments and edits by programs, because two programs that answer each other would never
	// stop. Issues that a program opens or labels are accepted like those of people.
	if e.Sender.Type == "Bot" && (e.Name == triage.EventIssueComment || e.Action == "edited") {
		return "another program wrote that: " + e.Sender.Login
	}
	if answering == runner.Answer {
		return "" // on a maintainer's own issue as well
	}
	if !t.o.Maintainers && slices.Contains([]string{"OWNER", "MEMBER", "COLLABORATOR"}, e.Issue.Association) {
		return "the issue is a maintainer's own"
	}
	return ""
}
