package plan

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/org/foreman-action/internal/sanitize"
	"github.com/org/foreman-action/memory"
	"github.com/org/foreman-action/policy"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/runner/effect"
	"github.com/org/foreman-action/runner/internal/history"
	"github.com/org/foreman-action/runner/internal/outcome"
	"github.com/org/foreman-action/runner/internal/proposal"
	"github.com/org/foreman-action/triage"
)

// propose gives the verdict [triage.Suggest] to the open steps that are held, and to those that belong
// to them: the group of a held step, and the comments of a source whose close or lock is held.
func (p *Plan) propose() {
	if !slices.ContainsFunc(p.Steps, func(s Step) bool { return s.Held && s.isOpen() }) {
		return
	}
	p.Steps = slices.Clone(p.Steps)
	for i := range p.Steps {
		if s := &p.Steps[i]; s.Held && s.isOpen() {
			s.Verdict, s.Bundle = triage.Suggest, i
			s.Reason = strings.TrimPrefix(s.Reason+"; "+s.Unproven, "; ")
			s.Reason = strings.TrimSuffix(s.Reason, "; ")
		}
	}
	for i := range p.Steps {
		if lead := &p.Steps[i]; lead.Verdict == triage.Suggest {
			p.bundle(lead)
		}
	}
	p.dropDone()
	for i := range p.Steps {
		s := &p.Steps[i]
		if s.Verdict != triage.Suggest {
			continue
		}
		if s.Source.IsAgent() && s.Rationale == "" {
			s.Rationale = sanitize.Rationale(p.agentWhy)
		}
		if s.Confidence == "" {
			s.Confidence = confidenceOf(s.Source, "")
		}
		text := ""
		switch e := s.Effect.(type) { //nolint:gochecksumtype // the others have no text
		case effect.Comment:
			text = e.Body
		case effect.Custom:
			text = proposal.Words(memory.Proposal{Action: e.Item})
		}
		switch n := utf8.RuneCountInString(text); {
		case p.policy.Suggestions == policy.SuggestionsOff:
			p.withhold(s.Bundle, triage.Skip, "it would be proposed, and policy.suggestions is off")
		case p.noNotes != "":
			p.withhold(s.Bundle, triage.Refuse, p.noNotes)
		case n > proposal.MaxBody:
			p.withhold(s.Bundle, triage.Refuse, fmt.Sprintf("too long to be proposed: it has %d characters, and people see at most %d", n, proposal.MaxBody))
		}
	}
}

// confidenceOf returns how sure a source is: as stated, or else as it is by default.
func confidenceOf(from triage.Source, stated protocol.Confidence) protocol.Confidence {
	switch {
	case stated != "":
		return stated
	case from.IsAgent():
		return protocol.ConfidenceMedium
	}
	return protocol.ConfidenceHigh
}

// withdraw is the inverse of propose.
func (p *Plan) withdraw() {
	for i := range p.Steps {
		if s := &p.Steps[i]; s.Verdict == triage.Suggest {
			s.Verdict = triage.Do
			if s.Unproven != "" {
				s.Reason = strings.TrimSuffix(strings.TrimSuffix(s.Reason, s.Unproven), "; ")
			}
		}
	}
}

// bundle adds the steps that belong to a proposed step to its proposal.
func (p *Plan) bundle(lead *Step) {
	takes := false              // the comments of its source
	switch lead.Effect.(type) { //nolint:gochecksumtype // the others are independent
	case effect.Close, effect.MarkDuplicate, effect.Lock:
		takes = true
	}
	for i := range p.Steps {
		s := &p.Steps[i]
		if !s.isOpen() && (s.Verdict != triage.Suggest || s.Bundle != i) {
			continue
		}
		_, comments := s.Comment()
		grouped := lead.Grouped() && s.Grouped() && s.Group() == lead.Group()
		if grouped || takes && comments && s.Source.ID() == lead.Source.ID() {
			s.Verdict, s.Bundle = triage.Suggest, lead.Bundle
		}
	}
}

// dropDone skips the proposals of what the plan itself does, or proposes already.
func (p *Plan) dropDone() {
	now := outcome.StateOf(p.issue)
	for i := range p.Steps {
		if s := &p.Steps[i]; s.Verdict == triage.Do && s.Effect != nil {
			outcome.Change(s.Effect, now)
		}
	}
	for _, steps := range p.proposed() {
		holds := true
		for _, s := range steps {
			_, comments := s.Comment()
			holds = holds && !s.Astray && (comments && len(steps) > 1 || outcome.Holds(s.Effect, now))
		}
		if holds {
			p.withhold(steps[0].Bundle, triage.Skip, "another action of the plan does or proposes it")
			continue
		}
		for _, s := range steps {
			outcome.Change(s.Effect, now)
		}
	}
}

