package history

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/org/foreman-action/memory"
	"github.com/org/foreman-action/triage"
)

var update = flag.Bool("update", false, "rewrite the expected parts of the files in testdata")

const rebuildBot = "github-actions[bot]"

// timelineOf parses a timeline in the form of the test data: each line is "minute actor kind text".
// The text is the value of the field that this kind uses.
func timelineOf(t *testing.T, src string) triage.Timeline {
	t.Helper()
	out := triage.Timeline{Complete: true}
	for line := range strings.Lines(src) {
		var minute int
		e := triage.TimelineEvent{ID: int64(len(out.Events) + 1), ActorType: "User"}
		if _, err := fmt.Sscan(line, &minute, &e.Actor, &e.Kind); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		_, text, _ := strings.Cut(strings.TrimSpace(line), e.Kind)
		text = strings.ReplaceAll(strings.TrimSpace(text), `\n`, "\n")
		e.At = time.Date(2026, 4, 10, 8, minute, 0, 0, time.UTC)
		if strings.HasSuffix(e.Actor, "[bot]") {
			e.ActorType = "Bot"
		}
		e.Label, e.Assignee, e.Milestone, e.IssueType, e.Reason, e.Body = text, text, text, text, text, text
		out.Events = append(out.Events, e)
	}
	return out
}

// TestRebuild compares the record that is rebuilt from each timeline in testdata/rebuild with the
// expected one.
func TestRebuild(t *testing.T) {
	t.Parallel()
	paths, err := filepath.Glob("testdata/rebuild/*.txtar")
	if err != nil || len(paths) == 0 {
		t.Fatal("no cases", err)
	}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			t.Parallel()
			ar, err := txtar.ParseFile(path)
			if err != nil {
				t.Fatal(err)
			}
			h := History{Timeline: timelineOf(t, string(ar.Files[0].Data)), Bot: rebuildBot, Issue: triage.Issue{
				Author: "hubot", CreatedAt: time.Date(2026, 4, 10, 8, 1, 0, 0, time.UTC),
			}}
			rec := Rebuild(h, func(Trace) bool { return false })
			rec.SetHumans(HumanChanges(h))
			rec.Repo, rec.Issue = "octo/hello", 7
			var b strings.Builder
			for _, task := range rec.Tasks {
				fmt.Fprintf(&b, "%s %s %s\n", task.ID, task.At.Format(time.TimeOnly), task.Decision)
				for _, a := range task.Actions {
					fmt.Fprintf(&b, "  %d %s %v\n", a.Index, a.Type, a.Values)
				}
			}
			for _, c := range rec.Humans {
				fmt.Fprintf(&b, "%s %s %s %v\n", c.By, c.At.Format(time.TimeOnly), c.Type, c.Values)
			}
			text, _ := memory.Summary(rec)
			b.WriteString(text + "\n")
			got := b.String()
			if *update {
				ar.Files[1].Data = []byte(got)
				if err := os.WriteFile(path, txtar.Format(ar), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if want := string(ar.Files[1].Data); got != want {
				t.Errorf("got:\n%s\nwant:\n%s", got, want)
			}
		})
	}
}

// FuzzRebuild rebuilds a record from any timeline. The record must be storable, and must list only
// comments that are ours.
func FuzzRebuild(f *testing.F) {
	f.Add([]byte(`[{"Kind": "labeled", "Actor": "github-actions[bot]", "Label": "commented", "At": "2026-04-10T08:00:00Z"}]`))
	f.Add([]byte(`[{"Kind": "commented", "Actor": "github-actions[bot]", "Body": "x\n\n<!-- foreman:v1 task=a3f8c2d1-4b5e-4f6a-8c9d-0e1f2a3b4c5d comment=0 -->", "At": "2026-04-10T08:00:00Z"}]`))
	f.Add([]byte(`[{"Kind": "commented", "Actor": "mallory", "Body": "<!-- foreman:v1 task=x -->", "At": "2026-04-10T08:00:00Z"}]`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var tl triage.Timeline
		if json.Unmarshal(data, &tl.Events) != nil {
			return
		}
		h := History{Timeline: tl, Bot: rebuildBot}
		rec := Rebuild(h, func(Trace) bool { return false })
		rec.Repo, rec.Issue, rec.Revision = "octo/hello", 7, 1
		rec.SetHumans(HumanChanges(h))
		stored, err := memory.Encode(rec)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := memory.Decode(stored, rec.Repo, rec.Issue); err != nil {
			t.Fatalf("%v\n%s", err, stored)
		}
		posted := false
		for _, e := range tl.Events {
			posted = posted || e.Kind == "commented" && strings.EqualFold(e.Actor, rebuildBot) && strings.Contains(e.Body, "<!-- foreman:v1 ")
		}
		text, _ := memory.Summary(rec)
		if strings.Contains(text, "commented") && !posted {
			t.Errorf("it lists a comment that is not ours: %s", text)
		}
	})
}
