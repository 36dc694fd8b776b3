package tool

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/org/foreman-action/internal/cli/envelope"
	"github.com/org/foreman-action/internal/coding/git"
	"github.com/org/foreman-action/internal/workdir"
)

// FuzzWriteJSON writes any JSON and reads it back. The value must be the same, and the estimate of
// its size must not be too small.
func FuzzWriteJSON(f *testing.F) {
	for _, s := range []string{
		`null`, `{}`, `[]`, `{"b":1,"a":[1,{"c":"<&>\u2028"}]}`, `"a\\\"b"`, `[[[[]]]]`, `[ 1 , 2 ]`, `1e999`, `{"a":1,"a":2}`, `"` + "\u2028" + `"`, `{"":{"":[{}]}}`,
	} {
		f.Add([]byte(s))
	}
	dir := workdir.Dir(f.TempDir())
	f.Fuzz(func(t *testing.T, data []byte) {
		if envelope.Check(data) != nil {
			return
		}
		var indented bytes.Buffer
		if err := json.Indent(&indented, data, "", "  "); err != nil {
			t.Fatal(err)
		}
		if size := indentedSize(data); size < indented.Len()+1 && len(bytes.TrimSpace(data)) == len(data) {
			t.Fatalf("%q has %d bytes indented, estimated %d", data, indented.Len(), size)
		}
		c := call{dir, git.Repo{}, envelope.Input{"path": json.RawMessage(`"file.json"`), "data": data}}
		if report, code := writeJSON(t.Context(), c); code != 0 {
			t.Fatalf("%q: got %+v", data, report)
		}
		report, code := readJSON(t.Context(), c)
		var want, got bytes.Buffer
		enc := json.NewEncoder(&got)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(report); err != nil || code != 0 {
			t.Fatalf("%q: got %+v, %v", data, report, err)
		}
		want.WriteString(`{"ok":true,"data":`)
		if err := json.Compact(&want, data); err != nil {
			t.Fatal(err)
		}
		want.WriteString("}\n")
		if want.String() != got.String() {
			t.Fatalf("got %s, want %s", got.String(), want.String())
		}
	})
}

// TestIndentedSize checks the estimate for deep nesting, and for brackets inside a string.
func TestIndentedSize(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat("[", 9000) + strings.Repeat("]", 9000)
	if size := indentedSize([]byte(deep)); size < 9000*9000*2 {
		t.Errorf("got %d", size)
	}
	if size := indentedSize([]byte(`"[[[[{{{{,,,,\"[[["`)); size > 30 {
		t.Errorf("got %d of a string", size)
	}
}
