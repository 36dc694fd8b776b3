package memory

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/org/foreman-action/internal/wilson"
)

// An Outcome is what became of an action that was carried out or proposed.
type Outcome string

// The outcomes. Kept and accepted ones count for a pair, undone and rejected ones against it. The
// others are only listed.
const (
	OutcomeKept     Outcome = "kept"     // it holds, and a person who could have undone it was there
	OutcomeUndone   Outcome = "undone"   // a person undid it
	OutcomeAccepted Outcome = "accepted" // a person accepted the proposal
	OutcomeRejected Outcome = "rejected" // a person rejected the proposal
	OutcomeExpired  Outcome = "expired"  // nobody answered the proposal in time, or it was overtaken
	OutcomeUnjudged Outcome = "unjudged" // unknown: the issue is gone, or no such person was there
)

func outcomes() []Outcome {
	return []Outcome{OutcomeKept, OutcomeUndone, OutcomeAccepted, OutcomeRejected, OutcomeExpired, OutcomeUnjudged}
}

// judged reports whether an outcome counts, and whether it counts for the pair.
func (o Outcome) judged() (counts, right bool) {
	switch o {
	case OutcomeKept, OutcomeAccepted:
		return true, true
	case OutcomeUndone, OutcomeRejected:
		return true, false
	case OutcomeExpired, OutcomeUnjudged:
	}
	return false, false
}

// A Pair is the track record of one kind of action of one source in a repository. It decides whether
// the action is carried out or proposed; see [Pair.Count]. The counts are those of the current period,
// which begins with the first outcome, and anew whenever the permission is lost.
type Pair struct {
	PairKey
	// Name is the id of the rule when the last outcome was counted, for people; empty for an agent.
	Name string `json:"name,omitempty"`

	Since time.Time `json:"since,omitzero"` // time of the first action of the period; UTC; zero: there was none
	At    time.Time `json:"at"`             // when the last outcome became known; UTC
	Tally
	// Start counts like outcomes of the period. It is zero after a permission was lost.
	Start Start `json:"start,omitzero"`
	// Last are the last judged outcomes of the period, at most ten, the newest at the end: 'k' counts for
	// the pair, 'u' against it.
	Last string `json:"last,omitempty"`
	// Undoings are the issues of the last outcomes that count against the pair, at most five, the newest at
	// the end.
	Undoings []int `json:"undoings,omitempty"`
	// Authors count the right outcomes by the author of the issue, while the pair has no permission: an
	// author of many issues must not earn it alone.
	Authors []AuthorCount `json:"authors,omitempty"`

	Granted time.Time `json:"granted,omitzero"` // since when the action is carried out; zero: it is proposed
	Lost    time.Time `json:"lost,omitzero"`    // when the permission was lost last; zero: never
	Why     string    `json:"why,omitempty"`    // why it was lost; empty: never
	Before  Tally     `json:"before,omitzero"`  // of all earlier periods

	Shadow Shadow `json:"shadow,omitzero"`
}

// A Shadow is what became of the actions of a pair that shadow mode only planned: kept if a person did the
// same, undone if people decided otherwise. It is apart from the other outcomes of the pair, and never
// gives the permission.
type Shadow struct {
	Since time.Time `json:"since,omitzero"` // when the first of them was planned; UTC
	Tally
	Last string `json:"last,omitempty"` // as in Pair
}

// A PairKey identifies a pair.
type PairKey struct {
	// Source is "rule:" and the digest of the rule, or "agent:" and the agent's name and version.
	Source string `json:"source"`
	Action string `json:"action"`          // such as protocol.ActionAddLabel
	Value  string `json:"value,omitempty"` // such as the label in the form in which labels are compared; empty: all values together
}

// A Result is the outcome of one action.
type Result struct {
	Outcome Outcome
	Shadow  bool // shadow mode only planned the action
	Issue   int
	Author  string    // login of the issue's author; empty: a deleted account
	Acted   time.Time // when the action was carried out, or its proposal ended
	At      time.Time // when the outcome became known
	// Passed means that the caller moves Outcomes.Judged past the action next, so that its outcome need not be in
	// Outcomes.Counted.
	Passed bool
}

// A Tally counts outcomes.
type Tally struct {
	Kept     int `json:"kept,omitempty"`
	Undone   int `json:"undone,omitempty"`
	Accepted int `json:"accepted,omitempty"`
	Rejected int `json:"rejected,omitempty"`
	Expired  int `json:"expired,omitempty"`
	Unjudged int `json:"unjudged,omitempty"`
}

