package policy

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/org/foreman-action/internal/text"
	"github.com/org/foreman-action/internal/wilson"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/triage"
)

// An Earn contains how an action earns the permission to be carried out, if [Policy.Earned] demands it. The
// zero value has the defaults.
type Earn struct {
	// Bound and Of are the proof that an action needs; see [Threshold]. 0 means the default of its field.
	// Closing an issue, marking it as a duplicate and locking it need at least the defaults of these
	// actions, unless Actions has them.
	Bound float64
	Of    int
	// Actions are the proofs that some types of actions need, by type; add_labels counts as add_label. A field that is 0 has the value for
	// other actions.
	Actions map[string]Threshold
	// Trust are the sources whose actions need no proof, in the form of [ParseTrusted], and Distrust those
	// whose actions are always proposed. Distrust goes before Trust.
	Trust, Distrust []string
	// Reset are days from which outcomes count, at midnight UTC, by sources: the id of a rule, or "agent:"
	// and the name of an agent. Earlier outcomes do not count.
	Reset map[string]time.Time
	// Evidence is the path of the file with the results of replays, in the repository; empty: none.
	Evidence string
}

// A Threshold is the proof that an action needs: at least Of judged outcomes, and at least Bound as the
// lower end of the 95 % confidence interval of the share of right ones.
type Threshold struct {
	Bound float64 // from 0 to less than 1
	Of    int     // from 1
}

// Flawless returns how many outcomes reach the threshold if all of them are right.
func (t Threshold) Flawless() int { return max(t.Of, wilson.Flawless(t.Bound)) }

// defaultThreshold returns the default proof for actions of a type. Closing and locking hide an issue from
// its author and from others, so they need more.
func defaultThreshold(action string) Threshold {
	if IsGrave(action) {
		return Threshold{0.95, 60}
	}
	return Threshold{0.85, 20}
}

// IsGrave reports whether an action of the type closes or locks an issue. Such an action needs more proof, and no
// record in a store that other programs can write proves it.
func IsGrave(action string) bool {
	spec, _ := protocol.SpecOf(action)
	return spec.Closes() || action == protocol.ActionLock
}

// The bounds of settings, and a default.
const (
	MinBound = 0.5
	MaxBound = 0.999 // 2,703 outcomes without a mistake
	MaxOf    = 10_000

	MinJudgeAfter = 24 * time.Hour
	MaxJudgeAfter = 90 * 24 * time.Hour

	MaxJudgeReads     = 1000
	defaultJudgeReads = 200
)

// Threshold returns the proof that actions of a type need.
func (p Policy) Threshold(action string) Threshold {
	otherwise := defaultThreshold(action)
	if IsGrave(action) {
		otherwise.Bound, otherwise.Of = max(otherwise.Bound, p.Earn.Bound), max(otherwise.Of, p.Earn.Of)
	} else {
		otherwise.Bound, otherwise.Of = set(p.Earn.Bound, otherwise.Bound), set(p.Earn.Of, otherwise.Of)
	}
	own := p.Earn.Actions[limitName(action)]
	return Threshold{min(set(own.Bound, otherwise.Bound), MaxBound), min(set(own.Of, otherwise.Of), MaxOf)}
}

// set returns a value, or another one if it is not set.
func set[N int | float64 | time.Duration](n, otherwise N) N {
	if n <= 0 {
		return otherwise
	}
	return n
}

// Trusted reports whether an action needs no proof. source is the id of a rule, or "agent:" and the name of
// an agent. value is that of the track record, such as the label; empty: none.
func (p Policy) Trusted(source, action, value string) bool {
	return lists(p.Earn.Trust, source, action, value) && !p.Distrusted(source, action, value)
}

// Distrusted reports whether an action is always proposed, whatever its proof. The parameters are those of
// [Policy.Trusted].
func (p Policy) Distrusted(source, action, value string) bool {
	return lists(p.Earn.Distrust, source, action, value)
}

func lists(entries []string, source, action, value string) bool {
	return slices.ContainsFunc(entries, func(e string) bool { return ParseTrusted(e).matches(source, action, value) })
}

// ResetAt returns the time from which outcomes of a source count; the zero time: all count. The source is
// as in [Policy.Trusted].
func (p Policy) ResetAt(source string) time.Time {
	for _, name := range slices.Sorted(maps.Keys(p.Earn.Reset)) {
		if sameSource(name, source) {
			return p.Earn.Reset[name]
		}
	}
	return time.Time{}
}

// JudgeTime returns how long after an action its outcome is judged: JudgeAfter, or else the time of shadow
// mode, from a day to 90 days.
func (p Policy) JudgeTime() time.Duration { return judgeTime(set(p.JudgeAfter, p.ShadowTime())) }

// ShadowTime returns how long people have to take an action that shadow mode planned, from a day to 90 days.
func (p Policy) ShadowTime() time.Duration {
	return judgeTime(set(p.ShadowPeriod, defaultShadowPeriod))
}

func judgeTime(d time.Duration) time.Duration { return min(max(d, MinJudgeAfter), MaxJudgeAfter) }

// Reads returns how many calls of GitHub a scheduled run may make to judge outcomes.
func (p Policy) Reads() int { return min(set(p.JudgeReads, defaultJudgeReads), MaxJudgeReads) }

// AgentPrefix begins the name of an agent in [Earn].
const AgentPrefix = "agent:"

// SourceOf returns the name of the source of a track record, as [Earn] lists it: the id of the rule, or AgentPrefix
// and the name of the agent without its version. pair is the source in the record, and rule the name of
// the rule there.
func SourceOf(pair, rule string) string {
	if name, ok := strings.CutPrefix(pair, AgentPrefix); ok {
		name, _, _ = strings.Cut(name, "@")
		return AgentPrefix + name
	}
	return triage.ParseSource(rule).Rule
}

// A Trusted is an entry of Trust or Distrust.
type Trusted struct {
	Source string // the id of a rule, or AgentPrefix and the name of an agent
	Action string // type of action; empty: every type
	Value  string // such as a label, in any case; empty: every value
}

// ParseTrusted reads an entry: a source, optionally followed by "/" and the type of an action, and then by
// "/" and a value, which may contain a "/". It does not check whether the source and the type exist.
func ParseTrusted(entry string) Trusted {
	parts := append(strings.SplitN(entry, "/", 3), "", "")
	return Trusted{parts[0], parts[1], parts[2]}
}

// matches reports whether an entry lists an action. Entries with the fields of another entry match it if
// they list all that the other one lists.
func (t Trusted) matches(source, action, value string) bool {
	return sameSource(t.Source, source) && (t.Action == "" || limitName(t.Action) == limitName(action)) &&
		(t.Value == "" || text.SameLabel(t.Value, value))
}

// sameSource compares two sources. The names of agents have no case.
func sameSource(a, b string) bool {
	return a == b || strings.HasPrefix(a, AgentPrefix) && strings.EqualFold(a, b)
}
