package labels

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/org/foreman-action/triage"
)

// A labelHost lists labels in pages of two, and logs the calls.
type labelHost struct {
	labels []string
	closed bool // the list cannot be read
	err    error
	calls  []string
}

func (h *labelHost) Label(_ context.Context, _ triage.Ref, name string) (string, error) {
	h.calls = append(h.calls, name)
	i := slices.IndexFunc(h.labels, func(l string) bool { return strings.EqualFold(l, name) })
	switch {
	case h.err != nil:
		return "", h.err
	case i < 0:
		return "", triage.ErrNotFound
	}
	return h.labels[i], nil
}

func (h *labelHost) LabelPage(_ context.Context, _ triage.Ref, page int) ([]string, int, error) {
	h.calls = append(h.calls, fmt.Sprintf("page %d", page))
	switch {
	case h.err != nil:
		return nil, 0, h.err
	case h.closed:
		return nil, 0, triage.ErrNotFound
	}
	pages := slices.Collect(slices.Chunk(h.labels, 2))
	return pages[page-1], len(pages), nil
}

// TestLabels checks that labels are listed only if this needs fewer calls than looking them up.
func TestLabels(t *testing.T) {
	t.Parallel()
	few, many := []string{"A", "b"}, strings.Split("A b c d e f g h i j", " ")
	tests := []struct {
		name   string
		host   labelHost
		ask    []string // each element has the names of one call of Find, separated by spaces
		want   []string // the expected calls
		absent []string
	}{
		{name: "one", host: labelHost{labels: few}, ask: []string{"a"}, want: []string{"a"}},
		{name: "one again", host: labelHost{labels: few}, ask: []string{"a", "A"}, want: []string{"a"}},
		{name: "one twice", host: labelHost{labels: few}, ask: []string{"a A"}, want: []string{"a"}},
		{name: "one that is absent", host: labelHost{labels: few}, ask: []string{"x", "x"}, want: []string{"x"}, absent: []string{"x"}},
		{name: "two", host: labelHost{labels: few}, ask: []string{"a B"}, want: []string{"page 1"}},
		{name: "one after the other", host: labelHost{labels: few}, ask: []string{"a", "b", "x"}, want: []string{"a", "page 1"}, absent: []string{"x"}},
		{name: "all, of which one is absent", host: labelHost{labels: few}, ask: []string{"a b x"}, want: []string{"page 1"}, absent: []string{"x"}},
		{name: "on the first page of many", host: labelHost{labels: many}, ask: []string{"a b"}, want: []string{"page 1"}},
		{name: "one on a later page", host: labelHost{labels: many}, ask: []string{"a j"}, want: []string{"page 1", "j"}},
		{name: "some on later pages", host: labelHost{labels: many}, ask: []string{"a g j"}, want: []string{"page 1", "g", "j"}},
		{name: "more than the other pages", host: labelHost{labels: many[:6]}, ask: []string{"c d e f"}, want: []string{"page 1", "page 2", "page 3"}},
		{name: "less and less", host: labelHost{labels: many[:6]}, ask: []string{"c d e"}, want: []string{"page 1", "page 2", "e"}},
		{name: "known from a page", host: labelHost{labels: many}, ask: []string{"a j", "b"}, want: []string{"page 1", "j"}},
		{name: "no list", host: labelHost{labels: few, closed: true}, ask: []string{"a b x", "y"}, want: []string{"page 1", "a", "b", "x", "y"}, absent: []string{"x", "y"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			l := New(&tt.host, nil)
			for _, names := range tt.ask {
				asked := strings.Fields(names)
				if err := l.Find(t.Context(), triage.Ref{}, asked...); err != nil {
					t.Fatal(err)
				}
				for _, name := range asked {
					got, ok := l.Known[strings.ToLower(name)]
					if want := !slices.Contains(tt.absent, name); !ok || strings.EqualFold(got, name) != want || want && !slices.Contains(tt.host.labels, got) {
						t.Errorf("%s: got %q, %t", name, got, ok)
					}
				}
			}
			if diff := cmp.Diff(tt.want, tt.host.calls); diff != "" {
				t.Errorf("calls (-want +got):\n%s", diff)
			}
		})
	}
}

