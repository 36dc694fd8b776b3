package plan

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/org/foreman-action/internal/sanitize"
	"github.com/org/foreman-action/memory"
	"github.com/org/foreman-action/policy"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/runner/effect"
	"github.com/org/foreman-action/runner/internal/judge"
	"github.com/org/foreman-action/runner/internal/outcome"
	"github.com/org/foreman-action/triage"
)

// A Maker judges actions one after another. Each action is compared with the issue in the state
// after the actions before it.
type Maker struct {
	policy    policy.Policy
	own       []protocol.ActionSpec // the actions that are not built in
	decided   map[string]int        // number of the own actions so far, by their hash
	limits    map[string]int
	used      map[string]int  // use of each limit so far
	comments  map[string]int  // number of planned comments, by key
	said      map[string]bool // keys of planned comments that are posted only once
	now       outcome.State
	issue     triage.Issue // before the plan
	commentID int64
	// mayComment, agentMay and direct are as in Input.
	mayComment, agentMay, direct bool
	acceptedClose                bool // as in Input
	earned                       func(triage.Source, memory.PairKey) (ok bool, why string)
}

// NewMaker returns a Maker for the issue and the policy of an input.
func NewMaker(in Input) *Maker {
	limits := in.Policy.EffectiveLimits()
	for _, spec := range in.Own {
		if _, set := limits[spec.Name]; !set {
			limits[spec.Name] = spec.Limit
		}
	}
	return &Maker{
		policy: in.Policy, own: in.Own, decided: map[string]int{}, limits: limits, used: map[string]int{}, comments: map[string]int{}, said: map[string]bool{},
		now: outcome.StateOf(in.Issue), issue: in.Issue, commentID: in.CommentID, mayComment: in.MayComment, agentMay: in.AgentMayComment, direct: in.Direct, acceptedClose: in.AcceptedClose,
		earned: in.Earned,
	}
}

// Judge sets the effect and the verdict of a step.
func (m *Maker) Judge(s *Step) {
	typ := s.Action.Type
	cancels := outcome.Cancels(typ)
	spec, own, ok := m.spec(typ)
	if !ok || cancels && s.Source.Command == "" && !s.Source.Undo {
		s.Unknown = true
		s.set(triage.Refuse, (&triage.UnknownActionError{Type: typ, Index: s.Index}).Error())
		return
	}
	nth := m.count(s)
	if param := spec.Empty(s.Action); param != "" && !s.Source.IsAgent() {
		s.set(triage.Skip, "`"+param+"` is empty")
		list, isList, err := s.Action.Texts(param)
		s.Holds = isList && err == nil && len(list) == 0 // there is nothing to do
		return
	}
	var e effect.Effect
	var err error
	if own {
		e, err = m.custom(s, spec)
	} else {
		e, err = outcome.Parse(s.Action)
	}
	var intent protocol.Intent
	if err == nil {
		intent, err = s.Action.Intent()
	}
	if err != nil {
		s.set(triage.Refuse, "malformed: "+err.Error())
		return
	}
	m.weigh(s, intent)
	if why := m.policy.Forbids(typ, s.Source); why != "" && !cancels {
		s.set(triage.Refuse, why)
		return
	}
	if spec.PullsOnly && !m.issue.PullRequest {
		s.set(triage.Skip, "it is not a pull request")
		return
	}
	s.Effect = e
	s.set(triage.Do, "")
	if m.judge(s, nth); s.Verdict != triage.Do {
		return
	}
	// Each label and each person counts as one.
	if name := spec.LimitName(); !cancels && !m.take(s, name, max(1, len(effect.Values(s.Effect)))) {
		s.set(triage.Refuse, fmt.Sprintf("policy.limits.%s is %d per event", name, m.limits[name]))
		return
	}
	m.prove(s)
	if !s.Held {
		outcome.Change(s.Effect, m.now)
	}
}

