package semver

import (
	"slices"
	"strings"
	"testing"
)

func TestParseVersion(t *testing.T) {
	t.Parallel()
	tests := []struct{ in, want string }{
		{"1.2.3", "1.2.3"},
		{" v1.2.3\n", "1.2.3"},
		{"V1", "1.0.0"},
		{"1.2", "1.2.0"},
		{"0.0.4", "0.0.4"},
		{"1.1.2-prerelease+meta", "1.1.2-prerelease"},
		{"1.1.2+meta-valid", "1.1.2"},
		{"1.0.0-alpha0.valid", "1.0.0-alpha0.valid"},
		{"1.0.0-0A.is.legal", "1.0.0-0A.is.legal"},
		{"1.0.0--", "1.0.0--"},
		{"2.0.1-alpha.1227", "2.0.1-alpha.1227"},
		{"1.0.0+0.build.1-rc.10000aaa-kk-0.1", "1.0.0"},
		{"1.2.3----RC-SNAPSHOT.12.9.1--.12", "1.2.3----RC-SNAPSHOT.12.9.1--.12"},
		{"999999999999999999.0.0", "999999999999999999.0.0"},
		{"1000000000000000000.0.0", ""},
		{"", ""},
		{"v", ""},
		{"vv1", ""},
		{"1.", ""},
		{".1", ""},
		{"1.2.3.4", ""},
		{"01.1.1", ""},
		{"1.01.1", ""},
		{"1.2-rc.1", ""},
		{"1+build", ""},
		{"1.2.3-", ""},
		{"1.2.3+", ""},
		{"1.2.3-01", ""},
		{"1.2.3-a..b", ""},
		{"1.2.3-a_b", ""},
		{"1.2.3-é", ""},
		{"1.2.3+a+b", ""},
		{"+1.2.3", ""},
		{"-1.2.3", ""},
		{"1.2.x", ""},
		{"1.2.3 or so", ""},
		{"１.2.3", ""},
		{"1.2.3-" + strings.Repeat("a", 250), "1.2.3-" + strings.Repeat("a", 250)},
		{"1.2.3-" + strings.Repeat("a", 251), ""},
	}
	for _, tt := range tests {
		v, ok := Parse(tt.in)
		if got := v.String(); ok != (tt.want != "") || ok && got != tt.want {
			t.Errorf("parseVersion(%q): got %s %v, want %q", tt.in, got, ok, tt.want)
		}
	}
}

// The list is in the order of precedence. Its first nine versions are the examples in Semantic
// Versioning 2.0.0, item 11.
func TestVersionOrder(t *testing.T) {
	t.Parallel()
	order := []string{
		"1.0.0-alpha", "1.0.0-alpha.1", "1.0.0-alpha.beta", "1.0.0-beta", "1.0.0-beta.2", "1.0.0-beta.11", "1.0.0-rc.1", "1.0.0",
		"2.0.0", "2.1.0", "2.1.1", "2.1.10", "2.10.0-0", "2.10.0-99999999999999999999", "2.10.0-100000000000000000000", "2.10.0-A", "2.10.0-a", "2.10.0", "10.0.0",
	}
	for i, a := range order {
		for j, b := range order {
			v, _ := Parse(a)
			w, _ := Parse(b + "+build")
			want := 0
			if i < j {
				want = -1
			} else if i > j {
				want = 1
			}
			if got := v.compare(w); got != want {
				t.Errorf("%s to %s: got %d, want %d", a, b, got, want)
			}
		}
	}
}

