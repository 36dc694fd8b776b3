// Package memory keeps what was done before on an issue: one [Record] per issue,
// the [Store] that it lives in, and the [Summary] that an agent is told. A [Journal]
// keeps what is being done: one [Ledger] per task, with the decision and how far its
// actions got.
//
// A record holds structured facts. The text that agents see is rendered from them
// by code: nothing that was written in an issue, and no rationale, gets into it.
// Memory is a help and never an authority: a caller that cannot load it goes on
// without it. A journal says what need not be done again, and never what may be done.
package memory

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/org/foreman-action/protocol"
)

// Schema is the version of the encoded form of a [Record].
const Schema = 1

// The bounds of a record, beside those of its texts. [Record.Put] keeps a record within
// them by folding the oldest tasks into [Record.Earlier].
const (
	MaxTasks = 100       // tasks kept one by one
	MaxSize  = 256 << 10 // bytes of the encoded record
)

// Errors that callers branch on; test with errors.Is.
var (
	// ErrNotFound says that nothing is remembered of the issue, or of the task.
	ErrNotFound = errors.New("nothing is remembered of the issue")
	// ErrConflict says that somebody else saved the record meanwhile. What was to be
	// saved is not saved: load again, put the change on top, save. Of a ledger it says
	// that the task has one already.
	ErrConflict = errors.New("the record was changed meanwhile")
	// ErrBroken says that something is stored which is no record of this issue, or no
	// ledger of this task: truncated, not JSON, too large, out of its bounds, or of
	// another one. The next Save with revision 0, or Begin, takes its place and keeps
	// what was there aside, where the store can.
	ErrBroken = errors.New("the stored record is unusable")
	// ErrNewer says that a newer version of this program wrote the record, or the
	// ledger. It is neither read nor replaced.
	ErrNewer = errors.New("the stored record is of a newer version")
)

// A Store keeps one [Record] per issue. Implementations are safe for concurrent
// use, by several processes too, and pass the suite of package memorytest.
// Repository names match without regard to case.
type Store interface {
	// Load returns the record of an issue. It changes nothing. Errors: [ErrNotFound],
	// [ErrBroken], [ErrNewer], the context's, or one of the medium.
	Load(ctx context.Context, repo string, issue int) (Record, error)
	// Save stores the record of r.Repo and r.Issue if the stored one still has the
	// revision r.Revision, 0 meaning that there is none (or only a broken one), and
	// returns [ErrConflict] otherwise. The store increments: what is stored has the
	// revision r.Revision+1 and the schema [Schema]; r itself does not change, so a
	// caller that goes on with it adds 1 to its revision. When Save returns nil the
	// record is durable, as far as the medium goes. After any other error but
	// ErrConflict the old record or the new one is stored, never a mixture.
	Save(ctx context.Context, r Record) error
}

// A Record is everything that was done on one issue. That of issue [Repository] is about
// the repository as a whole.
type Record struct {
	Schema   int    `json:"schema"`   // of the encoded form; 0 in a record that was never stored
	Repo     string `json:"repo"`     // "owner/name"
	Issue    int    `json:"issue"`    // number, from 1; or Repository
	Revision int    `json:"revision"` // counts the saves; 0 for a record that was never stored
	// Earlier sums up the tasks that are not kept one by one any more; nil: none.
	Earlier *Earlier `json:"earlier,omitempty"`
	// Never are the labels that are never added again, as [Record.Forbid] keeps them.
	Never []string `json:"never,omitempty"`
	// Closings are to come, or were vetoed, as [Record.Plan] keeps them: the first one that is due before
	// the others, and one of each rule.
	Closings []Closing `json:"closings,omitempty"`
	Tasks    []Task    `json:"tasks"` // oldest first
	// Humans is what humans did since the oldest task that is kept: oldest first.
	Humans []Change `json:"humans,omitempty"`
	// Scores are those of shadow mode; nil: none.
	Scores *Scores `json:"scores,omitempty"`
}

// A Task is one task and what became of it.
type Task struct {
	ID    string    `json:"id"`
	At    time.Time `json:"at"`    // when it was decided; UTC
	Event string    `json:"event"` // such as "issues.opened"
	// Decision is what was decided.
	Decision protocol.DecisionType `json:"decision"`
	// Rationale is the decider's own text; hostile, and never shown to an agent.
	Rationale string   `json:"rationale,omitempty"`
	By        string   `json:"by"`     // "rules", the agent's address, or both; or ByTimeline
	Status    string   `json:"status"` // how the run ended, such as "applied"
	Actions   []Action `json:"actions"`
}

// ByTimeline is who decided on a task that was rebuilt from GitHub's timeline: it
// was one of us, and nobody knows which.
const ByTimeline = "timeline"

// The results of an action. Any other value counts as nothing done.
const (
	Done    = "done"    // carried out by this task
	Already = "already" // it was so before
	Planned = "planned" // a dry run would have carried it out
	Skipped = "skipped" // there was nothing to do, or it was not permitted to anybody
	Refused = "refused" // the policy or the protocol forbids it
	Failed  = "failed"  // tried, and failed
	NotRun  = "not_run" // never tried, because something before it failed
	Noted   = "noted"   // kept in the record for later: a closing to come, a label never to be added again
)

// An Action is one action of a task and what became of it.
type Action struct {
	Index int    `json:"index"` // in the decision, from 0
	Type  string `json:"type"`  // such as protocol.ActionAddLabel
	// Values are the facts of the action: labels, logins, a closing reason, a
	// milestone's title, an issue type, a reaction, the number of the original. Never
	// free text such as a comment's body.
	Values  []string `json:"values,omitempty"`
	Rule    string   `json:"rule,omitempty"`    // id of the rule that asked for it, "/undo" and its like for a person's command, "<id>/else_undo" for a rule that takes back what it did; empty: an agent
	Verdict string   `json:"verdict,omitempty"` // what the policy made of it
	Result  string   `json:"result"`            // Done and its like
	Reason  string   `json:"reason,omitempty"`  // why it was not done, or what was odd
	URL     string   `json:"url,omitempty"`     // where it can be seen
	// Hash is that of the action as it was decided, by HashAction; empty: not known.
	Hash string `json:"hash,omitempty"`
}

// NewAction returns the record of an action with its index, type, values and hash
// filled in. Of a known action every parameter counts that is not Markdown, nor the key of
// a sticky comment, nor about the grace period of a closing; of an unknown one, none.
func NewAction(index int, item protocol.ActionItem) Action {
	a := Action{Index: index, Type: item.Type, Hash: HashAction(item)}
	spec, _ := protocol.SpecOf(item.Type)
	for _, p := range spec.Params {
		switch {
		case p.Kind == protocol.KindMarkdown, p.Kind == protocol.KindDuration, p.Name == "veto", item.Type == protocol.ActionUpdateComment:
		case p.Kind == protocol.KindInt:
			if n, ok, err := item.Int(p.Name); ok && err == nil {
				a.Values = append(a.Values, strconv.FormatInt(n, 10))
			}
		default:
			list, _, _ := item.Texts(p.Name)
			a.Values = append(a.Values, list...)
		}
	}
	return a
}

// An Earlier sums up tasks that are not kept one by one.
type Earlier struct {
	Tasks int       `json:"tasks"`
	From  time.Time `json:"from"` // of the oldest one; UTC
	To    time.Time `json:"to"`   // of the newest one; UTC
	// Done counts the actions that were carried out, by type.
	Done map[string]int `json:"done,omitempty"`
	// Escalated counts the tasks that were left to a human.
	Escalated int `json:"escalated,omitempty"`
}