// withhold sets the verdict on all steps of a proposal.
func (p *Plan) withhold(bundle int, v triage.Verdict, why string) {
	for i := range p.Steps {
		if s := &p.Steps[i]; s.Verdict == triage.Suggest && s.Bundle == bundle {
			s.set(v, why)
		}
	}
}

// proposed returns the steps of each proposal, in order. After the plan was carried out, steps that GitHub
// proposes on its own are among them.
func (p *Plan) proposed() [][]*Step {
	var list [][]*Step
	at := map[int]int{} // the index in list of each bundle
	for i := range p.Steps {
		s := &p.Steps[i]
		switch {
		case s.Verdict == triage.Suggest:
			k, known := at[s.Bundle]
			if !known {
				k, at[s.Bundle], list = len(list), len(list), append(list, nil)
			}
			list[k] = append(list[k], s)
		case len(s.HeldNames) > 0:
			held := *s
			held.Bundle, held.Effect = i, narrowed(s.Effect, s.HeldNames)
			list = append(list, []*Step{&held})
		}
	}
	return list
}

// leadOf returns the step after which a proposal is named.
func leadOf(steps []*Step) *Step {
	for _, s := range steps {
		if s.Index == s.Bundle {
			return s
		}
	}
	return steps[0]
}

// Proposals returns the proposals of the plan of a task, without numbers, in order.
func (p Plan) Proposals(of history.Identity, now time.Time) []memory.Proposal {
	var list []memory.Proposal
	for _, steps := range p.proposed() {
		lead := leadOf(steps)
		m := memory.Proposal{
			ID: proposalID(of, steps), At: now.UTC(), Expires: now.UTC().Add(p.policy.ProposalTTL()), Source: lead.Source.ID(), Action: lead.permitted(),
			Pair: lead.Pair, Confidence: lead.Confidence, Rationale: lead.Rationale, Carrier: triage.CarrierComment, State: memory.Pending,
			Text: proposal.TextDigest(p.issue),
		}
		if lead.Carrier == triage.CarrierGitHub || len(lead.HeldNames) > 0 {
			m.Carrier = triage.CarrierGitHub
		}
		for _, s := range steps {
			if len(steps) > 1 {
				m.Group = append(m.Group, s.permitted())
			}
			if !s.Confidence.AtLeast(m.Confidence) { // a group is as sure as its least sure action
				m.Confidence = s.Confidence
			}
		}
		list = append(list, m)
	}
	return list
}

// proposalID returns the id of the proposal with these steps. Attempts at the same task that decide the
// same have the same id.
func proposalID(of history.Identity, steps []*Step) string {
	parts := []string{of.Task, of.Scope, "proposal", strconv.Itoa(steps[0].Index)}
	for _, s := range steps {
		parts = append(parts, memory.HashAction(s.permitted()))
	}
	return protocol.DeriveTaskID(parts...)
}

// A Numbered is a proposal with its number in the record; 0: the record does not have it.
type Numbered struct {
	ID     string
	Number int
}

// Numbers returns the proposals of a plan by the indexes of their steps.
func (p Plan) Numbers(of history.Identity, r memory.Record) map[int]Numbered {
	list := map[int]Numbered{}
	for _, steps := range p.proposed() {
		id := proposalID(of, steps)
		known, _ := r.ProposalByID(id)
		for _, s := range steps {
			list[s.Index] = Numbered{id, known.Number}
		}
	}
	return list
}

// permitted returns the action of a step with the part that is permitted: what people see before they
// accept it.
func (s *Step) permitted() protocol.ActionItem {
	params := map[string]any{}
	for _, name := range s.Action.ParamNames() {
		if raw, ok := s.Action.Param(name); ok && !slices.Contains(protocol.IntentParams(), name) {
			params[name] = raw
		}
	}
	typ := s.Action.Type
	switch e := s.Effect.(type) { //nolint:gochecksumtype // the parameters of the others are permitted as they are
	case effect.AddLabels:
		if typ, params = protocol.ActionAddLabels, map[string]any{"labels": e.Names}; len(e.Names) == 1 {
			typ, params = protocol.ActionAddLabel, map[string]any{"label": e.Names[0]}
		}
	case effect.RemoveLabels:
		params = map[string]any{"label": e.Names[0]}
	case effect.Assign:
		params = map[string]any{"assignees": e.Logins}
	case effect.Unassign:
		params = map[string]any{"assignees": e.Logins}
	case effect.NeverAgain:
		params = map[string]any{"label": e.Labels[0]}
	case effect.RequestReview:
		params = map[string]any{"users": e.Users, "teams": e.Teams}
	case effect.Comment:
		params["body"] = e.Body
	case effect.Custom:
		return e.Item
	}
	item, err := protocol.NewAction(typ, params)
	if err != nil { // the parameters were decoded from JSON
		return s.Action
	}
	return item
}

