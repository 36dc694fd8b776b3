package backtest_test

import (
	"context"
	"runtime"
	"testing"
	"time"

	"github.com/org/foreman-action/config"
	"github.com/org/foreman-action/internal/backtest"
	"github.com/org/foreman-action/internal/github"
	"github.com/org/foreman-action/triage"
)

const benchRules = "version: 1\n" + `
rules:
  - {id: crash, on: issues.opened, when: 'issue.text matches "(?i)panic|stack trace:"', then: [add_label: kind/crash]}
  - {id: docs, on: issues.opened, when: 'issue.body contains "documentation"', then: [add_label: kind/docs]}
  - {id: question, on: issues.opened, when: 'issue.body matches "how do I .*[?]" and not any_label("kind/*")', then: [add_label: kind/question]}
  - {id: slow, on: issues.opened, when: 'issue.text matches "takes [0-9]+ seconds"', then: [add_label: kind/slow]}
`

// A watched is a Source that reads history from GitHub. It calls look, if set, before each page.
type watched struct {
	*github.History
	look func()
}

func (w watched) Issues(ctx context.Context, page int) (backtest.Page, error) {
	if w.look != nil {
		w.look()
	}
	p, err := w.History.Issues(ctx, page)
	return backtest.Page(p), err
}

func (w watched) Timeline(ctx context.Context, i triage.Issue) (triage.Timeline, error) {
	return w.History.Timeline(ctx, i)
}

// replayRecording replays the rules over a recording.
func replayRecording(tb testing.TB, r *recording, dir string, look func()) (backtest.Report, github.HistoryCalls) {
	tb.Helper()
	cfg, err := config.Parse("rules.yml", []byte(benchRules), nil)
	if err != nil {
		tb.Fatal(err)
	}
	client, err := github.New(github.Options{Transport: r, Token: "t0ken", Now: func() time.Time { return now }})
	if err != nil {
		tb.Fatal(err)
	}
	h, err := github.NewHistory(client, "octo", "hello", github.HistoryOptions{Dir: dir, Reserve: 100})
	if err != nil {
		tb.Fatal(err)
	}
	report, err := backtest.Run(tb.Context(), watched{h, look}, backtest.Options{
		Repo: "octo/hello", Config: cfg, Since: now.AddDate(-2, 0, 0), Now: now,
	})
	if err != nil {
		tb.Fatal(err)
	}
	return report, h.Calls()
}

// heap returns the number of bytes in use.
func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// TestFlat checks that ten times as many issues take no more memory. It expects one call for each
// hundred issues, and one for each issue on which a rule fires.
func TestFlat(t *testing.T) { //nolint:paralleltest // measures memory
	const few, many = 500, 5000
	grown := map[int]int64{}
	for _, n := range []int{few, many} {
		r := record(n)
		before, most := heap(), int64(0)
		page := 0
		report, calls := replayRecording(t, r, "", func() {
			if page++; page%12 == 0 || page < 5 {
				most = max(most, heap()-before)
			}
		})
		grown[n] = most
		wanted := 0
		for i := 1; i <= n; i++ {
			if kind, _ := kindOf(i); kind != "" {
				wanted++
			}
		}
		if report.Issues != n || report.Timelines != wanted || calls.Made != n/100+wanted || r.calls != calls.Made {
			t.Errorf("%d issues: %d replayed, %d timelines, %d calls of %d, want %d timelines", n, report.Issues, report.Timelines, calls.Made, r.calls, wanted)
		}
		if got := report.Rules[0]; got.Precision == nil || *got.Precision < 0.6 || *got.Recall != 1 {
			t.Errorf("%d issues: got %+v", n, got)
		}
	}
	t.Logf("heap: %d KiB for %d issues, %d KiB for %d", grown[few]>>10, few, grown[many]>>10, many)
	if grown[many] > grown[few]+2<<20 {
		t.Errorf("the heap grows with the issues: %d bytes for %d, %d for %d", grown[few], few, grown[many], many)
	}
}

// BenchmarkBacktest replays four rules over 5,000 recorded issues, from GitHub's responses and from
// the cache on disk.
func BenchmarkBacktest(b *testing.B) {
	r := record(5000)
	b.Run("answers", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			replayRecording(b, r, "", nil)
		}
	})
	b.Run("kept", func(b *testing.B) {
		dir := b.TempDir()
		replayRecording(b, r, dir, nil)
		b.ReportAllocs()
		b.ResetTimer()
		for b.Loop() {
			replayRecording(b, r, dir, nil)
		}
	})
}
