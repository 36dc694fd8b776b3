package memory

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/org/foreman-action/internal/order"
	"github.com/org/foreman-action/internal/text"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/triage"
)

// The bounds of the proposals of a record.
const (
	MaxPending      = 20    // proposals of one issue that wait for an answer
	MaxEnded        = 50    // proposals of one issue that ended; the oldest are dropped
	MaxProposedText = 4_000 // characters of the text of a proposed comment
)

const (
	maxGroup        = 20       // actions that are carried out together
	maxItem         = 24 << 10 // bytes of an action's JSON
	maxWhy          = 280      // characters of a rationale, as on GitHub
	maxProposal     = 32 << 10 // bytes of one pending proposal in the stored form
	maxPendingBytes = 96 << 10 // bytes of all pending proposals in the stored form
	maxEndedBytes   = 64 << 10 // bytes of all ended proposals in the stored form
	maxRenders      = 5        // sums in ProposalRenders
)

// A ProposalState is the progress of a proposal.
type ProposalState string

// The states. All but pending are final. A record may contain any other word of up to 512 bytes, as
// of another version. Such a proposal counts as ended.
const (
	Pending   ProposalState = "pending"   // it waits for an answer
	Accepted  ProposalState = "accepted"  // a person accepted it, and it was carried out
	Rejected  ProposalState = "rejected"  // a person rejected it
	Overtaken ProposalState = "overtaken" // it holds already, the issue is closed, or the policy refuses it now
	Expired   ProposalState = "expired"   // nobody answered in time
)

// A Proposal is an action, or several that belong together, which people accept or reject.
type Proposal struct {
	Number  int       `json:"number"` // on the issue, from 1; never used again
	ID      string    `json:"id"`     // a UUID; the task id of what is written when it is accepted
	At      time.Time `json:"at"`     // UTC
	Expires time.Time `json:"expires"`
	// Source is the [triage.Source.ID] of the action: the id of a rule, or empty for an agent.
	Source string `json:"source"`
	// Pair is the source of the track record, as in Action; empty: none.
	Pair   string              `json:"pair,omitempty"`
	Action protocol.ActionItem `json:"action"`
	// Group are all actions that are carried out together, in their order, Action among them, at most 20.
	// Nil: Action alone.
	Group      []protocol.ActionItem `json:"group,omitempty"`
	Confidence protocol.Confidence   `json:"confidence,omitempty"`
	Rationale  string                `json:"rationale,omitempty"` // neutralized; never shown to an agent
	Carrier    triage.Carrier        `json:"carrier"`
	// Text identifies the title and the body of the issue when the proposal was made; empty: unknown.
	Text   string        `json:"text,omitempty"`
	State  ProposalState `json:"state"`
	By     string        `json:"by,omitempty"`     // login of the person who answered; empty: none, or unknown
	Ended  time.Time     `json:"ended,omitzero"`   // UTC
	Reason string        `json:"reason,omitempty"` // why it was overtaken or expired; may be empty
}

// Actions returns the actions of the proposal in the order in which they are carried out.
func (p Proposal) Actions() []protocol.ActionItem {
	if len(p.Group) > 0 {
		return p.Group
	}
	return []protocol.ActionItem{p.Action}
}

// Final reports whether the state is one of the known final states.
func (s ProposalState) Final() bool {
	return s == Accepted || s == Rejected || s == Overtaken || s == Expired
}

// Propose adds a pending proposal with the next number of the issue, and returns the number. A record
// that has a proposal with the ID of p stays unchanged, whatever the state of that proposal, and
// Propose returns its number. So a retry adds nothing.
//
// Propose sets the number and the state, and clears By, Ended and Reason. It cuts texts that are too
// long, and folds the oldest tasks if the record needs the room. If the JSON of a known action has more
// than 24 KiB, only the parameters of its [protocol.ActionSpec] are kept; the other parameters, such as
// a long rationale, have no effect on the action. [Record.Proposal] returns the proposal as it is kept.
//
// ok is false, and the record unchanged, if [MaxPending] proposals wait, or if p is invalid or too
// large: an ID that is empty or longer than 100 bytes, an unknown carrier or confidence, a comment's text of more
// than [MaxProposedText] characters, an action of more than 24 KiB or not in UTF-8, a proposal of more than 32 KiB, or
// a group that has more than 20 actions or lacks Action.
func (r *Record) Propose(p Proposal) (number int, ok bool) {
	if i := slices.IndexFunc(r.Proposals, func(old Proposal) bool { return old.ID == p.ID }); i >= 0 {
		return r.Proposals[i].Number, true
	}
	next := *r
	next.bound()
	next.LastProposal++
	p.State, p.By, p.Ended, p.Reason = Pending, "", time.Time{}, ""
	p = p.clip()
	p.Number = next.LastProposal
	next.Proposals = append(slices.Clip(next.Proposals), p)
	if next.checkProposals() != nil {
		return 0, false
	}
	next.fit()
	if next.head() > MaxSize {
		return 0, false
	}
	*r = next
	return p.Number, true
}

