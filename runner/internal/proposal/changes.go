package proposal

import (
	"fmt"
	"slices"
	"time"

	"github.com/org/foreman-action/memory"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/runner/internal/history"
	"github.com/org/foreman-action/runner/internal/outcome"
	"github.com/org/foreman-action/triage"
)

// Answers are a person's answers to the proposals of an issue.
type Answers struct {
	By       string            // login of the person
	Accepted []memory.Proposal // their actions are carried out
	Rejected []memory.Proposal
	// Overtaken were accepted, but the issue was closed since they were made.
	Overtaken []memory.Proposal
	Note      string // for the comment, if an answer was not carried out; may be empty
	// Comment is the id of our comment, in which the person answered, if the record lacks it: the run that
	// posted the comment was killed. 0: the record has it.
	Comment int64
	// Lost means that the record has no proposals, although our comment shows some.
	Lost bool
}

// None reports whether there is no answer, and nothing to note.
func (a Answers) None() bool {
	return len(a.Accepted)+len(a.Rejected)+len(a.Overtaken) == 0 && a.Note == "" && !a.Lost
}

// Changes are what a run changes in the proposals of a record.
type Changes struct {
	Answers

	Now     time.Time
	Made    []memory.Proposal     // the new ones, without numbers
	Results []triage.ActionResult // of the run; those of accepted proposals have their numbers
	// Before are the indexes of the results that hold already, perhaps because an earlier attempt at the task
	// carried them out and could not record it.
	Before []int
	// Postponed are the indexes of the results that were skipped only for now.
	Postponed []int
	Issue     triage.Issue    // as the run read it
	State     outcome.State   // of the issue after the run
	History   history.History // of the issue, as far as it was read
	Source    func(id string) triage.Source
	View      View // how the comment will be rendered
	Tidies    bool // the run only brings the comment up to date, such as a scheduled one
}

// None reports whether the run changes nothing by itself. The record may have proposals that need no
// answer any more.
func (c Changes) None() bool { return len(c.Made) == 0 && c.Answers.None() }

// Applied is the result of changes of a record.
type Applied struct {
	Refused map[string]string // why new proposals were not added, by their ids
	Shown   bool              // the comment has another text than before
}

// Apply changes the proposals of a record: it ends those that were answered or need no answer any more,
// adds the new ones, and notes the text of the comment.
func (c Changes) Apply(r *memory.Record) Applied {
	if c.Comment != 0 {
		r.ProposalComment = c.Comment
	}
	for _, p := range c.Rejected {
		r.End(p.Number, memory.Rejected, c.By, "", c.Now)
	}
	for _, p := range c.Overtaken {
		r.End(p.Number, memory.Overtaken, "", issueClosed, c.Now)
	}
	for _, p := range c.Accepted {
		switch state, why := c.Result(p.Number); state {
		case memory.Accepted:
			r.End(p.Number, state, c.By, "", c.Now)
		case memory.Overtaken:
			r.End(p.Number, state, "", why, c.Now)
		case memory.Pending, memory.Rejected, memory.Expired:
		}
	}
	c.acceptedInPanel(r)
	c.tidy(r)
	out := Applied{Refused: map[string]string{}}
	for _, p := range c.Made {
		if why := c.add(r, p); why != "" {
			out.Refused[p.ID] = why
		}
	}
	if text := Comment(*r, c.View); text != "" {
		out.Shown = !slices.Contains(r.ProposalRenders[max(0, len(r.ProposalRenders)-1):], Sum(text))
		r.Render(Sum(text))
	}
	return out
}

// Unshown reports whether an earlier run, or an earlier attempt, made proposals of the record for a comment.
func (c Changes) Unshown(r memory.Record) bool {
	return slices.ContainsFunc(r.Pending(), func(p memory.Proposal) bool {
		mine := func(m memory.Proposal) bool { return m.ID == p.ID && m.At.Truncate(time.Millisecond).Equal(p.At) }
		return p.Carrier == triage.CarrierComment && !slices.ContainsFunc(c.Made, mine)
	})
}

