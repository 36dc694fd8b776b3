package memory

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/org/foreman-action/internal/order"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/triage"
)

// MaxSummary is the most bytes that [Summary] and [Summarizer.Summarize] return.
const MaxSummary = 4 << 10

// Summary renders one paragraph about our actions on the issue, for
// protocol.TaskContext.MemorySummary. ok is false, and the text empty, when no action was carried
// out or proposed, no task was escalated, and no label or closing is kept for later. The paragraph
// includes the changes of humans and the proposals in order of time, without logins. The text depends
// on the record alone and has at most [MaxSummary] bytes. If it would be longer, the oldest tasks are
// folded into counts, and older changes of humans and proposals are left out.
//
// Published agents skip an issue if its summary contains certain phrases about a reply, in any
// case. The text therefore contains the word "commented" if and only if we posted a comment.
// Otherwise it contains none of these phrases. [Record.Faded] limits this effect to
// [AnswerWindow]. A name that contains such a phrase, for example a label called "commented", is
// escaped as in 'comm\u0065nted'. A proposed comment is called "a reply", which no agent looks for.
// The text contains no rationale, no text of a comment and nothing written in an issue.
func Summary(r Record) (text string, ok bool) {
	tasks := slices.DeleteFunc(slices.Clone(r.Tasks), func(t Task) bool { return !eventful(t) })
	order.Stable(tasks, func(a, b Task) int { return a.At.Compare(b.At) })
	e, humans := r.Earlier.clone(), validChanges(r.Humans)
	for len(tasks) > MaxTasks {
		e.add(tasks[0])
		tasks = tasks[1:]
		humans = sinceTime(humans, tasks[0].At)
	}
	later := deferredSentence(r.Never, r.Closings)
	if len(tasks) == 0 && len(r.Proposals) == 0 && earlierSentence(e) == "" && later == "" {
		return "", false
	}
	parts := withProposals(partsOf(tasks, humans), r.Proposals)
	size := 0 // bytes of the remaining parts
	for _, p := range parts {
		size += len(p.text)
	}
	for _, p := range parts {
		if size <= MaxSummary {
			if text = render(r.Issue, earlierSentence(e), parts, later); len(text) <= MaxSummary {
				return text, true
			}
		}
		if p.task != nil {
			e.add(*p.task)
		}
		size, parts = size-len(p.text), parts[1:]
	}
	return render(r.Issue, earlierSentence(e), nil, later), true
}

// A part is the text of a summary about one task, one proposal, or the changes of humans on one day.
type part struct {
	text string
	at   time.Time
	task *Task // nil: humans or a proposal
}

// partsOf merges tasks and changes of humans, which are both in order of time. If a task and a
// change have the same time, the task comes first, because the change followed its decision.
func partsOf(tasks []Task, humans []Change) []part {
	var parts []part
	for len(tasks)+len(humans) > 0 {
		later := func(c Change) bool { return len(tasks) > 0 && !c.At.Before(tasks[0].At) }
		if len(humans) == 0 || later(humans[0]) {
			parts = append(parts, part{taskSentence(tasks[0]), tasks[0].At, &tasks[0]})
			tasks = tasks[1:]
			continue
		}
		n := 1
		for n < len(humans) && !later(humans[n]) && date(humans[n].At) == date(humans[0].At) {
			n++
		}
		parts = append(parts, part{text: humansSentence(humans[:n]), at: humans[0].At})
		humans = humans[n:]
	}
	return parts
}

// withProposals adds the proposals to parts that are in order of time. A proposal follows a task of the
// same time.
func withProposals(parts []part, list []Proposal) []part {
	for _, p := range list {
		parts = append(parts, part{text: proposalSentence(p), at: p.At})
	}
	order.Stable(parts, func(a, b part) int { return a.at.Compare(b.at) })
	return parts
}

// eventful reports whether a task was escalated or one of its actions was carried out.
func eventful(t Task) bool {
	return t.Decision == protocol.Escalate && !t.Suppressed() || slices.ContainsFunc(t.Actions, func(a Action) bool { return a.Result == triage.Done })
}

func render(issue int, earlier string, parts []part, later string) string {
	var told []string
	if earlier != "" {
		told = append(told, earlier)
	}
	for _, p := range parts {
		told = append(told, p.text)
	}
	if later != "" {
		told = append(told, later)
	}
	return fmt.Sprintf("Issue #%d: %s. No further actions.", issue, strings.Join(told, "; "))
}

// maxParts is the most actions that are listed for one task. A task with more actions is shown as
// counts.
const maxParts = 30

