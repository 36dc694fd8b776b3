package dashboard

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/queue"
	"github.com/org/foreman-action/runner"
	"github.com/org/foreman-action/triage"
)

// A taskPage is the view model of the page of a task.
type taskPage struct {
	row
	Facts     []fact
	Timeline  []step
	Decision  string
	By        string
	Rationale string
	Status    string
	Reason    string // why it failed, or waits
	DryRun    bool
	Actions   []actionRow
	Warnings  []string
	Missing   []string
	Raw       []unreadable
	Stored    []document
}

// A document is a stored text of a task, as it was received.
type document struct{ Key, Name, Size, Text string }

// A fact is a line about a task.
type fact struct{ Name, Value string }

// A step is a past or an expected event of the task.
type step struct {
	At       time.Time
	What     string
	Who      string
	Text     string
	URL      string // page of the result on GitHub; empty: none
	Expected bool
}

// An actionRow is one action with its result.
type actionRow struct {
	Number  int
	Type    string
	Params  []fact
	Source  string
	Verdict string
	Result  string
	Reason  string
	URL     string
	// Proposal describes the action's proposal and the answer to it; empty: there is none.
	Proposal  string
	Rationale string
}

// An unreadable is a stored text that cannot be decoded.
type unreadable struct{ Name, Problem, Text string }

// newTask makes the page of a task.
func newTask(t queue.Details, l links) *taskPage {
	s := parse(t)
	p := &taskPage{row: newRow(t.Info, s.brief(), l), Reason: block(t.Reason, maxLine), Raw: s.broken}
	p.Facts = facts(t, s)
	p.Timeline = append(past(t, s, l), expected(t)...)
	p.Stored = documents(t)
	p.setOutcome(s.decision, s.report, l)
	return p
}

func facts(t queue.Details, s stored) []fact {
	list := make([]fact, 0, 12)
	add := func(name, value string) {
		if value != "" {
			list = append(list, fact{name, value})
		}
	}
	add("Task", line(t.ID, maxWord))
	add("Agent", agentName(t.Agent))
	add("Event", word(s.origin.Event))
	add("Source", word(s.origin.Source))
	add("Delivery", word(s.origin.Delivery))
	add("Trace", word(s.origin.Trace))
	add("Author", word(s.message.Payload.Author))
	add("Claims", strconv.Itoa(t.Attempt))
	add("Failed tries", strconv.Itoa(t.Tries))
	if t.Asks > 0 {
		add("Asked again", plural(t.Asks, "time"))
	}
	if t.Priority != 0 {
		add("Priority", strconv.Itoa(t.Priority))
	}
	add("Memory", line(s.message.Context.Summary, maxLine))
	add("Rules that fired", line(strings.Join(s.report.Fired(), ", "), maxLine))
	return list
}

// setOutcome fills in the decision and the report on its execution.
func (p *taskPage) setOutcome(dec decision, rep runner.Report, l links) {
	p.Decision = decisionText(cmp.Or(string(rep.Decision), dec.Decision))
	p.Rationale = block(cmp.Or(rep.Rationale, dec.Rationale), maxBlock)
	p.By, p.Status, p.DryRun = word(rep.By), outcomeText(rep.Status), rep.DryRun && rep.Status != runner.StatusDryRun
	if p.Reason == "" {
		p.Reason = block(rep.Reason, maxLine)
	}
	if len(rep.Actions) > 0 {
		for _, a := range rep.Actions[:min(len(rep.Actions), maxActions)] {
			row := newAction(len(p.Actions)+1, a.Action)
			row.Source, row.Verdict, row.Result = word(a.Source.String()), verdict(string(a.Verdict)), result(a.State.Result())
			row.Reason, row.URL = block(a.Reason, maxLine), l.allowed(a.URL)
			row.Proposal, row.Rationale = proposalText(a), line(a.Rationale, maxLine)
			p.Actions = append(p.Actions, row)
		}
	} else {
		for _, a := range dec.Actions[:min(len(dec.Actions), maxActions)] {
			p.Actions = append(p.Actions, newAction(len(p.Actions)+1, a))
		}
	}
	p.Warnings, p.Missing = lines(rep.Warnings), lines(rep.Missing)
}

// proposalText describes the proposal of an action.
func proposalText(a triage.ActionResult) string {
	var parts []string
	if a.Confidence != "" {
		parts = append(parts, "confidence "+word(string(a.Confidence)))
	}
	if a.Proposal != 0 {
		parts = append(parts, "proposal "+strconv.Itoa(a.Proposal))
	}
	if a.Carrier != "" {
		parts = append(parts, carrier(a.Carrier))
	}
	if a.AcceptedBy != "" {
		parts = append(parts, "accepted by "+word(a.AcceptedBy))
	}
	return strings.Join(parts, ", ")
}

// maxActions limits the actions that are shown.
const maxActions = 100

func lines(in []string) []string {
	var out []string
	for _, s := range in[:min(len(in), maxActions)] {
		out = append(out, block(s, maxLine))
	}
	return out
}

func newAction(number int, a protocol.ActionItem) actionRow {
	row := actionRow{Number: number, Type: word(a.Type)}
	for _, name := range a.ParamNames() {
		if len(row.Params) == 20 {
			break
		}
		value, ok, err := a.Text(name)
		if !ok || err != nil {
			param, _ := a.Param(name)
			value = string(param)
		}
		row.Params = append(row.Params, fact{word(name), block(value, maxLine)})
	}
	return row
}

