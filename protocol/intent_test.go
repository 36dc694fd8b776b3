package protocol_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/org/foreman-action/protocol"
)

func TestParseConfidence(t *testing.T) {
	t.Parallel()
	const want = "want low, medium, high or a number from 0 to 1, got "
	tests := []struct{ raw, want string }{
		{`"low"`, "low"},
		{`"medium"`, "medium"},
		{`"high"`, "high"},
		{`"HIGH"`, "high"},
		{`"Medium"`, "medium"},
		{`"lOw"`, "low"},
		{` "high" `, "high"},
		{`"h\u0069gh"`, "high"},
		{`null`, ""},
		{` null`, ""},
		{`0`, "low"},
		{`-0`, "low"},
		{`0.0`, "low"},
		{`0.5999`, "low"},
		{`0.6`, "medium"},
		{`6e-1`, "medium"},
		{`0.8999`, "medium"},
		{`0.9`, "high"},
		{`9E-1`, "high"},
		{`0.95`, "high"},
		{`1`, "high"},
		{`1.0`, "high"},
		{` 1`, "high"},
		{`1e-400`, "low"},
		{`1.2`, want + "1.2"},
		{`-0.1`, want + "-0.1"},
		{`2`, want + "2"},
		{`95`, want + "95"},
		{`1e400`, want + "1e400"},
		{`-1e400`, want + "-1e400"},
		{"0." + strings.Repeat("9", 300), "high"},
		{"1" + strings.Repeat("0", 300), want + "1" + strings.Repeat("0", 60) + "…"},
		{`"sure"`, want + `"sure"`},
		{`"0.9"`, want + `"0.9"`},
		{`"1"`, want + `"1"`},
		{`""`, want + `""`},
		{`" high"`, want + `" high"`},
		{`"very high"`, want + `"very high"`},
		{`"hıgh"`, want + `"hıgh"`},
		{`"HİGH"`, want + `"HİGH"`},
		{`"null"`, want + `"null"`},
		{`"\u001b[31m\n"`, want + `"\x1b[31m\n"`},
		{`"` + strings.Repeat("x", 300) + `"`, want + `"` + strings.Repeat("x", 61) + `…"`},
		{`true`, want + "a boolean"},
		{`false`, want + "a boolean"},
		{`["high"]`, want + "a list"},
		{`{"confidence":"high"}`, want + "an object"},
	}
	for _, tt := range tests {
		c, err := protocol.ParseConfidence(json.RawMessage(tt.raw))
		got := string(c)
		if err != nil {
			got += err.Error()
		}
		if got != tt.want {
			t.Errorf("ParseConfidence(%s): got %q, want %q", tt.raw, got, tt.want)
		}
	}
}

func TestConfidenceAtLeast(t *testing.T) {
	t.Parallel()
	order := append([]protocol.Confidence{""}, protocol.Confidences()...)
	for i, c := range order {
		for j, least := range order {
			if got := c.AtLeast(least); got != (i >= j) {
				t.Errorf("%q.AtLeast(%q): got %v", c, least, got)
			}
		}
	}
}

func TestIntent(t *testing.T) {
	t.Parallel()
	type in = protocol.Intent
	const sure = "confidence: want low, medium, high or a number from 0 to 1, got "
	long := strings.Repeat("@octocat <b> ", 5000)
	tests := []struct {
		params string
		want   in
		err    string
	}{
		{``, in{}, ""},
		{`,"confidence":null,"rationale":null,"suggest":null`, in{}, ""},
		{`,"confidence":"High","rationale":"it panics","suggest":true`, in{"it panics", protocol.ConfidenceHigh, true}, ""},
		{`,"confidence":0.6`, in{Confidence: protocol.ConfidenceMedium}, ""},
		{`,"suggest":false`, in{}, ""},
		{`,"suggest": true `, in{Suggest: true}, ""},
		{`,"rationale":""`, in{}, ""},
		{`,"rationale":" \n\t"`, in{}, ""},
		{`,"rationale":" a\nb "`, in{Rationale: " a\nb "}, ""},
		{`,"rationale":"` + long + `"`, in{Rationale: long}, ""},
		{`,"Confidence":"sure","RATIONALE":7,"Suggest":"yes"`, in{}, ""},
		{`,"confidence":"sure","confidence":"low"`, in{Confidence: protocol.ConfidenceLow}, ""},
		{`,"confidence":1.2`, in{}, sure + "1.2"},
		{`,"confidence":"0.9"`, in{}, sure + `"0.9"`},
		{`,"confidence":["high"],"suggest":true`, in{}, sure + "a list"},
		{`,"rationale":7`, in{}, "rationale: want a string, got a number"},
		{`,"rationale":["a"]`, in{}, "rationale: want a string, got a list"},
		{`,"rationale":{}`, in{}, "rationale: want a string, got an object"},
		{`,"rationale":true`, in{}, "rationale: want a string, got a boolean"},
		{`,"suggest":"yes"`, in{}, "suggest: want true or false, got a string"},
		{`,"suggest":"true"`, in{}, "suggest: want true or false, got a string"},
		{`,"suggest":1`, in{}, "suggest: want true or false, got a number"},
		{`,"suggest":0`, in{}, "suggest: want true or false, got a number"},
		{`,"suggest":[true]`, in{}, "suggest: want true or false, got a list"},
		{`,"suggest":{}`, in{}, "suggest: want true or false, got an object"},
		{`,"rationale":"good","confidence":-0.1`, in{}, sure + "-0.1"},
		{
			`,"suggest":"yes","rationale":7,"confidence":"sure"`, in{},
			sure + `"sure"; rationale: want a string, got a number; suggest: want true or false, got a string`,
		},
	}
	for _, tt := range tests {
		got, err := item(t, `{"type":"add_label","label":"bug"`+tt.params+`}`).Intent()
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%.200s (-want +got):\n%s", tt.params, diff)
		}
		text := ""
		if err != nil {
			text = err.Error()
		}
		if text != tt.err {
			t.Errorf("%.200s: got the error %q, want %q", tt.params, text, tt.err)
		}
	}
}

