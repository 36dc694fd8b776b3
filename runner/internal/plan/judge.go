package plan

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/org/foreman-action/policy"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/runner/effect"
	"github.com/org/foreman-action/triage"
)

// A Maker judges actions one after another. Each action is compared with the issue in the state
// after the actions before it.
type Maker struct {
	policy    policy.Policy
	limits    map[string]int
	used      map[string]int  // use of each limit so far
	comments  map[string]int  // number of planned comments, by key
	said      map[string]bool // keys of planned comments that are posted only once
	now       effect.State
	number    int  // number of the issue
	closed    bool // whether the issue is closed before the plan
	commentID int64
	// mayComment and agentMay are as in Input.
	mayComment, agentMay bool
}

// NewMaker returns a Maker for the issue and the policy of an input.
func NewMaker(in Input) *Maker {
	return &Maker{
		policy: in.Policy, limits: in.Policy.EffectiveLimits(), used: map[string]int{}, comments: map[string]int{}, said: map[string]bool{},
		now: effect.StateOf(in.Issue), number: in.Issue.Number, closed: in.Issue.State == "closed", commentID: in.CommentID, mayComment: in.MayComment, agentMay: in.AgentMayComment,
	}
}

// Judge sets the effect and the verdict of a step.
func (m *Maker) Judge(s *Step) {
	typ := s.Action.Type
	cancels := effect.Cancels(typ)
	spec, ok := effect.SpecOf(typ)
	if !ok || cancels && s.Source.Command == "" && !s.Source.Undo {
		s.Unknown = true
		s.set(triage.Refuse, (&triage.UnknownActionError{Type: typ, Index: s.Index}).Error())
		return
	}
	nth := m.count(s)
	if param := spec.Empty(s.Action); param != "" && !s.Source.IsAgent() {
		s.set(triage.Skip, "`"+param+"` is empty")
		return
	}
	e, err := effect.Parse(s.Action)
	if err != nil {
		s.set(triage.Refuse, "malformed: "+err.Error())
		return
	}
	if why := m.policy.Forbids(typ, s.Source); why != "" && !cancels {
		s.set(triage.Refuse, why)
		return
	}
	s.Effect = e
	s.set(triage.Do, "")
	if m.judge(s, nth); s.Verdict != triage.Do {
		return
	}
	if name, n := limitOf(s); !cancels && !m.take(s, name, n) {
		s.set(triage.Refuse, fmt.Sprintf("policy.limits.%s is %d per event", name, m.limits[name]))
		return
	}
	effect.Change(s.Effect, m.now)
}

// count returns the number of earlier comments with the same key. It also counts refused comments,
// so that the numbers stay the same if the policy changes between two attempts.
func (m *Maker) count(s *Step) int {
	key := ""
	switch {
	case s.Answers(): // each command has only one answer
		return 0
	case s.Action.Type == protocol.ActionUpdateComment:
		key = effect.CommentKey(s.Action)
		if s.Source.IsAgent() {
			key = effect.AgentKey(key)
		}
	case s.Action.Type != protocol.ActionComment:
		return 0
	}
	m.comments[key]++
	return m.comments[key] - 1
}

// limitOf returns the limit that applies to a step, and how much of it the step uses. Each label
// and each person counts as one.
func limitOf(s *Step) (name string, n int) {
	switch e := s.Effect.(type) { //nolint:gochecksumtype // every other effect counts once
	case effect.AddLabels:
		return protocol.ActionAddLabel, len(e.Names)
	case effect.Assign:
		return s.Action.Type, len(e.Logins)
	case effect.Unassign:
		return s.Action.Type, len(e.Logins)
	}
	return s.Action.Type, 1
}

// take uses n of a limit. If less is left, it uses nothing and returns false.
func (m *Maker) take(s *Step, name string, n int) bool {
	if s.Answers() {
		return m.limits[name] > 0
	}
	if m.used[name]+n > m.limits[name] {
		return false
	}
	m.used[name] += n
	return true
}

// maxAssignees is GitHub's maximum number of assignees on an issue.
const maxAssignees = 10

