package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"os"
	"regexp"
	"strconv"
	"sync"
	"time"

	"github.com/org/foreman-action/agent"
	"github.com/org/foreman-action/internal/github/githubtest"
	"github.com/org/foreman-action/protocol"
)

const (
	label  = "triage"
	author = "mona" // of each issue; a maintainer's own issues get no task
)

// A peers is GitHub and the agent. It is safe for concurrent use.
type peers struct {
	github *githubtest.Server
	agent  *http.Server
	url    string // of the agent
	repo   string
	body   map[string]any // of the webhook
	slow   time.Duration  // additional time of each call to GitHub

	mu      sync.Mutex // guards the fields below
	calls   map[string]int
	arrived map[int]chan time.Time // when an issue's comment arrived at GitHub
	next    int                    // number of the next issue
	steps   map[string]time.Time   // when the agent and GitHub were first called since takeSteps, by call
}

// newPeers starts GitHub and the agent, which answers at once with a label and a comment.
func newPeers(ctx context.Context, payload string, slow time.Duration) (*peers, error) {
	text, err := os.ReadFile(payload)
	if err != nil {
		return nil, err
	}
	p := &peers{slow: slow, calls: map[string]int{}, steps: map[string]time.Time{}, arrived: map[int]chan time.Time{}, next: 1}
	var event struct {
		Repository struct {
			FullName string `json:"full_name"`
		} `json:"repository"`
	}
	if err := json.Unmarshal(text, &event); err != nil {
		return nil, fmt.Errorf("read %s: %w", payload, err)
	}
	if err := json.Unmarshal(text, &p.body); err != nil {
		return nil, fmt.Errorf("read %s: %w", payload, err)
	}
	p.repo = event.Repository.FullName
	if p.github, err = githubtest.Start(githubtest.Config{SkipValidation: true, Login: "foreman-bot"}); err != nil {
		return nil, err
	}
	p.github.Repo(p.repo).AddLabel(label)
	p.github.Before(p.before)
	ln, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		p.github.Close()
		return nil, err
	}
	p.url = "http://" + ln.Addr().String()
	p.agent = &http.Server{Handler: agent.NewHandler(agent.HandlerOptions{Decide: p.decide}), ReadHeaderTimeout: time.Minute}
	go func() { _ = p.agent.Serve(ln) }() // ends with close
	return p, nil
}

func (p *peers) close() {
	_ = p.agent.Close()
	p.github.Close()
}

// decide is the agent.
func (p *peers) decide(_ context.Context, task protocol.TaskMessage) (protocol.DecisionMessage, error) {
	p.mu.Lock()
	p.step("the agent is asked", time.Now())
	p.mu.Unlock()
	m := protocol.DecisionMessage{TaskID: task.TaskID, Decision: protocol.LabelAndRespond, Rationale: "every new issue gets a label and an answer"}
	for _, a := range []struct{ name, key, value string }{
		{protocol.ActionAddLabel, "label", label}, {protocol.ActionComment, "body", "Thank you. Somebody reads this soon."},
	} {
		item, err := protocol.NewAction(a.name, map[string]any{a.key: a.value})
		if err != nil {
			return m, err
		}
		m.Actions = append(m.Actions, item)
	}
	return m, nil
}

var (
	commentPath = regexp.MustCompile(`^/repos/[^/]+/[^/]+/issues/(\d+)/comments$`)
	repoPath    = regexp.MustCompile(`^/repos/[^/]+/[^/]+`)
	namePath    = regexp.MustCompile(`/labels/[^/]+$`)
	numberPath  = regexp.MustCompile(`/\d+`)
)

// before counts a call to GitHub, and records when a comment arrived.
func (p *peers) before(method, path string) {
	now := time.Now()
	pattern := repoPath.ReplaceAllString(path, "/repos/{repo}")
	pattern = numberPath.ReplaceAllString(namePath.ReplaceAllString(pattern, "/labels/{name}"), "/{n}")
	p.mu.Lock()
	p.calls[method+" "+pattern]++
	p.step("`"+method+" "+pattern+"`", now)
	if m := commentPath.FindStringSubmatch(path); m != nil && method == http.MethodPost {
		n, _ := strconv.Atoi(m[1]) // digits
		if c := p.arrived[n]; c != nil {
			select {
			case c <- now:
			default: // a second comment on the same issue is a defect, which check reports
			}
		}
	}
	p.mu.Unlock()
	time.Sleep(p.slow)
}

// step records the first call of a kind. The caller holds p.mu.
func (p *peers) step(call string, at time.Time) {
	if p.steps[call].IsZero() {
		p.steps[call] = at
	}
}

// takeSteps returns when each kind of call was made first since the last time.
func (p *peers) takeSteps() map[string]time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	steps := p.steps
	p.steps = map[string]time.Time{}
	return steps
}

// takeCalls returns the number of calls to GitHub since the last time, by method and pattern.
func (p *peers) takeCalls() map[string]int {
	p.mu.Lock()
	defer p.mu.Unlock()
	calls := p.calls
	p.calls = map[string]int{}
	return calls
}

// A delivery is a webhook that is not sent yet.
type delivery struct {
	issue   int
	body    []byte
	arrived <-chan time.Time // receives when the comment arrived at GitHub
}

// open opens an issue, and returns its webhook.
func (p *peers) open() (delivery, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := p.next
	p.next++
	arrived := make(chan time.Time, 1)
	p.arrived[n] = arrived
	now := time.Now().UTC().Truncate(time.Second)
	p.github.Repo(p.repo).AddIssue(githubtest.Issue{Number: n, Author: author, Title: "It crashes", CreatedAt: now})
	issue, ok := p.body["issue"].(map[string]any)
	if !ok {
		return delivery{}, errors.New("the payload has no issue")
	}
	at := now.Format(time.RFC3339)
	maps.Copy(issue, map[string]any{
		"number": n, "id": 1_000_000 + n, "title": "It crashes", "labels": []any{}, "assignees": []any{}, "assignee": nil, "milestone": nil,
		"created_at": at, "updated_at": at, "author_association": "NONE", "user": map[string]any{"login": author, "type": "User"},
	})
	p.body["sender"] = issue["user"]
	body, err := json.Marshal(p.body)
	return delivery{n, body, arrived}, err
}

// check returns an error unless each issue from first on has one label and one comment.
func (p *peers) check(first int) error {
	p.mu.Lock()
	end := p.next
	p.mu.Unlock()
	for n := first; n < end; n++ {
		if i := p.github.Issue(p.repo, n); len(i.Labels) != 1 || len(i.Comments) != 1 {
			return fmt.Errorf("issue %d has the labels %v and %d comments, want one of each", n, i.Labels, len(i.Comments))
		}
	}
	return nil
}
