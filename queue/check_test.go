package queue_test

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/org/foreman-action/queue"
)

func TestTaskCheck(t *testing.T) {
	t.Parallel()
	good := queue.Task{ID: "1", Agent: "http://a", Repo: "o/r", Issue: 7, Message: []byte("no JSON"), Priority: -1000}
	if err := good.Check(); err != nil {
		t.Errorf("Check: %v", err)
	}
	tests := []struct {
		name   string
		change func(*queue.Task)
	}{
		{"no id", func(t *queue.Task) { t.ID = "" }},
		{"NUL in the id", func(t *queue.Task) { t.ID = "a\x00b" }},
		{"long id", func(t *queue.Task) { t.ID = strings.Repeat("x", queue.MaxText+1) }},
		{"agent not UTF-8", func(t *queue.Task) { t.Agent = "\xff" }},
		{"NUL in the repository", func(t *queue.Task) { t.Repo = "\x00" }},
		{"NUL in the dedup key", func(t *queue.Task) { t.Dedup = "\x00" }},
		{"large message", func(t *queue.Task) { t.Message = make([]byte, queue.MaxMessage+1) }},
		{"large origin", func(t *queue.Task) { t.Origin = make([]byte, queue.MaxMessage+1) }},
		{"issue", func(t *queue.Task) { t.Issue = -1 }},
		{"priority", func(t *queue.Task) { t.Priority = 1000 + 1 }},
		{"low priority", func(t *queue.Task) { t.Priority = -1000 - 1 }},
		{"limit", func(t *queue.Task) { t.HourlyLimit = -1 }},
		{"wait", func(t *queue.Task) { t.Wait = -time.Second }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			bad := good
			tt.change(&bad)
			if err := bad.Check(); err == nil {
				t.Error("got no error")
			}
		})
	}
}

func TestDecodable(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		`{}`: true, " \n\t{\"a\": 1}\n": true, ``: false, `{`: false, `[]`: false, `"{}"`: false, `null`: false, `{} {}`: false,
	} {
		if got := queue.Decodable([]byte(text)); got != want {
			t.Errorf("Decodable(%q): got %v, want %v", text, got, want)
		}
	}
}

// TestCleanText checks how a text is repaired and shortened.
func TestCleanText(t *testing.T) {
	t.Parallel()
	run := func(n int) string { return strings.Repeat("\xff", n) }
	tests := map[string]struct{ text, want string }{
		"a run of invalid bytes":    {"a\xff\xfeb\xffc", "a\ufffdb\ufffdc"},
		"each NUL":                  {"a\x00\x00b", "a\ufffd\ufffdb"},
		"text after a long run":     {"a" + run(3*queue.MaxText) + "why", "a\ufffdwhy"},
		"the run is too long":       {run(1<<20) + "why", "\ufffd"},
		"no room for the last rune": {strings.Repeat("x", queue.MaxText-1) + "ü", strings.Repeat("x", queue.MaxText-1)},
		"no room for U+FFFD":        {strings.Repeat("x", queue.MaxText-2) + "\xffyz", strings.Repeat("x", queue.MaxText-2)},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := queue.CleanText(tt.text); got != tt.want {
				t.Errorf("got %d bytes, %.40q, want %d bytes, %.40q", len(got), got, len(tt.want), tt.want)
			}
		})
	}
}

func FuzzCleanText(f *testing.F) {
	for _, s := range []string{"", "ü", "\x00", "\xff\xfe", strings.Repeat("ü", queue.MaxText), strings.Repeat("\xff", 3*queue.MaxText), "x" + strings.Repeat("\u20ac", queue.MaxText)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := queue.CleanText(s)
		if !queue.IsText(got) || !utf8.ValidString(got) {
			t.Errorf("CleanText(%q): got %q, which is no text", s, got)
		}
		if queue.IsText(s) && got != s {
			t.Errorf("CleanText(%q): got %q", s, got)
		}
	})
}
