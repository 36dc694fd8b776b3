package summarize_test

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/org/foreman-action/internal/summarize"
	"github.com/org/foreman-action/internal/testkit/golden"
	"github.com/org/foreman-action/memory"
	"github.com/org/foreman-action/memory/memorytest"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/triage"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func read(t testing.TB, file string) []byte {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// A modelFunc is a function that implements summarize.Model.
type modelFunc func(ctx context.Context, p summarize.Prompt) (string, error)

func (f modelFunc) Complete(ctx context.Context, p summarize.Prompt) (string, error) {
	return f(ctx, p)
}

// says returns a model with a fixed answer.
func says(answer string) summarize.Model {
	return modelFunc(func(context.Context, summarize.Prompt) (string, error) { return answer, nil })
}

// echo is a model that returns its input.
func echo(_ context.Context, p summarize.Prompt) (string, error) { return p.Text, nil }

// recordOf returns the record of an archive in memory/testdata/summary.
func recordOf(t testing.TB, name string) memory.Record {
	t.Helper()
	ar := txtar.Parse(read(t, "../../memory/testdata/summary/"+name+".txtar"))
	r, err := memory.Decode(ar.Files[0].Data, "org/repo", 42)
	if err != nil {
		t.Fatal(err)
	}
	if ar.Files[1].Name != "now" {
		return r
	}
	now, err := time.Parse(time.RFC3339, strings.TrimSpace(string(ar.Files[1].Data)))
	if err != nil {
		t.Fatal(err)
	}
	return r.Faded(now)
}

// TestSummarizer reads testdata/summarizer. Each archive has these parts:
//
//	of       the name of an archive in memory/testdata/summary that contains the record
//	answer   the model's text; a line in double quotes is a Go string
//	outcome  the text behind the facts, "not asked", or why the summary has the facts alone
func TestSummarizer(t *testing.T) {
	t.Parallel()
	golden.Files(t, "testdata/summarizer", *update, func(t *testing.T, in map[string]string) map[string]string {
		r := recordOf(t, strings.TrimSpace(in["of"]))
		facts, _ := memory.Summary(r)
		answer := answerOf(t, in["answer"], facts)
		asked := 0
		var log bytes.Buffer
		s := summarize.Summarizer{
			Model: modelFunc(func(context.Context, summarize.Prompt) (string, error) {
				asked++
				if answer == "ERROR" {
					return "", errors.New("the model is ill")
				}
				return answer, nil
			}),
			Log: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{ReplaceAttr: onlyError})),
		}
		text, ok := s.Summarize(t.Context(), r)
		checkWritten(t, r, text, ok)
		outcome := strings.TrimSuffix(log.String(), "\n")
		switch {
		case asked == 0:
			outcome = "not asked"
		case outcome != "" && text != facts:
			t.Errorf("got %q, want the facts alone", text)
		case outcome == "":
			outcome = strings.TrimPrefix(strings.TrimPrefix(text, facts), " ")
			if filler := strings.TrimLeft(outcome, "x"); filler == "" && len(text) == memory.MaxSummary {
				outcome = "x up to the bound"
			}
		}
		return map[string]string{"outcome": outcome + "\n"}
	})
}

func onlyError(_ []string, a slog.Attr) slog.Attr {
	if a.Key != "error" {
		return slog.Attr{}
	}
	return a
}

// answerOf returns the model's text of an archive. FITS stands for the longest text that fits behind
// the facts.
func answerOf(t *testing.T, text, facts string) string {
	t.Helper()
	text = strings.TrimSuffix(text, "\n")
	if !strings.HasPrefix(text, `"`) {
		return text
	}
	text, err := strconv.Unquote(text)
	if err != nil {
		t.Fatal(err)
	}
	return strings.NewReplacer(
		"FITS", strings.Repeat("x", memory.MaxSummary-len(facts)-1),
		"MEGABYTE", strings.Repeat("the ", 1<<18),
	).Replace(text)
}

