// Package issueagent is the reference agent: it decides on issues by rules or by a model, and
// skips issues that were answered recently.
package issueagent

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/org/foreman-action/config"
	"github.com/org/foreman-action/internal/summarize"
	"github.com/org/foreman-action/internal/wait"
	"github.com/org/foreman-action/protocol"
)

// DefaultWindow is how long an issue is skipped after a comment.
const DefaultWindow = 24 * time.Hour

// Options configure an Agent, which decides by rules or by a model.
type Options struct {
	Rules *config.Config  // decides by its rules; nil: Model decides
	Model summarize.Model // nil: Rules decide
	// Labels are the labels that the model may add. Empty: any; the harness ignores labels that the
	// repository does not have.
	Labels []string
	// Window is how long an issue is skipped after the agent commented on it. 0 means
	// DefaultWindow; a negative value means that issues are not skipped.
	Window time.Duration
	Now    func() time.Time // nil: time.Now
	// Fence returns an unpredictable text of letters and digits; nil means crypto/rand.
	Fence func() string
	// Log logs which values of the model are dropped; nil: no log.
	Log *slog.Logger
}

// An Agent decides on tasks. It is safe for concurrent use.
type Agent struct {
	o     Options
	guard *guard
}

// New checks the options and returns an Agent.
func New(o Options) (*Agent, error) {
	if (o.Rules == nil || o.Rules.Rules == nil) == (o.Model == nil) {
		return nil, errors.New("set either rules or a model")
	}
	o.Window = max(0, cmp.Or(o.Window, DefaultWindow))
	o.Now = wait.Clock(o.Now)
	if o.Fence == nil {
		o.Fence = rand.Text
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return &Agent{o, &guard{window: o.Window, kept: map[string]*kept{}}}, nil
}

// An issue contains the fields of a task's payload that the agent reads, in the forms that
// harnesses send.
type issue struct {
	Number int         `json:"number"`
	Other  int         `json:"issue_number"`
	Title  string      `json:"title"`
	Body   string      `json:"body"`
	State  string      `json:"state"`
	Author string      `json:"author"`
	User   account     `json:"user"`
	Labels []labelName `json:"labels"`
	Close  bool        `json:"allow_close"`
}

type account struct {
	Login string `json:"login"`
}

// A labelName is a label. Some harnesses send it as an object and some as its name.
type labelName string

// UnmarshalJSON implements json.Unmarshaler.
func (l *labelName) UnmarshalJSON(data []byte) error {
	var name struct {
		Name string `json:"name"`
	}
	if len(data) > 0 && data[0] == '"' {
		return json.Unmarshal(data, (*string)(l))
	}
	err := json.Unmarshal(data, &name)
	*l = labelName(name.Name)
	return err
}

// read returns the issue of a task; the bool is false if the payload has another form.
func read(task protocol.TaskMessage) (issue, bool) {
	var i issue
	err := json.Unmarshal(task.Payload, &i)
	return i, err == nil
}

// Decide returns the decision on a task. If it is called again for the same task, it returns the
// same decision. An error means that the model is unavailable; a later call may succeed.
func (a *Agent) Decide(ctx context.Context, task protocol.TaskMessage) (protocol.DecisionMessage, error) {
	i, ok := read(task)
	if !ok {
		return decided(task, protocol.Escalate, "cannot decode the payload as an issue"), nil
	}
	key := fmt.Sprintf("%s#%d", strings.ToLower(task.Repo), cmp.Or(i.Number, i.Other))
	now := a.o.Now()
	if d, ok := a.guard.again(key, task.TaskID); ok {
		return d, nil
	}
	if why := a.guard.stays(key, task.Context.MemorySummary, now); why != "" {
		return decided(task, protocol.Skip, why), nil
	}
	decide := a.byModel
	if a.o.Model == nil {
		decide = a.byRules
	}
	d, err := decide(ctx, task, i)
	if err != nil {
		return protocol.DecisionMessage{}, err
	}
	d.TaskID = task.TaskID
	a.guard.keep(key, d, now)
	return d, nil
}

func decided(task protocol.TaskMessage, d protocol.DecisionType, why string) protocol.DecisionMessage {
	return protocol.DecisionMessage{TaskID: task.TaskID, Decision: d, Rationale: why, Actions: []protocol.ActionItem{}}
}
