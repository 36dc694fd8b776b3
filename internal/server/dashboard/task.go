package dashboard

import (
	"cmp"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/queue"
)

// A taskPage is what the page of a task shows.
type taskPage struct {
	row
	Facts     []fact
	Journey   []step
	Decision  string
	By        string
	Rationale string
	Status    string
	Reason    string // why it failed, or waits
	DryRun    bool
	Actions   []actionRow
	Warnings  []string
	Missing   []string
	Raw       []raw
	CanRetry  bool
	RetryText string
	CanCancel bool
}

// A fact is a line about a task.
type fact struct{ Name, Value string }

// A step is a thing that happened, or will.
type step struct {
	At     time.Time
	What   string
	Who    string
	Text   string
	Coming bool
}

// An actionRow is one action with what became of it.
type actionRow struct {
	Number  int
	Type    string
	Params  []fact
	Source  string
	Verdict string
	Result  string
	Reason  string
	URL     string
}

// A raw is a text that could not be read.
type raw struct{ Name, Problem, Text string }

// task answers with the page of one task.
func (d *Dashboard) task(w http.ResponseWriter, r *http.Request) {
	v := d.visitor(r)
	if !d.admitted(w, r, v) {
		return
	}
	d.showTask(w, r, shown{status: http.StatusOK, v: v, notice: r.FormValue("did")})
}

func (d *Dashboard) showTask(w http.ResponseWriter, r *http.Request, s shown) {
	details, err := d.o.Queue.Inspect(r.Context(), r.PathValue("id"))
	switch {
	case errors.Is(err, queue.ErrNotFound):
		d.show(w, r, shown{status: http.StatusNotFound, v: s.v, problem: "There is no such task. It may have been purged."})
	case err != nil:
		d.fail(w, r, err)
	default:
		s.content = content{Task: d.taskPage(details)}
		d.show(w, r, s)
	}
}

func (d *Dashboard) taskPage(t queue.Details) *taskPage {
	p := &taskPage{row: d.row(t.Info, makeBrief(t)), Reason: block(t.Reason, maxLine)}
	msg := readMessage(t.Message)
	var from origin
	if t.Origin != nil {
		if err := json.Unmarshal(t.Origin, &from); err != nil {
			p.Raw = append(p.Raw, raw{"Origin", "It is no JSON.", block(string(t.Origin), maxLine)})
		}
	}
	if !json.Valid(t.Message) {
		p.Raw = append(p.Raw, raw{"Message", "It is no JSON: no agent can be asked.", block(string(t.Message), maxLine)})
	}
	p.Facts = facts(t, msg, from)
	p.Journey = journey(t, from)
	d.readOutcome(p, t)
	switch {
	case t.State == queue.Failed && t.Result != nil:
		p.CanRetry, p.RetryText = true, "Carry the decision out again"
	case t.State == queue.Failed:
		p.CanRetry, p.RetryText = true, "Ask the agent again"
	case t.Held:
		p.CanRetry, p.RetryText = true, "Let it go now"
	}
	p.CanCancel = t.State != queue.Done && t.State != queue.Failed && !t.Draining
	return p
}

func facts(t queue.Details, msg message, from origin) []fact {
	list := make([]fact, 0, 12)
	add := func(name, value string) {
		if value != "" {
			list = append(list, fact{name, value})
		}
	}
	add("Task", line(t.ID, maxWord))
	add("Agent", agentName(t.Agent))
	add("Event", word(from.Event))
	add("Came by", word(from.Source))
	add("Delivery", word(from.Delivery))
	add("Trace", word(from.Trace))
	add("Author", word(msg.Author))
	add("Claims", strconv.Itoa(t.Attempt))
	add("Failed tries", strconv.Itoa(t.Tries))
	if t.Priority != 0 {
		add("Priority", strconv.Itoa(t.Priority))
	}
	add("Memory", line(msg.Summary, maxLine))
	if rep, err := readReport(t.Report); err == nil {
		add("Rules that fired", line(strings.Join(rep.Fired, ", "), maxLine))
	}
	return list
}

