// Package history counts what became of tasks, by time: how many were received, decided and carried
// out, how long that took, and how many calls GitHub allowed.
//
// A server records the history in its database, from the tasks that it stores anyway. [Counts] add
// up exactly, so that the counts of an hour are the sum of those of its minutes, and of all servers.
// The histograms in them add up, too: their percentiles are at most a tenth too low or too high.
//
// The facts about a task belong to different times. A task is received when it is enqueued. It is
// decided when its decision is stored; the waiting and the deciding before that count then. It is
// done or failed when it ends; the applying, and the outcome, count then. If an operator lets a task
// be carried out again, it ends twice, but is received once. See [Ended.Facts].
package history

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strconv"
	"strings"
	"time"
)

// A Store records and reads the history of the tasks in one database. It is safe for concurrent use,
// also by several processes. Its errors are as those of queue.Queue.
type Store interface {
	// Record adds what happened to tasks since the last call by any process. One call reads a bounded
	// number of tasks. Ends and receptions of the last two minutes are left for later calls, because
	// transactions may still add some. An end before the task is restarted counts, too.
	Record(ctx context.Context) (Recorded, error)
	// RecordBudget adds calls to GitHub that were made since the last call by this process.
	RecordBudget(ctx context.Context, list []Budget) error
	// Read returns the history of a range of time until now. It includes what Record has not added
	// yet. The number of read rows is bounded.
	Read(ctx context.Context, q Query) (Series, error)
}

// A Recorded is the result of Store.Record.
type Recorded struct {
	Facts int  // added facts; 0: there were none, or another process has added them
	More  bool // call again soon: the limit of a call was reached
}

// A Budget reports calls to GitHub by one process.
type Budget struct {
	Account string // the name of the token or the installation; untrusted
	Calls   int    // since the last report
	// Remaining is the number of calls that GitHub still allowed, of Limit an hour; negative: not
	// known.
	Remaining, Limit int
}

// Retention is how long the history is kept. It does not depend on how long tasks are kept.
const Retention = 90 * 24 * time.Hour

// A Query selects a part of the history.
type Query struct {
	Range Range
	Scope
}

// A Scope is a set of tasks: those of an agent, of a repository, or of both together. The zero value
// stands for all tasks. The case of letters of a repository does not matter.
type Scope struct {
	Agent string
	Repo  string
}

// Key returns a text of at most 600 bytes that differs for different scopes; empty for all tasks.
func (s Scope) Key() string {
	repo := strings.ToLower(s.Repo)
	switch {
	case s.Agent == "" && repo == "":
		return ""
	case repo == "":
		return short("agent " + s.Agent)
	case s.Agent == "":
		return short("repo " + repo)
	}
	return short("both " + strconv.Itoa(len(s.Agent)) + " " + s.Agent + " " + repo)
}

// Scopes returns the scopes that a task belongs to: that of all tasks first.
func Scopes(agent, repo string) []Scope {
	list := []Scope{{}}
	if agent != "" {
		list = append(list, Scope{Agent: agent})
	}
	if repo != "" {
		list = append(list, Scope{Repo: repo})
	}
	if agent != "" && repo != "" {
		list = append(list, Scope{agent, repo})
	}
	return list
}

// Counts are the facts about tasks in a period of time. The zero value has none.
type Counts struct {
	Received int `json:"received,omitempty"` // tasks that were enqueued
	Decided  int `json:"decided,omitempty"`  // tasks whose decision was stored
	Done     int `json:"done,omitempty"`
	Failed   int `json:"failed,omitempty"`
	// Outcomes counts the tasks that ended, Done and Failed together, by outcome.
	Outcomes map[Outcome]int `json:"outcomes,omitempty"`
	Waiting  Histogram       `json:"waiting,omitempty"`  // from the reception until the last claim
	Deciding Histogram       `json:"deciding,omitempty"` // from the last claim until the decision
	Applying Histogram       `json:"applying,omitempty"` // from the decision until the end
	// Skewed counts durations that were negative, because a clock was set back. They count as 0 in
	// the histograms.
	Skewed int `json:"skewed,omitempty"`
}

// Add adds other counts.
func (c *Counts) Add(o Counts) {
	c.Received += o.Received
	c.Decided += o.Decided
	c.Done += o.Done
	c.Failed += o.Failed
	c.Skewed += o.Skewed
	for outcome, n := range o.Outcomes {
		if c.Outcomes == nil {
			c.Outcomes = map[Outcome]int{}
		}
		c.Outcomes[outcome] += n
	}
	c.Waiting = c.Waiting.plus(o.Waiting)
	c.Deciding = c.Deciding.plus(o.Deciding)
	c.Applying = c.Applying.plus(o.Applying)
}

// Decode decodes the JSON of Counts, and checks it.
func Decode(data []byte) (Counts, error) {
	var c Counts
	if err := json.Unmarshal(data, &c); err != nil {
		return Counts{}, fmt.Errorf("decode counts: %w", err)
	}
	ok := c.Received >= 0 && c.Decided >= 0 && c.Done >= 0 && c.Failed >= 0 && c.Skewed >= 0
	for n := range maps.Values(c.Outcomes) {
		ok = ok && n >= 0
	}
	for _, h := range []Histogram{c.Waiting, c.Deciding, c.Applying} {
		ok = ok && h.valid()
	}
	if !ok {
		return Counts{}, errors.New("decode counts: a number is out of range")
	}
	return c, nil
}