// TestLabelsFail checks that a failed call leaves the known labels unchanged, and that Try makes none
// after it, until one has succeeded.
func TestLabelsFail(t *testing.T) {
	t.Parallel()
	host := &labelHost{labels: []string{"a", "b"}, err: errors.New("no")}
	l := New(host, nil)
	for _, names := range [][]string{{"a"}, {"a", "b"}} {
		if err := l.Find(t.Context(), triage.Ref{}, names...); !errors.Is(err, host.err) || len(l.Known) > 0 {
			t.Errorf("%q: got %v, and %v is known", names, err, l.Known)
		}
	}
	calls := len(host.calls)
	if err := l.Try(t.Context(), triage.Ref{}, "a"); !errors.Is(err, host.err) || len(host.calls) != calls {
		t.Errorf("got %v after %q", err, host.calls)
	}
	host.err = nil
	if err := errors.Join(l.Find(t.Context(), triage.Ref{}, "a"), l.Try(t.Context(), triage.Ref{}, "b", "x")); err != nil || l.Known["b"] != "b" {
		t.Errorf("got %v, and %v is known", err, l.Known)
	}
}

// TestAssume checks which labels are looked up although the host remembers some.
func TestAssume(t *testing.T) {
	t.Parallel()
	remembered := func(_ triage.Ref, name string) (triage.LabelID, bool) {
		for _, l := range []triage.LabelID{{ID: "L_a", Name: "A"}, {ID: "L_gone", Name: "gone"}, {Name: "noid"}} {
			if strings.EqualFold(l.Name, name) {
				return l, true
			}
		}
		return triage.LabelID{}, false
	}
	tests := []struct {
		name  string
		on    []triage.LabelID // labels of the issue
		ask   string
		then  string // names that are looked up after that
		calls []string
		ids   []string // of the names in ask
	}{
		{name: "remembered", ask: "a", ids: []string{"L_a"}},
		{name: "twice", ask: "a A", ids: []string{"L_a", "L_a"}},
		{name: "remembered, and gone", ask: "gone", ids: []string{"L_gone"}},
		{name: "not remembered", ask: "b", calls: []string{"b"}},
		{name: "one of two", ask: "a b", calls: []string{"b"}, ids: []string{"L_a", ""}},
		{name: "without an id", ask: "noid", calls: []string{"noid"}},
		{name: "on the issue", on: []triage.LabelID{{ID: "L_a", Name: "A"}}, ask: "a", ids: []string{"L_a"}},
		{name: "on the issue by another name", on: []triage.LabelID{{ID: "L_a", Name: "alpha"}}, ask: "a", calls: []string{"a"}},
		{name: "looked up after that", ask: "a gone", then: "gone", calls: []string{"gone"}, ids: []string{"L_a", ""}},
		{name: "listed after that", ask: "a", then: "a b c", calls: []string{"page 1"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			host := labelHost{labels: []string{"A", "b"}}
			l := New(&host, remembered)
			asked := strings.Fields(tt.ask)
			for range 2 {
				if err := l.Assume(t.Context(), triage.Ref{}, tt.on, asked...); err != nil {
					t.Fatal(err)
				}
			}
			if err := l.Find(t.Context(), triage.Ref{}, strings.Fields(tt.then)...); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.calls, host.calls); diff != "" {
				t.Errorf("calls (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.ids, l.IDs(asked)); diff != "" {
				t.Errorf("ids (-want +got):\n%s", diff)
			}
			if tt.then == "gone" && l.Known["gone"] != "" || l.Known["a"] != "" && l.Known["a"] != "A" {
				t.Errorf("got %v", l.Known)
			}
		})
	}
}
