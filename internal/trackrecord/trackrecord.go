// Package trackrecord reports what became of Foreman's actions in a repository: by rule or agent, action
// and label. It makes the report from the outcomes in the repository's record, and renders it as JSON,
// text and Markdown. It does no I/O.
package trackrecord

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/org/foreman-action/internal/sanitize"
	"github.com/org/foreman-action/internal/text"
	"github.com/org/foreman-action/internal/wilson"
	"github.com/org/foreman-action/memory"
)

// A Report is the track record of all pairs. Its JSON is stable: new versions only add fields.
type Report struct {
	Version int       `json:"version"` // 1
	Repo    string    `json:"repo"`    // "owner/name"
	At      time.Time `json:"at"`
	// Since is the time of the first outcome that the report has; zero: of any time.
	Since  time.Time `json:"since,omitzero"`
	Memory string    `json:"memory"` // "artifact", "file" or "server"
	// Judged is the time up to which all actions were judged; zero: none was.
	Judged time.Time `json:"judged,omitzero"`
	Pairs  []Pair    `json:"pairs"`  // by source, action and value; never nil
	Shadow []Shadow  `json:"shadow"` // in the same order; never nil
	Notes  []string  `json:"notes"`  // for people; never nil

	web string // as Options.Web
}

// The states of a pair.
const (
	Applied    = "applied"    // it has earned the permission
	Proposed   = "proposed"   // it has not, or lost it
	Trusted    = "trusted"    // the policy applies it whatever the record contains
	Distrusted = "distrusted" // the policy proposes it whatever the record contains
)

// A Pair is the track record of one kind of action of one source.
type Pair struct {
	Source string `json:"source"` // "rule crash" or "agent triage@1.2"
	Digest string `json:"digest,omitempty"`
	Action string `json:"action"`
	Value  string `json:"value,omitempty"`
	// State is one of the constants, by the policy's threshold; empty: permissions are not earned.
	State string    `json:"state,omitempty"`
	Since time.Time `json:"since,omitzero"` // of the state; zero: since the beginning
	Why   string    `json:"why,omitempty"`  // why the permission was lost last

	Judged   int     `json:"judged"` // in the current period; the sum of kept, accepted, undone and rejected
	Right    int     `json:"right"`  // kept and accepted
	Kept     int     `json:"kept"`
	Undone   int     `json:"undone"`
	Accepted int     `json:"accepted"`
	Rejected int     `json:"rejected"`
	Expired  int     `json:"expired"`
	Unjudged int     `json:"unjudged"`
	Bound    float64 `json:"bound"`          // lower bound of right of judged; see package wilson
	Last     string  `json:"last,omitempty"` // the last judged, k or u, the newest at the end
	// UndoneOn are the last issues on which people undid or rejected the action.
	UndoneOn []int `json:"undone_on,omitempty"`
	// Before are the judged and the right outcomes of earlier periods.
	BeforeJudged int `json:"before_judged,omitempty"`
	BeforeRight  int `json:"before_right,omitempty"`
}

// A Shadow is what became of the actions of one pair that shadow mode only planned.
type Shadow struct {
	Source string `json:"source"` // as in Pair; "agent" for one whose name is unknown
	Digest string `json:"digest,omitempty"`
	// Action is empty for the score that an earlier version counted for all labels and closes of a source.
	Action string `json:"action,omitempty"`
	Value  string `json:"value,omitempty"`

	Since    time.Time `json:"since"`  // of the first action
	Judged   int       `json:"judged"` // the sum of kept and undone
	Kept     int       `json:"kept"`   // a person did the same
	Undone   int       `json:"undone"` // people decided otherwise
	Unjudged int       `json:"unjudged"`
	Bound    float64   `json:"bound"` // as in Pair
	Last     string    `json:"last,omitempty"`
	// Ready means that outcomes of actions that are carried out would prove as much as the policy demands.
	Ready bool `json:"ready"`
}

// Options are everything that a report depends on, except the outcomes.
type Options struct {
	Repo, Memory string
	Web          string // address of GitHub's web pages, for links to issues; empty: no links
	Now          time.Time
	// Since leaves out pairs without an outcome from that time on; zero: none.
	Since time.Time
	// State returns the state of a pair by the policy; nil: permissions are not earned.
	State func(memory.Pair) string
	// Ready reports whether outcomes of shadow mode prove enough for actions of a type; nil: they do not.
	Ready func(action string, s memory.Shadow) bool
	// Scores are those that an earlier version counted; nil: there are none.
	Scores *memory.Scores
}