// add adds a new proposal, and returns the reason if it is not added. Another run may have proposed the
// same since this run read the record, or people may have answered it.
func (c Changes) add(r *memory.Record, p memory.Proposal) string {
	if _, again := r.ProposalByID(p.ID); again {
		return ""
	}
	if why := Before(*r, c.Source(p.Source), p.Action); why != "" {
		return why
	}
	next := *r
	if _, ok := next.Propose(p); !ok || !Fits(next) {
		return "the comment with the proposals of this issue is full"
	}
	*r = next
	return ""
}

// Result returns what became of an accepted proposal. It stays pending if an action failed or was skipped
// only for now, so that a later attempt or another answer carries it out.
func (c Changes) Result(number int) (state memory.ProposalState, why string) {
	state = memory.Overtaken
	for _, r := range c.Results {
		if r.Proposal != number || r.AcceptedBy == "" {
			continue
		}
		if slices.Contains(c.Before, r.Index) {
			r.State = triage.Already
		}
		switch r.State {
		case triage.Done, triage.Noted, triage.Already:
			state, why = memory.Accepted, ""
		case triage.Skipped, triage.Refused:
			if slices.Contains(c.Postponed, r.Index) {
				return memory.Pending, r.Reason
			}
			if state == memory.Overtaken {
				why = r.Reason
			}
		case triage.Failed, triage.Unknown, triage.NotRun, triage.Planned, triage.Trying, triage.Suggested:
			return memory.Pending, "the run failed"
		}
	}
	return state, why
}

// Unfinished returns the note about accepted proposals that stay pending; empty: there are none.
func (c Changes) Unfinished() string {
	for _, p := range c.Accepted {
		if state, why := c.Result(p.Number); state == memory.Pending {
			return fmt.Sprintf("Not carried out (%d): %s. Answer again later.", p.Number, why)
		}
	}
	return ""
}

// acceptedInPanel ends the proposals in GitHub's panel that people accepted: then a person made the change
// after the proposal, as the history shows.
func (c Changes) acceptedInPanel(r *memory.Record) {
	for _, p := range r.Pending() {
		if p.Carrier != triage.CarrierGitHub {
			continue
		}
		by, all := "", true
		for _, name := range memory.NewAction(0, p.Action).Values {
			e, found := c.History.Last(history.Named(name, PanelKinds(p.Action.Type)...))
			all = all && found && c.History.Human(e) && !e.At.Before(p.At.Truncate(time.Second))
			by = e.Actor
		}
		if all && by != "" {
			r.End(p.Number, memory.Accepted, by, "", c.Now)
		}
	}
}

// PanelKinds returns the kinds of the events by which the timeline lists an action that GitHub's panel can
// propose.
func PanelKinds(action string) []string {
	spec, _ := protocol.SpecOf(action)
	if spec.AddsLabels() {
		return []string{"labeled"}
	}
	return spec.Events
}

// issueClosed is why a proposal is overtaken.
const issueClosed = "the issue is closed"

// tidy ends the pending proposals that need no answer any more: they are too old, hold by now, or the issue
// was closed since they were made.
func (c Changes) tidy(r *memory.Record) {
	r.Expire(c.Now)
	for _, p := range r.Pending() {
		holds := true
		for _, a := range p.Actions() {
			e, err := outcome.Parse(a)
			holds = holds && err == nil && outcome.Holds(e, c.State)
		}
		switch {
		case holds:
			r.End(p.Number, memory.Overtaken, "", "it holds by now", c.Now)
		case !c.State.Open() && ClosedSince(p, c.Issue):
			r.End(p.Number, memory.Overtaken, "", issueClosed, c.Now)
		}
	}
}

// ClosedSince reports whether a proposal is overtaken by the close of its issue: the issue was open when it
// was made. An issue that is open counts as closed by the present run.
func ClosedSince(p memory.Proposal, issue triage.Issue) bool {
	switch p.Action.Type {
	case protocol.ActionReopenIssue, protocol.ActionUnlock, protocol.ActionLock:
		return false // they make sense on a closed issue
	}
	return issue.State != "closed" || issue.ClosedAt.IsZero() || issue.ClosedAt.After(p.At)
}