// Pending returns the proposals that wait for an answer, in the order of their numbers.
func (r *Record) Pending() []Proposal {
	var list []Proposal
	for _, p := range r.Proposals {
		if p.State == Pending {
			list = append(list, p.clone())
		}
	}
	return list
}

// Proposal returns the proposal with a number. ok is false if there is none, or not any more.
func (r *Record) Proposal(number int) (p Proposal, ok bool) {
	i := slices.IndexFunc(r.Proposals, func(p Proposal) bool { return p.Number == number })
	if i < 0 {
		return Proposal{}, false
	}
	return r.Proposals[i].clone(), true
}

// ProposalByID returns the proposal with that id; ok is false if there is none.
func (r *Record) ProposalByID(id string) (p Proposal, ok bool) {
	i := slices.IndexFunc(r.Proposals, func(p Proposal) bool { return p.ID == id })
	if i < 0 {
		return Proposal{}, false
	}
	return r.Proposals[i].clone(), true
}

// End ends a pending proposal, and reports whether it did. by is the login of the person who answered,
// and reason may explain the state; both may be empty. End returns false, and changes nothing, if the
// proposal is not pending, or if the state is not final. More than [MaxEnded] ended proposals are not
// kept: those that ended first are dropped. Their numbers are not used again.
func (r *Record) End(number int, state ProposalState, by, reason string, at time.Time) bool {
	i := slices.IndexFunc(r.Proposals, func(p Proposal) bool { return p.Number == number && p.State == Pending })
	if i < 0 || !state.Final() {
		return false
	}
	r.Proposals = slices.Clone(r.Proposals)
	p := &r.Proposals[i]
	p.State, p.By, p.Reason, p.Ended = state, clip(by, maxShort), clip(reason, maxShort), clipTime(at)
	r.trimEnded()
	r.bound()
	r.fit()
	return true
}

// Expire ends the pending proposals that expire at the time now or earlier, and returns their numbers.
func (r *Record) Expire(now time.Time) []int {
	var numbers []int
	for _, p := range r.Pending() {
		if !p.Expires.After(now) && r.End(p.Number, Expired, "", "", now) {
			numbers = append(numbers, p.Number)
		}
	}
	return numbers
}

// Render records the SHA-256 sum of the text that our comment with the proposals has now, as 64
// hexadecimal digits in lower case. The record keeps the last five sums. A sum that equals the last one
// changes nothing, and neither does one of another form.
func (r *Record) Render(sum string) {
	if n := len(r.ProposalRenders); !sumPattern().MatchString(sum) || n > 0 && r.ProposalRenders[n-1] == sum {
		return
	}
	list := append(slices.Clip(r.ProposalRenders), sum)
	r.ProposalRenders = list[max(0, len(list)-maxRenders):]
	r.bound()
	r.fit()
}

// sumPattern is the form of the sums in ProposalRenders.
var sumPattern = text.Regexp(`^[0-9a-f]{64}$`)

// clone returns a copy that shares no list with p.
func (p Proposal) clone() Proposal {
	p.Group = slices.Clone(p.Group)
	return p
}

// clip returns a copy of p with its texts and times in their range. It does not mend an invalid or a
// large proposal.
func (p Proposal) clip() Proposal {
	p.At, p.Expires, p.Ended = clipTime(p.At), clipTime(p.Expires), clipTime(p.Ended)
	p.Source, p.By, p.Reason, p.Text = clip(p.Source, maxShort), clip(p.By, maxShort), clip(p.Reason, maxShort), clip(p.Text, maxShort)
	p.Pair, p.Rationale = clip(p.Pair, maxPair), clipRunes(p.Rationale, maxWhy)
	p.Action = clipItem(p.Action)
	p.Group = slices.Clone(p.Group)
	for i, item := range p.Group {
		p.Group[i] = clipItem(item)
	}
	return p
}

// clipRunes cuts s to n characters, and replaces invalid UTF-8.
func clipRunes(s string, n int) string {
	if utf8.RuneCountInString(s) > n {
		s = string([]rune(s)[:n-1]) + "…"
	}
	return strings.ToValidUTF8(s, "?")
}

