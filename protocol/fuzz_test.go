package protocol_test

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/org/foreman-action/protocol"
)

// seed adds the golden files of one kind of message to the corpus.
func seed(f *testing.F, kind string) {
	f.Helper()
	for _, file := range append(files(f, "valid"), files(f, "invalid")...) {
		if strings.HasPrefix(filepath.Base(file), kind) {
			f.Add(read(f, file))
		}
	}
}

// fuzz checks the properties of every message: a parser never panics, its error is short, and a
// parsed message stays the same when it is encoded and parsed again, with HTML escaped or not. It
// also reports a message that only one of parser and schema accepts.
func fuzz(t *testing.T, kind string, data []byte) {
	m, err := parse(t, kind, data)
	if err != nil {
		if text := err.Error(); len(text) > 3000 || strings.ContainsAny(text, "\n\r\x1b") {
			t.Fatalf("the error is long or has control characters: %q", text)
		}
		if validate(t, schemaOf(kind), data) == nil && !bytes.Contains([]byte(strings.ToValidUTF8(string(data), "\uFFFD")), []byte("\uFFFD")) {
			t.Fatalf("the schema accepts %q, and the decoder says %v", data, err)
		}
		return
	}
	wire := encode(t, m)
	if !json.Valid([]byte(wire)) {
		t.Fatalf("encoded as %q, which is no JSON", wire)
	}
	again, err := parse(t, kind, []byte(wire))
	if err != nil {
		t.Fatalf("parse what was encoded: %v", err)
	}
	if got := encode(t, again); got != wire {
		t.Fatalf("second round: got %s, want %s", got, wire)
	}
	if _, err := json.Marshal(m); err != nil {
		t.Fatalf("json.Marshal: %v", err)
	}
	if ours, theirs := checked(t, kind, []byte(wire)), validate(t, schemaOf(kind), []byte(wire)); (ours == nil) != (theirs == nil) {
		t.Fatalf("%s: decoder says %v, schema says %v", wire, ours, theirs)
	}
}

func FuzzParseDecision(f *testing.F) {
	seed(f, "decision")
	f.Fuzz(func(t *testing.T, data []byte) { fuzz(t, "decision-fuzz", data) })
}

func FuzzParseTask(f *testing.F) {
	seed(f, "task")
	f.Fuzz(func(t *testing.T, data []byte) { fuzz(t, "task-fuzz", data) })
}

func FuzzActionItem(f *testing.F) {
	seed(f, "action")
	for _, spec := range protocol.ActionSpecs() {
		for _, v := range []string{`"x"`, `["x"]`, `7`, `null`} {
			a := `{"type":"` + spec.Name + `"`
			for _, p := range spec.Params {
				a += `,"` + p.Name + `":` + v
			}
			f.Add([]byte(a + "}"))
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		fuzz(t, "action-fuzz", data)
		var a protocol.ActionItem
		if a.UnmarshalJSON(data) != nil {
			return
		}
		for _, name := range a.ParamNames() {
			_, there := a.Param(name)
			_, text, terr := a.Text(name)
			_, texts, _ := a.Texts(name)
			_, number, nerr := a.Int(name)
			if !there || text != texts || text != number {
				t.Fatalf("%s: accessors disagree whether %q is there", a, name)
			}
			if text && terr == nil && nerr == nil {
				t.Fatalf("%s: %q is a text and a number", a, name)
			}
		}
	})
}