// weigh decides whether a step is held until a person says yes. Rules are sure of their actions unless
// they state something else, and agents are half sure. The actions of commands and reversals are never
// held.
func (m *Maker) weigh(s *Step, in protocol.Intent) {
	if m.exempt(s) {
		return
	}
	confidence := confidenceOf(s.Source, in.Confidence)
	s.Held = m.policy.Proposes(s.Action.Type, confidence, in.Suggest)
	if s.Held || in.Confidence != "" || m.policy.Levelled() {
		s.Confidence = confidence
	}
	s.Rationale = sanitize.Rationale(in.Rationale)
}

// exempt reports whether a step is carried out without a person's answer in any case.
func (m *Maker) exempt(s *Step) bool {
	return m.direct || s.Accepted != nil || s.Source.Command != "" || s.Source.Undo
}

// prove holds a step if its source has not earned the permission for each change of the step.
func (m *Maker) prove(s *Step) {
	if !m.policy.Earned || s.Held || m.exempt(s) {
		return
	}
	keys := judge.Keys(s.Pair, s.permitted())
	for _, k := range keys {
		ok, why := false, "the track record is not available"
		if m.earned != nil {
			ok, why = m.earned(s.Source, k)
		}
		if !ok {
			if len(keys) > 1 {
				why = about(k.Value, why)
			}
			s.Held, s.Unproven = true, "earned: "+why
			return
		}
	}
}

// spec returns the specification of an action type; own is true if the type is not built in.
func (m *Maker) spec(typ string) (spec protocol.ActionSpec, own, ok bool) {
	if spec, ok = outcome.SpecOf(typ); ok {
		return spec, false, true
	}
	i := slices.IndexFunc(m.own, func(s protocol.ActionSpec) bool { return s.Name == typ })
	if i < 0 {
		return spec, false, false
	}
	return m.own[i], true, true
}

// custom returns the effect of an action that is not built in. Its id counts equal actions of the
// decision, also refused ones, so that it stays the same if the policy changes between two attempts.
func (m *Maker) custom(s *Step, spec protocol.ActionSpec) (effect.Effect, error) {
	hash := memory.HashAction(s.Action)
	nth := hash
	if s.Accepted != nil { // the actions of each proposal are counted
		nth = s.Accepted.ID + " " + hash
	}
	m.decided[nth]++
	e, err := outcome.ParseCustom(spec, s.Action, func(body string) (string, error) {
		text, why := m.cleaned(body, s.Source)
		if why != "" {
			return "", errors.New(why)
		}
		return text, nil
	})
	e.ID = fmt.Sprintf("%s/%d", hash, m.decided[nth])
	return e, err
}

// count returns the number of earlier comments with the same key. It also counts refused comments,
// so that the numbers stay the same if the policy changes between two attempts.
func (m *Maker) count(s *Step) int {
	key := ""
	switch {
	case s.Answers(): // each command has only one answer
		return 0
	case s.Accepted != nil && s.Action.Type == protocol.ActionComment: // the comments of each proposal are counted
		key = s.Accepted.ID + "/"
	case s.Action.Type == protocol.ActionUpdateComment:
		key = outcome.CommentKey(s.Action)
		if s.Source.IsAgent() {
			key = outcome.AgentKey(key)
		}
	case s.Action.Type != protocol.ActionComment:
		return 0
	}
	m.comments[key]++
	return m.comments[key] - 1
}

// take uses n of a limit. If less is left, it uses nothing and returns false.
func (m *Maker) take(s *Step, name string, n int) bool {
	if s.unpaced() {
		return m.limits[name] > 0
	}
	if m.used[name]+n > m.limits[name] {
		return false
	}
	m.used[name] += n
	return true
}

func (m *Maker) judgeAddLabels(s *Step, e effect.AddLabels) {
	missing := m.now.Labels().NotIn(e.Names)
	left := m.now.Never().NotIn(missing)
	switch {
	case len(e.Names) == 0:
		s.set(triage.Refuse, "it names no label")
	case len(missing) == 0:
		skip(s, true, "already there")
	case len(left) == 0:
		s.set(triage.Skip, "an earlier action of the plan forbids the label (never_again)")
	default:
		s.Effect = effect.AddLabels{Names: m.allowed(s, left)}
	}
}

