package issueagent

import (
	"crypto/sha256"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/org/foreman-action/protocol"
)

// maxKept is the maximum number of issues in a guard.
const maxKept = 10_000

// A guard remembers which issues were answered recently.
type guard struct {
	window time.Duration

	mu   sync.Mutex
	kept map[string]*kept // by issue
}

// kept is the known state of an issue.
type kept struct {
	at        time.Time // time of the last decision; the issue with the oldest one is dropped first
	last      protocol.DecisionMessage
	commented time.Time // time of the last decision that comments; zero: none
	told      [sha256.Size]byte
	toldAt    time.Time // time at which the latest summary without a date was first seen; zero: never
}

// of returns the entry of an issue, and adds one if there is none. The caller holds the lock of the
// guard.
func (g *guard) of(key string, now time.Time) *kept {
	k := g.kept[key]
	if k == nil {
		if len(g.kept) >= maxKept {
			g.forget()
		}
		k = &kept{at: now}
		g.kept[key] = k
	}
	return k
}

// forget drops the issue whose last decision is the oldest.
func (g *guard) forget() {
	oldest := ""
	for key, k := range g.kept {
		if oldest == "" || k.at.Before(g.kept[oldest].at) {
			oldest = key
		}
	}
	delete(g.kept, oldest)
}

// again returns the earlier decision on a task; the bool is false if there is none.
func (g *guard) again(key, task string) (protocol.DecisionMessage, bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if k := g.kept[key]; k != nil && k.last.TaskID == task && task != "" {
		return k.last, true
	}
	return protocol.DecisionMessage{}, false
}

// keep records a decision.
func (g *guard) keep(key string, d protocol.DecisionMessage, now time.Time) {
	g.mu.Lock()
	defer g.mu.Unlock()
	k := g.of(key, now)
	k.at, k.last = now, d
	for _, a := range d.Actions {
		if d.Decision.Writes() && (a.Type == protocol.ActionComment || a.Type == protocol.ActionUpdateComment) {
			k.commented = now
		}
	}
}

// stays returns the reason why an issue is skipped, or "". The reasons contain none of the words by
// which reply recognizes a reply: a skip is recorded in later summaries, and must not cause the
// next skip.
func (g *guard) stays(key string, summary *string, now time.Time) string {
	const recent = "the last reply is too recent for another one"
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.window == 0 {
		return ""
	}
	k := g.kept[key]
	if k != nil && !k.commented.IsZero() && now.Sub(k.commented) < g.window {
		return recent
	}
	if summary == nil {
		return ""
	}
	day, replied := reply(*summary)
	switch {
	case !replied:
		return ""
	case !day.IsZero():
		if k != nil && k.commented.UTC().Format(time.DateOnly) == day.Format(time.DateOnly) {
			return "" // the exact time of that comment is known: the window is over
		}
		// Only the day of the reply is known: it may have been in the last minute of that day.
		if now.Before(day.Add(24*time.Hour + g.window)) {
			return recent
		}
		return ""
	}
	// The time of the reply is unknown, so the window begins when this summary was first seen.
	k = g.of(key, now)
	if told := sha256.Sum256([]byte(*summary)); k.toldAt.IsZero() || k.told != told {
		k.told, k.toldAt = told, now
	}
	if now.Sub(k.toldAt) < g.window {
		return recent
	}
	return ""
}

// dateOf matches a date in a summary.
const dateOf = `\b\d{4}-\d{2}-\d{2}\b`

// reply returns the newest date of a reply that a summary mentions, and whether it mentions one at
// all. The date is zero if no reply has one.
func reply(summary string) (day time.Time, replied bool) {
	// The published harness stores its last decision even if the decision was not carried out.
	if strings.HasPrefix(summary, "decision=skip") || strings.HasPrefix(summary, "decision=escalate") {
		return time.Time{}, false
	}
	dates := regexp.MustCompile(dateOf)
	for part := range strings.SplitSeq(strings.ToLower(summary), ";") {
		said := false
		for _, phrase := range []string{"comment was posted", "commented", "a comment", "responded"} {
			said = said || strings.Contains(part, phrase)
		}
		if !said {
			continue
		}
		replied = true
		for _, text := range dates.FindAllString(part, -1) {
			if t, err := time.Parse(time.DateOnly, text); err == nil && t.After(day) {
				day = t
			}
		}
	}
	return day, replied
}
