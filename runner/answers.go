package runner

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/org/foreman-action/internal/text"
	"github.com/org/foreman-action/memory"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/rules"
	"github.com/org/foreman-action/runner/internal/command"
	"github.com/org/foreman-action/runner/internal/plan"
	"github.com/org/foreman-action/runner/internal/proposal"
	"github.com/org/foreman-action/triage"
)

// This file has people's answers to proposals: boxes that they tick in our comment, and commands.

// answers are a person's answers to the proposals of an issue.
type answers struct {
	by        string // login of the person
	at        time.Time
	accepted  []memory.Proposal // carried out by this run
	rejected  []memory.Proposal
	overtaken []memory.Proposal // accepted, but the issue is closed
	note      string            // for the comment, if an answer was not carried out
	lost      bool              // the record has no proposals, although our comment shows some
}

// none reports whether there is no answer, and nothing to note.
func (a answers) none() bool {
	return len(a.accepted)+len(a.rejected)+len(a.overtaken) == 0 && a.note == "" && !a.lost
}

// notAnAnswer is the reason why the edit of a comment is not handled.
const notAnAnswer = "the edit is no answer to a proposal"

// editOf returns the boxes that a person ticked in our comment with proposals. why is the reason to
// skip the event; empty: it is handled. An edit of another comment is handled only if a rule or
// agent.when names it, because every edit starts a run.
func (s setup) editOf(d triage.Delivery) (ticks []proposal.Tick, why string) {
	if d.Key() != "issue_comment.edited" {
		return nil, ""
	}
	switch AnsweringOf(d, s.login()) {
	case Answer:
		return proposal.Ticked(before(d), d.Comment.Body), ""
	case OwnComment:
		return nil, notAnAnswer
	case NoAnswer:
	}
	when := s.c.Agent.When
	if s.o.Agent.AnswersAll || s.ruleset().Names(d.RuleName(), d.Action) || s.o.Agent.Agent != nil && when != nil && strings.Contains(when.String(), d.Action) {
		return nil, ""
	}
	return nil, notAnAnswer
}

// before returns the text of the event's comment before the edit; empty: unknown.
func before(d triage.Delivery) string {
	var changes struct {
		Body struct {
			From string `json:"from"`
		} `json:"body"`
	}
	if json.Unmarshal(d.Payload()["changes"], &changes) != nil {
		return ""
	}
	return changes.Body.From
}

// tick decides on boxes that a person ticked: their proposals are accepted if our comment was as we
// wrote it and the person may write to the repository. The rules and the agent are not asked. why is
// the reason to skip the event; empty: it is handled.
func (a decider) tick(ctx context.Context, ticks []proposal.Tick) (dec decided, why string, err error) {
	rec := a.reads.Record(ctx)
	ans := answers{by: a.d.Sender.Login, at: a.d.Time()}
	known := rec.ProposalComment == a.d.Comment.ID
	switch {
	case known:
	case rec.ProposalComment == 0 && len(rec.Pending()) > 0: // a run was killed before it recorded the comment
	case rec.ProposalComment != 0 || len(rec.Proposals) > 0:
		return dec, "the comment is not the one with the proposals of the record", nil
	default:
		ans.lost = true
	}
	var chosen []memory.Proposal
	var ignored []string
	intact := known && slices.Contains(rec.ProposalRenders, proposal.Sum(before(a.d)))
	for _, t := range ticks {
		p, ok := rec.Proposal(t.Number)
		switch {
		case ans.lost:
			ignored = append(ignored, fmt.Sprintf("%d: the record of the proposals is lost", t.Number))
		case !ok || p.Carrier != triage.CarrierComment:
			ignored = append(ignored, fmt.Sprintf("%d: there is no such proposal", t.Number))
		case p.State != memory.Pending:
			ignored = append(ignored, fmt.Sprintf("%d: it is %s", t.Number, p.State))
		case !intact || t.Digest != proposal.Digest(p):
			ignored, ans.note = append(ignored, fmt.Sprintf("%d: the comment had been changed", t.Number)), proposal.TickAgain
		default:
			chosen = append(chosen, p)
		}
	}
	if len(chosen) > 0 {
		permission, err := a.lookup(false).Permission(ctx, ans.by)
		if err != nil {
			return dec, "", fmt.Errorf("look up whether %s may accept proposals: %w", text.Quote(ans.by), err)
		}
		if !proposal.Writes(permission) {
			ignored = append(ignored, fmt.Sprintf("%s has the permission %s, and a tick needs write, maintain or admin", text.Quote(ans.by), text.Quote(permission)))
			ans.note, chosen = "Not accepted: a tick needs write access to the repository.", nil
		}
	}
	d := plan.Decision{By: byCommand, Message: protocol.DecisionMessage{TaskID: a.id.ID, Decision: protocol.Skip}}
	d = a.accept(d, &ans, chosen)
	d.Message.Rationale = ans.summary(ignored)
	return decided{Decision: d, At: a.o.Clock.Now().UTC(), Answers: ans}, "", nil
}

