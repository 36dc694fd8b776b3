package runner

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/org/foreman-action/internal/text"

	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/rules"
	"github.com/org/foreman-action/rules/facts"
	"github.com/org/foreman-action/triage"
)

// An order is the name of a command that Foreman itself obeys: "/foreman" and the name,
// on a line of a new comment of somebody who may write.
type order string

// The orders.
const (
	commandWhy    order = "why"    // tell why each rule fires or not
	commandTriage order = "triage" // decide on the issue as if it were newly opened
	commandUndo   order = "undo"   // take back what a task did
)

func (o order) known() bool { return o == commandWhy || o == commandTriage || o == commandUndo }

// source is who asks for what an order leads to.
func (o order) source() triage.Source { return triage.Source{Command: string(o)} }

// rule is how a record names the order where it would name a rule, whose ids have no
// slash.
func (o order) rule() string { return o.source().ID() }

// refusal is the reaction to a command that is not obeyed.
const refusal = "confused"

// Orders are the commands of a comment.
type orders struct {
	list    []rules.Command // to be obeyed, each name once
	refused order           // is answered with a reaction; empty: none
	why     string          // what is said about the commands in the rationale
	more    bool            // there is another undo, of another task
	// mute says that the comment holds commands of ours: it is none for an agent.
	mute bool
}

func (o orders) has(name order) bool {
	return slices.ContainsFunc(o.list, func(c rules.Command) bool { return order(c.Name) == name })
}

// orders returns the commands of the event's comment, and looks up whether who wrote it
// may give any. Programs never may, and comments with commands of the rules alone are
// left to the rules.
func (w *work) orders(facts facts.Facts) (orders, error) {
	var o orders
	c := w.e.Comment
	if w.e.Key() != "issue_comment.created" || !w.e.HasComment() || !isLogin(c.Author, w.e.Sender.Login) ||
		w.e.Sender.Type == "Bot" || strings.HasSuffix(c.Author, "[bot]") {
		return o, nil
	}
	var unknown order
	for _, cmd := range rules.Commands(c.Body) {
		name := order(cmd.Name)
		switch {
		case name.known() && !o.has(name):
			o.list = append(o.list, cmd)
		case name == commandUndo:
			o.more = o.more || !slices.Contains(o.list, cmd)
		case !name.known() && unknown == "" && !w.c.Rules.Knows(cmd.Name):
			unknown = name
		}
	}
	if len(o.list) == 0 && unknown == "" {
		return o, nil
	}
	o.mute = len(o.list) > 0
	if w.o.Host == nil {
		w.rep.warnf("the comment holds a command, and without a token nobody can tell whether %s may give it", text.Quote(c.Author))
		return orders{mute: o.mute}, nil
	}
	may, err := facts.Lookup.Permission(c.Author)
	if err != nil {
		return o, fmt.Errorf("look up whether %s may give commands: %w", text.Quote(c.Author), err)
	}
	o.permit(may, text.Quote(c.Author), unknown)
	return o, nil
}

// permit drops the orders of somebody who may not write. An unknown command of such a
// person is passed over in silence.
func (o *orders) permit(may, who string, unknown order) {
	switch {
	case may != "write" && may != "maintain" && may != "admin":
		if len(o.list) > 0 {
			o.refused = order(o.list[0].Name)
			o.why = fmt.Sprintf("/foreman %s is refused: %s has the permission %s, and commands need write, maintain or admin", o.refused, who, text.Quote(may))
		}
		o.list = nil
	case unknown != "":
		o.refused = unknown
		o.why = fmt.Sprintf("/foreman %s is no command; there are why, triage and undo, and those that rules ask for", unknown)
	default:
		names := make([]string, len(o.list))
		for i, c := range o.list {
			names[i] = c.Name
		}
		o.why = fmt.Sprintf("%s asked for %s", who, strings.Join(names, ", "))
		if o.more {
			o.refused = commandUndo
			o.why += "; the first /foreman undo of a comment counts alone"
		}
	}
}

// commentID is the id of the event's comment, or 0.
func (w *work) commentID() int64 {
	return w.e.Comment.ID
}

// obey adds to a decision what the orders ask for, and what rules take back. What an
// order asks for is written also where the rest of the decision writes nothing.
func (w *work) obey(ctx context.Context, o orders, d *Decision, q question) error {
	if err := w.elseUndo(ctx, d, q.res); err != nil {
		return err
	}
	for _, c := range o.list {
		var err error
		switch order(c.Name) {
		case commandWhy:
			err = w.answerWhy(d, q.facts)
		case commandUndo:
			err = w.undo(ctx, d, c.Rest)
		case commandTriage: // the rules and the agent decided on it
		}
		if err != nil {
			return fmt.Errorf("obey /foreman %s: %w", c.Name, err)
		}
	}
	if o.refused != "" {
		if err := d.add(protocol.ActionReact, map[string]any{"content": refusal}, o.refused.source()); err != nil {
			return err
		}
	}
	switch n := slices.IndexFunc(d.Sources, func(s triage.Source) bool { return s.Command != "" }); {
	case n < 0:
	case n == 0 && d.By == byRules:
		d.By = byCommand
	default:
		d.By += ", " + byCommand
	}
	if o.why != "" {
		d.Message.Rationale = o.why + "; " + d.Message.Rationale
	}
	return nil
}

// byCommand is who decided when a person's command led to an action.
const byCommand = "command"

// add puts an action behind those of a decision.
func (d *Decision) add(typ string, params map[string]any, from triage.Source) error {
	item, err := protocol.NewAction(typ, params)
	if err != nil {
		return err
	}
	d.put(from, item)
	return nil
}

// put puts actions behind those of a decision. One that was to write nothing writes no
// more than these.
func (d *Decision) put(from triage.Source, items ...protocol.ActionItem) {
	if len(items) == 0 {
		return
	}
	if d.Message.Decision == protocol.Skip {
		d.Message.Decision, d.Message.Actions, d.Sources = protocol.LabelAndRespond, nil, nil
	}
	sources := make([]triage.Source, 0, len(d.Message.Actions)+len(items))
	for i := range d.Message.Actions {
		sources = append(sources, d.source(i))
	}
	for range items {
		sources = append(sources, from)
	}
	d.Sources = sources
	d.Message.Actions = append(slices.Clip(d.Message.Actions), items...)
}

// asksWhy reports whether a comment asks why, and says nothing else.
func asksWhy(body string) bool {
	given := rules.Commands(body)
	return len(given) == 1 && order(given[0].Name) == commandWhy && !strings.Contains(strings.TrimSpace(body), "\n")
}
