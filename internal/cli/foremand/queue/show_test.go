package queue

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/org/foreman-action/internal/cli/process"
	"github.com/org/foreman-action/internal/server/database"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/queue"
	"github.com/org/foreman-action/runner"
	"github.com/org/foreman-action/triage"
)

// TestShowEarlier prints the tasks of a database that the version before the current form of
// reports wrote, after the upgrade by a start of the server. Its own output is the golden file, without the "{}" of actions that have no
// parameters.
func TestShowEarlier(t *testing.T) {
	t.Parallel()
	packed, err := os.Open("testdata/earlier.db.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = packed.Close() }()
	r, err := gzip.NewReader(packed)
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "queue.db")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	upgraded, _, err := database.OpenServer(t.Context(), database.Locations{Queue: path}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	if err := upgraded.Close(); err != nil {
		t.Fatal(err)
	}
	var got bytes.Buffer
	for issue := 1; issue <= 6; issue++ {
		o := showOptions{sharedOptions: &sharedOptions{Env: process.Env{Stdout: &got, Getenv: func(string) string { return "" }}.Complete(), Queue: path}, Task: fmt.Sprintf("00000000-0000-4000-8000-%012d", issue)}
		if err := runShow(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile("testdata/earlier.txt")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestShowProposals prints proposed actions with their numbers, reasons and answers.
func TestShowProposals(t *testing.T) {
	t.Parallel()
	rep := runner.Report{Status: runner.StatusApplied, Decision: protocol.LabelAndRespond, Executed: 1, Suggested: 1, Actions: []triage.ActionResult{
		{Index: 0, Action: protocol.ActionItem{Type: "unlock"}, Verdict: triage.Suggest, State: triage.Suggested, Proposal: 2, Carrier: triage.CarrierComment, Confidence: protocol.ConfidenceLow, Rationale: "it\n\x1b[31mcrashes"},
		{Index: 1, Action: protocol.ActionItem{Type: "lock"}, Verdict: triage.Do, State: triage.Done, Proposal: 1, AcceptedBy: "mona"},
		{Index: 2, Action: protocol.ActionItem{Type: "reopen_issue"}, Verdict: triage.Do, State: triage.Done, Confidence: protocol.ConfidenceHigh},
	}}
	data, err := json.Marshal(rep)
	if err != nil {
		t.Fatal(err)
	}
	_, got, _ := strings.Cut(story(queue.Details{Report: data}, "", time.Time{}), "outcome   ")
	want := "applied (1 written, 1 proposed)\n\nplan\n" +
		"  1. suggest  unlock  suggested\n     proposal 2, confidence low, it crashes\n" +
		"  2. do       lock  done\n     proposal 1, accepted by mona\n" +
		"  3. do       reopen_issue  done\n"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
