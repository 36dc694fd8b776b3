package policy

import (
	"encoding/json"
	"flag"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gopkg.in/yaml.v3"

	"github.com/org/foreman-action/internal/testkit/golden"
	"github.com/org/foreman-action/internal/text"
)

var update = flag.Bool("update", false, "rewrite the expected parts of the files in testdata")

// section parses one part of a test case.
func section(t *testing.T, src []byte) Section {
	t.Helper()
	var s struct {
		Section `yaml:",inline"`
		May     []string `yaml:"agent_may"`
	}
	if err := yaml.Unmarshal(src, &s); err != nil {
		t.Fatal(err)
	}
	s.AgentMay = s.May
	return s.Section
}

// TestTighten merges the parts "theirs" and "mine" of every case in testdata/tighten. It also
// merges each part with itself and with an empty one, which must not change the part.
func TestTighten(t *testing.T) {
	t.Parallel()
	golden.Each(t, "testdata/tighten", *update, func(t *testing.T, c *golden.Case) {
		theirs, mine := section(t, c.Get("theirs")), section(t, c.Get("mine"))
		got, looser := Tighten(theirs, mine)
		c.Want(t, "want", show(t, got, looser))
		for _, s := range []Section{theirs, mine} {
			want := s.Policy()
			same, found := Tighten(s, s)
			if same.Labels.Within = nil; len(found) > 0 {
				t.Errorf("with itself: got %+v", found)
			}
			above, _ := Tighten(s, Section{})
			below, _ := Tighten(Section{}, s)
			if diff := cmp.Diff([]Policy{want, want, want}, []Policy{same, above, below}); diff != "" {
				t.Errorf("with itself, above nothing, below nothing (-want +got):\n%s", diff)
			}
		}
	})
}

// show prints the non-zero fields of a policy, and the ignored values.
func show(t *testing.T, p Policy, looser []Loosening) string {
	t.Helper()
	var b strings.Builder
	v := reflect.ValueOf(p)
	for f, field := range v.Fields() {
		if field.IsZero() {
			continue
		}
		data, err := json.Marshal(field.Interface())
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "%s %s\n", f.Name, data)
	}
	for _, l := range looser {
		if l.Counts != "" {
			fmt.Fprintf(&b, "looser: %s, %s counts\n", l.Field, l.Counts)
			continue
		}
		fmt.Fprintf(&b, "looser: %s[%d] %s\n", l.Field, l.Index, l.Item)
	}
	return b.String()
}

// TestCovered accepts a glob only if the other glob matches all of its names.
func TestCovered(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		glob, other string
		want        bool
	}{
		{"kind/*", "kind/bug", true}, {"kind/*", "KIND/b*", true}, {"kind/*", "kind/?", true}, {"*", "a/b", true},
		{"kind/bug", "Kind/Bug", true}, {"a[bc]", "a[bc]", true}, {"a?", "a?", true}, {"*b*", "ab?", true},
		{"kind/bug", "kind/*", false}, {"kind/?", "kind/*", false}, {"kind/b*", "kind/*", false}, {"*]", "[a]", false},
		{"*b-c*", "[b-c]x", false}, {"a[bc]", "ab", false}, {`a\*`, "a*", false}, {"area/*", "kind/a", false}, {"*b", "*a", false},
	} {
		if got := covered([]string{"other", c.glob}, c.other, coversGlob); got != c.want {
			t.Errorf("%s covers %s: got %t", c.glob, c.other, got)
		}
	}
}

// TestCoveredLabels is TestCovered for patterns of labels, in which only "*" is special.
func TestCoveredLabels(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		pattern, other string
		want           bool
	}{
		{"kind/*", "kind/bug", true}, {"kind/*", "KIND/b*", true}, {"[Type] *", "[Type] Bug", true}, {"*?", "a?", true}, {`a\*`, `a\b`, true},
		{"kind/bug", "kind/*", false}, {"a?", "ab", false}, {"a[bc]", "ab", false}, {"*b", "*a", false}, {"a*b", "a*", false},
	} {
		if got := covered([]string{"other", c.pattern}, c.other, text.MatchLabel); got != c.want {
			t.Errorf("%s covers %s: got %t", c.pattern, c.other, got)
		}
	}
}

// FuzzTighten looks for a label or a login that the merged policy permits and one of the two
// does not.
func FuzzTighten(f *testing.F) {
	f.Add("kind/*,area/?", "*,area/*,kind/bug", "kind/bug")
	f.Add("a[bc],ſ", `a\*,S`, "ab")
	f.Add("*b-c*", "[b-c]x", "bx")
	f.Add("", "*", "a")
	f.Fuzz(func(t *testing.T, theirs, mine, name string) {
		globs := func(s string) Section {
			list := strings.Split(s, ",")
			return Section{Mentions: list, Labels: &Labels{Allow: list}}
		}
		merged, _ := Tighten(globs(theirs), globs(mine))
		both := globs(theirs).Policy().MayLabel(name) && globs(mine).Policy().MayLabel(name)
		if got := merged.MayLabel(name); got != both {
			t.Errorf("the label %q: permitted %t, by both %t", name, got, both)
		}
		_, byTheirs := Match(globs(theirs).Mentions, name)
		_, byMine := Match(globs(mine).Mentions, name)
		if _, ok := Match(merged.Mentions, name); ok && (!byTheirs || !byMine) {
			t.Errorf("%q matches one of %q", name, merged.Mentions)
		}
	})
}
