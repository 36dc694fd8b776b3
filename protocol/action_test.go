package protocol_test

import (
	"encoding/json"
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/org/foreman-action/protocol"
)

func item(t testing.TB, text string) protocol.ActionItem {
	t.Helper()
	var a protocol.ActionItem
	if err := json.Unmarshal([]byte(text), &a); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return a
}

// result is what an accessor returns.
type result struct {
	Value any
	OK    bool
	Err   string
}

func resultOf(v any, ok bool, err error) result {
	r := result{Value: v, OK: ok}
	if err != nil {
		r = result{OK: ok, Err: err.Error()}
	}
	return r
}

func TestText(t *testing.T) {
	t.Parallel()
	tests := []struct {
		param string
		want  result
	}{
		{`"bug"`, result{"bug", true, ""}},
		{`""`, result{"", true, ""}},
		{`"\u0062\n"`, result{"b\n", true, ""}},
		{`null`, result{"", false, ""}},
		{` null `, result{"", false, ""}},
		{`7`, result{nil, true, "p: want a string, got a number"}},
		{`-7`, result{nil, true, "p: want a string, got a number"}},
		{`true`, result{nil, true, "p: want a string, got a boolean"}},
		{`false`, result{nil, true, "p: want a string, got a boolean"}},
		{`["bug"]`, result{nil, true, "p: want a string, got a list"}},
		{` {}`, result{nil, true, "p: want a string, got an object"}},
	}
	for _, tt := range tests {
		s, ok, err := item(t, `{"type":"x","p":`+tt.param+`}`).Text("p")
		if diff := cmp.Diff(tt.want, resultOf(s, ok, err)); diff != "" {
			t.Errorf("Text of %s (-want +got):\n%s", tt.param, diff)
		}
	}
	if s, ok, err := (protocol.ActionItem{}).Text("p"); s != "" || ok || err != nil {
		t.Errorf("Text of an absent parameter: got %q, %v, %v", s, ok, err)
	}
}

func TestTexts(t *testing.T) {
	t.Parallel()
	none := []string(nil)
	tests := []struct {
		param string
		want  result
	}{
		{`"bug"`, result{[]string{"bug"}, true, ""}},
		{`[]`, result{none, true, ""}},
		{` [ "a" , "b" ] `, result{[]string{"a", "b"}, true, ""}},
		{`null`, result{none, false, ""}},
		{`7`, result{nil, true, "p: want a list of strings, got a number"}},
		{`{}`, result{nil, true, "p: want a list of strings, got an object"}},
		{`["a",null]`, result{nil, true, "p[1]: want a string, got null"}},
		{`[["a"]]`, result{nil, true, "p[0]: want a string, got a list"}},
	}
	for _, tt := range tests {
		list, ok, err := item(t, `{"type":"x","p":`+tt.param+`}`).Texts("p")
		if diff := cmp.Diff(tt.want, resultOf(list, ok, err)); diff != "" {
			t.Errorf("Texts of %s (-want +got):\n%s", tt.param, diff)
		}
	}
}

func TestInt(t *testing.T) {
	t.Parallel()
	tests := []struct {
		param string
		want  result
	}{
		{`7`, result{int64(7), true, ""}},
		{`-0`, result{int64(0), true, ""}},
		{`7.0`, result{int64(7), true, ""}},
		{`1e3`, result{int64(1000), true, ""}},
		{`1200E-2`, result{int64(12), true, ""}},
		{`-9223372036854775808`, result{int64(math.MinInt64), true, ""}},
		{`9007199254740992.0`, result{int64(1 << 53), true, ""}},
		{`null`, result{int64(0), false, ""}},
		{`1.5`, result{nil, true, "p: want a whole number, got 1.5"}},
		{`9223372036854775808`, result{nil, true, "p: want a whole number, got 9223372036854775808"}},
		{`1e999999999`, result{nil, true, "p: want a whole number, got 1e999999999"}},
		{`1e-999999999`, result{int64(0), true, ""}},
		{`"7"`, result{nil, true, "p: want a whole number, got a string"}},
		{`true`, result{nil, true, "p: want a whole number, got a boolean"}},
	}
	for _, tt := range tests {
		n, ok, err := item(t, `{"type":"x","p":`+tt.param+`}`).Int("p")
		if diff := cmp.Diff(tt.want, resultOf(n, ok, err)); diff != "" {
			t.Errorf("Int of %s (-want +got):\n%s", tt.param, diff)
		}
	}
}

func TestParams(t *testing.T) {
	t.Parallel()
	a := item(t, `{"b":1,"type":"x","a":null,"Type":"y","":0}`)
	if want := []string{"", "Type", "a", "b"}; !slices.Equal(a.ParamNames(), want) {
		t.Errorf("ParamNames: got %q, want %q", a.ParamNames(), want)
	}
	if raw, ok := a.Param("a"); !ok || string(raw) != "null" {
		t.Errorf("Param a: got %s, %v, want null, true", raw, ok)
	}
	if raw, ok := a.Param("type"); ok {
		t.Errorf("Param type: got %s, want none", raw)
	}
	if names := (protocol.ActionItem{}).ParamNames(); len(names) != 0 {
		t.Errorf("ParamNames of the zero value: got %q", names)
	}
}

func TestNewAction(t *testing.T) {
	t.Parallel()
	a, err := protocol.NewAction("x", map[string]any{"type": "other", "b": "<&>", "a": []int{1}, "raw": json.RawMessage(` {"k": 1.50} `), "nil": nil})
	if err != nil {
		t.Fatal(err)
	}
	want := `{"type":"x","a":[1],"b":"<&>","nil":null,"raw":{"k":1.50}}`
	if got := a.String(); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if _, ok, err := a.Text("nil"); ok || err != nil {
		t.Errorf("a nil parameter: got %v, %v, want it to be absent", ok, err)
	}
	again := item(t, a.String())
	if again.String() != want || again.Type != "x" {
		t.Errorf("round trip: got %s, want %s", again, want)
	}
	if _, err := protocol.NewAction("x", map[string]any{"f": func() {}}); err == nil {
		t.Error("a parameter that is no JSON: got no error")
	}
}

// TestChangedType checks that an action is encoded with its current type.
func TestChangedType(t *testing.T) {
	t.Parallel()
	a := item(t, `{"label":"bug","type":"add_label"}`)
	a.Type = "remove_label"
	if got, want := a.String(), `{"type":"remove_label","label":"bug"}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	a.Type = "add_label"
	b, err := a.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	copy(b, "XXXXXX")
	if got, want := a.String(), `{"label":"bug","type":"add_label"}`; got != want {
		t.Errorf("after its encoding was changed: got %s, want %s", got, want)
	}
}
