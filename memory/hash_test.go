package memory_test

import (
	"testing"

	"github.com/org/foreman-action/memory"
	"github.com/org/foreman-action/protocol"
)

func item(t testing.TB, text string) protocol.ActionItem {
	t.Helper()
	var a protocol.ActionItem
	if err := a.UnmarshalJSON([]byte(text)); err != nil {
		t.Fatal(err)
	}
	return a
}

// TestHashAction pins the hashes, because the hashes in stored journals must stay valid.
func TestHashAction(t *testing.T) {
	t.Parallel()
	if got, want := memory.HashAction(item(t, `{"type":"add_label","label":"bug"}`)), "f95895fc950ee209"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got, want := memory.HashAction(protocol.ActionItem{}), memory.HashAction(item(t, `{"type":""}`)); got != want {
		t.Errorf("the zero action: got %s, want %s", got, want)
	}
	made, err := protocol.NewAction("add_label", map[string]any{"label": "<bug>", "because": []any{1, "x"}})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := memory.HashAction(made), memory.HashAction(item(t, made.String())); got != want {
		t.Errorf("made here: got %s, decoded: %s", got, want)
	}
	decoded := item(t, `{"type":"add_label","label":"bug"}`)
	decoded.Type = "remove_label"
	if got, want := memory.HashAction(decoded), memory.HashAction(item(t, `{"label":"bug","type":"remove_label"}`)); got != want {
		t.Errorf("of another type: got %s, want %s", got, want)
	}
}

func TestHashActionEqual(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, a, b string
		same       bool
	}{
		{"order", `{"type":"x","a":1,"b":2}`, `{"b":2,"a":1,"type":"x"}`, true},
		{"order below", `{"type":"x","a":[{"b":{"c":1,"d":2},"e":3}]}`, `{"a":[{"e":3,"b":{"d":2,"c":1}}],"type":"x"}`, true},
		{"space", `{"type":"x","a":[1,2]}`, " {\n\"type\" : \"x\" , \"a\" : [ 1 , 2 ] } ", true},
		{"escapes", `{"type":"x","a":"\u0062<\/>"}`, `{"type":"x","a":"b</>"}`, true},
		{"repeated key", `{"type":"x","a":1,"a":2}`, `{"type":"x","a":2}`, true},
		{"large number", `{"type":"x","a":12345678901234567890123,"b":1e400}`, `{"b":1e400,"type":"x","a":12345678901234567890123}`, true},
		{"list order", `{"type":"x","a":[1,2]}`, `{"type":"x","a":[2,1]}`, false},
		{"spelt number", `{"type":"x","a":7}`, `{"type":"x","a":7.0}`, false},
		{"near number", `{"type":"x","a":12345678901234567890123}`, `{"type":"x","a":12345678901234567890124}`, false},
		{"null", `{"type":"x","a":null}`, `{"type":"x"}`, false},
		{"type", `{"type":"x"}`, `{"type":"y"}`, false},
		{"number or text", `{"type":"x","a":7}`, `{"type":"x","a":"7"}`, false},
		{"case of a key", `{"type":"x","a":7}`, `{"type":"x","A":7}`, false},
	}
	for _, tt := range tests {
		a, b := memory.HashAction(item(t, tt.a)), memory.HashAction(item(t, tt.b))
		if len(a) != 16 || (a == b) != tt.same {
			t.Errorf("%s: got %s and %s, want the same: %v", tt.name, a, b, tt.same)
		}
	}
}

// FuzzHashAction hashes any action: it has the same hash after a round trip through JSON.
func FuzzHashAction(f *testing.F) {
	for _, s := range []string{`{"type":"add_label","label":"bug"}`, `{"type":"x","a":[{"b":1e400,"a":null}],"a":"\ud800"}`, `{"\u0074ype":"x","type":"y"}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var a, b protocol.ActionItem
		if a.UnmarshalJSON(data) != nil {
			return
		}
		encoded, err := protocol.Encode(a)
		if err != nil {
			t.Fatal(err)
		}
		if err := b.UnmarshalJSON(encoded); err != nil {
			t.Fatal(err)
		}
		if got, want := memory.HashAction(b), memory.HashAction(a); got != want || len(got) != 16 {
			t.Errorf("%s: got %s, want %s", data, got, want)
		}
	})
}