// An AuthorCount is the number of right outcomes on issues of one author.
type AuthorCount struct {
	Author string `json:"author"` // eight hexadecimal digits of the SHA-256 of the login in lower case
	N      int    `json:"n"`      // from 1 to 3
}

// A Threshold is the proof that a pair needs.
type Threshold struct {
	Bound float64 // least lower bound of the share of right ones, as by package wilson, from 0 to 1
	Of    int     // least number of judged outcomes, from 1
	Start Start   // outcomes of a replay with which the first period begins; zero: none
}

// A Start is the result of a replay on the past, as far as it counts for a pair.
type Start struct {
	Judged int `json:"judged,omitempty"`
	Right  int `json:"right,omitempty"` // part of Judged
}

const (
	// maxPerAuthor is how many right outcomes on issues of one author count while a pair earns its
	// permission.
	maxPerAuthor = 3
	// lastJudged is the number of outcomes in Pair.Last, and maxUndone how many of them against the pair
	// end its permission. Three of ten would end that of a source which is right in 95 % of cases in half
	// of all years; four do so in 8 % of 300 judged outcomes.
	lastJudged = 10
	maxUndone  = 4
	// slack is how far below the threshold the bound may fall before the permission ends.
	slack       = 0.1
	maxAuthors  = 20 // of Pair.Authors; the first ones are dropped
	maxUndoings = 5  // in Pair.Undoings

	authorDigits = 8
	maxPairText  = 200 // bytes of a text of a pair
)

// Judged returns how many outcomes count, and how many of them count for the pair.
func (t Tally) Judged() (judged, right int) {
	right = plus(t.Kept, t.Accepted)
	return plus(right, plus(t.Undone, t.Rejected)), right
}

// count returns the counter of an outcome; nil for an unknown one.
func (t *Tally) count(o Outcome) *int {
	switch o {
	case OutcomeKept:
		return &t.Kept
	case OutcomeUndone:
		return &t.Undone
	case OutcomeAccepted:
		return &t.Accepted
	case OutcomeRejected:
		return &t.Rejected
	case OutcomeExpired:
		return &t.Expired
	case OutcomeUnjudged:
		return &t.Unjudged
	}
	return nil
}

// add adds the counts of another tally.
func (t *Tally) add(other Tally) {
	for _, o := range outcomes() {
		n := t.count(o)
		*n = plus(*n, *other.count(o))
	}
}

// Earned reports whether the action is carried out. The permission was earned by an earlier threshold:
// if the policy has become stricter, the record must meet the new threshold, less the slack.
func (p Pair) Earned(t Threshold) bool {
	judged, right := p.Proof()
	return !p.Granted.IsZero() && judged >= t.Of && wilson.Bound(right, judged) >= t.Bound-slack
}

// Proof returns how many outcomes of the period count, and how many of them count for the pair. Both
// include Pair.Start.
func (p Pair) Proof() (judged, right int) {
	judged, right = p.Judged()
	return plus(judged, p.Start.Judged), plus(right, p.Start.Right)
}

// Explain describes the proof in one line, and what the threshold demands: "18 of 18 kept, bound 0.87; needs
// 20 judged, bound 0.85".
func (p Pair) Explain(t Threshold) string {
	judged, right := p.Proof()
	var b strings.Builder
	fmt.Fprintf(&b, "%d of %d kept, bound %s", right, judged, wilson.Text(wilson.Bound(right, judged), t.Bound))
	if p.Start.Judged > 0 {
		fmt.Fprintf(&b, " (%d of %d by replay)", p.Start.Right, p.Start.Judged)
	}
	fmt.Fprintf(&b, "; needs %d judged, bound %.2f", t.Of, t.Bound)
	if need := p.authorsNeeded(t); p.Granted.IsZero() && judged >= t.Of && len(p.Authors) < need {
		fmt.Fprintf(&b, ", on issues of %d authors instead of %d", need, len(p.Authors))
	}
	if p.Why != "" {
		fmt.Fprintf(&b, "; counted since %s: %s", p.Lost.UTC().Format(time.DateOnly), p.Why)
	}
	return b.String()
}

