package history_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"math"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/org/foreman-action/queue"
	"github.com/org/foreman-action/queue/history"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// sample returns counts whose histogram of waiting has the durations.
func sample(durations []time.Duration) history.Counts {
	var c history.Counts
	start := time.Date(2026, 4, 10, 8, 30, 0, 0, time.UTC)
	for _, d := range durations {
		t := history.Ended{Info: queue.Info{State: queue.Failed, Enqueued: start, Claimed: start.Add(d), Ended: start.Add(d)}}
		for _, f := range t.Facts() {
			c.Add(f.Counts)
		}
	}
	return c
}

// TestPercentile compares percentiles with exact ones. They differ by at most a tenth.
func TestPercentile(t *testing.T) {
	t.Parallel()
	for name, next := range map[string]func(i int) time.Duration{
		"even":   func(i int) time.Duration { return time.Duration(i+1) * time.Millisecond },
		"powers": func(i int) time.Duration { return time.Duration(math.Pow(1.013, float64(i)) * float64(time.Second)) },
		"equal":  func(int) time.Duration { return 37 * time.Second },
		"two": func(i int) time.Duration {
			if i%50 == 0 {
				return time.Hour
			}
			return 5 * time.Millisecond
		},
		"a year": func(i int) time.Duration { return time.Duration(i+1) * 9 * time.Hour },
	} {
		durations := make([]time.Duration, 1000)
		for i := range durations {
			durations[i] = next(i)
		}
		h := sample(durations).Waiting
		slices.Sort(durations)
		for _, p := range []float64{0, 0.01, 0.5, 0.9, 0.99, 1} {
			want := durations[max(0, int(math.Ceil(p*1000))-1)]
			got := h.Percentile(p)
			if ratio := float64(got) / float64(want); ratio < 0.9 || ratio > 1.1 {
				t.Errorf("%s, p%v: got %v, want about %v", name, p*100, got, want)
			}
		}
	}
	if got := (history.Histogram)(nil).Percentile(0.5); got != 0 {
		t.Errorf("an empty histogram: got %v, want 0", got)
	}
}

// TestAddParts checks that counts do not depend on the order in which their parts are added, or on
// how they are grouped.
func TestAddParts(t *testing.T) {
	t.Parallel()
	var list []time.Duration
	for i := range 200 {
		list = append(list, time.Duration(i*i)*time.Millisecond)
	}
	whole := sample(list)
	parts := sample(list[:70])
	parts.Add(sample(list[70:71]))
	rest := sample(list[71:])
	rest.Add(history.Counts{})
	rest.Add(parts)
	if !reflect.DeepEqual(rest, whole) {
		t.Errorf("got %+v, want %+v", rest, whole)
	}
	if parts.Waiting.N() != 71 {
		t.Errorf("Add changed its argument: got %d durations, want 71", parts.Waiting.N())
	}
}

func TestOutcomeOf(t *testing.T) {
	t.Parallel()
	done := queue.Info{State: queue.Done}
	long := `{"rationale":"` + strings.Repeat("a", history.MaxReport) + `","status":"applied"}`
	tests := []struct {
		name   string
		task   queue.Info
		report string
		want   history.Outcome
	}{
		{"applied", done, `{"version":1,"actions":[{"status":"x"}],"status":"applied"}`, history.Applied},
		{"partial", done, `{"status":"partial"}`, history.Partial},
		{"refused", done, `{"status":"done"}`, history.Refused},
		{"planned", done, `{"status":"dry_run"}`, history.Planned},
		{"nothing", done, `{"status":"skipped"}`, history.Nothing},
		{"escalated", done, `{"status":"escalated"}`, history.Escalated},
		{"suggested", done, `{"status":"suggested"}`, history.Suggested},
		{"cut off after the status", done, `{"version":1,"status":"applied","actions":[{"type":"com`, history.Applied},
		{"cut off before the status", done, long[:history.MaxReport], history.Unknown},
		{"status in a text", done, `{"title":"\"status\":\"applied\"","status":"skipped"}`, history.Nothing},
		{"status of an action only", done, `{"actions":[{"status":"applied"}]}`, history.Unknown},
		{"a status of the future", done, `{"status":"new"}`, history.Unknown},
		{"a status that is no text", done, `{"status":7}`, history.Unknown},
		{"no report", done, ``, history.Unknown},
		{"not an object", done, `["status","applied"]`, history.Unknown},
		{"cancelled", queue.Info{State: queue.Failed, Reason: "cancelled by ada"}, ``, history.Cancelled},
		{"no decision", queue.Info{State: queue.Failed, Reason: "claimed 3 times without a decision"}, ``, history.NoDecision},
		{"not applied", queue.Info{State: queue.Failed, Reason: "x", Completed: time.Unix(1, 0)}, `{"status":"applied"}`, history.NotApplied},
	}
	for _, tt := range tests {
		if got := history.OutcomeOf(tt.task, []byte(tt.report)); got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.name, got, tt.want)
		}
	}
}

