package policy_test

import (
	"maps"
	"path"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"

	"github.com/org/foreman-action/policy"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/triage"
)

func TestLabelsRefuses(t *testing.T) {
	t.Parallel()
	deny, list, within := "policy.labels.deny has ", "policy.labels.allow does not list it", "policy.labels.allow of the file that is extended does not list it"
	for _, tt := range []struct {
		name   string
		labels policy.Labels
		label  string
		want   string
	}{
		{"no lists", policy.Labels{}, "bug", ""},
		{"allowed", policy.Labels{Allow: []string{"kind/*"}}, "kind/bug", ""},
		{"another case", policy.Labels{Allow: []string{"Kind/*"}}, "kINd/bug", ""},
		{"a long s", policy.Labels{Deny: []string{"secret"}}, "ſecret", deny + "secret"},
		{"full width, denied", policy.Labels{Deny: []string{"dep*"}}, "ｄｅｐ-now", deny + `dep*, and "\uff44\uff45\uff50-now" looks like it`},
		{"a sharp s", policy.Labels{Deny: []string{"pass*"}}, "Paßwort", deny + `pass*, and "Pa\u00dfwort" looks like it`},
		{"the sign for kelvin", policy.Labels{Deny: []string{"key"}}, "\u212Aey", deny + "key"},
		{"over slashes", policy.Labels{Allow: []string{"*bug"}}, "kind/a/bug", ""},
		{"not allowed", policy.Labels{Allow: []string{"kind/*"}}, "docs", list},
		{"none allowed", policy.Labels{Allow: []string{}}, "docs", list},
		{"denied", policy.Labels{Allow: []string{"*"}, Deny: []string{"a", "deploy*"}}, "deploy-now", deny + "deploy*"},
		{"not within", policy.Labels{Allow: []string{"*"}, Within: []string{"kind/*"}}, "docs", within},
		{"none within", policy.Labels{Within: []string{}}, "docs", within},
		{"within", policy.Labels{Allow: []string{"*"}, Within: []string{"kind/*"}}, "kind/docs", ""},
		{"a name is no glob", policy.Labels{Deny: []string{"[deploy] prod"}}, "[Deploy] prod", deny + "[deploy] prod"},
		{"a name with a bracket that stays open", policy.Labels{Deny: []string{"[a"}}, "[a", deny + "[a"},
		{"denied as a glob", policy.Labels{Deny: []string{"[Dd]eploy*", "prod?"}}, "prod1", deny + "prod?, which is a glob until version 2"},
		{"allowed as a name", policy.Labels{Allow: []string{"[Type] Bug"}}, "[Type] Bug", ""},
		{"no longer allowed as a glob", policy.Labels{Allow: []string{"[Dd]ocs*"}}, "docs", list + `; only "*" is special in "[Dd]ocs*"`},
		{"no longer within a glob", policy.Labels{Within: []string{"doc?"}}, "docs", within + `; only "*" is special in "doc?"`},
		{"an accent of its own", policy.Labels{Allow: []string{"café"}, Deny: []string{"thé"}}, "cafe\u0301", ""},
		{"an accent of its own, denied", policy.Labels{Deny: []string{"thé"}}, "the\u0301", deny + "thé"},
		{"a comma at the end", policy.Labels{Deny: []string{"deploy"}}, "deploy,", deny + `deploy, and "deploy," looks like it`},
		{"punctuation at the end of both", policy.Labels{Deny: []string{"question?"}}, "Question!?", deny + `question?, and "Question!?" looks like it`},
		{"an empty pattern of Braille", policy.Labels{Deny: []string{"deploy"}}, "deploy\u2800", deny + `deploy, and "deploy\u2800" looks like it`},
		{"blanks", policy.Labels{Deny: []string{"deploy prod"}}, "\u3164deploy\u2003 pro\u200bd ", deny + `deploy prod, and "\u3164deploy\u2003 pro\u200bd " looks like it`},
		{"a blank before an accent", policy.Labels{Deny: []string{"thé"}}, "the\u200b\u0301", deny + `thé, and "the\u200b\u0301" looks like it`},
		{"a form of an emoji", policy.Labels{Deny: []string{"❤"}}, "❤\ufe0f", deny + `❤, and "\u2764\ufe0f" looks like it`},
		{"a blank that separates words", policy.Labels{Deny: []string{"no *"}}, "note", ""},
		{"another blank that separates words", policy.Labels{Deny: []string{"no *"}}, "no\u2800entry", deny + `no *, and "no\u2800entry" looks like it`},
		{"a longer word", policy.Labels{Deny: []string{"deploy"}}, "deployment", ""},
		{"punctuation within", policy.Labels{Deny: []string{"deploy"}}, "de-ploy", ""},
		{"a mark that everybody sees", policy.Labels{Deny: []string{"C"}}, "C#", ""},
		{"punctuation only", policy.Labels{Deny: []string{"!!", "*!", "\u200b", "-*"}}, "bug?", ""},
		{"50 emoji", policy.Labels{Deny: []string{strings.Repeat("🔥", 50)}}, strings.Repeat("🔥", 50) + "!", deny + strings.Repeat("🔥", 50) + `, and "` + strings.Repeat(`\U0001f525`, 39) + `\u2026" looks like it`},
	} {
		if got := tt.labels.Refuses(tt.label); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
		if got := tt.labels.Allows(tt.label); got != (tt.want == "") {
			t.Errorf("%s: allows is %t", tt.name, got)
		}
		if got := (policy.Policy{Labels: tt.labels}).MayLabel(tt.label); got != (tt.want == "") {
			t.Errorf("%s: the policy permits it: %t", tt.name, got)
		}
	}
}

