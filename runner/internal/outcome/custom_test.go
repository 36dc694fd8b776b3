package outcome_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/runner/effect"
	"github.com/org/foreman-action/runner/internal/outcome"
	"github.com/org/foreman-action/triage"
)

// TestParseCustom parses actions that are not built in.
func TestParseCustom(t *testing.T) {
	t.Parallel()
	spec := protocol.ActionSpec{Name: "page", Main: "teams", Params: []protocol.Param{
		{Name: "teams", Kind: protocol.KindTexts, Required: true}, {Name: "text", Kind: protocol.KindMarkdown},
		{Name: "level", Kind: protocol.KindInt}, {Name: "wait", Kind: protocol.KindDuration}, {Name: "who", Enum: []string{"all", "one"}},
	}}
	tests := []struct {
		action string
		want   string // the item, or a part of the error
		values []string
	}{
		{`{"type":"page","teams":"db"}`, `{"type":"page","teams":["db"]}`, []string{"db"}},
		{`{"type":"page","teams":["db","DB","web"],"level":7.0,"wait":"3d","who":"all","text":"Hi"}`, `{"type":"page","level":7,"teams":["db","web"],"text":"HI","wait":"3d","who":"all"}`, []string{"db", "web"}},
		{`{"type":"page","teams":"d\u202eb\n","other":{"a":1},"type ":"x"}`, `{"type":"page","teams":["db"]}`, []string{"db"}},
		{`{"type":"page","teams":"db","text":null}`, `{"type":"page","teams":["db"]}`, []string{"db"}},
		{`{"type":"page","teams":"\u202e"}`, "page: teams is empty after sanitizing", nil},
		{`{"type":"page"}`, "teams: required, but missing", nil},
		{`{"type":"page","teams":"db","level":"7"}`, "level: want a whole number", nil},
		{`{"type":"page","teams":"db","wait":"-3d"}`, "wait: want a time", nil},
		{`{"type":"page","teams":"db","who":"none"}`, "who: want 'all' or 'one'", nil},
		{`{"type":"page","teams":"db","text":"no"}`, "page: text: not this one", nil},
	}
	for _, tt := range tests {
		e, err := outcome.ParseCustom(spec, item(t, tt.action), func(s string) (string, error) {
			if s == "no" {
				return "", errors.New("not this one")
			}
			return strings.ToUpper(s), nil
		})
		if err != nil {
			if !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%s: got %v, want %q", tt.action, err, tt.want)
			}
			continue
		}
		if got := e.Item.String(); got != tt.want || !slices.Equal(effect.Values(e), tt.values) {
			t.Errorf("%s: got %s %q, want %s %q", tt.action, got, effect.Values(e), tt.want, tt.values)
		}
		if effect.TypeOf(e) != "page" || outcome.RecordOnly(e) || outcome.Holds(e, outcome.StateOf(triage.Issue{})) {
			t.Errorf("%s: it is a %s, or something that the issue shows", tt.action, effect.TypeOf(e))
		}
	}
	// The main parameter of a record has no free text.
	spec.Main = "text"
	e, err := outcome.ParseCustom(spec, item(t, tests[1].action), func(s string) (string, error) { return s, nil })
	if got := effect.Values(e); err != nil || got != nil {
		t.Errorf("got %q, %v", got, err)
	}
	spec.Main = "level"
	e, err = outcome.ParseCustom(spec, item(t, tests[1].action), func(s string) (string, error) { return s, nil })
	if got := effect.Values(e); err != nil || !slices.Equal(got, []string{"7"}) {
		t.Errorf("got %q, %v", got, err)
	}
}
