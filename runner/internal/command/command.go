// Package command implements the commands that people give in a comment: "/foreman" and a name. It
// finds them, decides who may give them, selects the task for an undo, and renders the answers. It
// does no I/O.
package command

import (
	"fmt"
	"slices"
	"strings"

	"github.com/org/foreman-action/internal/text"
	"github.com/org/foreman-action/internal/yamlfile"
	"github.com/org/foreman-action/rules"
	"github.com/org/foreman-action/runner/internal/history"
	"github.com/org/foreman-action/runner/internal/proposal"
	"github.com/org/foreman-action/triage"
)

// The names of the commands that Foreman itself carries out.
const (
	Why    = "why"               // explain why each rule fires or not
	Triage = "triage"            // decide on the issue as if it were newly opened
	Undo   = history.UndoCommand // revert the actions of a task
	Accept = "accept"            // carry out proposals
	Reject = "reject"            // end proposals
)

// all lists the commands that Foreman itself carries out.
func all() []string { return []string{Why, Triage, Undo, Accept, Reject} }

// Answers reports whether a command answers proposals. People without write permission may give such a
// command, too: which proposals they may answer depends on the actions.
func Answers(name string) bool { return name == Accept || name == Reject }

// Refusal is the reaction to a command that is refused.
const Refusal = "confused"

func known(name string) bool { return slices.Contains(all(), name) }

// Commands are the commands of a comment.
type Commands struct {
	List    []rules.Command // commands to be carried out, each name once
	Refused string          // name of a command that is answered with [Refusal]; empty: none
	Reason  string          // the part of the rationale about the commands
	// Mute means that the comment contains commands for Foreman itself, so that the agent is not
	// asked about it. After Permit, only permitted commands count, because a user without
	// permission must not keep a comment from the agent.
	Mute bool
	// Permission is the author's permission in the repository, after Permit.
	Permission string

	more    bool   // there is another undo, for another task
	unknown string // name of a command that neither Foreman nor a rule defines; empty: none
}

// Parse finds the commands in a comment. ofRules reports whether rules define a command of that
// name. Commands of rules are ignored, because the rules handle them.
func Parse(body string, ofRules func(name string) bool) Commands {
	var c Commands
	for _, cmd := range rules.Commands(body) {
		switch {
		case known(cmd.Name) && !c.Has(cmd.Name):
			c.List = append(c.List, cmd)
		case Answers(cmd.Name): // several lines are one command
			i := slices.IndexFunc(c.List, func(o rules.Command) bool { return o.Name == cmd.Name })
			c.List[i].Rest += " " + cmd.Rest
		case cmd.Name == Undo:
			c.more = c.more || !slices.Contains(c.List, cmd)
		case !known(cmd.Name) && c.unknown == "" && !ofRules(cmd.Name):
			c.unknown = cmd.Name
		}
	}
	c.Mute = len(c.List) > 0
	return c
}

// Empty reports whether the comment contains no command, except commands of rules.
func (c Commands) Empty() bool { return len(c.List) == 0 && c.unknown == "" }

// Rest returns the text after a command; empty: the comment does not have the command, or no text after it.
func (c Commands) Rest(name string) string {
	for _, cmd := range c.List {
		if cmd.Name == name {
			return cmd.Rest
		}
	}
	return ""
}

// OnlyAnswers reports whether all commands answer proposals.
func (c Commands) OnlyAnswers() bool {
	return c.unknown == "" && !slices.ContainsFunc(c.List, func(cmd rules.Command) bool { return !Answers(cmd.Name) })
}

// Unanswerable returns the commands of a comment with nothing but answers to proposals, if no proposal
// waits. The comment is answered with [Refusal] if there ever was one.
func (c Commands) Unanswerable(ever bool) Commands {
	if ever {
		c.Refused = c.First()
	}
	c.Reason = "no proposal waits on the issue"
	c.List = nil
	return c
}

// First returns the name of the first command; empty: there is none.
func (c Commands) First() string {
	if len(c.List) > 0 {
		return c.List[0].Name
	}
	return c.unknown
}

// Has reports whether a command is to be carried out.
func (c Commands) Has(name string) bool {
	return slices.ContainsFunc(c.List, func(cmd rules.Command) bool { return cmd.Name == name })
}

// Permit returns the commands without those that the author may not give. permission is the
// author's permission in the repository. An unknown command is refused, or ignored if the author
// has no write permission. ofRules are the commands of the rules.
func (c Commands) Permit(author, permission string, ofRules []string) Commands {
	who := text.Quote(author)
	c.Permission = permission
	switch {
	case !proposal.Writes(permission):
		need := func(cmd rules.Command) string {
			switch {
			case !Answers(cmd.Name):
				return "commands need write, maintain or admin"
			case permission != "triage":
				return "answers to proposals need triage or more"
			}
			return ""
		}
		if i := slices.IndexFunc(c.List, func(cmd rules.Command) bool { return need(cmd) != "" }); i >= 0 {
			c.Refused = c.List[i].Name
			c.Reason = fmt.Sprintf("/foreman %s is refused: %s has the permission %s, and %s", c.Refused, who, text.Quote(permission), need(c.List[i]))
		}
		c.List = slices.DeleteFunc(slices.Clone(c.List), func(cmd rules.Command) bool { return need(cmd) != "" })
		c.Mute = len(c.List) > 0
	case c.unknown != "":
		c.Refused = c.unknown
		c.Reason = fmt.Sprintf("unknown command /foreman %s; available: %s", c.unknown, available(c.unknown, ofRules))
	default:
		var names []string
		for _, cmd := range c.List {
			if !Answers(cmd.Name) { // their result is reported
				names = append(names, cmd.Name)
			}
		}
		if len(names) > 0 || len(c.List) == 0 {
			c.Reason = fmt.Sprintf("%s asked for %s", who, strings.Join(names, ", "))
		}
		if c.more {
			c.Refused = Undo
			c.Reason += "; only the first /foreman undo of a comment is carried out"
		}
	}
	return c
}

// available lists the commands, and the one that was probably meant by an unknown name.
func available(unknown string, ofRules []string) string {
	const most = 20
	names := append(all(), ofRules...)
	list := strings.Join(names[:min(most, len(names))], ", ")
	if len(names) > most {
		list += ", …"
	}
	return list + yamlfile.DidYouMean(unknown, names)
}

// By returns the source of actions that a command causes.
func By(name string) triage.Source { return triage.Source{Command: name} }

// OnlyWhy reports whether a comment contains nothing but a command that asks for an explanation.
func OnlyWhy(body string) bool {
	list := rules.Commands(body)
	return len(list) == 1 && list[0].Name == Why && !strings.Contains(strings.TrimSpace(body), "\n")
}