// deniedBefore is how labels.deny matched names before "*" became the only special character, as it
// was written then. Until version 2 of the configuration, entries deny at least these names.
func deniedBefore(deny []string, name string) bool {
	fold := func(s string) string { return strings.ToLower(strings.ToUpper(s)) }
	looks := func(s string) string { return norm.NFKC.String(cases.Fold().String(norm.NFKC.String(s))) }
	matches := func(glob, name string) bool {
		slash := strings.NewReplacer("/", "\x00")
		ok, err := path.Match(slash.Replace(fold(glob)), slash.Replace(fold(name)))
		return err == nil && ok
	}
	for _, g := range deny {
		if matches(g, name) || matches(looks(g), looks(name)) {
			return true
		}
	}
	return false
}

// TestDeniedFolded denies the label of one letter by Unicode's full case folding of it.
func TestDeniedFolded(t *testing.T) {
	t.Parallel()
	fold := cases.Fold()
	for r := range unicode.MaxRune + 1 {
		name := string(r)
		if folded := fold.String(name); folded != name && (policy.Labels{Deny: []string{folded}}).Refuses(name) == "" {
			t.Errorf("%U: not denied by %q", r, folded)
		}
	}
}

// FuzzDenied looks for a label that was denied before and is not any more, and for an entry that
// does not deny the label with its own name, or the one with a comma after it.
func FuzzDenied(f *testing.F) {
	for _, seed := range [][2]string{
		{"[Dd]eploy*\nprod?", "deploy-now"}, {"[deploy] prod", "d prod"}, {"[^a]/b", "c/b"}, {`a\*`, "a*"}, {`\[x]`, "[x]"},
		{"deploy\n[a-", "ｄｅｐｌｏｙ"}, {"pass?ort*", "Paßwort"}, {"no *\n*!", "no\u2800,"}, {"caf?", "cafe\u0301"}, {"＊-x", "a-x"},
		{"ı", "I"}, {"ſ*", "S"}, {"K", "k"}, {"é,", "e\u0301"}, {"\u2800", ""}, {"\xff?", "\xfea"}, {"[\u200b]", "\u200b"}, {"-*", "-,"},
	} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, entries, name string) {
		labels := policy.Labels{Deny: strings.Split(entries, "\n")}
		why := labels.Refuses(name)
		if why == "" && deniedBefore(labels.Deny, name) {
			t.Errorf("%q no longer denies %q", labels.Deny, name)
		}
		for _, entry := range labels.Deny {
			word := strings.ContainsFunc(entry, unicode.IsDigit) && !strings.Contains(entry, "*")
			if labels.Allows(entry) || word && labels.Allows(entry+",") {
				t.Errorf("%q does not deny %q", labels.Deny, entry)
			}
		}
		if !(policy.Labels{Allow: labels.Deny}).Allows(labels.Deny[0]) {
			t.Errorf("%q does not allow itself", labels.Deny[0])
		}
	})
}

func TestForbids(t *testing.T) {
	t.Parallel()
	agent, rule := triage.Source{}, triage.Source{Rule: "r"}
	for _, tt := range []struct {
		name   string
		policy policy.Policy
		action string
		source triage.Source
		want   string
	}{
		{"zero, a rule", policy.Policy{}, protocol.ActionLock, rule, ""},
		{"zero, an agent", policy.Policy{}, protocol.ActionLock, agent, ""},
		{"zero, a rule may bind itself", policy.Policy{}, protocol.ActionNeverAgain, rule, ""},
		{"zero, an agent may not bind rules", policy.Policy{}, protocol.ActionNeverAgain, agent, "agent.may does not list never_again"},
		{"not permitted", policy.Policy{Actions: []string{protocol.ActionComment}}, protocol.ActionLock, rule, "policy.actions does not list lock"},
		{"none permitted", policy.Policy{Actions: []string{}}, protocol.ActionLock, agent, "policy.actions does not list lock"},
		{"not for agents", policy.Policy{AgentMay: []string{protocol.ActionComment}}, protocol.ActionLock, agent, "agent.may does not list lock"},
		{"for rules all the same", policy.Policy{AgentMay: []string{protocol.ActionComment}}, protocol.ActionLock, rule, ""},
		{"listed for agents", policy.Policy{AgentMay: []string{protocol.ActionNeverAgain}}, protocol.ActionNeverAgain, agent, ""},
		{
			"the policy counts first", policy.Policy{Actions: []string{protocol.ActionComment}, AgentMay: []string{protocol.ActionLock}},
			protocol.ActionLock, agent, "policy.actions does not list lock",
		},
	} {
		if got := tt.policy.Forbids(tt.action, tt.source); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
	}
}