// TestRanges checks that each range has at most 120 points, and that its points are whole numbers of
// the stored rows, which are kept for at least as long.
func TestRanges(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 29, 1, 59, 59, 999_000_000, time.UTC)
	for _, r := range history.Ranges() {
		kept := map[time.Duration]time.Duration{history.MinuteWidth: history.MinutesKept, history.HourWidth: history.Retention}[r.Width()]
		if r.Steps < 60 || r.Steps > 120 || r.Step%r.Width() != 0 || time.Duration(r.Steps)*r.Step > kept {
			t.Errorf("%+v does not fit the rows", r)
		}
		s := history.NewSeries(history.Query{Range: r}, now)
		if s.Index(now) != r.Steps-1 || s.Index(s.From) != 0 || s.Index(s.From.Add(-1)) >= 0 || !s.At(r.Steps).After(now) {
			t.Errorf("%s: the last point does not contain the time", r.Name)
		}
		if got, err := history.ParseRange(r.Name); err != nil || got != r {
			t.Errorf("%s: got %v, %v", r.Name, got, err)
		}
	}
	if r, err := history.ParseRange(""); err != nil || r.Name != "24h" {
		t.Errorf("no range: got %v, %v", r, err)
	}
	for _, name := range []string{"2h", "24H", " 24h", "0", "-1h"} {
		if _, err := history.ParseRange(name); err == nil {
			t.Errorf("%q is accepted", name)
		}
	}
}

// TestKeys checks that different scopes have different keys, and that a database can index them.
func TestKeys(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("ü", 1000)
	seen := map[string]history.Scope{}
	for _, agent := range []string{"", "a", "a b", "1 a", "agent a", long, long + "x"} {
		for _, repo := range []string{"", "a", "b", "a b", "repo a", long, long + "x"} {
			s := history.Scope{Agent: agent, Repo: repo}
			key := s.Key()
			if other, ok := seen[key]; ok || len(key) > 600 {
				t.Errorf("%.20v: the key %.50s has %d bytes, and is also that of %.20v", s, key, len(key), other)
			}
			seen[key] = s
		}
	}
}

// FuzzDecode checks that a stored row is refused, or is the same after another round trip.
func FuzzDecode(f *testing.F) {
	for _, seed := range []string{
		`{}`, `{"received":1,"waiting":{"3":4}}`, `{"waiting":{"999":1}}`, `{"done":-1}`, `{"outcomes":{"applied":2}}`, `{"waiting":{"x":1}}`,
		`{"deciding":{"0":99999999999}}`, `null`, `[]`, `{"skewed":1e3}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := history.Decode(data)
		if err != nil {
			return
		}
		for _, h := range []history.Histogram{c.Waiting, c.Deciding, c.Applying} {
			if h.N() < 0 || h.Percentile(0.99) < h.Percentile(0.5) || h.Percentile(0) < 0 {
				t.Errorf("the percentiles of %v are out of order", h)
			}
		}
		text, err := json.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		again, err := history.Decode(text)
		if err != nil {
			t.Fatal(err)
		}
		if second, err := json.Marshal(again); err != nil || !bytes.Equal(second, text) {
			t.Errorf("got %s, want %s", second, text)
		}
	})
}

// FuzzOutcome checks that no report stops the history.
func FuzzOutcome(f *testing.F) {
	f.Add([]byte(`{"version":1,"status":"applied"}`))
	f.Add([]byte(`{"a":[[[[`))
	f.Fuzz(func(t *testing.T, report []byte) {
		if o := history.OutcomeOf(queue.Info{State: queue.Done}, report); !slices.Contains(history.Outcomes(), o) {
			t.Errorf("got the outcome %q", o)
		}
	})
}

// TestJSON pins the JSON that programs read.
func TestJSON(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 4, 10, 8, 30, 0, 0, time.UTC)
	s := history.NewSeries(history.Query{Range: history.Range{Name: "test", Step: time.Minute, Steps: 2}, Scope: history.Scope{Agent: "<a>"}}, now)
	s.Add(history.Received(now))
	c := sample([]time.Duration{90 * time.Second, 90 * time.Second, 5000 * time.Second})
	s.Add(history.Fact{At: now.Add(-time.Minute), Counts: c})
	s.Pending = now
	budget := history.NewBudgetSeries("bot", s.Range)
	budget.Points[0] = history.BudgetPoint{Calls: 3, Remaining: -1}
	budget.Points[1] = history.BudgetPoint{Calls: 4, Remaining: 0, Limit: 5000}
	s.Budgets = []history.BudgetSeries{budget}
	data, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	const golden = "testdata/series.json"
	if *update {
		if err := os.WriteFile(golden, append(data, '\n'), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(data)+"\n"); diff != "" {
		t.Errorf("(-want +got; -update rewrites it)\n%s", diff)
	}
}