func TestConstraints(t *testing.T) {
	t.Parallel()
	tests := []struct{ Constraint, in, out string }{
		{"< 2.0.0", "0.0.0 1.99.99 2.0.0-rc.1", "2.0.0 2.0.1 10.0.0"},
		{"<=2.0.0", "2.0.0 2.0.0-rc.1", "2.0.1"},
		{"> 2.0.0", "2.0.1 3.0.0-rc.1", "2.0.0 2.0.0-rc.1"},
		{">= 2.0.0", "2.0.0 2.0.1-rc.1", "2.0.0-rc.1 1.9.9"},
		{">=2", "2.0.0 2.0.1", "1.9.9"},
		{"< 1.4", "1.3.9", "1.4.0"},
		{"1.2.3", "1.2.3 v1.2.3+b", "1.2.4 1.2.3-rc.1"},
		{"= 1.2.3", "1.2.3", "1.2.4"},
		{"==1.2.3", "1.2.3", "1.2.4"},
		{"!= 1.2.3", "1.2.4 1.2.3-rc.1", "1.2.3"},
		{"^1.2.3", "1.2.3 1.9.0 1.99.99", "1.2.2 2.0.0 2.0.0-rc.1 1.2.3-rc.1"},
		{"^1.2.3-rc.1", "1.2.3-rc.1 1.2.3-rc.2 1.2.3", "1.2.3-beta 2.0.0"},
		{"^0.2.3", "0.2.3 0.2.9", "0.3.0 0.2.2 1.0.0"},
		{"^0.0.3", "0.0.3", "0.0.4 0.0.2 0.1.0"},
		{"^0.0", "0.0.0 0.0.9", "0.1.0"},
		{"^0", "0.0.0 0.9.9", "1.0.0"},
		{"^1", "1.0.0 1.9.9", "2.0.0 0.9.9"},
		{"~1.2.3", "1.2.3 1.2.99", "1.3.0 1.3.0-0 1.2.2"},
		{"~1.2", "1.2.0 1.2.9", "1.3.0"},
		{"~1", "1.0.0 1.9.9", "2.0.0"},
		{"~0.0.1", "0.0.1 0.0.9", "0.1.0"},
		{">= 1.2.0, < 2.0.0", "1.2.0 1.9.9", "1.1.9 2.0.0"},
		{">=1.2.0 <2.0.0", "1.2.0 1.9.9", "1.1.9 2.0.0"},
		{">=1.2.0<2.0.0", "1.2.0 1.9.9", "1.1.9 2.0.0"},
		{" ,>= 1.2.0 ,, !=1.5.0 , ", "1.2.0 1.5.1", "1.5.0"},
		{"^1.4 || ~3.1.0||5.0.0", "1.4.0 1.9.9 3.1.9 5.0.0", "1.3.9 2.0.0 3.2.0 5.0.1"},
	}
	for _, tt := range tests {
		c, err := ParseConstraint(tt.Constraint)
		if err != nil {
			t.Errorf("%q: %v", tt.Constraint, err)
			continue
		}
		for _, s := range strings.Fields(tt.in + " | " + tt.out) {
			v, ok := Parse(s)
			if ok && c.Allows(v) != slices.Contains(strings.Fields(tt.in), s) {
				t.Errorf("%q allows %s: got %v", tt.Constraint, s, c.Allows(v))
			}
		}
	}
}

func TestBadConstraints(t *testing.T) {
	t.Parallel()
	tests := []struct{ in, want string }{
		{"", `semver cannot read ""`},
		{" , ", `semver cannot read`},
		{"||", `semver cannot read "||"`},
		{"1.0.0 ||", `semver cannot read "1.0.0 ||"`},
		{"1.0.0 | 2.0.0", `semver cannot read "|"`},
		{">", `semver cannot read ">"`},
		{"> >1.0.0", `semver cannot read ">"`},
		{"newest", `semver cannot read "newest"`},
		{"1.x", `semver cannot read "1.x"`},
		{"*", `semver cannot read "*"`},
		{"=1.2", "leaves open which of 1.2.x is meant"},
		{"1", "leaves open which of 1.x is meant"},
		{"!=1", "leaves open which"},
		{"<=1.2", "leaves open which"},
		{">1.2", "leaves open which"},
		{"=>1.2.0", "semver has no operator =>"},
		{"~>1.2.0", "semver has no operator ~>"},
		{"<>1.2.0", "semver has no operator <>"},
		{strings.Repeat("<1 ", 86), "at most 256 are allowed"},
	}
	for _, tt := range tests {
		if _, err := ParseConstraint(tt.in); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%q: got %v, want %q", tt.in, err, tt.want)
		}
	}
}

// FuzzSemver checks that a parsed version, printed and parsed again, stays the same, and that the
// order is total.
func FuzzSemver(f *testing.F) {
	f.Add("1.2.3-rc.1+b", "1.2", ">= 1.2.0, < 2.0.0 || ^3.1 ~1 !=1.0.0")
	f.Add("v0.0.0-0.a", "1.0.0--", "=1.2.3<2")
	f.Fuzz(func(t *testing.T, a, b, constraint string) {
		v, ok := Parse(a)
		w, ok2 := Parse(b)
		if ok {
			if again, ok := Parse(v.String()); !ok || again.compare(v) != 0 {
				t.Errorf("%q: read as %s, and then as %s %v", a, v, again, ok)
			}
		}
		if ok && ok2 && v.compare(w) != -w.compare(v) {
			t.Errorf("%s and %s: %d and %d", v, w, v.compare(w), w.compare(v))
		}
		c, err := ParseConstraint(constraint)
		if err != nil {
			if len(err.Error()) > 300 {
				t.Errorf("the error has %d bytes", len(err.Error()))
			}
			return
		}
		c.Allows(v)
		c.Allows(w)
		if caret, err := ParseConstraint("^" + a); ok && err == nil && !caret.Allows(v) {
			t.Errorf("^%s leaves %s out", a, v)
		}
	})
}