// authorsNeeded returns on issues of how many authors the right outcomes must be.
func (p Pair) authorsNeeded(t Threshold) int {
	return min((t.Of-p.Start.Judged+maxPerAuthor-1)/maxPerAuthor, maxAuthors)
}

// Count adds the outcome of one action, and returns the outcome that was counted. While the pair has no
// permission, at most three right outcomes of one author count; each further one counts as unjudged.
//
// The pair gets its permission when its outcomes meet the threshold and are on issues of enough authors: a
// third as many authors as outcomes are needed besides those of the start, and at most 20.
//
// It loses the permission when four of the last ten judged outcomes count against it, or when the bound is
// more than 0.1 below the threshold. Then a new period begins, with nothing counted. Outcomes of
// actions before it belong to the earlier periods.
func (p *Pair) Count(r Result, t Threshold) Outcome {
	at, acted := clipTime(r.At), clipTime(r.Acted)
	p.At = at
	if r.Shadow {
		p.Shadow.count(r.Outcome, acted)
		return r.Outcome
	}
	if acted.Before(p.Lost) { // of a period that has ended
		if n := p.Before.count(r.Outcome); n != nil {
			*n = plus(*n, 1)
		}
		return r.Outcome
	}
	if p.Since.IsZero() || acted.Before(p.Since) {
		p.Since = acted
	}
	if p.Lost.IsZero() {
		p.Start = t.Start
	}
	counts, right := r.Outcome.judged()
	if right && p.Granted.IsZero() && !p.counts(r.Author) {
		r.Outcome, counts = OutcomeUnjudged, false
	}
	if n := p.count(r.Outcome); n != nil {
		*n = plus(*n, 1)
	}
	if !counts {
		return r.Outcome
	}
	if !right {
		p.against(r.Issue)
	}
	p.Last = marked(p.Last, right)
	p.settle(at, t)
	return r.Outcome
}

// undo changes an outcome that was counted as accepted into undone. mark is that of its element in
// Outcomes.Counted.
func (p *Pair) undo(r Result, mark string, t Threshold) {
	of, ended := &p.Tally, clipTime(r.Acted).Before(p.Lost)
	if ended {
		of = &p.Before
	}
	nth, err := strconv.Atoi(mark)
	judged, _ := p.Judged()
	later := judged - nth // judged outcomes of the period since
	switch {
	case err != nil: // it counted as unjudged
		of.Unjudged = max(0, of.Unjudged-1)
		p.Count(r, t)
		return
	case of.Accepted == 0 || !ended && later < 0: // the pair was dropped since, and began anew
		p.Count(r, t)
		return
	}
	of.Accepted--
	of.Undone = plus(of.Undone, 1)
	p.against(r.Issue)
	if ended {
		return
	}
	p.At = clipTime(r.At)
	p.forget(r.Author)
	if i := len(p.Last) - 1 - later; i >= 0 {
		p.Last = p.Last[:i] + "u" + p.Last[i+1:]
	}
	p.settle(p.At, t)
}

// against adds an issue to those of the last outcomes that count against the pair.
func (p *Pair) against(issue int) {
	p.Undoings = append(slices.Clone(p.Undoings), issue)
	p.Undoings = p.Undoings[max(0, len(p.Undoings)-maxUndoings):]
}

// settle gives the pair its permission, or ends it.
func (p *Pair) settle(at time.Time, t Threshold) {
	judged, good := p.Proof()
	bound := wilson.Bound(good, judged)
	switch {
	case p.Granted.IsZero():
		if judged >= t.Of && bound >= t.Bound && len(p.Authors) >= p.authorsNeeded(t) {
			p.Granted, p.Authors = at, nil
		}
	case strings.Count(p.Last, "u") >= maxUndone:
		p.lose(at, fmt.Sprintf("people undid or rejected %d of the last %d", maxUndone, len(p.Last)))
	case bound < t.Bound-slack:
		p.lose(at, fmt.Sprintf("%d of %d were right, bound %.2f", good, judged, bound))
	}
}

// marked returns the last judged outcomes after one more.
func marked(last string, right bool) string {
	if right {
		last += "k"
	} else {
		last += "u"
	}
	return last[max(0, len(last)-lastJudged):]
}

// count counts the outcome of an action that was planned at a time.
func (s *Shadow) count(o Outcome, planned time.Time) {
	if s.Since.IsZero() || planned.Before(s.Since) {
		s.Since = planned
	}
	if n := s.Tally.count(o); n != nil {
		*n = plus(*n, 1)
	}
	if counts, right := o.judged(); counts {
		s.Last = marked(s.Last, right)
	}
}

