package dashboard

import (
	"cmp"
	"net/url"
	"strconv"
	"time"

	"github.com/org/foreman-action/queue"
)

// A row is a task in a list. Each column is a field here, a line in newRow, and two lines in the
// table "tasks" of assets/overview.html: its heading and its cell.
type row struct {
	ID, URL   string
	Key       string // names the task and its version in forms
	Issue     string // "owner/name#7"
	IssueURL  string
	Title     string
	State     queue.State
	StateName string // for people
	Agent     string
	Text      string // about its state
	Held      bool
	Until     time.Time // when Held ends
	Behind    string    // address of the task that must end first; empty: none
	Draining  bool
	LastTime  time.Time // time of LastEvent
	LastEvent string    // such as "claimed"
	Buttons   []button  // for operators
	From      string    // address to return to after a button; empty: the task's page
}

// A button changes the task.
type button struct {
	Verb   string // the end of its address
	Text   string
	First  bool // it is the recommended button
	Danger bool
	Asks   bool // it has a field for a reason
}

// buttons returns the buttons for a task in its state.
func buttons(i queue.Info) []button {
	ask, retry := button{Verb: "ask-again", Text: "Ask again", Asks: true}, button{Verb: "retry", Text: "Retry", First: true}
	if i.Agent == "" {
		ask.Text = "Decide again"
	}
	cancel := button{Verb: "cancel", Text: "Cancel", Danger: true}
	switch {
	case i.Draining:
		return nil
	case i.State == queue.Done:
		return []button{ask}
	case i.State == queue.Failed && i.Completed.IsZero():
		ask.First = true
		return []button{ask}
	case i.State == queue.Failed:
		return []button{retry, ask}
	case i.Held:
		return []button{{Verb: "retry", Text: "Release", First: true}, cancel}
	}
	return []button{cancel}
}

// Names of two conditions within a state: tasks that wait for a time or for another task, and completed
// tasks whose decision is being executed.
const (
	nameDelayed  = "delayed"
	nameApplying = "applying"
)

// stateName returns the name of a state on the page. It is not always the published name, because the
// page also names two conditions within states.
func stateName(s queue.State) string {
	switch s {
	case queue.Pending:
		return "queued"
	case queue.Claimed:
		return "running"
	case queue.Completed:
		return "decided"
	case queue.Done, queue.Failed:
	}
	return string(s)
}

// newRow makes the row of a task.
func newRow(i queue.Info, b brief, l links) row {
	r := row{
		ID:       line(i.ID, maxWord),
		URL:      taskURL(i.ID),
		Key:      formKey(i.Seen()),
		Issue:    issueName(i.Repo, i.Issue),
		IssueURL: l.issue(i.Repo, i.Issue),
		Title:    b.title,
		State:    i.State, StateName: stateName(i.State),
		Agent:    agentName(i.Agent),
		Text:     rowText(i, b),
		Held:     i.Held,
		Draining: i.Draining,
		LastTime: i.Enqueued, LastEvent: "received",
		Buttons: buttons(i),
	}
	if i.Held {
		r.Until, r.StateName = i.Ready, nameDelayed
	}
	if i.Draining {
		r.StateName = nameApplying
	}
	if i.Behind != "" {
		r.Behind = taskURL(i.Behind)
	}
	switch i.State {
	case queue.Pending:
	case queue.Claimed:
		r.LastTime, r.LastEvent = i.Claimed, "claimed"
	case queue.Completed:
		r.LastTime, r.LastEvent = i.Completed, "decided"
	case queue.Done:
		r.LastTime, r.LastEvent = i.Ended, "done"
	case queue.Failed:
		r.LastTime, r.LastEvent = i.Ended, "failed"
	}
	return r
}

// A brief has the texts of a task in a list.
type brief struct {
	title    string
	decision string
	outcome  string
}

func (s stored) brief() brief {
	return brief{
		title:    line(cmp.Or(s.message.Payload.Title, s.report.Title), maxTitle),
		decision: decisionText(cmp.Or(string(s.report.Decision), s.decision.Decision)), outcome: outcomeText(s.report.Status),
	}
}

// rowText describes the state of a task in a few words.
func rowText(i queue.Info, b brief) string {
	reason := line(i.Reason, maxTitle)
	switch i.State {
	case queue.Pending:
		if i.Attempt > 0 {
			return join(plural(i.Attempt, "claim")+" so far", reason)
		}
		return reason
	case queue.Claimed:
		return join("attempt "+strconv.Itoa(i.Attempt), by(i.Owner))
	case queue.Completed:
		text := b.decision
		if i.Tries > 0 {
			text = join(text, plural(i.Tries, "failed try", "failed tries"), reason)
		}
		return text
	case queue.Done:
		return cmp.Or(b.outcome, b.decision)
	case queue.Failed:
		return reason
	}
	return ""
}

func by(name string) string {
	if name == "" {
		return ""
	}
	return "by " + word(name)
}

func taskURL(id string) string { return "/tasks/" + url.PathEscape(id) }

func issueName(repo string, issue int) string {
	if issue < 1 {
		return word(repo)
	}
	return word(repo) + "#" + strconv.Itoa(issue)
}

// agentName returns the name of an agent for people.
func agentName(agent string) string {
	if agent == "" {
		return "the server's rules"
	}
	return word(agent)
}
