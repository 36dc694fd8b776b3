package rules

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
	"gopkg.in/yaml.v3"

	"github.com/org/foreman-action/rules/facts"
	"github.com/org/foreman-action/triage"
)

// TestDigests compares the digests of the rule files of each archive in testdata/digest. The file want
// has a letter for each action of each rule, and for the reversals of rules that have any: equal letters
// stand for equal digests.
func TestDigests(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/digest/*.txtar")
	if err != nil || len(files) < 5 {
		t.Fatalf("%d archives: %v", len(files), err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			ar, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			letters := map[string]string{}
			var got strings.Builder
			var want string
			for _, f := range ar.Files {
				if f.Name == "want" {
					want = string(f.Data)
					continue
				}
				got.WriteString(f.Name + ":")
				for _, d := range digestsOf(t, compiledFrom(t, f.Data)) {
					if letters[d] == "" {
						letters[d] = string(rune('A' + len(letters)))
					}
					got.WriteString(" " + letters[d])
				}
				got.WriteString("\n")
			}
			if diff := cmp.Diff(want, got.String()); diff != "" {
				t.Errorf("want and got differ (-want +got):\n%s", diff)
			}
		})
	}
}

// The digests are stored for a year. A change of their form starts every track record anew.
func TestDigestsStay(t *testing.T) {
	t.Parallel()
	ar, err := txtar.ParseFile("testdata/digest/names.txtar")
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"a04646981f5884fa", "3dbb5eddc9466061", "4e7ad8a5b5c3bfa6", "23920d819f67c10a"}
	if diff := cmp.Diff(want, digestsOf(t, compiledFrom(t, ar.Files[0].Data))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Decide returns the digest of the entry that planned each action, also of two entries of one type.
func TestDecideReturnsDigests(t *testing.T) {
	t.Parallel()
	set := compiledFrom(t, []byte(`
version: 1
rules:
  - {id: a, on: issues.opened, then: [{add_label: "{{ event.name }}"}, {assign: "filter(issue.assignees, # == '')"}, {add_label: "{{ issue.title }}"}, {add_label: "{{ event.action }}"}]}
  - {id: b, on: issues.edited, then: [lock]}
`))
	r, err := set.Decide(t.Context(), facts.Facts{Issue: triage.Issue{Number: 1}, Event: triage.Event{Name: "issues", Action: "opened"}})
	if err != nil {
		t.Fatal(err)
	}
	of := digestsOf(t, set)
	if diff := cmp.Diff([]string{of[0], of[3]}, r.Digests); diff != "" {
		t.Errorf("actions (-want +got):\n%s", diff)
	}
	if len(r.Skipped) != 2 || r.Skipped[0].Digest != of[1] || r.Skipped[1].Digest != of[2] {
		t.Errorf("skipped %v, want the second and the third entry, with %v", r.Skipped, of[1:3])
	}
	if diff := cmp.Diff(of, set.compiled().Digests()); diff != "" {
		t.Errorf("all of the set (-want +got):\n%s", diff)
	}
	if undo := set.compiled().UndoDigest("a"); undo == "" || slices.Contains(of, undo) || set.compiled().UndoDigest("none") != "" {
		t.Errorf("the digest of the reversals of a is %q", undo)
	}
}

// FuzzDigest checks that no other form of a rule file changes a digest.
func FuzzDigest(f *testing.F) {
	for _, pattern := range []string{"digest", "ok", "cases"} {
		files, err := filepath.Glob(filepath.Join("testdata", pattern, "*.txtar"))
		if err != nil || len(files) == 0 {
			f.Fatalf("%d archives: %v", len(files), err)
		}
		for i, file := range files {
			ar, err := txtar.ParseFile(file)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(ar.Files[0].Data, uint64(i))
		}
	}
	f.Fuzz(func(t *testing.T, src []byte, seed uint64) {
		s, err := Parse("rules.yml", src)
		if err != nil {
			return
		}
		set, err := Compile(s)
		if err != nil {
			return
		}
		var doc yaml.Node
		if err := yaml.Unmarshal(src, &doc); err != nil || doc.Kind != yaml.DocumentNode {
			t.Skip("only the parser of package yamlfile reads it")
		}
		reformat(rand.New(rand.NewPCG(seed, 1)), doc.Content[0], "")
		other, err := yaml.Marshal(&doc)
		if err != nil {
			t.Skip(err)
		}
		again, err := Parse("rules.yml", other)
		if err != nil {
			t.Skip(err)
		}
		changed, err := Compile(again)
		if err != nil {
			t.Skip(err) // such as a condition that is too long now
		}
		if diff := cmp.Diff(digestsOf(t, set), digestsOf(t, changed)); diff != "" {
			t.Errorf("the digests differ (-before +after):\n%s\n%s", diff, other)
		}
	})
}

// plainCondition matches conditions whose white space is outside of texts.
var plainCondition = regexp.MustCompile("^[^\"'`;]*$")

// reformat changes the form of a node, and not its meaning.
func reformat(random *rand.Rand, n *yaml.Node, key string) {
	n.HeadComment, n.LineComment, n.FootComment = "", "", ""
	switch n.Kind {
	case yaml.ScalarNode:
		if n.ShortTag() == "!!str" {
			n.Style = []yaml.Style{yaml.DoubleQuotedStyle, yaml.SingleQuotedStyle}[random.IntN(2)]
		}
		if key == "when" {
			if plainCondition.MatchString(n.Value) && random.IntN(2) == 0 {
				n.Value = strings.ReplaceAll(n.Value, " ", " \n ")
			}
			n.Value = " (" + n.Value + ") /* " + fmt.Sprint(random.IntN(100)) + " */"
		}
		return
	case yaml.MappingNode:
		n.Style = []yaml.Style{yaml.FlowStyle, 0}[random.IntN(2)]
		pairs := slices.Collect(slices.Chunk(n.Content, 2))
		if key != "then" {
			random.Shuffle(len(pairs), func(i, j int) { pairs[i], pairs[j] = pairs[j], pairs[i] })
		}
		n.Content = slices.Concat(pairs...)
		for _, p := range pairs {
			if p[0].Value != "tests" {
				reformat(random, p[1], p[0].Value)
			}
		}
	case yaml.SequenceNode:
		n.Style = []yaml.Style{yaml.FlowStyle, 0}[random.IntN(2)]
		for _, c := range n.Content {
			reformat(random, c, "")
		}
	}
}

func compiledFrom(t *testing.T, src []byte) *Set {
	t.Helper()
	s, err := Parse("rules.yml", src)
	if err != nil {
		t.Fatal(err)
	}
	set, err := Compile(s)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// digestsOf returns the digests of all actions of a set, and of the reversals of its rules.
func digestsOf(t *testing.T, set *Set) []string {
	t.Helper()
	var list []string
	for _, r := range set.compiled().all() {
		for i := range r.actions {
			list = append(list, r.digest(set.names(), i))
		}
		if r.undo {
			list = append(list, r.digest(set.names(), reversals))
		}
	}
	for _, d := range list {
		if !regexp.MustCompile(`^[0-9a-f]{16}$`).MatchString(d) {
			t.Errorf("the digest is %q", d)
		}
	}
	return list
}