// Ready reports whether the outcomes would be proof enough for an action that is carried out.
func (s Shadow) Ready(t Threshold) bool {
	judged, right := s.Judged()
	return judged >= t.Of && wilson.Bound(right, judged) >= t.Bound
}

// counts reports whether one more right outcome on an issue of an author counts, and counts it.
func (p *Pair) counts(author string) bool {
	author, i := p.author(author)
	if i >= 0 && p.Authors[i].N >= maxPerAuthor {
		return false
	}
	p.Authors = slices.Clone(p.Authors)
	if i >= 0 {
		p.Authors[i].N++
		return true
	}
	if len(p.Authors) == maxAuthors {
		p.Authors = slices.Delete(p.Authors, 0, 1)
	}
	p.Authors = append(p.Authors, AuthorCount{author, 1})
	return true
}

// forget takes back one right outcome on an issue of an author.
func (p *Pair) forget(author string) {
	_, i := p.author(author)
	if i < 0 {
		return
	}
	p.Authors = slices.Clone(p.Authors)
	if p.Authors[i].N--; p.Authors[i].N == 0 {
		p.Authors = slices.Delete(p.Authors, i, i+1)
	}
}

// author returns the form of a login in Authors, and its index; -1: it is not there.
func (p *Pair) author(login string) (digits string, i int) {
	sum := sha256.Sum256([]byte(strings.ToLower(login)))
	digits = hex.EncodeToString(sum[:authorDigits/2])
	return digits, slices.IndexFunc(p.Authors, func(a AuthorCount) bool { return a.Author == digits })
}

// lose ends the permission and the period.
func (p *Pair) lose(at time.Time, why string) {
	p.Before.add(p.Tally)
	*p = Pair{PairKey: p.PairKey, Name: p.Name, Since: at, At: at, Undoings: p.Undoings, Lost: at, Why: clip(why, maxShort), Before: p.Before, Shadow: p.Shadow}
}

// maxRoom returns an upper bound of the size of the pair in the stored form.
func (p Pair) maxRoom() int {
	const (
		escaped = 6    // a byte of a text at most
		author  = 60   // of Authors
		issue   = 20   // of Undoings
		others  = 1700 // the names, counts and times
	)
	return escaped*(len(p.Source)+len(p.Action)+len(p.Value)+len(p.Name)+len(p.Why)) + author*len(p.Authors) + issue*len(p.Undoings) + others
}

// check verifies the bounds of a pair.
func (p Pair) check() error {
	switch {
	case !within(maxPairText, p.Source, p.Action, p.Value, p.Name) || !short(p.Why) || p.Source == "" || p.Action == "":
		return errors.New("a pair has no source or action, or a text that is too long")
	case !storable(p.Since) || !storable(p.At) || !storable(p.Granted) || !storable(p.Lost) || !storable(p.Shadow.Since):
		return errors.New("a time of a pair is out of range")
	case max(len(p.Last), len(p.Shadow.Last)) > lastJudged || strings.Trim(p.Last+p.Shadow.Last, "ku") != "":
		return fmt.Errorf("the last outcomes of a pair are %q, and %q in shadow mode", clip(p.Last, 60), clip(p.Shadow.Last, 60))
	case len(p.Authors) > maxAuthors:
		return fmt.Errorf("a pair counts %d authors, more than %d", len(p.Authors), maxAuthors)
	}
	if len(p.Undoings) > maxUndoings || slices.ContainsFunc(p.Undoings, func(n int) bool { return n < 1 || n > maxCount }) {
		return errors.New("the undoings of a pair are too many, or a number is out of range")
	}
	for _, a := range p.Authors {
		if len(a.Author) != authorDigits || a.N < 1 || a.N > maxPerAuthor {
			return errors.New("an author of a pair is out of range")
		}
	}
	if s := p.Start; s.Right < 0 || s.Judged < s.Right || s.Judged > maxCount {
		return errors.New("the start of a pair is out of range")
	}
	for _, t := range []Tally{p.Tally, p.Before, p.Shadow.Tally} {
		for _, o := range outcomes() {
			if n := *t.count(o); n < 0 || n > maxCount {
				return errors.New("a count of a pair is out of range")
			}
		}
	}
	return nil
}