// judge removes from a step's effect everything that is forbidden or already in place. When
// nothing remains, it sets a verdict other than Do.
func (m *Maker) judge(s *Step, nth int) {
	switch e := s.Effect.(type) {
	case effect.AddLabels:
		m.judgeAddLabels(s, e)
	case effect.RemoveLabels:
		if skip(s, effect.Holds(e, m.now), "not there") {
			return
		}
		e.Names = m.allowed(s, e.Names)
		s.Effect = e
	case effect.Comment:
		m.judgeComment(s, e, nth)
	case effect.Close:
		if e.After > 0 {
			s.Reason = "to be closed after " + short(e.After)
			if len(e.Veto) > 0 {
				s.Reason += ", unless people veto it (" + strings.Join(e.Veto, ", ") + ")"
			}
		}
		m.judgeClose(s)
	case effect.MarkDuplicate:
		if e.Of <= 0 || e.Of == m.number {
			s.set(triage.Refuse, fmt.Sprintf("an issue cannot be a duplicate of #%d", e.Of))
			return
		}
		m.judgeClose(s)
	case effect.Reopen:
		skip(s, effect.Holds(e, m.now), "already open")
	case effect.Assign:
		e.Logins = m.now.Assignees().NotIn(e.Logins)
		s.Effect = e
		if skip(s, len(e.Logins) == 0, "already assigned") {
			return
		}
		if len(e.Logins) > maxAssignees {
			s.set(triage.Refuse, fmt.Sprintf("at most %d people can be assigned", maxAssignees))
		}
	case effect.Unassign:
		e.Logins = m.now.Assignees().In(e.Logins)
		s.Effect = e
		skip(s, len(e.Logins) == 0, "not assigned")
	case effect.SetMilestone:
		why := "already set"
		if e.Title == "" {
			why = "it has none"
		}
		skip(s, effect.Holds(e, m.now), why)
	case effect.SetType:
		skip(s, effect.Holds(e, m.now), "already set")
	case effect.Lock:
		skip(s, effect.Holds(e, m.now), "already locked")
	case effect.Unlock:
		skip(s, effect.Holds(e, m.now), "not locked")
	case effect.React:
		if s.Answers() && !skip(s, m.commentID == 0, "the event has no comment to react to") {
			e.Comment = m.commentID
			s.Effect = e
		}
	case effect.NeverAgain:
		m.judgeNeverAgain(s, e)
	case effect.AllowAgain, effect.KeepOpen:
	}
}

// skip skips a step if holds is true, and returns holds.
func skip(s *Step, holds bool, why string) bool {
	if holds {
		s.set(triage.Skip, why)
		s.Holds = true
	}
	return holds
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
	case !m.policy.AllowClose:
		s.set(triage.Skip, "closing is not allowed: policy.allow_close (input allow-close) is false")
	case m.now.Open():
	case !m.closed, effect.RecordOnly(s.Effect), effect.Holds(s.Effect, m.now):
		skip(s, true, "already closed")
	default:
		s.Reason = "closed already, as " + m.now.Reason() + ": only the reason changes"
	}
}

// judgeComment checks the keys of a comment, and neutralizes its body.
func (m *Maker) judgeComment(s *Step, e effect.Comment, nth int) {
	e.Nth = nth
	switch {
	case e.Key != "" && !effect.ValidKey(e.Key):
		s.set(triage.Refuse, "key: want letters, digits, '.', '_' and '-', at most 64")
		return
	case e.Once == "":
	case !effect.ValidKey(e.Once):
		s.set(triage.Refuse, "once: want letters, digits, '.', '_' and '-', at most 64")
		return
	}
	once := e.Once
	if s.Source.IsAgent() {
		e.Key, e.Once = effect.AgentKey(e.Key), effect.AgentKey(e.Once)
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
	name, longest := s.Action.Type, m.policy.MaxLength()
	// Neutralizing is expensive, so these checks come first. It shortens a body only by removing
	// invisible characters.
	switch {
	case m.used[name] >= m.limits[name] && (!s.Answers() || m.limits[name] <= 0):
		s.set(triage.Refuse, fmt.Sprintf("policy.limits.%s is %d per event", name, m.limits[name]))
		return e
	case len(e.Body) > 8*longest:
		s.set(triage.Refuse, fmt.Sprintf("the body has %d bytes, policy.comment_length is %d characters", len(e.Body), longest))
		return e
	}
	e.Body = m.policy.Clean(e.Body, s.Source)
	n := utf8.RuneCountInString(e.Body)
	switch {
	case strings.TrimSpace(e.Body) == "":
		s.set(triage.Refuse, "the body is empty after sanitizing")
	case n > longest:
		s.set(triage.Refuse, fmt.Sprintf("the body has %d characters, policy.comment_length is %d", n, longest))
	case !m.mayComment && !s.Answers() && (!m.agentMay || !s.Source.IsAgent()):
		s.set(triage.Skip, "edits, label events and comments are answered only if a rule names that event")
	}
	return e
}

// short formats a duration without trailing units that are zero: 24h, not 24h0m0s.
func short(d time.Duration) string {
	out := d.String()
	for _, zero := range []string{"m0s", "h0m"} {
		if n := len(out) - len(zero); n > 0 && out[n:] == zero {
			out = out[:n+1]
		}
	}
	return out
}