// New returns the report on outcomes; nil outcomes are empty.
func New(o *memory.Outcomes, opt Options) Report {
	r := Report{Version: 1, Repo: opt.Repo, At: opt.Now.UTC(), Since: opt.Since, Memory: opt.Memory, web: opt.Web, Pairs: []Pair{}, Shadow: earlier(opt), Notes: []string{}}
	if o == nil {
		r.Notes = append(r.Notes, "no action was judged yet: a scheduled run judges actions, or the server does")
		return r
	}
	r.Judged = o.Judged
	for _, p := range o.Pairs {
		if p.At.Before(opt.Since) {
			continue
		}
		if !p.Since.IsZero() { // else shadow mode planned all of its actions
			r.Pairs = append(r.Pairs, pairOf(p, opt))
		}
		if !p.Shadow.Since.IsZero() {
			r.Shadow = append(r.Shadow, shadowOf(p, opt))
		}
	}
	slices.SortStableFunc(r.Pairs, func(a, b Pair) int {
		return cmp.Or(cmp.Compare(a.Source, b.Source), cmp.Compare(a.Action, b.Action), cmp.Compare(a.Value, b.Value))
	})
	slices.SortStableFunc(r.Shadow, func(a, b Shadow) int {
		return cmp.Or(cmp.Compare(a.Source, b.Source), cmp.Compare(a.Action, b.Action), cmp.Compare(a.Value, b.Value))
	})
	return r
}

// earlier returns the scores of an earlier version, sorted.
func earlier(opt Options) []Shadow {
	list := []Shadow{}
	if opt.Scores == nil || !opt.Since.IsZero() { // it is unknown when they counted last
		return list
	}
	for id, score := range opt.Scores.Rules {
		s := Shadow{
			Source: "rule " + id, Since: score.Since, Judged: score.Agreed + score.Disagreed, Kept: score.Agreed, Undone: score.Disagreed,
			Bound: round(wilson.Bound(score.Agreed, score.Agreed+score.Disagreed)),
		}
		if id == "(agent)" {
			s.Source = "agent"
		}
		list = append(list, s)
	}
	slices.SortFunc(list, func(a, b Shadow) int { return cmp.Compare(a.Source, b.Source) })
	return list
}

func shadowOf(p memory.Pair, opt Options) Shadow {
	judged, right := p.Shadow.Judged()
	out := Shadow{
		Action: p.Action, Value: p.Value, Since: p.Shadow.Since, Judged: judged, Kept: p.Shadow.Kept, Undone: p.Shadow.Undone, Unjudged: p.Shadow.Unjudged,
		Bound: round(wilson.Bound(right, judged)), Last: p.Shadow.Last, Ready: opt.Ready != nil && opt.Ready(p.Action, p.Shadow),
	}
	out.Source, out.Digest = sourceOf(p.Source, p.Name)
	return out
}

func pairOf(p memory.Pair, opt Options) Pair {
	judged, right := p.Judged()
	out := Pair{
		Action: p.Action, Value: p.Value, Judged: judged, Right: right,
		Kept: p.Kept, Undone: p.Undone, Accepted: p.Accepted, Rejected: p.Rejected, Expired: p.Expired, Unjudged: p.Unjudged,
		Bound: round(wilson.Bound(right, judged)), Last: p.Last, UndoneOn: p.Undoings, Why: p.Why,
	}
	out.BeforeJudged, out.BeforeRight = p.Before.Judged()
	out.Source, out.Digest = sourceOf(p.Source, p.Name)
	if opt.State == nil {
		return out
	}
	out.State = opt.State(p)
	switch out.State {
	case Applied:
		out.Since = p.Granted
	case Proposed:
		out.Since = p.Lost
	}
	return out
}

// round rounds a share to three digits after the point, down, so that it never promises more than was
// proven.
func round(share float64) float64 { return float64(int(share*1000)) / 1000 }

// maxCell is the number of characters of a name in a table.
const maxCell = 60