// knownProposals compares the proposals of a plan with those in the record. It does not propose what waits
// already, what a person rejected, and what does not fit on the issue.
func (p *Plan) knownProposals(a Attempt, seen Snapshot) Need {
	list := p.proposed()
	if len(list) == 0 {
		return Need{}
	}
	if seen.Kept == nil {
		return Need{Kept: true}
	}
	rec := *seen.Kept
	rec.Expire(a.Now)
	room := memory.MaxPending - len(rec.Pending())
	for _, steps := range list {
		lead := leadOf(steps)
		if known, ok := rec.ProposalByID(proposalID(a.Identity, steps)); ok {
			for _, s := range steps {
				s.Proposal, s.Carrier = known.Number, known.Carrier
			}
			if known.State != memory.Pending {
				p.withhold(lead.Bundle, triage.Skip, proposal.Ended(known))
			}
			continue
		}
		if why := answered(lead, len(steps) == 1, func(item protocol.ActionItem) string { return proposal.Before(rec, lead.Source, item) }); why != "" {
			p.withhold(lead.Bundle, triage.Skip, why)
			continue
		}
		if room--; room < 0 {
			p.withhold(lead.Bundle, triage.Skip, fmt.Sprintf("%d proposals wait on this issue", memory.MaxPending))
		}
	}
	return Need{}
}

// answered returns the reason that before returns against a step, or "". From a step that does not depend
// on others, it removes only the names with a reason.
func answered(lead *Step, alone bool, before func(protocol.ActionItem) string) string {
	names := effect.Values(lead.Effect)
	spec, _ := outcome.SpecOf(lead.Action.Type)
	if !alone || len(names) < 2 || spec.Thing == "" {
		return before(lead.permitted())
	}
	kept := filter(lead, names, func(name string) string {
		one := *lead
		one.Effect = narrowed(lead.Effect, []string{name})
		return about(name, before(one.permitted()))
	})
	if len(kept) == 0 {
		return lead.Reason
	}
	lead.Effect = narrowed(lead.Effect, kept)
	return ""
}

// narrowed returns an effect on labels or assignees with other names.
func narrowed(e effect.Effect, names []string) effect.Effect {
	switch e := e.(type) { //nolint:gochecksumtype // the others have one name, or none
	case effect.AddLabels:
		e.Names = names
		return e
	case effect.Assign:
		e.Logins = names
		return e
	case effect.Unassign:
		e.Logins = names
		return e
	}
	return e
}

// WithPanel returns the plan for a repository whose automation panel is on: changes of labels, assignees
// and the type are written with their intents, which GitHub shows beside them, and those that are proposed
// alone are proposed there. why returns the rationale of a step that has none yet.
func (p Plan) WithPanel(why func(s *Step) string) Plan {
	p.Steps = slices.Clone(p.Steps)
	bundles := map[int]int{}
	for _, s := range p.Steps {
		if s.Verdict == triage.Suggest {
			bundles[s.Bundle]++
		}
	}
	for i := range p.Steps {
		s := &p.Steps[i]
		proposed := s.Verdict == triage.Suggest && bundles[s.Bundle] == 1 && s.Proposal == 0 && !s.Astray
		if !proposed && (!s.isOpen() || s.Grouped() || s.Accepted != nil || s.Source.Command != "" || s.Source.Undo) {
			continue // what GitHub holds of them would break a group, or the yes of a person
		}
		in := effect.Intent{Rationale: s.Rationale, Confidence: confidenceOf(s.Source, s.Confidence), Suggest: proposed}
		if in.Rationale == "" && panelled(s.Effect) {
			in.Rationale = why(s)
		}
		switch e := s.Effect.(type) {
		case effect.AddLabels:
			e.Intents = slices.Repeat([]effect.Intent{in}, len(e.Names))
			s.Effect = e
		case effect.Assign:
			e.Intents = slices.Repeat([]effect.Intent{in}, len(e.Logins))
			s.Effect = e
		case effect.SetType:
			e.Intent = in
			s.Effect = e
		default:
			continue
		}
		if s.Rationale, s.Confidence = in.Rationale, in.Confidence; proposed {
			s.Carrier = triage.CarrierGitHub
		}
	}
	return p
}

// panelled reports whether GitHub shows the intent of an effect.
func panelled(e effect.Effect) bool {
	switch e.(type) { //nolint:gochecksumtype // as in WithPanel
	case effect.AddLabels, effect.Assign, effect.SetType:
		return true
	}
	return false
}

// HasPanel reports whether GitHub's panel can show a step of the plan, or the intent of one.
func (p Plan) HasPanel() bool {
	return slices.ContainsFunc(p.Steps, func(s Step) bool { return (s.Verdict == triage.Suggest || s.isOpen()) && panelled(s.Effect) })
}
