package filter_test

import (
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/org/foreman-action/internal/server/filter"
	"github.com/org/foreman-action/queue"
)

const delivery = "72d3162e-cc78-11e3-81ab-4c9367dc0958"

func now() time.Time { return time.Date(2026, 11, 29, 12, 0, 0, 123_456_789, time.UTC) }

func parser() filter.Parser { return filter.Parser{GitHub: "https://ghe.example.org", Now: now} }

func TestParse(t *testing.T) {
	t.Parallel()
	day := func(h, m, s int) time.Time { return time.Date(2026, 11, 28, h, m, s, 0, time.UTC) }
	tests := []struct {
		query string
		want  queue.Filter
	}{
		{"", queue.Filter{}},
		{"state=failed&agent=HTTP://A:9001/task/&repo=+o/r+&issue=%237&before=9&limit=3", queue.Filter{State: queue.Failed, Agent: "http://a:9001", Repo: "o/r", Issue: 7, Before: 9, Limit: 3}},
		{"agent=not+an+address&id=x&title=++a++b&reason=why", queue.Filter{Agent: "not an address", ID: "x", Title: "a b", Reason: "why"}},
		{"issue=7&did=retried", queue.Filter{Issue: 7}},
		{"since=24h", queue.Filter{From: now().Add(-24 * time.Hour).Truncate(time.Millisecond)}},
		{"since=1w&until=7h30m", queue.Filter{From: now().Add(-7 * 24 * time.Hour).Truncate(time.Millisecond), To: now().Add(-450 * time.Minute).Truncate(time.Millisecond)}},
		{"since=2026-11-28", queue.Filter{From: day(0, 0, 0)}},
		{"since=2026-11-28T10:11&until=2026-11-28+10:11:12", queue.Filter{From: day(10, 11, 0), To: day(10, 11, 12)}},
		{"until=2026-11-28T10:11:12.0009%2B01:00", queue.Filter{To: day(9, 11, 12)}},
		{"since=0000-01-01T00:00:00%2B10:00", queue.Filter{From: time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC)}},
		{"q=https://github.com/O/r/issues/7", queue.Filter{Repo: "O/r", Issue: 7}},
		{"q=github.com/o/r/pull/7/files%23x", queue.Filter{Repo: "o/r", Issue: 7}},
		{"q=https://www.github.com/o/r/issues/7?x=1%23issuecomment-1", queue.Filter{Repo: "o/r", Issue: 7}},
		{"q=http://GHE.example.org/o/r/issues/8/", queue.Filter{Repo: "o/r", Issue: 8}},
		{"q=https://github.com/o/r", queue.Filter{Repo: "o/r"}},
		{"q=https://github.com/o/r/issues", queue.Filter{Repo: "o/r"}},
		{"q=o/r%2312", queue.Filter{Repo: "o/r", Issue: 12}},
		{"q=%2312&repo=o/r", queue.Filter{Repo: "o/r", Issue: 12}},
		{"q=o/r&repo=O/R", queue.Filter{Repo: "O/R"}},
		{"q=" + strings.ToUpper(delivery), queue.Filter{ID: delivery}},
		{"q=crash++on+start&title=big", queue.Filter{Title: "big crash on start"}},
		{"q=%3Cscript%3Ealert(1)%3C/script%3E", queue.Filter{Title: "<script>alert(1)</script>"}},
	}
	for _, tt := range tests {
		t.Run(tt.query, func(t *testing.T) {
			t.Parallel()
			v, err := url.ParseQuery(tt.query)
			if err != nil {
				t.Fatal(err)
			}
			got, err := parser().Parse(v)
			if diff := cmp.Diff(tt.want, got); diff != "" || err != nil {
				t.Errorf("%v (-want +got):\n%s", err, diff)
			}
		})
	}
}

func TestMistakes(t *testing.T) {
	t.Parallel()
	tests := []struct{ query, want string }{
		{"state=odd", `state: want one of pending, claimed, completed, done and failed, got "odd"`},
		{"repo=o&issue=0&before=x&limit=1001", "repo: want owner/name, got \"o\"\nissue: want a number from 1 to 2147483647, got \"0\"\n" +
			"before: want a number from 1 to 4611686018427387904, got \"x\"\nlimit: want a number from 1 to 1000, got \"1001\""},
		{"since=yesterday", `since: want a time such as 2026-11-28, 2026-11-28T09:30:00Z, or 24h for a day ago, got "yesterday"`},
		{"since=-1h", `since: want a time such as 2026-11-28, 2026-11-28T09:30:00Z, or 24h for a day ago, got "-1h"`},
		{"since=1h&until=2h", "until: want a time after since"},
		{"title=%00", "title: want a text of at most 2000 bytes"},
		{"reason=" + strings.Repeat("a", 2001), "reason: want a text of at most 2000 bytes"},
		{"id=a&id=b", "id: want it once, got it 2 times"},
		{"q=%ff", "q: want a text of at most 2000 bytes"},
		{"q=https://evil.example/o/r/issues/7", "q: the address is not on github.com or ghe.example.org; for an agent use agent"},
		{"q=https://github.com/o", "q: the address is not that of an issue or of a repository"},
		{"q=https://github.com/o/r/issues/x", `q: want the number of an issue, got "x"`},
		{"q=o/r&repo=o/s", "q: names another one than repo"},
		{"q=o/r%231&issue=2", "q: names another issue than issue"},
	}
	for _, tt := range tests {
		t.Run(tt.query, func(t *testing.T) {
			t.Parallel()
			v, err := url.ParseQuery(tt.query)
			if err != nil {
				t.Fatal(err)
			}
			if _, err = parser().Parse(v); err == nil || err.Error() != tt.want {
				t.Errorf("got %v\nwant %s", err, tt.want)
			}
		})
	}
}

func TestParseAll(t *testing.T) {
	t.Parallel()
	if _, err := parser().ParseAll(url.Values{"stat": {"failed"}}); err == nil || !strings.Contains(err.Error(), `unknown key "stat"`) {
		t.Errorf("got %v", err)
	}
	for _, key := range filter.Keys() {
		for _, values := range [][]string{{""}, {" "}, {"", "x"}} {
			v := url.Values{key: values}
			if _, err := parser().ParseAll(v); err == nil || !strings.HasPrefix(err.Error(), key+": want a value, got an empty one") {
				t.Errorf("%s=%q: got %v", key, values, err)
			}
			if filter.WithoutEmpty(v); v.Has(key) == (len(values) == 1) {
				t.Errorf("without empty values: %v", v)
			}
		}
	}
}

// FuzzParse checks that a parsed filter becomes a text that means the same filter.
func FuzzParse(f *testing.F) {
	for _, query := range []string{
		"state=failed&agent=http://a&repo=o/r&issue=7&id=x&title=a+b&reason=c&since=2026-11-28&until=1h&before=7&limit=9",
		"q=https://github.com/o/r/issues/7", "q=o/r%231", "q=" + delivery, "q=a+b", "since=9999-12-31T23:59:59.999-10:00",
	} {
		f.Add(query)
	}
	f.Fuzz(func(t *testing.T, query string) {
		v, err := url.ParseQuery(query)
		if err != nil {
			return
		}
		first, err := parser().Parse(v)
		if err != nil {
			return
		}
		again, err := parser().ParseAll(filter.Values(first))
		if diff := cmp.Diff(first, again); err != nil || diff != "" {
			t.Errorf("%q: %v (-first +again):\n%s", query, err, diff)
		}
	})
}