func TestEffectiveLimits(t *testing.T) {
	t.Parallel()
	zero := policy.Policy{}.EffectiveLimits()
	for _, s := range protocol.ActionSpecs() {
		if n := zero[s.Name]; (n > 0) == (s.Name == protocol.ActionAddLabels) {
			t.Errorf("the default limit of %s is %d", s.Name, n)
		}
	}
	want := maps.Clone(zero)
	want[protocol.ActionComment], want[protocol.ActionLock] = 3, 0
	set := map[string]int{protocol.ActionComment: 3, protocol.ActionLock: 0}
	if diff := cmp.Diff(want, policy.Policy{Limits: set}.EffectiveLimits()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if len(set) != 2 {
		t.Errorf("the policy was changed: %v", set)
	}
}

// TestDefaults checks the effective limits for zero, negative and positive numbers.
func TestDefaults(t *testing.T) {
	t.Parallel()
	zero, none := policy.Policy{}, policy.Policy{CommentInterval: -1, MaxComments: -1, MaxWrites: -1, CommentLength: -1, ShadowPeriod: -1}
	some := policy.Policy{CommentInterval: time.Hour, MaxComments: 2, MaxWrites: 3, MaxScanned: 4, CommentLength: 5, ShadowPeriod: time.Minute}
	for _, tt := range []struct {
		name    string
		policy  policy.Policy
		limits  policy.RateLimits
		length  int
		shadow  time.Duration
		scanned int
	}{
		{
			"zero", zero, policy.RateLimits{Interval: 24 * time.Hour, Comments: 30, Writes: 30},
			policy.MaxCommentLength, 14 * 24 * time.Hour, 100,
		},
		{"negative", none, policy.RateLimits{}, policy.MaxCommentLength, 14 * 24 * time.Hour, 100},
		{"set", some, policy.RateLimits{Interval: time.Hour, Comments: 2, Writes: 3}, 5, 24 * time.Hour, 4},
		{
			"too long", policy.Policy{CommentLength: policy.MaxCommentLength + 1, MaxComments: -1, CommentInterval: -1, MaxWrites: -1}, policy.RateLimits{},
			policy.MaxCommentLength, 14 * 24 * time.Hour, 100,
		},
	} {
		p := tt.policy
		if got := p.RateLimits(); got != tt.limits {
			t.Errorf("%s: got %+v, want %+v", tt.name, got, tt.limits)
		}
		if p.MaxLength() != tt.length || p.ShadowTime() != tt.shadow || p.Scanned() != tt.scanned {
			t.Errorf("%s: got %d, %s, %d", tt.name, p.MaxLength(), p.ShadowTime(), p.Scanned())
		}
	}
}

func TestClean(t *testing.T) {
	t.Parallel()
	const space = "\u200b" // makes a mention inert
	var (
		agent, rule, command = triage.Source{}, triage.Source{Rule: "r"}, triage.Source{Command: "why"}
		some                 = policy.Policy{Mentions: []string{"octo-*"}, Links: []string{"*.example.org"}}
		none                 = policy.Policy{Links: []string{}}
	)
	for _, tt := range []struct {
		name   string
		policy policy.Policy
		source triage.Source
		body   string
		want   string
	}{
		{"a rule is trusted", none, rule, "@mona see https://a.example.com", "@mona see https://a.example.com"},
		{"not with control characters", none, rule, "a\x00b", "ab"},
		{"mentions of an agent", policy.Policy{}, agent, "@mona", "@" + space + "mona"},
		{"permitted mentions", some, agent, "@octo-cat @mona", "@octo-cat @" + space + "mona"},
		{"mentions of a command", some, command, "@octo-cat", "@" + space + "octo-cat"},
		{"all links", policy.Policy{}, agent, "https://a.example.com", "https://a.example.com"},
		{"permitted links", some, agent, "https://a.example.org", "https://a.example.org"},
		{"no links", none, agent, "https://a.example.org", "`a.example.org`"},
		{"other links", some, agent, "https://a.example.com", "`a.example.com`"},
		{"a dotless i", policy.Policy{Links: []string{"github.com"}}, agent, "https://g\u0131thub.com", "`g\u0131thub.com`"},
		{"a host beyond ASCII", policy.Policy{Links: []string{"Bücher.example"}}, agent, "https://BÜCHER.example/x", "https://BÜCHER.example/x"},
		{"a host in Punycode", policy.Policy{Links: []string{"*.bücher.example"}}, agent, "https://a.xn--bcher-kva.example", "https://a.xn--bcher-kva.example"},
		{"a wildcard beyond ASCII", policy.Policy{Links: []string{"ü*.example"}}, agent, "https://üb.example", "`üb.example`"},
		{"other addresses of mail", some, agent, "mailto:a@example.com b@a.example.org", "mailto:a@" + space + "example.com b@a.example.org"},
		{"links of a command", none, command, "https://a.example.com", "https://a.example.com"},
	} {
		if got := tt.policy.Clean(tt.body, tt.source); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
	}
}