// checkWritten checks the properties of every summary of a Summarizer.
func checkWritten(t testing.TB, r memory.Record, text string, ok bool) {
	t.Helper()
	facts, want := memory.Summary(r)
	if ok != want || ok != (text != "") {
		t.Errorf("ok is %v for %q, want %v", ok, text, want)
	}
	if text != facts && !strings.HasPrefix(text, facts+" ") {
		t.Errorf("got %q, want it to begin with %q", text, facts)
	}
	if len(text) > memory.MaxSummary || !utf8.ValidString(text) {
		t.Errorf("%d bytes, valid UTF-8 %v: %q", len(text), utf8.ValidString(text), text)
	}
	if i := strings.IndexFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }); i >= 0 {
		t.Errorf("unprintable at byte %d: %q", i, text)
	}
	if got, want := strings.Contains(text, "commented"), posted(r); got != want {
		t.Errorf("says commented: %v, a comment was posted: %v\n%s", got, want, text)
	}
	low, known := strings.ToLower(text), strings.ToLower(facts)
	for _, p := range []string{"comment", "replied", "answered", "comment was posted", "commented", "a comment", "responded"} {
		if strings.Contains(low, p) && !strings.Contains(known, p) && !posted(r) {
			t.Errorf("says %q, and the facts do not: %s", p, text)
		}
	}
}

