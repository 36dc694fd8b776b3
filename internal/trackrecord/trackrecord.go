// Package trackrecord reports what became of Foreman's actions in a repository: by rule or agent, action
// and label. It makes the report from the outcomes in the repository's record, and renders it as JSON,
// text, Markdown and HTML. It does no I/O.
package trackrecord

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/org/foreman-action/internal/order"
	"github.com/org/foreman-action/internal/permission"
	"github.com/org/foreman-action/internal/wilson"
	"github.com/org/foreman-action/memory"
	"github.com/org/foreman-action/policy"
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
	Judged  time.Time `json:"judged,omitzero"`
	Waiting *Waiting  `json:"waiting,omitempty"` // nil: unknown
	Pairs   []Pair    `json:"pairs"`             // by source, action and value; never nil
	Shadow  []Shadow  `json:"shadow"`            // in the same order; never nil
	Notes   []string  `json:"notes"`             // for people; never nil

	web string // as Options.Web
}

// Waiting is what has no outcome yet.
type Waiting struct {
	Due       int `json:"due"`       // issues with actions that are old enough to be judged
	Later     int `json:"later"`     // issues whose actions are too young
	Proposals int `json:"proposals"` // proposals without an answer
	// ProposedOn are the issues with these proposals, in the order in which they expire, at most 20.
	ProposedOn []int `json:"proposed_on,omitempty"`
}

// The states of a pair; see package permission.
const (
	Applied    = permission.Applied
	Proposed   = permission.Proposed
	Trusted    = permission.Trusted
	Distrusted = permission.Distrusted
)

// A Pair is the track record of one kind of action of one source.
type Pair struct {
	Source string `json:"source"` // "rule crash" or "agent triage@1.2"
	Digest string `json:"digest,omitempty"`
	// Earlier means that the rule was changed: its later version has a track record of its own.
	Earlier bool   `json:"earlier,omitempty"`
	Action  string `json:"action"`
	Value   string `json:"value,omitempty"`
	// State is one of the constants, by the policy's threshold; empty: permissions are not earned.
	State string    `json:"state,omitempty"`
	Since time.Time `json:"since,omitzero"` // of the state; zero: since the beginning
	Lost  time.Time `json:"lost,omitzero"`  // when the permission was lost last; zero: never
	Why   string    `json:"why,omitempty"`  // why it was lost
	// Needs is the proof that the policy demands; nil: permissions are not earned.
	Needs *Needs `json:"needs,omitempty"`

	// Judged and Right count the current period: Judged is the sum of kept, accepted, undone and rejected, and Right that
	// of kept and accepted, both with the outcomes of a replay with which the period began.
	Judged      int     `json:"judged"`
	Right       int     `json:"right"`
	StartJudged int     `json:"start_judged,omitempty"` // of the replay
	StartRight  int     `json:"start_right,omitempty"`
	Kept        int     `json:"kept"`
	Undone      int     `json:"undone"`
	Accepted    int     `json:"accepted"`
	Rejected    int     `json:"rejected"`
	Expired     int     `json:"expired"`
	Unjudged    int     `json:"unjudged"`
	Bound       float64 `json:"bound"`          // lower bound of right of judged; see package wilson
	Last        string  `json:"last,omitempty"` // the last judged, k or u, the newest at the end
	// UndoneOn are the last issues on which people undid or rejected the action.
	UndoneOn    []int    `json:"undone_on,omitempty"`
	UndoneLinks []string `json:"undone_links,omitempty"` // their addresses; nil: Options.Web is empty
	// Before are the judged and the right outcomes of earlier periods, and their bound.
	BeforeJudged int     `json:"before_judged,omitempty"`
	BeforeRight  int     `json:"before_right,omitempty"`
	BeforeBound  float64 `json:"before_bound,omitempty"`

	at time.Time // of the last outcome
}

// Needs is the proof that a pair needs; see [policy.Threshold].
type Needs struct {
	Bound float64 `json:"bound"`
	Of    int     `json:"of"`
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
	// Policy gives the pairs their states, if permissions are earned, and the proof that shadow mode needs.
	Policy  policy.Policy
	Shared  bool     // other programs can write the memory, as artifacts; see [permission.Rules]
	Waiting *Waiting // nil: unknown
	// Scores are those that an earlier version counted; nil: there are none.
	Scores *memory.Scores
	Notes  []string // for people
	// Unread is why the outcomes cannot be read; nil: they can.
	Unread error
}