// TestIntentIsNoMistakeOfTheMessage checks that a wrong value is neither a mistake of the decision
// nor of the parameters of its action: it refuses one action only.
func TestIntentIsNoMistakeOfTheMessage(t *testing.T) {
	t.Parallel()
	d, err := protocol.ParseDecision([]byte(`{"task_id":"t","decision":"close","rationale":"r","actions":[
		{"type":"close_issue","confidence":1.2},{"type":"add_label","label":"bug","confidence":"low"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	for i, a := range d.Actions {
		spec, _ := protocol.SpecOf(a.Type)
		if err := spec.Check(a); err != nil {
			t.Errorf("action %d: %v", i, err)
		}
		if _, err := a.Intent(); (err != nil) != (i == 0) {
			t.Errorf("action %d: got the error %v", i, err)
		}
	}
}

// TestOwnParams checks that no own action of a program has a parameter with a reserved name.
func TestOwnParams(t *testing.T) {
	t.Parallel()
	for _, name := range append(protocol.IntentParams(), "type", "confident") {
		spec := protocol.ActionSpec{Name: "page", Limit: 1, Params: []protocol.Param{{Name: "who"}, {Name: name}}}
		got, want := "", "Params[1].Name: "+name+" has a meaning of its own in actions; choose another name"
		if err := spec.CheckOwn(); err != nil {
			got = err.Error()
		}
		if name == "confident" {
			want = ""
		}
		if got != want {
			t.Errorf("a parameter %s: got %q, want %q", name, got, want)
		}
	}
}

// FuzzIntent checks that a value is either accepted or named in a short error, and that an accepted
// confidence stays the same when its word is parsed again.
func FuzzIntent(f *testing.F) {
	for _, v := range []string{`"high"`, `"sure"`, `0.9`, `1.2`, `-0.1`, `1e400`, `null`, `true`, `[]`, `{}`, `"\ud800"`, ` "low" `} {
		for i := range protocol.IntentParams() {
			f.Add(uint8(i), v)
		}
	}
	f.Fuzz(func(t *testing.T, i uint8, value string) {
		name := protocol.IntentParams()[int(i)%len(protocol.IntentParams())]
		var a protocol.ActionItem
		if !json.Valid([]byte(value)) || a.UnmarshalJSON([]byte(`{"type":"t","`+name+`":`+value+`}`)) != nil {
			return
		}
		in, err := a.Intent()
		if err != nil {
			if text := err.Error(); !strings.HasPrefix(text, name+": want ") || len(text) > 500 || strings.ContainsAny(text, "\n\r\x1b") {
				t.Fatalf("%q: %q: the error is %q", name, value, text)
			}
			if in != (protocol.Intent{}) {
				t.Fatalf("%q: %q: got %+v with an error", name, value, in)
			}
			return
		}
		word, err := protocol.Encode(in.Confidence)
		if err != nil {
			t.Fatal(err)
		}
		if again, err := protocol.ParseConfidence(word); in.Confidence != "" && (err != nil || again != in.Confidence) {
			t.Fatalf("%q: got %q, and %q, %v again", value, in.Confidence, again, err)
		}
		// The validator does not round numbers, and ParseConfidence does.
		if schema := validate(t, "action.json", []byte(a.String())); schema != nil && len(value) < 16 && !strings.ContainsAny(value, "eE") {
			t.Fatalf("%s: the schema says %v", a, schema)
		}
	})
}
