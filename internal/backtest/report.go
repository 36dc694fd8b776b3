package backtest

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/org/foreman-action/internal/sanitize"
)

// Version is that of the form of a report as JSON. Within it, fields are only added.
const Version = 1

// A Report is what a replay found. Its titles are made harmless for logs; each format
// escapes them as it must.
type Report struct {
	Version int        `json:"version"`
	Repo    string     `json:"repo"`
	Event   string     `json:"event"` // that was replayed
	Since   *time.Time `json:"since"` // null: from the beginning
	At      time.Time  `json:"at"`
	// ComparedWith says which rules were the old ones; empty: none.
	ComparedWith string `json:"compared_with"`
	// Issues counts those that were replayed. PullRequests and Ours were left out: the
	// latter were opened under our own login.
	Issues       int `json:"issues"`
	PullRequests int `json:"pull_requests"`
	Ours         int `json:"ours"`
	Timelines    int `json:"timelines"` // that were read
	// Failed counts the issues on which a rule fails, so that no rule acts.
	Failed    int      `json:"failed"`
	OldFailed int      `json:"old_failed"`
	Stopped   *Stopped `json:"stopped"` // null: all there is was replayed
	Rules     []Rule   `json:"rules"`
	Months    []Month  `json:"months"` // the oldest first
	// Notes say what a reader must know about the figures.
	Notes []string `json:"notes"`
}

// A Stopped says why a replay ended before its time.
type Stopped struct {
	Reason   string     `json:"reason"`
	After    int        `json:"after"` // issues
	About    int        `json:"about"` // issues in all, roughly
	RunAgain *time.Time `json:"run_again"`

	again time.Time
}

// String says it in a line.
func (s Stopped) String() string {
	text := fmt.Sprintf("stopped after %d of about %d issues: %s; run it again", s.After, s.About, s.Reason)
	if s.RunAgain != nil {
		text += " at " + s.RunAgain.UTC().Format("15:04") + " UTC"
	}
	return text + " to go on"
}

// Figures are counts of issues, and what follows from them.
type Figures struct {
	Fired     int `json:"fired"`
	Agreed    int `json:"agreed"`
	Kept      int `json:"kept"` // of those agreed: a program did it, and people left it
	Disagreed int `json:"disagreed"`
	Undecided int `json:"undecided"`
	// Precision and Recall are from 0 to 1; null when there is nothing to divide by.
	Precision *float64 `json:"precision"`
	Recall    *float64 `json:"recall"`
}

// A Rule is what was found about a rule.
type Rule struct {
	ID   string `json:"id"`
	File string `json:"file"`
	Line int    `json:"line"`
	// State is "added" for a rule that the old rules do not have, "removed" for one that
	// only they have, else empty.
	State string `json:"state"`
	// NotReplayed says why there are no figures; empty: there are.
	NotReplayed string `json:"not_replayed"`
	// OtherEvents are those that it listens to and that were not replayed.
	OtherEvents []string `json:"other_events"`
	// Judged is false for a rule that neither adds labels nor closes.
	Judged  bool    `json:"judged"`
	Figures         // of a removed rule: zero
	Labels  []Label `json:"labels"` // that it adds
	// Disagreements are the first ones, the newest issue first.
	Disagreements []Link `json:"disagreements"`
	Failed        int    `json:"failed"`  // issues on which it fails
	Failure       string `json:"failure"` // the first one
	// What follows compares with the old rules; Old is null when the rule is not there.
	Old             *Figures `json:"old"`
	NewlyFires      int      `json:"newly_fires"`
	NoLongerFires   int      `json:"no_longer_fires"`
	ActsOtherwise   int      `json:"acts_otherwise"` // issues on which it fires as before and does something else
	NewlyFiresOn    []Link   `json:"newly_fires_on"`
	NoLongerFiresOn []Link   `json:"no_longer_fires_on"`
}

// A Label is a label that a rule adds.
type Label struct {
	Name string `json:"name"`
	Figures
	Carried int `json:"carried"` // issues that bear it as people left them
}

// A Link leads to an issue.
type Link struct {
	Issue int    `json:"issue"`
	Title string `json:"title"`
	URL   string `json:"url"` // empty when the service gave none that is one
	Why   string `json:"why"`
}

// A Month counts the issues that were opened in it, and those on which a rule fires.
type Month struct {
	Month    string `json:"month"` // such as "2026-11"
	Issues   int    `json:"issues"`
	Fired    int    `json:"fired"`
	OldFired int    `json:"old_fired"`
}