// decisionText formats the kind of a decision. An agent may have kinds of its own.
func decisionText(kind string) string {
	switch protocol.DecisionType(kind) {
	case protocol.LabelAndRespond:
		return "act on the issue"
	case protocol.Close:
		return "close the issue"
	case protocol.Escalate:
		return "leave it to a person"
	case protocol.Skip:
		return "do nothing"
	}
	return word(kind)
}

// outcomeText formats the status of a report.
func outcomeText(s runner.Status) string {
	switch s {
	case runner.StatusApplied:
		return "carried out"
	case runner.StatusPartial:
		return "partly carried out"
	case runner.StatusDone:
		return "refused by GitHub"
	case runner.StatusDryRun:
		return "planned, nothing written"
	case runner.StatusSkipped:
		return "nothing to do"
	case runner.StatusEscalated:
		return "left to a person"
	case runner.StatusSuggested:
		return "suggested"
	case runner.StatusFailed, runner.StatusIncomplete: // an incomplete one is never stored
	}
	return word(string(s))
}

// verdict formats the verdict of the policy on an action.
func verdict(v string) string {
	switch v {
	case "do":
		return "permitted"
	case "suggest":
		return "proposed"
	case "skip":
		return "skipped"
	case "refuse":
		return "refused"
	}
	return word(v)
}

// result formats the result of an action.
func result(s string) string {
	switch s {
	case "planned":
		return "would be done"
	case "suggested":
		return "waits for an answer"
	case "none":
		return "nothing to do"
	case "not_run":
		return "not tried"
	}
	return word(s)
}

// documents returns the stored texts of a task.
func documents(t queue.Details) []document {
	var list []document
	for _, d := range []struct {
		key, name string
		data      []byte
	}{{"d-message", "Message, with the event's payload", t.Message}, {"d-origin", "Origin", t.Origin}, {"d-decision", "Decision, as received", t.Result}, {"d-report", "Report", t.Report}} {
		if len(d.data) > 0 {
			list = append(list, document{d.key, d.name, strconv.Itoa(len(d.data)) + " bytes", block(indented(d.data), maxBlock)})
		}
	}
	return list
}

// indented returns JSON on indented lines. Other texts, and long ones that are not shown in full, stay as
// they are.
func indented(data []byte) string {
	var b bytes.Buffer
	if len(data) > 16*maxBlock || json.Indent(&b, data, "", "  ") != nil {
		return string(data[:min(len(data), 16*maxBlock)])
	}
	return b.String()
}

// past lists the past events of a task in order.
func past(t queue.Details, s stored, l links) []step {
	from := s.origin
	var list []step
	add := func(at time.Time, what, who, text string) {
		if !at.IsZero() {
			list = append(list, step{At: at, What: what, Who: word(who), Text: text})
		}
	}
	via := ""
	if from.Source != "" {
		via = "by " + word(from.Source)
	}
	if from.Delivery != "" {
		via = join(via, "delivery "+word(from.Delivery))
	}
	add(t.Enqueued, "received", "", via)
	add(t.Claimed, "claimed", "", join("attempt "+strconv.Itoa(t.Attempt), claimant(t)))
	if t.Agent == "" {
		add(t.Completed, "decided", "", "by the server's rules, when it is applied")
	} else {
		add(t.Completed, "decided", "", "")
	}
	for _, e := range t.Log {
		add(e.At, word(e.What), e.Who, block(e.Text, maxLine))
	}
	if !t.Ended.IsZero() {
		list = append(list, writes(t.Ended, s.report, l)...)
	}
	switch t.State {
	case queue.Done:
		add(t.Ended, "done", "", "")
	case queue.Pending, queue.Claimed, queue.Completed: // the task has not ended
	case queue.Failed:
		add(t.Ended, "failed", "", block(t.Reason, maxLine))
	}
	slices.SortStableFunc(list, func(a, b step) int { return a.At.Compare(b.At) })
	return list
}

// writes lists the results of the actions, which have the time of the report.
func writes(at time.Time, rep runner.Report, l links) []step {
	var list []step
	for _, a := range rep.Actions[:min(len(rep.Actions), maxActions)] {
		if outcome := a.State.Result(); outcome != "" && outcome != triage.Skipped.Result() {
			list = append(list, step{
				At: at, What: word(a.Action.Type), Text: join(result(outcome), line(strings.Join(a.Values, ", "), maxLine)), URL: l.allowed(a.URL),
			})
		}
	}
	return list
}

// claimant returns the credential with which an agent claimed a task. In later states it returns an
// empty text, because the owner of the task is then the process that executes the decision.
func claimant(t queue.Details) string {
	if t.State == queue.Claimed {
		return by(t.Owner)
	}
	return ""
}

// expected returns the event that happens next if no agent or person acts.
func expected(t queue.Details) []step {
	switch {
	case t.Behind != "":
		return []step{{What: nameDelayed, Text: block(t.Reason, maxLine), Expected: true}}
	case t.Held:
		return []step{{At: t.Ready, What: "delayed until", Text: block(t.Reason, maxLine), Expected: true}}
	case t.State == queue.Claimed:
		return []step{{At: t.Until, What: "claim expires", Text: "unless the agent sends a heartbeat", Expected: true}}
	case t.Draining:
		return []step{{At: t.Until, What: nameApplying, Who: word(t.Owner), Text: "under a lease until then", Expected: true}}
	}
	return nil
}
