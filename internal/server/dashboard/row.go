package dashboard

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"github.com/org/foreman-action/queue"
)

// row is a task in a list.
func (d *Dashboard) row(i queue.Info, b brief) row {
	r := row{
		ID: line(i.ID, maxWord), URL: taskURL(i.ID), Issue: issueName(i.Repo, i.Issue), IssueURL: d.issueURL(i.Repo, i.Issue),
		Title: b.title, State: i.State, Agent: agentName(i.Agent), Text: rowText(i, b),
		Held: i.Held, Draining: i.Draining, Enqueued: i.Enqueued, Happened: i.Enqueued, Happening: "enqueued",
	}
	if i.Held {
		r.Until = i.Ready
	}
	if i.Behind != "" {
		r.Behind = taskURL(i.Behind)
	}
	switch i.State {
	case queue.Pending:
	case queue.Claimed:
		r.Happened, r.Happening = i.Claimed, "claimed"
	case queue.Completed:
		r.Happened, r.Happening = i.Completed, "decided"
	case queue.Done:
		r.Happened, r.Happening = i.Ended, "done"
	case queue.Failed:
		r.Happened, r.Happening = i.Ended, "failed"
	}
	return r
}

// rowText says in a few words what is to be said of a state.
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
		return join(b.decision, b.outcome)
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

// join puts what there is into one sentence.
func join(parts ...string) string {
	kept := parts[:0:0]
	for _, p := range parts {
		if p != "" {
			kept = append(kept, p)
		}
	}
	return strings.Join(kept, "; ")
}

// plural counts things: their name, and that of several if it does not end in s.
func plural(n int, one string, many ...string) string {
	switch {
	case n == 1:
		return "1 " + one
	case len(many) > 0:
		return fmt.Sprintf("%d %s", n, many[0])
	}
	return fmt.Sprintf("%d %ss", n, one)
}

func taskURL(id string) string { return "/tasks/" + url.PathEscape(id) }

func issueName(repo string, issue int) string {
	if issue < 1 {
		return word(repo)
	}
	return word(repo) + "#" + strconv.Itoa(issue)
}