// New returns the report on outcomes; nil outcomes are empty.
func New(o *memory.Outcomes, opt Options) Report {
	r := Report{Version: 1, Repo: opt.Repo, At: opt.Now.UTC(), Since: opt.Since, Memory: opt.Memory, web: opt.Web, Waiting: opt.Waiting, Pairs: []Pair{}, Shadow: earlier(opt), Notes: append([]string{}, opt.Notes...)}
	if opt.Unread != nil {
		r.Notes = append(r.Notes, fmt.Sprintf("the track record cannot be read, so no permission is earned: %v", opt.Unread))
		return r
	}
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
	order.Stable(r.Pairs, func(a, b Pair) int {
		return cmp.Or(a.compare(b), b.at.Compare(a.at))
	})
	order.Stable(r.Shadow, func(a, b Shadow) int {
		return cmp.Or(cmp.Compare(a.Source, b.Source), cmp.Compare(a.Action, b.Action), cmp.Compare(a.Value, b.Value))
	})
	if len(r.Pairs)+len(r.Shadow) == 0 && !r.Since.IsZero() {
		r.Notes = append(r.Notes, "no action has an outcome from that time")
	}
	for i := 1; i < len(r.Pairs); i++ {
		r.Pairs[i].Earlier = r.Pairs[i-1].compare(r.Pairs[i]) == 0
	}
	return r
}

// compare compares the names of pairs. The versions of a rule have the same name.
func (p Pair) compare(other Pair) int {
	return cmp.Or(cmp.Compare(p.Source, other.Source), cmp.Compare(p.Action, other.Action), cmp.Compare(p.Value, other.Value))
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
	order.Stable(list, func(a, b Shadow) int { return cmp.Compare(a.Source, b.Source) })
	return list
}

func shadowOf(p memory.Pair, opt Options) Shadow {
	judged, right := p.Shadow.Judged()
	out := Shadow{
		Action: p.Action, Value: p.Value, Since: p.Shadow.Since, Judged: judged, Kept: p.Shadow.Kept, Undone: p.Shadow.Undone, Unjudged: p.Shadow.Unjudged,
		Bound: round(wilson.Bound(right, judged)), Last: p.Shadow.Last, Ready: p.Shadow.Ready(opt.permissions().Threshold(p.Action)),
	}
	out.Source, out.Digest = permission.SourceText(p.Source, p.Name)
	return out
}

// permissions returns the rules that give a pair its state.
func (o Options) permissions() permission.Rules {
	return permission.Rules{Policy: o.Policy, Shared: o.Shared}
}

func pairOf(p memory.Pair, opt Options) Pair {
	judged, right := p.Proof()
	out := Pair{
		Action: p.Action, Value: p.Value, Judged: judged, Right: right, StartJudged: p.Start.Judged, StartRight: p.Start.Right,
		Kept: p.Kept, Undone: p.Undone, Accepted: p.Accepted, Rejected: p.Rejected, Expired: p.Expired, Unjudged: p.Unjudged,
		Bound: round(wilson.Bound(right, judged)), Last: p.Last, UndoneOn: p.Undoings, Lost: p.Lost, Why: p.Why, at: p.At,
	}
	out.BeforeJudged, out.BeforeRight = p.Before.Judged()
	out.Source, out.Digest = permission.SourceText(p.Source, p.Name)
	out.BeforeBound = round(wilson.Bound(out.BeforeRight, out.BeforeJudged))
	if opt.Web != "" {
		for _, n := range p.Undoings {
			out.UndoneLinks = append(out.UndoneLinks, address(opt.Web, opt.Repo, n))
		}
	}
	if !opt.Policy.Earned {
		return out
	}
	t := opt.permissions().Threshold(p.Action)
	out.State, _ = opt.permissions().State(p)
	out.Needs = &Needs{t.Bound, t.Of}
	switch out.State {
	case Applied:
		out.Since = p.Granted
	case Proposed:
		out.Since = p.Lost
	}
	return out
}

// address returns the web page of an issue.
func address(web, repo string, issue int) string {
	return fmt.Sprintf("%s/%s/issues/%d", strings.TrimRight(web, "/"), repo, issue)
}

// round rounds a share to three digits after the point, down, so that it never promises more than was
// proven.
func round(share float64) float64 { return float64(int(share*1000)) / 1000 }