// report puts together what was counted.
func (r *replay) report() Report {
	now := r.engines[0]
	rep := Report{
		Version: Version, Repo: r.Repo, Event: replayedEvent, At: r.Now.UTC(), Issues: r.replayed, PullRequests: r.pulls, Ours: r.ours,
		Timelines: r.timelines, Failed: now.failed, Stopped: r.stopped, Rules: []Rule{}, Months: []Month{}, Notes: r.notes(),
	}
	if !r.Since.IsZero() {
		since := r.Since.UTC()
		rep.Since = &since
	}
	if s := r.stopped; s != nil && !s.again.IsZero() {
		again := s.again.UTC()
		s.RunAgain = &again
	}
	for _, id := range now.order {
		rep.Rules = append(rep.Rules, now.rules[id].rule(r.carried))
	}
	if r.Old != nil {
		rep.ComparedWith, rep.OldFailed = cmp.Or(sanitize.Name(r.OldName), "other rules"), r.engines[1].failed
		rep.Rules = r.engines[1].beside(rep.Rules, r.carried)
	}
	for _, name := range slices.Sorted(maps.Keys(r.months)) {
		rep.Months = append(rep.Months, *r.months[name])
	}
	return rep
}

// beside puts what the old rules did beside the new ones.
func (e *engine) beside(list []Rule, carried map[string]int) []Rule {
	for i := range list {
		if e.rules[list[i].ID] == nil {
			list[i].State = "added"
		}
	}
	for _, id := range e.order {
		old := e.rules[id].rule(carried)
		k := slices.IndexFunc(list, func(r Rule) bool { return r.ID == id })
		if k < 0 {
			figures := old.Figures
			old.State, old.Old, old.Figures, old.Labels, old.Disagreements = "removed", &figures, Figures{}, []Label{}, []Link{}
			list = append(list, old)
			continue
		}
		if old.NotReplayed == "" {
			list[k].Old = &old.Figures
		}
	}
	return list
}

// rule is what was counted for a rule.
func (t *tally) rule(carried map[string]int) Rule {
	r := Rule{
		ID: t.info.ID, File: t.info.File, Line: t.info.Line, NotReplayed: t.unable, OtherEvents: []string{}, Labels: []Label{},
		Disagreements: append([]Link{}, t.against...), Failed: t.fails, Failure: t.failure,
		NewlyFires: t.newly, NoLongerFires: t.gone, ActsOtherwise: t.changed,
		NewlyFiresOn: append([]Link{}, t.newlyOn...), NoLongerFiresOn: append([]Link{}, t.goneOn...),
	}
	for _, on := range t.info.On {
		if on != replayedEvent {
			r.OtherEvents = append(r.OtherEvents, on)
		}
	}
	if t.unable != "" {
		// What it was asked before that was found out says nothing.
		r.Disagreements, r.NewlyFires, r.NoLongerFires, r.ActsOtherwise = []Link{}, 0, 0, 0
		r.NewlyFiresOn, r.NoLongerFiresOn = []Link{}, []Link{}
		return r
	}
	r.Figures = t.Figures
	r.Judged = t.judges()
	right, there := 0, 0
	for _, name := range t.names {
		l := Label{Name: oneLine(name), Figures: *t.labels[strings.ToLower(name)], Carried: carried[strings.ToLower(name)]}
		l.Precision, l.Recall = share(l.Agreed, l.Agreed+l.Disagreed), share(l.Agreed, l.Carried)
		right, there = right+l.Agreed, there+l.Carried
		r.Labels = append(r.Labels, l)
	}
	if r.Judged {
		r.Precision, r.Recall = share(r.Agreed, r.Agreed+r.Disagreed), share(right, there)
	}
	return r
}

// judges reports whether people's work can be compared with the rule's.
func (t *tally) judges() bool {
	return slices.ContainsFunc(t.info.Actions, func(a string) bool {
		return slices.Contains([]string{"add_label", "add_labels", "close_issue", "mark_duplicate"}, a)
	})
}

func share(part, whole int) *float64 {
	if whole == 0 {
		return nil
	}
	s := float64(part) / float64(whole)
	return &s
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return strings.TrimSpace(sanitize.Log(line))
}

// notes say what a reader must know.
func (r *replay) notes() []string {
	list := []string{
		"A rule agrees with people when its label is on the issue today, and a person put it there or left it for a month; when it closes, that people closed for the same reason. An open issue on which nobody but its author did anything is undecided.",
		"An issue is replayed with the title, labels, assignees and milestone that it was opened with, as far as its timeline tells, and with the body of today.",
		"An issue on which no rule fires by its present title, and that bears none of the labels, is taken to be of no interest to the rules; its timeline is not read.",
	}
	var events []string
	for _, e := range r.engines {
		events = append(events, e.unreplayed()...)
	}
	if why := r.engines[0].why; why != "" {
		list = append(list, "The rules fail: "+why)
	}
	slices.Sort(events)
	if events = slices.Compact(events); len(events) > 0 {
		list = append(list, "Not replayed: "+strings.Join(events, ", ")+".")
	}
	if refused := slices.Sorted(maps.Keys(r.engines[0].refuse)); len(refused) > 0 {
		list = append(list, "Labels that the policy refuses count for nothing: "+oneLine(strings.Join(refused, ", "))+".")
	}
	if r.Config.Agent.URL != "" || r.Old != nil && r.Old.Agent.URL != "" {
		list = append(list, "The agent is not asked: this is what the rules do.")
	}
	if r.ours > 0 {
		list = append(list, fmt.Sprintf("Left out: %s opened by %s.", many(r.ours, "issue"), oneLine(r.Bot)))
	}
	return list
}
