package command_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/org/foreman-action/memory"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/runner/internal/command"
	"github.com/org/foreman-action/triage"
)

// TestSelected checks which proposals a command answers.
func TestSelected(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 27, 12, 0, 0, 0, time.UTC)
	item, err := protocol.NewAction(protocol.ActionLock, nil)
	if err != nil {
		t.Fatal(err)
	}
	r := memory.Record{Repo: "o/r", Issue: 1}
	propose := func(name string, made time.Time, carrier triage.Carrier, text string) int {
		n, ok := r.Propose(memory.Proposal{ID: name, At: made, Expires: at.Add(time.Hour), Source: name, Action: item, Carrier: carrier, Text: text})
		if !ok {
			t.Fatalf("%s is not proposed", name)
		}
		return n
	}
	before := at.Add(-time.Minute)
	propose("1 waits", before, triage.CarrierComment, "t0")
	propose("2 is in the panel", before, triage.CarrierGitHub, "t0")
	propose("3 was made later", at.Add(time.Second), triage.CarrierComment, "t0")
	r.End(propose("4 was rejected before", before, triage.CarrierComment, "t0"), memory.Rejected, "mona", "", before)
	r.End(propose("5 was accepted by mona since", before, triage.CarrierComment, "t0"), memory.Accepted, "mona", "", at)
	r.End(propose("6 was accepted by tess since", before, triage.CarrierComment, "t0"), memory.Accepted, "tess", "", at)
	r.End(propose("7 expired since", before, triage.CarrierComment, "t0"), memory.Expired, "", "", at)
	propose("8 was made for another text", before, triage.CarrierComment, "t1")
	tests := []struct{ rest, digest, list, done, ignored string }{
		{"", "", "", "", "it names no number"},
		{" , ", "", "", "", "it names no number"},
		{"1", "", "1", "", ""},
		{"1 1, 1", "", "1", "", ""},
		{"2", "", "", "", "2: there is no such proposal"},
		{"3", "", "", "", "3: it was proposed after the comment"},
		{"4", "", "", "", "4: it is rejected"},
		{"5", "", "", "5", ""},
		{"6", "", "", "", "6: it is accepted"},
		{"7", "", "", "", "7: it is expired"},
		{"8", "t0", "8", "", ""},
		{"9", "", "", "", "9: there is no such proposal"},
		{"-1 x", "", "", "", "-1: there is no such proposal; x: want a number or all"},
		{"ALL", "t0", "1", "5", "8: the issue was edited since; name the number to accept it"},
		{"all", "", "1 8", "5", ""},
		{"all 8", "t0", "1 8", "5", "8: the issue was edited since; name the number to accept it"},
	}
	numbers := func(list []memory.Proposal) string {
		var out []string
		for _, p := range list {
			out = append(out, fmt.Sprint(p.Number))
		}
		return strings.Join(out, " ")
	}
	for _, tt := range tests {
		list, done, ignored := command.Selected(r, tt.rest, "mona", at, tt.digest)
		if numbers(list) != tt.list || numbers(done) != tt.done || strings.Join(ignored, "; ") != tt.ignored {
			t.Errorf("%q: got %s, done %s, ignored %q", tt.rest, numbers(list), numbers(done), ignored)
		}
	}
}