// clipItem returns an action without the parameters that its specification does not have, if the
// action is too large with them.
func clipItem(item protocol.ActionItem) protocol.ActionItem {
	spec, known := protocol.SpecOf(item.Type)
	if data, err := item.MarshalJSON(); err != nil || len(data) <= maxItem || !known {
		return item
	}
	params := map[string]any{}
	for _, p := range spec.Params {
		if raw, ok := item.Param(p.Name); ok {
			params[p.Name] = raw
		}
	}
	small, err := protocol.NewAction(item.Type, params)
	if err != nil {
		return item // a parameter is not JSON; the check refuses the item
	}
	return small
}

// check verifies the bounds of a proposal except its number.
func (p Proposal) check() error {
	switch {
	case p.ID == "" || !within(maxWord, p.ID):
		return errors.New("its id is empty or too long")
	case !storable(p.At) || !storable(p.Expires) || !storable(p.Ended):
		return errors.New("a time is out of range")
	case !short(p.Source, p.By, p.Reason, string(p.State), string(p.Carrier), string(p.Confidence), p.Text) ||
		!within(maxPair, p.Pair) || utf8.RuneCountInString(p.Rationale) > maxWhy:
		return errTooLong
	case p.State == "":
		return errors.New("it has no state")
	case len(p.Group) > maxGroup:
		return fmt.Errorf("%d actions, more than %d", len(p.Group), maxGroup)
	}
	if p.State == Pending {
		switch {
		case p.Carrier != triage.CarrierGitHub && p.Carrier != triage.CarrierComment:
			return fmt.Errorf("unknown carrier %q", clip(string(p.Carrier), 60))
		case p.Confidence != "" && !slices.Contains(protocol.Confidences(), p.Confidence):
			return fmt.Errorf("unknown confidence %q", clip(string(p.Confidence), 60))
		}
	}
	action := p.Action.String()
	among := len(p.Group) == 0
	for _, item := range p.Group {
		if err := checkItem(item); err != nil {
			return err
		}
		among = among || item.String() == action
	}
	if !among {
		return errors.New("its action is not in its group")
	}
	return checkItem(p.Action)
}

// checkItem verifies the bounds of a proposed action.
func checkItem(item protocol.ActionItem) error {
	data, err := item.MarshalJSON()
	switch {
	case err != nil:
		return err
	case len(data) > maxItem || !utf8.Valid(data):
		return fmt.Errorf("its action has more than %d bytes, or is not UTF-8", maxItem)
	}
	spec, _ := protocol.SpecOf(item.Type)
	for _, param := range spec.Params {
		if param.Kind != protocol.KindMarkdown {
			continue
		}
		// A value that is not a text is refused when the action is carried out.
		if body, _, err := item.Text(param.Name); err == nil && utf8.RuneCountInString(body) > MaxProposedText {
			return fmt.Errorf("the text of its %s has more than %d characters", item.Type, MaxProposedText)
		}
	}
	return nil
}

// checkProposals verifies the proposals of a record, and the other fields about them.
func (r *Record) checkProposals() error {
	switch {
	case len(r.Proposals) > MaxPending+MaxEnded: // first, so that a huge list costs no time
		return fmt.Errorf("it has %d proposals, more than %d", len(r.Proposals), MaxPending+MaxEnded)
	case r.LastProposal < 0 || r.LastProposal > maxCount:
		return fmt.Errorf("the number of the last proposal, %d, is out of range", r.LastProposal)
	case r.ProposalsShown < 0 || r.ProposalsShown > r.LastProposal:
		return fmt.Errorf("the number of the last proposal in the comment, %d, is out of range", r.ProposalsShown)
	case r.ProposalComment < 0:
		return fmt.Errorf("the id of the comment with the proposals, %d, is out of range", r.ProposalComment)
	case len(r.ProposalRenders) > maxRenders ||
		slices.ContainsFunc(r.ProposalRenders, func(s string) bool { return !sumPattern().MatchString(s) }):
		return errors.New("the sums of the comment with the proposals are too many, or not SHA-256")
	}
	last, ids := 0, map[string]bool{}
	var pending, ended []Proposal
	for _, p := range r.Proposals {
		switch {
		case p.Number <= last || p.Number > r.LastProposal:
			return fmt.Errorf("the proposal number %d is out of order, or above the last one, %d", p.Number, r.LastProposal)
		case ids[p.ID]:
			return fmt.Errorf("the proposal %d has the id of another one", p.Number)
		}
		if err := p.check(); err != nil {
			return fmt.Errorf("proposal %d: %w", p.Number, err)
		}
		last, ids[p.ID] = p.Number, true
		if p.State == Pending {
			pending = append(pending, p)
		} else {
			ended = append(ended, p)
		}
	}
	sizes := roomOf(pending)
	switch {
	case len(pending) > MaxPending || len(ended) > MaxEnded:
		return fmt.Errorf("%d proposals wait, and %d ended, more than %d or %d", len(pending), len(ended), MaxPending, MaxEnded)
	case sizes.sum() > maxPendingBytes || roomOf(ended).sum() > maxEndedBytes:
		return fmt.Errorf("the proposals that wait take more than %d bytes, or the ended ones more than %d", maxPendingBytes, maxEndedBytes)
	case len(sizes) > 0 && slices.Max(sizes) > maxProposal:
		return fmt.Errorf("a proposal takes more than %d bytes", maxProposal)
	}
	return nil
}

