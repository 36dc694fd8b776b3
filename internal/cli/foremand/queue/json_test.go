package queue

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestPrintJSON prints texts that contain terminal control characters. Parsing the output must
// return the same texts.
func TestPrintJSON(t *testing.T) {
	t.Parallel()
	const hostile = "a\u009b31mb\x1b[2Jc\x7fd\u202ee\u2066f\U000e0041g ü 💩\tok"
	var out strings.Builder
	if err := printJSON(&out, map[string]any{"raw": json.RawMessage(`"` + strings.NewReplacer("\x1b", `\u001b`, "\t", `\t`).Replace(hostile) + `"`), "text": hostile}); err != nil {
		t.Fatal(err)
	}
	if strings.ContainsAny(out.String(), "\u009b\x1b\x7f\u202e\u2066\U000e0041") || !strings.Contains(out.String(), "ü 💩") {
		t.Errorf("got %q", out.String())
	}
	var got map[string]string
	if err := json.Unmarshal([]byte(out.String()), &got); err != nil || got["raw"] != hostile || got["text"] != hostile {
		t.Errorf("got %q, %v, want %q", got, err, hostile)
	}
}