func (m *Maker) judgeNeverAgain(s *Step, e effect.NeverAgain) {
	switch {
	case len(e.Labels) == 0:
		s.set(triage.Refuse, "it names no label")
	case s.Source.IsAgent() && !m.policy.MayLabel(e.Labels[0]):
		m.allowed(s, e.Labels)
	case len(m.now.Never().NotIn(e.Labels)) == 0:
		skip(s, true, "the plan contains it already")
	}
}

// allowed returns the labels that the policy permits. It stores the reasons against the others in
// the step, and refuses the step if no label is left.
func (m *Maker) allowed(s *Step, labels []string) []string {
	var kept, why []string
	for _, name := range labels {
		if reason := m.policy.Labels.Refuses(name); reason != "" {
			why = append(why, fmt.Sprintf("%s: %s", name, reason))
			continue
		}
		kept = append(kept, name)
	}
	s.Reason, s.Short = strings.Join(why, "; "), len(why) > 0
	if len(kept) == 0 {
		s.set(triage.Refuse, s.Reason)
	}
	return kept
}

func (m *Maker) judgeClose(s *Step) {
	switch {
	case !m.policy.AllowClose && (s.Accepted == nil || !m.acceptedClose):
		s.set(triage.Skip, "closing is not allowed: policy.allow_close (input allow-close) is false")
	case m.now.Open():
	case m.issue.State != "closed", outcome.RecordOnly(s.Effect), outcome.Holds(s.Effect, m.now):
		skip(s, true, "already closed")
	default:
		s.Reason = "closed already, as " + m.now.Reason() + ": only the reason changes"
	}
}

// judgeComment checks the keys of a comment, and neutralizes its body.
func (m *Maker) judgeComment(s *Step, e effect.Comment, nth int) {
	e.Nth = nth
	switch {
	case e.Key != "" && !outcome.ValidKey(e.Key):
		s.set(triage.Refuse, "key: want letters, digits, '.', '_' and '-', at most 64")
		return
	case e.Key == triage.SuggestionsKey:
		s.set(triage.Refuse, "key: "+triage.SuggestionsKey+" is the key of the comment with proposals; choose another one")
		return
	case e.Once == "":
	case !outcome.ValidKey(e.Once):
		s.set(triage.Refuse, "once: want letters, digits, '.', '_' and '-', at most 64")
		return
	}
	once := e.Once
	if s.Source.IsAgent() {
		e.Key, e.Once = outcome.AgentKey(e.Key), outcome.AgentKey(e.Once)
	}
	if m.said[e.Once] {
		skip(s, true, "the plan contains it already (once: "+once+")")
		return
	}
	s.Effect = m.judgeBody(s, e)
	if e.Once != "" {
		m.said[e.Once] = s.Verdict == triage.Do
	}
}

// judgeBody returns the comment with its body neutralized.
func (m *Maker) judgeBody(s *Step, e effect.Comment) effect.Comment {
	// Neutralizing is expensive, so this check comes first.
	if name := s.Action.Type; m.used[name] >= m.limits[name] && (!s.unpaced() || m.limits[name] <= 0) {
		s.set(triage.Refuse, fmt.Sprintf("policy.limits.%s is %d per event", name, m.limits[name]))
		return e
	}
	body, why := m.cleaned(e.Body, s.Source)
	if why != "" {
		s.set(triage.Refuse, why)
		return e
	}
	e.Body = body
	if !m.mayComment && !s.unpaced() && (!m.agentMay || !s.Source.IsAgent()) {
		s.set(triage.Skip, "edits, label events and comments are answered only if a rule names that event")
	}
	return e
}

// cleaned returns a neutralized body, or the reason to refuse it.
func (m *Maker) cleaned(body string, from triage.Source) (text, refused string) {
	longest := m.policy.MaxLength()
	if len(body) > 8*longest { // neutralizing shortens a body only by removing invisible characters
		return "", fmt.Sprintf("the body has %d bytes, policy.comment_length is %d characters", len(body), longest)
	}
	text = m.policy.Clean(body, from)
	switch n := utf8.RuneCountInString(text); {
	case strings.TrimSpace(text) == "":
		return "", "the body is empty after sanitizing"
	case n > longest:
		return "", fmt.Sprintf("the body has %d characters, policy.comment_length is %d", n, longest)
	}
	return text, ""
}