// Text returns the report as text for a terminal.
func (r Report) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: what became of Foreman's actions, from the %s", sanitize.Line(r.Repo), r.Memory)
	if !r.Judged.IsZero() {
		fmt.Fprintf(&b, ", judged up to %s", r.Judged.UTC().Format(time.DateOnly))
	}
	b.WriteString("\n")
	if len(r.Pairs) > 0 {
		b.WriteString("\n")
		w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
		fmt.Fprintln(w, "SOURCE\tACTION\tSTATE\tRIGHT\tOF\tBOUND\tUNDONE\tREJECTED\tEXPIRED\tUNJUDGED")
		for _, p := range r.Pairs {
			fmt.Fprintf(w, "%s\t%s\t%s\t%d\t%d\t%.2f\t%d\t%d\t%d\t%d\n", cell(p.Source), cell(p.what()), p.state(), p.Right, p.Judged, floor(p.Bound),
				p.Undone, p.Rejected, p.Expired, p.Unjudged)
		}
		_ = w.Flush() // writes to a strings.Builder do not fail
	}
	if len(r.Shadow) > 0 {
		b.WriteString("\nonly planned, in shadow mode:\n\n")
		w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
		fmt.Fprintln(w, "SOURCE\tACTION\tSTATE\tRIGHT\tOF\tBOUND\tUNJUDGED")
		for _, s := range r.Shadow {
			fmt.Fprintf(w, "%s\t%s\t%s\t%d\t%d\t%.2f\t%d\n", cell(s.Source), cell(s.what()), s.state(), s.Kept, s.Judged, floor(s.Bound), s.Unjudged)
		}
		_ = w.Flush()
	}
	for _, line := range r.details(sanitize.Line, func(n int) string { return fmt.Sprintf("#%d", n) }) {
		b.WriteString("\n" + line + "\n")
	}
	return b.String()
}

// Markdown returns the report as a table for a job summary; empty: there is nothing to report.
func (r Report) Markdown() string {
	if len(r.Pairs)+len(r.Shadow) == 0 {
		return ""
	}
	var b strings.Builder
	if len(r.Pairs) > 0 {
		b.WriteString("**What became of the actions**\n\n| source | action | state | right | of | bound | undone | rejected | expired | unjudged |\n|---|---|---|--:|--:|--:|--:|--:|--:|--:|\n")
	}
	for _, p := range r.Pairs {
		fmt.Fprintf(&b, "| %s | %s | %s | %d | %d | %.2f | %d | %d | %d | %d |\n", sanitize.Cell(p.Source, maxCell), sanitize.Cell(p.what(), maxCell), p.state(),
			p.Right, p.Judged, floor(p.Bound), p.Undone, p.Rejected, p.Expired, p.Unjudged)
	}
	if len(r.Pairs) > 0 {
		b.WriteString("\n")
	}
	if len(r.Shadow) > 0 {
		b.WriteString("**Shadow mode**: actions that were only planned, compared with what people did\n\n| source | action | state | right | of | bound | unjudged |\n|---|---|---|--:|--:|--:|--:|\n")
		for _, s := range r.Shadow {
			fmt.Fprintf(&b, "| %s | %s | %s | %d | %d | %.2f | %d |\n", sanitize.Cell(s.Source, maxCell), sanitize.Cell(s.what(), maxCell), s.state(),
				s.Kept, s.Judged, floor(s.Bound), s.Unjudged)
		}
		b.WriteString("\n")
	}
	link := func(n int) string {
		if r.web == "" {
			return fmt.Sprintf("issue %d", n)
		}
		return fmt.Sprintf("[%d](%s/%s/issues/%d)", n, r.web, r.Repo, n)
	}
	for _, line := range r.details(sanitize.Markdown, link) {
		b.WriteString(line + "\n\n")
	}
	return b.String()
}

// details returns a sentence for each pair that lost its permission or has undone actions, and the notes.
// safe neutralizes texts, and issue renders the number of an issue.
func (r Report) details(safe func(string) string, issue func(int) string) []string {
	var list []string
	for _, p := range r.Pairs {
		what := safe(p.Source + ", " + p.what())
		if p.Why != "" {
			list = append(list, fmt.Sprintf("%s: proposed again since %s: %s; before that %d of %d were right", what, p.Since.UTC().Format(time.DateOnly), safe(p.Why), p.BeforeRight, p.BeforeJudged))
		}
		if len(p.UndoneOn) > 0 {
			var on []string
			for _, n := range p.UndoneOn {
				on = append(on, issue(n))
			}
			list = append(list, fmt.Sprintf("%s: last undone or rejected on %s", what, strings.Join(on, ", ")))
		}
	}
	return append(list, r.Notes...)
}

// what returns the action with its value.
func (p Pair) what() string { return strings.TrimSpace(p.Action + " " + p.Value) }

// what returns the action with its value, or that the figures are those of all actions.
func (s Shadow) what() string {
	return cmp.Or(strings.TrimSpace(s.Action+" "+s.Value), "labels and closes, by an earlier version")
}

func (s Shadow) state() string {
	if s.Ready {
		return "ready"
	}
	return "-"
}

func (p Pair) state() string { return cmp.Or(p.State, "-") }

func cell(s string) string { return text.Shorten(sanitize.Line(s), maxCell) }

// floor returns a share with two digits after the point, rounded down.
func floor(share float64) float64 { return float64(int(share*100)) / 100 }