// accept adds the actions of accepted proposals to a decision. On a closed issue, proposals for open
// issues are overtaken, except closes that an earlier attempt may have carried out.
func (a decider) accept(d plan.Decision, ans *answers, list []memory.Proposal) plan.Decision {
	for _, p := range list {
		closedByUs := a.reads.resumed && closes(p)
		if a.d.Issue.State == "closed" && !proposal.OnClosed(p) && !closedByUs {
			ans.overtaken = append(ans.overtaken, p)
			continue
		}
		ans.accepted = append(ans.accepted, p)
		from := proposal.Source(p, a.proposer)
		for _, item := range p.Actions() {
			d = d.With(from, item)
			if d.Accepted == nil {
				d.Accepted = map[int]plan.Acceptance{}
			}
			d.Accepted[len(d.Message.Actions)-1] = a.acceptance(p, *ans)
		}
	}
	return d
}

// closes reports whether a proposal closes the issue.
func closes(p memory.Proposal) bool {
	return slices.ContainsFunc(p.Actions(), func(item protocol.ActionItem) bool {
		spec, _ := protocol.SpecOf(item.Type)
		return spec.Closes()
	})
}

// acceptance returns the yes to a proposal.
func (a decider) acceptance(p memory.Proposal, ans answers) plan.Acceptance {
	return plan.Acceptance{Number: p.Number, ID: p.ID, By: ans.by, Made: p.At, At: ans.at, Group: len(p.Group) > 1, Rationale: p.Rationale, Confidence: p.Confidence}
}

// proposer returns the source of a proposal whose source has that id; ok is false if there is none.
func (a decider) proposer(id string) (s triage.Source, ok bool) {
	if id == onFailureID {
		return triage.Source{Rule: id}, true
	}
	return a.source(id), slices.Contains(a.c.Rules.IDs(), id)
}

// summary describes the answers in one line: "mona accepted 2, 3".
func (a answers) summary(ignored []string) string {
	var parts []string
	for _, part := range []struct {
		did  string
		list []memory.Proposal
	}{{"accepted", a.accepted}, {"rejected", a.rejected}, {"accepted too late, because the issue is closed,", a.overtaken}} {
		if len(part.list) > 0 {
			parts = append(parts, fmt.Sprintf("%s %s %s", text.Quote(a.by), part.did, numbers(part.list)))
		}
	}
	if len(ignored) > 0 {
		parts = append(parts, "ignored "+strings.Join(ignored, "; "))
	}
	return strings.Join(parts, "; ")
}

func numbers(list []memory.Proposal) string {
	var out []string
	for _, p := range list {
		out = append(out, strconv.Itoa(p.Number))
	}
	return strings.Join(out, ", ")
}

// withAnswer adds the actions of an answering command to a decision, and a reaction that says whether
// something was answered. permission is that of the author of the comment.
func (a decider) withAnswer(ctx context.Context, dec *decided, d plan.Decision, c rules.Command, permission string) (plan.Decision, error) {
	rec := a.reads.Record(ctx)
	digest := ""
	if c.Name == command.Accept {
		digest = proposal.TextDigest(*a.d.Issue)
	}
	list, done, ignored := command.Selected(rec, c.Rest, a.d.Comment.Author, a.d.Comment.CreatedAt, digest)
	ans := &dec.Answers
	ans.by, ans.at = a.d.Comment.Author, a.d.Time()
	var chosen []memory.Proposal
	for _, p := range list {
		creates, err := a.creates(ctx, p, permission)
		switch {
		case err != nil:
			return d, err
		case !proposal.Permits(permission, p, creates):
			ignored = append(ignored, fmt.Sprintf("%d: it needs write, maintain or admin", p.Number))
		case slices.ContainsFunc(slices.Concat(ans.accepted, ans.rejected, ans.overtaken), func(o memory.Proposal) bool { return o.Number == p.Number }):
			ignored = append(ignored, fmt.Sprintf("%d: the comment answers it twice", p.Number))
		default:
			chosen = append(chosen, p)
		}
	}
	if c.Name == command.Accept {
		d = a.accept(d, ans, chosen)
	} else {
		ans.rejected = chosen
	}
	dec.ignored = append(dec.ignored, ignored...)
	content := "+1"
	if len(chosen)+len(done) == 0 {
		content = command.Refusal
	}
	item, err := protocol.NewAction(protocol.ActionReact, map[string]any{"content": content})
	if err != nil {
		return d, err
	}
	return d.With(command.By(c.Name), item), nil
}

// answerable reports whether a comment can answer a proposal: one waits, or the author answered one since,
// perhaps in an earlier attempt at the same command.
func answerable(rec memory.Record, c triage.Comment) bool {
	return len(rec.Pending()) > 0 || slices.ContainsFunc(rec.Proposals, func(p memory.Proposal) bool {
		return text.SameLogin(p.By, c.Author) && !p.Ended.Before(c.CreatedAt)
	})
}

// creates reports whether a proposal adds a label that the repository does not have. It is looked up only
// if the answer matters.
func (a decider) creates(ctx context.Context, p memory.Proposal, permission string) (bool, error) {
	if !a.c.Policy.CreateLabels || proposal.Writes(permission) {
		return false, nil
	}
	for _, item := range p.Actions() {
		spec, _ := protocol.SpecOf(item.Type)
		if !spec.AddsLabels() {
			continue
		}
		for _, name := range memory.NewAction(0, item).Values {
			if err := a.reads.labels.Find(ctx, a.d.Ref(), name); err != nil {
				return false, err
			}
			if a.reads.labels.Known[text.Fold(name)] == "" {
				return true, nil
			}
		}
	}
	return false, nil
}
