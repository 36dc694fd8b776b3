package memory

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/org/foreman-action/internal/order"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/triage"
)

// A Task is one task and its results.
type Task struct {
	ID    string    `json:"id"`
	At    time.Time `json:"at"`    // time of the decision; UTC
	Event string    `json:"event"` // such as "issues.opened"
	// Decision is the type of the decision on it.
	Decision protocol.DecisionType `json:"decision"`
	// Rationale is the decider's own text. It is untrusted and never shown to an agent.
	Rationale string   `json:"rationale,omitempty"`
	By        string   `json:"by"`     // "rules", the agent's address, both of them, or ByTimeline
	Status    string   `json:"status"` // how the run ended, such as "applied"
	Actions   []Action `json:"actions"`
}

// ByTimeline is the decider of a task that was rebuilt from GitHub's timeline: either the rules
// or an agent, but it is unknown which.
const ByTimeline = "timeline"

// An Action is one action of a task and its result.
type Action struct {
	Index int    `json:"index"` // in the decision, from 0
	Type  string `json:"type"`  // such as protocol.ActionAddLabel
	// Values are the parameters of the action: labels, logins, a closing reason, a milestone's
	// title, an issue type, a reaction, or the number of the original issue. They never contain
	// free text such as a comment's body.
	Values []string `json:"values,omitempty"`
	// Rule is the id of the rule that asked for the action; empty: an agent. It is "/undo" or
	// another command for a person's command, and "<id>/else_undo" for a rule that reverts its
	// own action.
	Rule string `json:"rule,omitempty"`
	// Pair is the source of the action's track record, from [RuleSource] or [AgentSource]; empty: it has
	// none, or an earlier version wrote the record.
	Pair    string         `json:"pair,omitempty"`
	Verdict triage.Verdict `json:"verdict,omitempty"` // the policy's answer
	// Result is the progress of the action: any state but trying. It is planned if shadow mode suppressed
	// the action. Records may contain any other
	// word of up to 512 bytes, such as "unknown" or a word of another version. Such an action
	// counts as not carried out.
	Result triage.State `json:"result"`
	Reason string       `json:"reason,omitempty"` // why it was not done, or a warning
	URL    string       `json:"url,omitempty"`    // address of the result
	// Hash is the HashAction of the action as it was decided; empty: unknown.
	Hash string `json:"hash,omitempty"`
}

// Suppressed reports whether shadow mode only planned the actions of the task, so that it changed nothing.
func (t Task) Suppressed() bool {
	return len(t.Actions) > 0 && !slices.ContainsFunc(t.Actions, func(a Action) bool { return a.Result != triage.Planned })
}

// NewAction returns the record of an action with its index, type, values and hash filled in. The
// values of a known type of action are its parameters, except Markdown, the key of a sticky
// comment, and the grace period and vetoes of a close. An unknown type has no values.
func NewAction(index int, item protocol.ActionItem) Action {
	a := Action{Index: index, Type: item.Type, Hash: HashAction(item)}
	spec, _ := protocol.SpecOf(item.Type)
	for _, p := range spec.Params {
		switch {
		case p.Kind == protocol.KindMarkdown, p.Unrecorded:
		case p.Kind == protocol.KindInt:
			if n, ok, err := item.Int(p.Name); ok && err == nil {
				a.Values = append(a.Values, strconv.FormatInt(n, 10))
			}
		default:
			list, _, _ := item.Texts(p.Name)
			a.Values = append(a.Values, list...)
		}
	}
	return a
}

// check verifies the bounds of a task.
func (t Task) check() error {
	switch {
	case !storable(t.At):
		return errors.New("the time is out of range")
	case !short(t.ID, t.Event, string(t.Decision), t.By, t.Status) || stored(t.Rationale) > maxText:
		return errTooLong
	case len(t.Actions) > maxMerged:
		return fmt.Errorf("%d actions, more than %d", len(t.Actions), maxMerged)
	}
	for _, a := range t.Actions {
		switch {
		case a.Index < 0 || a.Index > maxCount:
			return fmt.Errorf("action index %d is out of range", a.Index)
		case !short(a.Type, a.Rule, string(a.Verdict), string(a.Result), a.Reason, a.URL, a.Hash) || !short(a.Values...) || !within(maxPair, a.Pair):
			return errTooLong
		case len(a.Values) > maxValues:
			return fmt.Errorf("action %d has %d values, more than %d", a.Index, len(a.Values), maxValues)
		}
	}
	return nil
}

var errTooLong = errors.New("a text is too long")

// clipTask returns a copy of t within its bounds, with at most the given number of actions.
func clipTask(t Task, actions int) Task {
	t.At, t.Decision = clipTime(t.At), protocol.DecisionType(clip(string(t.Decision), maxShort))
	t.ID, t.Event, t.By, t.Status = clip(t.ID, maxShort), clip(t.Event, maxShort), clip(t.By, maxShort), clip(t.Status, maxShort)
	t.Rationale = clip(t.Rationale, maxText)
	t.Actions = clipActions(t.Actions, actions)
	for i, a := range t.Actions {
		a.Index = min(max(a.Index, 0), maxCount)
		a.Type, a.Rule, a.Pair = clip(a.Type, maxShort), clip(a.Rule, maxShort), clip(a.Pair, maxPair)
		a.Verdict, a.Result = triage.Verdict(clip(string(a.Verdict), maxShort)), triage.State(clip(string(a.Result), maxShort))
		a.Reason, a.URL = clip(a.Reason, maxShort), clip(a.URL, maxShort)
		a.Values, a.Hash = clipAll(a.Values), clip(a.Hash, maxShort)
		t.Actions[i] = a
	}
	return t
}