// boundProposals brings the proposals, and the other fields about them, within their bounds. Ended
// proposals are dropped, the oldest first. A pending proposal is dropped only if [Record.Propose] would
// have refused it: it is invalid, or the older ones leave no room.
func (r *Record) boundProposals() {
	if r.checkProposals() == nil {
		return
	}
	list := slices.Clone(r.Proposals)
	order.Stable(list, func(a, b Proposal) int { return cmp.Compare(a.Number, b.Number) })
	r.Proposals = nil
	last, pending, size, ids := 0, 0, 0, map[string]bool{}
	for _, p := range list {
		p = p.clip()
		if p.Number <= last || p.Number > maxCount || ids[p.ID] || p.check() != nil {
			continue
		}
		if p.State == Pending {
			room := roomOf([]Proposal{p}).sum()
			if pending == MaxPending || room > maxProposal || size+room > maxPendingBytes {
				continue
			}
			pending, size = pending+1, size+room
		}
		r.Proposals = append(r.Proposals, p)
		last, ids[p.ID] = p.Number, true
	}
	r.trimEnded()
	r.LastProposal, r.ProposalComment = max(last, plus(r.LastProposal, 0)), max(r.ProposalComment, 0)
	r.ProposalsShown = min(max(r.ProposalsShown, 0), r.LastProposal)
	sums := slices.DeleteFunc(slices.Clone(r.ProposalRenders), func(s string) bool { return !sumPattern().MatchString(s) })
	r.ProposalRenders = sums[max(0, len(sums)-maxRenders):]
}

// trimEnded drops the proposals that ended first until the ended ones are within their bounds.
func (r *Record) trimEnded() {
	n, size := 0, 0
	for _, p := range r.Proposals {
		if p.State != Pending {
			n, size = n+1, size+roomOf([]Proposal{p}).sum()
		}
	}
	for n > MaxEnded || size > maxEndedBytes {
		n, size = n-1, size-roomOf([]Proposal{r.dropEnded()}).sum()
	}
}

// ended reports whether the record contains a proposal that ended.
func (r *Record) ended() bool {
	return slices.ContainsFunc(r.Proposals, func(p Proposal) bool { return p.State != Pending })
}

// keptAnswers is the number of ended proposals, besides those that people rejected, that a record keeps
// before it drops rejected ones.
const keptAnswers = 10

// dropEnded removes a proposal that ended, and returns it. The record contains one. Those that people
// rejected are dropped last, because only the record remembers them: else many other proposals would make
// the program forget what people decided. Of the same kind, the one that ended first is dropped.
func (r *Record) dropEnded() Proposal {
	others := 0
	for _, p := range r.Proposals {
		if p.State != Pending && p.State != Rejected {
			others++
		}
	}
	first := -1
	for i, p := range r.Proposals {
		droppable := (p.State == Rejected) == (others <= keptAnswers)
		if p.State != Pending && droppable && (first < 0 || p.Ended.Before(r.Proposals[first].Ended)) {
			first = i
		}
	}
	if first < 0 { // no rejected one is left
		first = slices.IndexFunc(r.Proposals, func(p Proposal) bool { return p.State != Pending })
	}
	dropped := r.Proposals[first]
	r.Proposals = slices.Delete(slices.Clone(r.Proposals), first, first+1)
	return dropped
}

// hasProposals reports whether any field about proposals is set.
func (r *Record) hasProposals() bool {
	return len(r.Proposals) > 0 || r.LastProposal != 0 || r.ProposalComment != 0 || r.ProposalsShown != 0 || len(r.ProposalRenders) > 0
}