// taskSentence returns text such as "labelled 'bug', commented on 2026-04-10 (rule crash)". It
// names no agent for a task that was rebuilt from the timeline, because the decider is unknown.
func taskSentence(t Task) string {
	var did, who []string
	for _, a := range t.Actions {
		if a.Result != triage.Done {
			continue
		}
		did = appendNew(did, phrase(a))
		switch {
		case a.Rule != "":
			who = appendNew(who, "rule "+name(a.Rule))
		case t.By != ByTimeline:
			who = appendNew(who, "agent")
		}
		if len(did) > maxParts || len(who) > maxParts {
			var e Earlier
			e.add(t)
			return strings.Join(countsOf(e), ", ") + " on " + date(t.At)
		}
	}
	if t.Decision == protocol.Escalate {
		did = append(did, escalated)
	}
	s := strings.Join(did, ", ") + " on " + date(t.At)
	if len(who) > 0 {
		s += " (" + strings.Join(who, ", ") + ")"
	}
	return s
}

const escalated = "escalated to a human"

// earlierSentence returns text such as "from 2025-01-02 to 2025-03-04 labelled 12 times,
// commented once", or "" when no action was carried out.
func earlierSentence(e Earlier) string {
	did := countsOf(e)
	if len(did) == 0 {
		return ""
	}
	return fmt.Sprintf("from %s to %s %s", date(e.From), date(e.To), strings.Join(did, ", "))
}

// countsOf lists the actions and how often each was done, the most frequent first.
func countsOf(e Earlier) []string {
	sum := map[string]int{escalated: e.Escalated}
	for typ, n := range e.Done {
		sum[past(typ)] += n
	}
	maps.DeleteFunc(sum, func(_ string, n int) bool { return n == 0 })
	did := slices.SortedFunc(maps.Keys(sum), func(a, b string) int {
		return cmp.Or(cmp.Compare(sum[b], sum[a]), cmp.Compare(a, b))
	})
	for i, verb := range did {
		did[i] = verb + " " + times(sum[verb])
	}
	return did
}

// humansSentence returns text such as "a human took off the label 'bug', closed as 'completed' on
// 2026-04-11". All changes are of one day. A change that was made, undone and made again is
// listed three times.
func humansSentence(list []Change) string {
	var did []string
	sum := Earlier{Done: map[string]int{}}
	for _, c := range list {
		sum.Done[c.Type]++
		s := phrase(Action{Type: c.Type, Values: c.Values})
		if len(did) == 0 || did[len(did)-1] != s {
			did = append(did, s)
		}
	}
	if len(did) > maxParts {
		did = countsOf(sum)
	}
	return "a human " + strings.Join(did, ", ") + " on " + date(list[0].At)
}

// maxProposed is the most bytes of the text about the actions of one proposal. A longer text is replaced
// with one that has no names.
const maxProposed = 1 << 10

// proposalSentence returns text such as "suggested label 'bug' on 2026-11-27; a human accepted it on
// 2026-11-28".
func proposalSentence(p Proposal) string {
	var what, short []string
	for _, item := range p.Actions() {
		a := NewAction(0, item)
		what, short = appendNew(what, proposed(a)), appendNew(short, cmp.Or(proposals[a.Type].alone, "an action"))
	}
	text := strings.Join(what, ", ")
	if len(text) > maxProposed {
		text = strings.Join(short, ", ")
	}
	s := "suggested " + text + " on " + date(p.At)
	switch p.State {
	case Pending:
		return s
	case Accepted:
		s += "; a human accepted it"
	case Rejected:
		s += "; a human rejected it"
	case Overtaken:
		s += "; it was overtaken"
	case Expired:
		s += "; it expired"
	default:
		s += "; it ended"
	}
	if p.Ended.IsZero() {
		return s
	}
	return s + " on " + date(p.Ended)
}

// maxToldNever is the most forbidden labels that a summary lists.
const maxToldNever = 5

// deferredSentence returns text such as "never to set the label 'x'; closing as 'not_planned' on
// 2026-04-13", or "" when no label or closing is kept for later.
func deferredSentence(never []string, closings []ScheduledClose) string {
	var told []string
	if n := len(never); n > 0 {
		word := "label "
		if n > 1 {
			word = "labels "
		}
		text := "never to set the " + word + quoteAll(never[:min(n, maxToldNever)])
		if n > maxToldNever {
			text += fmt.Sprintf(" and %d more", n-maxToldNever)
		}
		told = append(told, text)
	}
	open := slices.DeleteFunc(slices.Clone(closings), func(c ScheduledClose) bool { return c.Vetoed })
	if len(open) > 0 {
		c := slices.MinFunc(open, func(a, b ScheduledClose) int {
			return cmp.Or(a.Due.Compare(b.Due), cmp.Compare(a.Rule, b.Rule))
		})
		text := "closing"
		if c.Reason != "" {
			text += " as " + quote(c.Reason)
		}
		told = append(told, text+" on "+date(c.Due))
	}
	return strings.Join(told, "; ")
}

func times(n int) string {
	if n == 1 {
		return "once"
	}
	return strconv.Itoa(n) + " times"
}

func date(t time.Time) string { return t.UTC().Format(time.DateOnly) }

func appendNew(list []string, s string) []string {
	if slices.Contains(list, s) {
		return list
	}
	return append(list, s)
}