// TestSummarizerPrompt checks the prompt of the model: it contains the text of Summary, and no text
// of a person.
func TestSummarizerPrompt(t *testing.T) {
	t.Parallel()
	r := recordOf(t, "several")
	for i := range r.Tasks {
		r.Tasks[i].Rationale = "hunter2 rationale"
		for j := range r.Tasks[i].Actions {
			r.Tasks[i].Actions[j].Reason, r.Tasks[i].Actions[j].URL = "hunter2 reason", "https://hunter2.example"
		}
	}
	var asked []summarize.Prompt
	s := summarize.Summarizer{Model: modelFunc(func(_ context.Context, p summarize.Prompt) (string, error) {
		asked = append(asked, p)
		return "", nil
	})}
	s.Summarize(t.Context(), r)
	s.Summarize(t.Context(), memory.Record{Repo: "org/repo", Issue: 42})
	if len(asked) != 1 {
		t.Fatalf("got %d questions, want 1", len(asked))
	}
	const file = "testdata/summarizer/system.txt"
	if *update {
		if err := os.WriteFile(file, []byte(asked[0].System+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(string(read(t, file)), asked[0].System+"\n"); diff != "" {
		t.Errorf("system -want +got:\n%s", diff)
	}
	facts, _ := memory.Summary(r)
	if p := asked[0]; p.Text != facts || p.MaxTokens < 1 || strings.Contains(fmt.Sprint(p), "hunter2") {
		t.Errorf("got %+v, want the text %q", p, facts)
	}
}

func TestSummarizerTooSlow(t *testing.T) {
	t.Parallel()
	r := recordOf(t, "one-label")
	facts, _ := memory.Summary(r)
	// The first model stops when its context ends, the second one answers nevertheless.
	models := []modelFunc{
		func(ctx context.Context, _ summarize.Prompt) (string, error) {
			<-ctx.Done()
			return "", fmt.Errorf("ask: %w", ctx.Err())
		},
		func(ctx context.Context, _ summarize.Prompt) (string, error) {
			<-ctx.Done()
			return "It has a label.", nil
		},
	}
	for i, m := range models {
		for _, by := range []string{"timeout", "caller"} {
			ctx, cancel := context.WithCancel(t.Context())
			s := summarize.Summarizer{Model: m}
			if by == "timeout" {
				s.Timeout = time.Nanosecond
			} else {
				cancel()
			}
			text, ok := s.Summarize(ctx, r)
			cancel()
			if !ok || text != facts {
				t.Errorf("model %d, ended by the %s: got %q, %v; want the facts", i, by, text, ok)
			}
		}
	}
}

func TestSummarizerTimeout(t *testing.T) {
	t.Parallel()
	r := recordOf(t, "one-label")
	for _, timeout := range []time.Duration{0, time.Hour} {
		want := max(timeout, summarize.DefaultTimeout)
		s := summarize.Summarizer{Timeout: timeout, Model: modelFunc(func(ctx context.Context, _ summarize.Prompt) (string, error) {
			end, ok := ctx.Deadline()
			if left := time.Until(end); !ok || left > want || left < want-time.Minute {
				t.Errorf("timeout %v: %v left, %v; want %v", timeout, left, ok, want)
			}
			return "", nil
		})}
		s.Summarize(t.Context(), r)
	}
}

func TestSummarizerWithoutModel(t *testing.T) {
	t.Parallel()
	r := recordOf(t, "several")
	want, _ := memory.Summary(r)
	if text, ok := (summarize.Summarizer{}).Summarize(t.Context(), r); text != want || !ok {
		t.Errorf("got %q, %v; want %q", text, ok, want)
	}
}

// TestPendingSummarized lets a model repeat deferred actions: a vetoed closing is left out.
func TestPendingSummarized(t *testing.T) {
	t.Parallel()
	r := memorytest.Sample("org/repo", 7)
	r.Forbid("stale")
	for i, rule := range []string{"a", "b"} {
		r.Plan(memory.ScheduledClose{Due: time.Date(2026, 5, 1+i, 0, 0, 0, 0, time.UTC), Rule: rule, Reason: "completed"})
	}
	r.Veto("a")
	var log bytes.Buffer
	s := summarize.Summarizer{Model: modelFunc(echo), Log: slog.New(slog.NewTextHandler(&log, nil))}
	text, ok := s.Summarize(t.Context(), r)
	const want = "Issue #7: labelled 'bug' on 2026-04-10 (rule crash); never to set the label 'stale'; closing as 'completed' on 2026-05-02. No further actions."
	if !ok || text != want || log.Len() > 0 {
		t.Errorf("got %q, %t, log %s", text, ok, log.String())
	}
}

// posted reports whether a record contains a comment.
func posted(r memory.Record) bool {
	is := func(typ string) bool { return typ == protocol.ActionComment || typ == protocol.ActionUpdateComment }
	if r.Earlier != nil {
		for typ, n := range r.Earlier.Done {
			if n > 0 && is(typ) {
				return true
			}
		}
	}
	for _, task := range r.Tasks {
		for _, a := range task.Actions {
			if a.Result == triage.Done && is(a.Type) {
				return true
			}
		}
	}
	return false
}

// FuzzSummarizer lets a model return any answer for records with any names.
func FuzzSummarizer(f *testing.F) {
	list, err := filepath.Glob("testdata/summarizer/*.txtar")
	if err != nil || len(list) == 0 {
		f.Fatalf("no answers: %v", err)
	}
	for i, file := range list {
		ar := txtar.Parse(read(f, file))
		f.Add(string(ar.Files[1].Data), "bug", "crash", uint8(i))
	}
	f.Add("Foreman set the label 'a comment' and commented.", "a comment", "on", uint8(1))
	f.Fuzz(func(t *testing.T, answer, label, rule string, kind uint8) {
		types := []string{"add_label", "comment", "close_issue", label, "add_label"}
		task := memory.Task{ID: "t", At: time.Date(2026, 4, 10, 0, 0, 0, 0, time.UTC), Actions: []memory.Action{
			{Type: "add_label", Values: []string{label}, Rule: rule, Result: triage.Done},
			{Type: types[int(kind)%len(types)], Values: []string{rule}, Rule: label, Result: triage.Done},
		}}
		r := memory.Record{Repo: "org/repo", Issue: 42, Tasks: []memory.Task{task}}
		if kind%2 == 1 {
			r.SetHumans([]memory.Change{
				{At: task.At.Add(time.Hour), Type: types[int(kind)%len(types)], Values: []string{rule}, By: label},
				{At: task.At.AddDate(0, 0, 1), Type: "remove_label", Values: []string{label, rule}},
			})
		}
		text, ok := summarize.Summarizer{Model: says(answer)}.Summarize(t.Context(), r)
		checkWritten(t, r, text, ok)
		// A model that writes the label without its escapes.
		freed, ok := summarize.Summarizer{Model: says(answer + " " + label)}.Summarize(t.Context(), r)
		checkWritten(t, r, freed, ok)
	})
}

// The facts come first, and the model's text is left out if it has a word about a reply that the
// facts do not have.
func ExampleSummarizer() {
	r := memory.Record{Repo: "org/repo", Issue: 42}
	r.Put(memory.Task{
		ID: "a3f8c2d1-4b5e-4f6a-8c9d-0e1f2a3b4c5d", At: time.Date(2026, 4, 10, 8, 30, 0, 0, time.UTC),
		Actions: []memory.Action{{Type: "add_label", Values: []string{"bug"}, Rule: "crash", Result: triage.Done}},
	})
	for _, answer := range []string{"A rule marked the issue as a bug.", "A rule marked the issue as a bug and commented."} {
		text, _ := summarize.Summarizer{Model: says(answer)}.Summarize(context.Background(), r)
		fmt.Println(text)
	}
	// Output:
	// Issue #42: labelled 'bug' on 2026-04-10 (rule crash). No further actions. A rule marked the issue as a bug.
	// Issue #42: labelled 'bug' on 2026-04-10 (rule crash). No further actions.
}
