package memory

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/org/foreman-action/protocol"
)

// MaxSummary is the most bytes that [Summary] returns.
const MaxSummary = 4 << 10

// Summary tells in one paragraph what was done on the issue, for
// protocol.TaskContext.MemorySummary. ok is false, and the text empty, when we did
// nothing: no action carried out, nothing escalated, and nothing kept for later. What
// humans did meanwhile is told in its place, without their logins. The text depends on the record alone and is
// at most [MaxSummary] bytes long; when there is more to tell, the oldest tasks are
// folded into counts, and what humans did before them is left out.
//
// Published agents stay away from an issue whose summary holds one of a few phrases
// about a reply, in any case. The text therefore holds the word "commented" if and
// only if we posted a comment, and otherwise none of those phrases ([Record.Faded]
// returns a record of which that is told for [AnswerWindow] only): names that
// would bring one in (a label called "commented") are written with an escape, as in
// 'comm\u0065nted'. No rationale and nothing written in an issue gets into it.
func Summary(r Record) (text string, ok bool) {
	tasks := slices.DeleteFunc(slices.Clone(r.Tasks), func(t Task) bool { return !eventful(t) })
	slices.SortStableFunc(tasks, func(a, b Task) int { return a.At.Compare(b.At) })
	e, humans := r.Earlier.clone(), tellable(r.Humans)
	for len(tasks) > MaxTasks {
		e.add(tasks[0])
		tasks = tasks[1:]
		humans = sinceTime(humans, tasks[0].At)
	}
	later := r.pending()
	if len(tasks) == 0 && e.sentence() == "" && later == "" {
		return "", false
	}
	parts := partsOf(tasks, humans)
	size := 0 // of the parts that are left
	for _, p := range parts {
		size += len(p.text)
	}
	for _, p := range parts {
		if size <= MaxSummary {
			if text = render(r.Issue, e.sentence(), parts, later); len(text) <= MaxSummary {
				return text, true
			}
		}
		if p.task != nil {
			e.add(*p.task)
		}
		size, parts = size-len(p.text), parts[1:]
	}
	return render(r.Issue, e.sentence(), nil, later), true
}

// A part is what a summary tells of one task, or of what humans did on one day.
type part struct {
	text string
	task *Task // nil: humans
}

// partsOf merges tasks and what humans did, each in order of time. Of equally old ones
// the task comes first: what humans did, they did after it was decided.
func partsOf(tasks []Task, humans []Change) []part {
	var parts []part
	for len(tasks)+len(humans) > 0 {
		later := func(c Change) bool { return len(tasks) > 0 && !c.At.Before(tasks[0].At) }
		if len(humans) == 0 || later(humans[0]) {
			parts = append(parts, part{tasks[0].sentence(), &tasks[0]})
			tasks = tasks[1:]
			continue
		}
		n := 1
		for n < len(humans) && !later(humans[n]) && date(humans[n].At) == date(humans[0].At) {
			n++
		}
		parts = append(parts, part{text: tellHumans(humans[:n])})
		humans = humans[n:]
	}
	return parts
}

// eventful reports whether a task left a trace.
func eventful(t Task) bool {
	return t.Decision == protocol.Escalate || slices.ContainsFunc(t.Actions, func(a Action) bool { return a.Result == Done })
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

// maxParts bounds the things that one task is told to have done; a task that did
// more is told in counts.
const maxParts = 30

// sentence is "labelled 'bug', commented on 2026-04-10 (rule crash)". Of a task that was
// rebuilt from the timeline nobody knows who asked, so it names no agent.
func (t Task) sentence() string {
	var did, who []string
	for _, a := range t.Actions {
		if a.Result != Done {
			continue
		}
		did = appendNew(did, verbOf(a.Type).tell(a))
		switch {
		case a.Rule != "":
			who = appendNew(who, "rule "+name(a.Rule))
		case t.By != ByTimeline:
			who = appendNew(who, "agent")
		}
		if len(did) > maxParts || len(who) > maxParts {
			var e Earlier
			e.add(t)
			return strings.Join(e.counts(), ", ") + " on " + date(t.At)
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

// sentence is "from 2025-01-02 to 2025-03-04 labelled 12 times, commented once"; it
// is empty when nothing was done.
func (e Earlier) sentence() string {
	did := e.counts()
	if len(did) == 0 {
		return ""
	}
	return fmt.Sprintf("from %s to %s %s", date(e.From), date(e.To), strings.Join(did, ", "))
}

// counts lists what was done and how often, the most frequent first.
func (e Earlier) counts() []string {
	sum := map[string]int{escalated: e.Escalated}
	for typ, n := range e.Done {
		sum[verbOf(typ).past] += n
	}
	maps.DeleteFunc(sum, func(_ string, n int) bool { return n == 0 })
	did := slices.SortedFunc(maps.Keys(sum), func(a, b string) int {
		return cmp.Or(cmp.Compare(sum[b], sum[a]), cmp.Compare(a, b))
	})
	for i, past := range did {
		did[i] = past + " " + times(sum[past])
	}
	return did
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
