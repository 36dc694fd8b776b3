package runner

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/org/foreman-action/internal/text"
	"github.com/org/foreman-action/memory"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/runner/internal/command"
	"github.com/org/foreman-action/runner/internal/history"
	"github.com/org/foreman-action/runner/internal/plan"
	"github.com/org/foreman-action/runner/internal/proposal"
	"github.com/org/foreman-action/triage"
)

// This file has people's answers to proposals: boxes that they tick in our comment, and commands.

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
	named := when != nil && strings.Contains(when.String(), d.Name) && strings.Contains(when.String(), d.Action)
	if s.o.Agent.AnswersAll || s.ruleset().Names(d.RuleName(), d.Action) || s.o.Agent.Agent != nil && named {
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
	rec, err := a.reads.forAnswer(ctx)
	if err != nil {
		return dec, "", err
	}
	ans := proposal.Answers{By: a.d.Sender.Login}
	intact := slices.Contains(rec.ProposalRenders, proposal.Sum(before(a.d)))
	switch {
	case rec.ProposalComment == a.d.Comment.ID:
	case len(rec.Proposals) == 0 && rec.ProposalComment == 0:
		ans.Lost = true
	case rec.ProposalComment == 0 && intact: // the run that posted the comment was killed before it recorded that
		ans.Comment = a.d.Comment.ID
	default:
		return dec, "the comment is not the one with the proposals of the record", nil
	}
	var chosen []memory.Proposal
	var ignored []string
	for _, t := range ticks {
		p, ok := rec.Proposal(t.Number)
		switch {
		case ans.Lost:
			ignored = append(ignored, fmt.Sprintf("%d: the record of the proposals is lost", t.Number))
		case !ok || p.Carrier != triage.CarrierComment:
			ignored = append(ignored, fmt.Sprintf("%d: there is no such proposal", t.Number))
		case p.State != memory.Pending:
			ignored = append(ignored, fmt.Sprintf("%d: it is %s", t.Number, p.State))
		case !intact || t.Digest != proposal.Digest(p):
			ignored, ans.Note = append(ignored, fmt.Sprintf("%d: the comment had been changed", t.Number)), proposal.TickAgain
		default:
			chosen = append(chosen, p)
		}
	}
	if len(chosen) > 0 {
		permission, err := a.lookup(false).Permission(ctx, ans.By)
		if err != nil {
			return dec, "", fmt.Errorf("look up whether %s may accept proposals: %w", text.Quote(ans.By), err)
		}
		if !proposal.Writes(permission) {
			ignored = append(ignored, fmt.Sprintf("%s has the permission %s, and a tick needs write, maintain or admin", text.Quote(ans.By), text.Quote(permission)))
			ans.Note, chosen = "Not accepted: a tick needs write access to the repository.", nil
		}
	}
	d := plan.Decision{By: byCommand, Message: protocol.DecisionMessage{TaskID: a.id.ID, Decision: protocol.Skip}}
	d, more := a.accept(d, &ans, chosen)
	d.Message.Rationale = summaryOf(ans, append(ignored, more...))
	return decided{Decision: d, At: a.o.Clock.Now().UTC(), Answers: ans}, "", nil
}

// maxAccepted is the maximum number of changes that one event can accept. Each name of a list is one.
const maxAccepted = 20

// accept adds the actions of accepted proposals to a decision. On an issue that was closed since, proposals
// for open issues are overtaken, except closes that an earlier attempt may have carried out. ignored has the
// proposals that are too many at once.
func (a decider) accept(d plan.Decision, ans *proposal.Answers, list []memory.Proposal) (out plan.Decision, ignored []string) {
	changes := 0
	for _, p := range list {
		closedByUs := a.reads.resumed && closes(p)
		if a.d.Issue.State == "closed" && proposal.ClosedSince(p, *a.d.Issue) && !closedByUs {
			ans.Overtaken = append(ans.Overtaken, p)
			continue
		}
		n := 0
		for _, item := range p.Actions() {
			n += max(1, len(memory.NewAction(0, item).Values))
		}
		if changes+n > maxAccepted && changes > 0 {
			ignored = append(ignored, fmt.Sprintf("%d: at most %d changes are accepted at once", p.Number, maxAccepted))
			continue
		}
		changes += n
		ans.Accepted = append(ans.Accepted, p)
		for _, item := range p.Actions() {
			d = d.With(publisher(a).proposer(p.Source), item)
			if d.Accepted == nil {
				d.Accepted = map[int]plan.Acceptance{}
			}
			d.Accepted[len(d.Message.Actions)-1] = a.acceptance(p, ans.By)
		}
	}
	return d, ignored
}

