package triage_test

import (
	"encoding/binary"
	"flag"
	"fmt"
	"strings"
	"testing"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/org/foreman-action/internal/testkit/golden"
	"github.com/org/foreman-action/triage"
)

var update = flag.Bool("update", false, "rewrite the expected parts of the files in testdata")

// TestParseEvent parses the payload of every file in testdata/event. The part "source" has the
// source of the event (name=, repo=, issue=) and the login for SkipReason (bot=).
func TestParseEvent(t *testing.T) {
	t.Parallel()
	golden.Each(t, "testdata/event", *update, func(t *testing.T, a *golden.Case) {
		src := triage.EventSource{File: "event.json", Payload: a.Get("event.json")}
		bot := "github-actions[bot]"
		for field := range strings.FieldsSeq(string(a.Get("source"))) {
			name, value, _ := strings.Cut(field, "=")
			switch name {
			case "name":
				src.Name = value
			case "repo":
				src.Repo = value
			case "issue":
				src.Issue, _ = triage.ParseNumber(value)
			case "bot":
				bot = value
			}
		}
		parsed := func(payload []byte) string {
			src.Payload = payload
			e, err := triage.ParseEvent(src)
			if err != nil {
				return "error: " + err.Error()
			}
			return showEvent(e) + "skip: " + e.SkipReason(bot) + "\n"
		}
		want, payload := parsed(src.Payload), src.Payload
		a.Want(t, "want", want)
		if !utf8.Valid(payload) {
			return
		}
		units := utf16.Encode([]rune("\uFEFF" + string(payload)))
		little, big := make([]byte, 0, 2*len(units)), make([]byte, 0, 2*len(units))
		for _, u := range units {
			little, big = binary.LittleEndian.AppendUint16(little, u), binary.BigEndian.AppendUint16(big, u)
		}
		for name, variant := range map[string][]byte{
			"a byte order mark": append([]byte("\uFEFF"), payload...), "UTF-16, little endian": little, "UTF-16, big endian": big,
		} {
			if got := parsed(variant); got != want {
				t.Errorf("in the encoding %s: got\n%s\nwant\n%s", name, got, want)
			}
		}
	})
}

func showEvent(e triage.Delivery) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s on %s by %s (%s)\n", e.Key(), e.Ref(), e.Sender.Login, e.Sender.Type)
	fmt.Fprintf(&b, "label %q assignee %q milestone %q\n", e.Label, e.Assignee, e.Milestone)
	if c := e.Comment; e.HasComment() {
		fmt.Fprintf(&b, "comment %d by %q (%s) at %q: %s\n", c.ID, c.Author, c.Association, c.URL, c.Body)
	}
	if e.Issue != nil {
		i := *e.Issue
		if e.Pull != nil {
			pull := fmt.Sprintf("%+v", *e.Pull)
			pull = strings.Replace(pull, fmt.Sprintf(" Shared:%+v", triage.Snapshot{}), "", 1) // always zero in a delivery
			fmt.Fprintf(&b, "pull request %s\n", pull)
		}
		fmt.Fprintf(&b, "issue %+v\n", i)
	}
	return b.String()
}

func TestParseNumber(t *testing.T) {
	t.Parallel()
	tests := []struct {
		in   string
		want int // 0 means an error
	}{
		{"7", 7}, {" #7 ", 7}, {"", 0}, {"0", 0}, {"-1", 0}, {"7.0", 0}, {"seven", 0},
		{"99999999999999999999", 0}, {"o/r#7", 0}, {"##7", 0},
	}
	for _, tt := range tests {
		got, err := triage.ParseNumber(tt.in)
		if got != tt.want || (err == nil) != (tt.want > 0) {
			t.Errorf("ParseNumber(%q): got %d, %v, want %d", tt.in, got, err, tt.want)
		}
	}
}