// readOutcome fills in the decision, and what the report says of carrying it out.
func (d *Dashboard) readOutcome(p *taskPage, t queue.Details) {
	dec, err := readDecision(t.Result)
	if err != nil {
		p.Raw = append(p.Raw, raw{"Decision", "It cannot be read.", block(string(t.Result), maxLine)})
	}
	rep, err := readReport(t.Report)
	if err != nil {
		p.Raw = append(p.Raw, raw{"Report", "It cannot be read.", block(string(t.Report), maxLine)})
	}
	p.Decision = word(cmp.Or(rep.Decision, dec.Decision))
	p.Rationale = block(cmp.Or(rep.Rationale, dec.Rationale), maxBlock)
	p.By, p.Status, p.DryRun = word(rep.By), word(rep.Status), rep.DryRun
	if p.Reason == "" {
		p.Reason = block(rep.Reason, maxLine)
	}
	if len(rep.Actions) > 0 {
		for _, a := range rep.Actions[:min(len(rep.Actions), maxActions)] {
			row := makeAction(len(p.Actions)+1, a.Action)
			row.Type = cmp.Or(row.Type, word(a.Type))
			row.Source, row.Verdict, row.Result = word(a.Source), verdict(a.Verdict), result(a.Result)
			row.Reason, row.URL = block(a.Reason, maxLine), d.link(a.URL)
			p.Actions = append(p.Actions, row)
		}
	} else {
		for _, a := range dec.Actions[:min(len(dec.Actions), maxActions)] {
			p.Actions = append(p.Actions, makeAction(len(p.Actions)+1, a))
		}
	}
	p.Warnings, p.Missing = lines(rep.Warnings), lines(rep.Missing)
}

// maxActions is how many actions are shown.
const maxActions = 100

func lines(in []string) []string {
	var out []string
	for _, s := range in[:min(len(in), maxActions)] {
		out = append(out, block(s, maxLine))
	}
	return out
}

func makeAction(number int, a protocol.ActionItem) actionRow {
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

// verdict says in words what the policy made of an action.
func verdict(v string) string {
	switch v {
	case "do":
		return "permitted"
	case "skip":
		return "skipped"
	case "refuse":
		return "refused"
	}
	return word(v)
}

// result says in words what became of an action.
func result(s string) string {
	switch s {
	case "planned":
		return "would be done"
	case "none":
		return "nothing to do"
	case "not_run":
		return "not tried"
	}
	return word(s)
}

// journey lists what happened to a task, in order, and what comes next.
func journey(t queue.Details, from origin) []step {
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
	add(t.Enqueued, "enqueued", "", via)
	add(t.Claimed, "claimed", "", join("attempt "+strconv.Itoa(t.Attempt), claimant(t)))
	if t.Agent == "" {
		add(t.Completed, "decided", "", "by the server's rules, when it is carried out")
	} else {
		add(t.Completed, "decided", "", "")
	}
	for _, e := range t.Log {
		add(e.At, word(e.What), e.Who, block(e.Text, maxLine))
	}
	switch t.State {
	case queue.Done:
		add(t.Ended, "carried out", "", "done")
	case queue.Pending, queue.Claimed, queue.Completed: // it goes on
	case queue.Failed:
		add(t.Ended, "failed", "", block(t.Reason, maxLine))
	}
	slices.SortStableFunc(list, func(a, b step) int { return a.At.Compare(b.At) })
	return append(list, coming(t)...)
}

// claimant says under which credential a task was claimed: later, the owner is who
// carries it out.
func claimant(t queue.Details) string {
	if t.State == queue.Claimed {
		return by(t.Owner)
	}
	return ""
}

// coming says what happens next, unless somebody does something.
func coming(t queue.Details) []step {
	switch {
	case t.Behind != "":
		return []step{{What: "held back", Text: block(t.Reason, maxLine), Coming: true}}
	case t.Held:
		return []step{{At: t.Ready, What: "held back until", Text: block(t.Reason, maxLine), Coming: true}}
	case t.State == queue.Claimed:
		return []step{{At: t.Until, What: "claim runs out", Text: "unless the agent sends a heartbeat", Coming: true}}
	case t.Draining:
		return []step{{At: t.Until, What: "being carried out", Who: word(t.Owner), Text: "under a lease until then", Coming: true}}
	}
	return nil
}
