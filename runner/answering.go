package runner

import (
	"slices"
	"strings"

	"github.com/org/foreman-action/internal/text"
	"github.com/org/foreman-action/memory"
	"github.com/org/foreman-action/runner/internal/command"
	"github.com/org/foreman-action/runner/internal/history"
	"github.com/org/foreman-action/runner/internal/proposal"
	"github.com/org/foreman-action/triage"
)

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
		m, marked := history.ParseMarker(d.Comment.Body)
		if !marked || m.Key != proposal.Key || !text.SameLogin(d.Comment.Author, login) {
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