// closes reports whether a proposal closes the issue.
func closes(p memory.Proposal) bool {
	return slices.ContainsFunc(p.Actions(), func(item protocol.ActionItem) bool {
		spec, _ := protocol.SpecOf(item.Type)
		return spec.Closes()
	})
}

// acceptance returns the yes of a person to a proposal.
func (a attempt) acceptance(p memory.Proposal, by string) plan.Acceptance {
	return plan.Acceptance{
		Number: p.Number, ID: p.ID, By: by, Made: p.At, At: a.d.Time(), Group: len(p.Group) > 1, Rationale: p.Rationale, Confidence: p.Confidence, Pair: p.Pair,
	}
}

// summaryOf describes answers in one line: "mona accepted 2, 3".
func summaryOf(a proposal.Answers, ignored []string) string {
	var parts []string
	for _, part := range []struct {
		did  string
		list []memory.Proposal
	}{{"accepted", a.Accepted}, {"rejected", a.Rejected}, {"accepted too late, because the issue was closed,", a.Overtaken}} {
		if len(part.list) > 0 {
			parts = append(parts, fmt.Sprintf("%s %s %s", text.Quote(a.By), part.did, numbers(part.list)))
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
// something was answered. all are the commands of the same comment.
func (a decider) withAnswer(ctx context.Context, dec *decided, d plan.Decision, name string, all command.Commands) (plan.Decision, error) {
	rec, err := a.reads.forAnswer(ctx)
	if err != nil {
		return d, err
	}
	accepts, digest, other := name == command.Accept, "", command.Accept
	if accepts {
		other = command.Reject
		digest = proposal.TextDigest(*a.d.Issue)
	}
	ans, by, at := &dec.Answers, a.d.Comment.Author, a.d.Comment.CreatedAt
	ans.By = by
	list, done, ignored := command.Selected(rec, all.Rest(name), by, at, digest)
	both, _, _ := command.Selected(rec, all.Rest(other), by, at, "")
	if accepts && len(list) > 0 && a.o.Host.Issues != nil && rec.ProposalComment != 0 {
		intact, err := a.intact(ctx, rec)
		if err != nil {
			return d, err
		}
		if !intact {
			ans.Note, list, ignored = proposal.AnswerAgain, nil, append(ignored, "the comment with the proposals had been changed")
		}
	}
	var chosen []memory.Proposal
	for _, p := range list {
		creates, err := a.creates(ctx, p, all.Permission)
		switch {
		case err != nil:
			return d, err
		case slices.ContainsFunc(both, func(o memory.Proposal) bool { return o.Number == p.Number }):
			ignored = append(ignored, fmt.Sprintf("%d: the comment accepts and rejects it", p.Number))
		case !proposal.Permits(all.Permission, p, creates):
			ignored = append(ignored, fmt.Sprintf("%d: it needs write, maintain or admin", p.Number))
		default:
			chosen = append(chosen, p)
		}
	}
	answered := len(done)
	if accepts {
		var more []string
		d, more = a.accept(d, ans, chosen)
		ignored, answered = append(ignored, more...), answered+a.carriedOut(ctx, d)
	} else {
		ans.Rejected = chosen
		answered += len(chosen)
	}
	dec.ignored = append(dec.ignored, ignored...)
	content := "+1"
	if answered == 0 {
		content = command.Refusal
	}
	item, err := protocol.NewAction(protocol.ActionReact, map[string]any{"content": content})
	if err != nil {
		return d, err
	}
	return d.With(command.By(name), item), nil
}

// carriedOut returns how many of the accepted actions of a decision the policy permits.
func (a decider) carriedOut(ctx context.Context, d plan.Decision) int {
	n := 0
	for _, s := range plan.Make(input(ctx, a.attempt, decided{Decision: d})).Steps {
		if _, yes := d.Accepted[s.Index]; yes && (s.Verdict == triage.Do || s.Holds) {
			n++
		}
	}
	return n
}

// intact reports whether our comment with the proposals is as we wrote it: people can accept only what they
// saw. A comment that was deleted is not.
func (a decider) intact(ctx context.Context, rec memory.Record) (bool, error) {
	c, err := publisher(a).proposalComment(ctx, rec.ProposalComment)
	if errors.Is(err, triage.ErrNotFound) {
		return false, nil
	}
	return err == nil && slices.Contains(rec.ProposalRenders, proposal.Sum(c.Body)), err
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

// An Answering is what an event can do to the proposals of its issue. A program that decides before it
// calls [Runner.Apply] needs it to choose who decides.
type Answering string

// The kinds of events.
const (
	// NoAnswer is an event that answers no proposal. Commands for other purposes are NoAnswer, too.
	NoAnswer Answering = ""
	// Answer is an event by which a person may answer proposals: an edit that ticks a box in the comment
	// with the proposals, or a new comment whose commands are all /foreman accept or reject. A Runner
	// handles it without an agent, and looks up whether the person may answer.
	Answer Answering = "answer"
	// OwnComment is any other edit of the comment with the proposals. A Runner skips it.
	OwnComment Answering = "own comment"
)

// AnsweringOf returns what an event can do to proposals. login is the program's own login. It makes no
// calls, and does not know whether a proposal waits.
func AnsweringOf(d triage.Delivery, login string) Answering {
	switch d.Key() {
	case "issue_comment.edited":
		m, _ := history.ParseMarker(d.Comment.Body)
		if m.Key != proposal.Key || !text.SameLogin(d.Comment.Author, login) {
			return NoAnswer
		}
		if !byPerson(d) || text.SameLogin(d.Sender.Login, login) || len(proposal.Ticked(before(d), d.Comment.Body)) == 0 {
			return OwnComment
		}
		return Answer
	case "issue_comment.created":
		if list := commandsOf(d); len(list.List) > 0 && list.OnlyAnswers() {
			return Answer
		}
	}
	return NoAnswer
}

// HasCommand reports whether a person's new comment has a command for Foreman itself, such as
// "/foreman undo". A Runner looks up whether the person may give it.
func HasCommand(d triage.Delivery) bool { return len(commandsOf(d).List) > 0 }

// commandsOf returns the commands of a person's new comment. Commands that only rules can define count as
// unknown.
func commandsOf(d triage.Delivery) command.Commands {
	if !mayCommand(d) {
		return command.Commands{}
	}
	return command.Parse(d.Comment.Body, func(string) bool { return false })
}

// mayCommand reports whether the event is a new comment that can have commands: bots may give none.
func mayCommand(d triage.Delivery) bool {
	return d.Key() == "issue_comment.created" && text.SameLogin(d.Comment.Author, d.Sender.Login) &&
		d.Sender.Type != "Bot" && !strings.HasSuffix(d.Comment.Author, "[bot]")
}

// byPerson reports whether a person caused the event.
func byPerson(d triage.Delivery) bool {
	return d.Sender.Type == "User" && !strings.HasSuffix(d.Sender.Login, "[bot]")
}

// AgentWaits reports whether the agent is not asked about an event, because proposals of an agent wait on
// the issue: its condition may hold until they are answered. The agent is asked nevertheless if the issue
// was opened, edited or reopened, or if a person asks for it by /foreman triage.
//
// Polling reports every change of an issue as an edit. With polled, an edit counts as one only if the
// title or the text differs from those for which the proposals were made.
func AgentWaits(r memory.Record, d triage.Delivery, polled bool) bool {
	list := slices.DeleteFunc(r.Pending(), func(p memory.Proposal) bool { return p.Source != "" })
	if polled && d.Key() == "issues.edited" && d.Issue != nil {
		now := proposal.TextDigest(*d.Issue)
		return len(list) > 0 && !slices.ContainsFunc(list, func(p memory.Proposal) bool { return proposal.Edited(p, now) })
	}
	return len(list) > 0 && !asksAnyway(d)
}

// asksAnyway reports whether the agent is asked about an event although its proposals wait.
func asksAnyway(d triage.Delivery) bool {
	return d.Name == triage.EventWorkflowDispatch || d.Name == triage.EventRepositoryDispatch || commandsOf(d).Has(command.Triage) ||
		d.Name == triage.EventIssues && slices.Contains([]string{"opened", "edited", "reopened"}, d.Action)
}

// ProposalWords describes what accepting a proposal does, for people, in Markdown on one line: "add the
// label `bug`". Names of the proposal are code, and contain no backtick.
func ProposalWords(p memory.Proposal) string { return proposal.Alone(p) }