// clipActions returns a copy of at most n actions, in their order. It first keeps the comments
// that were posted, because a record must not lose them, and then other actions that were carried
// out.
func clipActions(list []Action, n int) []Action {
	if len(list) <= n {
		return slices.Clone(list)
	}
	keep := make([]bool, len(list))
	for rank := range 3 {
		for i, a := range list {
			if n > 0 && a.rank() == rank {
				keep[i] = true
				n--
			}
		}
	}
	var out []Action
	for i, a := range list {
		if keep[i] {
			out = append(out, a)
		}
	}
	return out
}

// rank returns how dispensable an action is, from 0 for a posted comment to 2 for an action that
// was not carried out.
func (a Action) rank() int {
	switch {
	case a.Result != triage.Done:
		return 2
	case !isComment(a.Type):
		return 1
	}
	return 0
}

// mergeActions merges the actions of two attempts at one task into at most maxMerged actions. An
// action that the earlier attempt carried out stays done.
func mergeActions(old, new []Action) []Action {
	var out []Action
	for _, o := range old {
		if o.Result == triage.Done && !slices.ContainsFunc(new, func(n Action) bool { return n.Result == triage.Done && same(n, o) }) {
			out = append(out, o)
		}
	}
	kept := len(out)
	for _, n := range new {
		before := slices.ContainsFunc(out[:kept], func(o Action) bool { return o.Index == n.Index && o.Type == n.Type })
		if n.Result == triage.Done || !before {
			out = append(out, n)
		}
	}
	order.Stable(out, func(a, b Action) int { return cmp.Compare(a.Index, b.Index) })
	return clipActions(out, maxMerged)
}

// same reports whether two attempts mean the same action.
func same(a, b Action) bool {
	return a.Index == b.Index && a.Type == b.Type && slices.Equal(a.Values, b.Values)
}

// isComment reports whether an action of the type leaves a comment.
func isComment(typ string) bool {
	spec, _ := protocol.SpecOf(typ)
	return spec.Posts()
}

// HashAction returns 16 hexadecimal digits that identify an action: the start of the SHA-256 of
// its canonical JSON, which has sorted keys and no spaces. Differently formatted JSON of the same
// action gives the same hash. Numbers are compared as text, so 7 and 7.0 differ.
func HashAction(item protocol.ActionItem) string {
	sum := sha256.Sum256(canonical(item))
	return hex.EncodeToString(sum[:8])
}

// canonical returns the canonical JSON of an action. If a key is repeated, its last value counts,
// as when the action is carried out.
func canonical(item protocol.ActionItem) []byte {
	data, err := item.MarshalJSON()
	if err != nil {
		// An action that was decoded from JSON never gets here.
		return []byte(item.Type)
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil {
		return data
	}
	form, err := protocol.Encode(v)
	if err != nil {
		return data
	}
	return form
}

// The kinds of sources of a track record, with which Pair begins in [Action], [Proposal],
// [ScheduledClose] and [Entry].
const (
	ruleSource  = "rule:"
	agentSource = "agent:"
)

const (
	maxPair         = 128 // bytes of a Pair
	maxAgentName    = 50  // bytes of an agent's name in a Pair
	maxAgentVersion = 64  // bytes of an agent's version in a Pair
)

// RuleSource returns the source of the track record of a rule's action: "rule:" and the digest, which is
// as in [triage.Source]. It is empty for an empty digest.
func RuleSource(digest string) string {
	if digest == "" {
		return ""
	}
	return ruleSource + digest
}

// SourceDigest is the inverse of [RuleSource]; empty for any other text.
func SourceDigest(pair string) string {
	digest, ok := strings.CutPrefix(pair, ruleSource)
	if !ok {
		return ""
	}
	return digest
}

// AgentSource returns the source of the track record of an agent: "agent:" and its name in lower case,
// with "@" and its version, if there is one. It is empty for an agent without a name. Long names and
// versions are cut, and characters other than ASCII letters, digits and punctuation are replaced.
func AgentSource(name, version string) string {
	if name == "" {
		return ""
	}
	pair := agentSource + sourceWord(strings.ToLower(name), maxAgentName)
	if version != "" {
		pair += "@" + sourceWord(version, maxAgentVersion)
	}
	return pair
}

// sourceWord returns a name or a version as a part of a source, which is printed and compared.
func sourceWord(s string, most int) string {
	s = strings.Map(func(r rune) rune {
		if r <= ' ' || r > '~' || r == '@' {
			return '-'
		}
		return r
	}, s)
	return s[:min(len(s), most)]
}
