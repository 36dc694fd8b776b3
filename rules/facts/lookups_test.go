package facts_test

import (
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/org/foreman-action/rules/facts"
	"github.com/org/foreman-action/triage"
)

// TestLookupSpecs checks that the table contains every field that conditions read, and that each
// look-up of a Known sets its own data alone.
func TestLookupSpecs(t *testing.T) {
	t.Parallel()
	full := facts.Known{
		PullRequest: triage.PullRequest{Head: "h"}, Changed: []string{"f"}, Commits: []string{"m"}, Reviewed: facts.Reviews{ApprovedBy: []string{"a"}},
		Opened: facts.Author{Issues: 1}, Joined: time.Date(2020, 1, 2, 0, 0, 0, 0, time.UTC), Merged: 2, Closed: 3,
		Scored: facts.Contrib{Score: 4}, Before: facts.Memory{Tasks: 5},
	}
	seen, all := map[string]bool{}, facts.Known{}
	for _, s := range facts.LookupSpecs() {
		var names []string
		for _, f := range s.Fields {
			name := s.Root + "." + f.Name
			if seen[name] || f.Doc == "" || f.Example == "" || !s.Field(&facts.Known{}, f.Name).CanSet() {
				t.Errorf("%s: want one row with a sentence, an example and a value that can be set", name)
			}
			seen[name] = true
			names = append(names, f.Name)
		}
		var tags []string
		if typ := reflect.TypeOf(s.Value(&facts.Known{})).Elem(); typ.Kind() == reflect.Struct && typ != reflect.TypeFor[time.Time]() {
			for f := range typ.Fields() {
				if tag := f.Tag.Get("expr"); tag != "-" {
					tags = append(tags, tag)
				}
			}
			if diff := cmp.Diff(tags, names); diff != "" {
				t.Errorf("%s: the fields of the struct and of the row differ (-struct +row):\n%s", s.Part, diff)
			}
		} else if len(names) != 1 {
			t.Errorf("%s has the fields %q, want one", s.Part, names)
		}
		if s.Calls < 1 {
			t.Errorf("%s: no calls", s.Part)
		}
		var own, none facts.Known
		if err := full.Read(t.Context(), s.Part, &own); err != nil || reflect.DeepEqual(own, none) {
			t.Errorf("%s: got %+v, %v", s.Part, own, err)
		}
		s.Copy(&own, &all)
		if err := none.Read(t.Context(), s.Part, &own); (err != nil) != (s.Unknown != "") {
			t.Errorf("%s: got %v for a missing value, want an error: %t", s.Part, err, s.Unknown != "")
		}
	}
	if diff := cmp.Diff(full, all); diff != "" {
		t.Errorf("the parts are not the whole (-want +got):\n%s", diff)
	}
}
