package backtest_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// A recording is an http.RoundTripper that returns GitHub's responses for a repository with many
// issues: the pages of the issue list, and the timelines. They are generated in the same way each
// time.
type recording struct {
	issues int
	pages  [][]byte
	calls  int
}

// words are words for texts as long and as repetitive as real ones.
var words = strings.Fields(`after the upgrade our cluster no longer starts and the log shows a stack trace before it
stops we expected that the configuration from the manual works on every node please tell which version fixes this the
button does nothing when the list is empty how can the timeout be changed for slow networks thank you for the great work`)

// A dice is a small random number generator that depends only on its seed.
type dice uint64

func (d *dice) roll(n int) int {
	*d = *d*6364136223846793005 + 1442695040888963407
	return int(uint64(*d) >> 33 % uint64(n))
}

func (d *dice) text(n int) string {
	var b strings.Builder
	for k := range n {
		if k > 0 {
			b.WriteByte(" \n"[min(1, k%12/11)])
		}
		b.WriteString(words[d.roll(len(words))])
	}
	return b.String()
}

var kinds = []string{"crash", "docs", "question", "slow", ""}

// record generates a recording of that many issues.
func record(issues int) *recording {
	r := &recording{issues: issues}
	for from := issues; from > 0; from -= 100 {
		var page []any
		for n := from; n > max(0, from-100); n-- {
			page = append(page, issueOf(n))
		}
		raw, err := json.Marshal(page)
		if err != nil {
			panic(err)
		}
		r.pages = append(r.pages, raw)
	}
	return r
}

// openedAt returns when issue n was opened; the issues are spread over a year.
func openedAt(n int) time.Time {
	return now.AddDate(-1, 0, 0).Add(time.Duration(n) * 100 * time.Minute).UTC()
}

func user(login string) map[string]any {
	kind := "User"
	if strings.HasSuffix(login, "[bot]") {
		kind = "Bot"
	}
	return map[string]any{"login": login, "id": len(login), "type": kind, "avatar_url": "https://avatars.example.org/" + login}
}

// kindOf returns what issue n is about, and whether people added the label for it.
func kindOf(n int) (kind string, labelled bool) {
	d := dice(n)
	return kinds[d.roll(len(kinds))], d.roll(10) < 7
}

func issueOf(n int) map[string]any {
	d := dice(n * 7919)
	kind, labelled := kindOf(n)
	body := d.text(60 + d.roll(400))
	switch kind {
	case "crash":
		body += "\n\n```\npanic: runtime error: index out of range [" + strconv.Itoa(n) + "]\n```"
	case "docs":
		body += "\nthe documentation is wrong"
	case "question":
		body += "\nhow do I do that?"
	case "slow":
		body += "\nit is slow, and takes " + strconv.Itoa(n) + " seconds"
	}
	labels := []any{}
	if labelled && kind != "" {
		labels = append(labels, map[string]any{"id": len(kind), "name": "kind/" + kind, "color": "ededed", "description": d.text(6)})
	}
	state, reason := "open", any(nil)
	if n%3 > 0 {
		state, reason = "closed", "completed"
	}
	return map[string]any{
		"number": n, "id": 1_000_000 + n, "node_id": fmt.Sprintf("I_%d", n), "title": d.text(5 + d.roll(6)), "body": body,
		"user": user("user" + strconv.Itoa(d.roll(900))), "author_association": "NONE", "labels": labels, "state": state, "state_reason": reason,
		"assignees": []any{}, "milestone": nil, "comments": d.roll(9), "locked": false, "created_at": openedAt(n).Format(time.RFC3339),
		"updated_at": openedAt(n).Add(100 * time.Hour).Format(time.RFC3339), "html_url": fmt.Sprintf("https://github.com/octo/hello/issues/%d", n),
		"reactions": map[string]any{"url": "https://api.github.com/x", "total_count": 0, "+1": 0, "-1": 0},
	}
}

func timelineOf(n int) []any {
	kind, labelled := kindOf(n)
	at := func(d time.Duration) string { return openedAt(n).Add(d).Format(time.RFC3339) }
	list := []any{map[string]any{"id": n*10 + 1, "event": "commented", "user": user("max"), "created_at": at(time.Hour), "body": "We look into it."}}
	if labelled && kind != "" {
		list = append(list, map[string]any{
			"id": n*10 + 2, "event": "labeled", "actor": user("max"), "created_at": at(2 * time.Hour), "label": map[string]any{"name": "kind/" + kind, "color": "ededed"},
		})
	}
	if n%3 > 0 {
		list = append(list, map[string]any{"id": n*10 + 3, "event": "closed", "actor": user("max"), "created_at": at(50 * time.Hour), "state_reason": "completed"})
	}
	return list
}

// RoundTrip returns the recorded response.
func (r *recording) RoundTrip(req *http.Request) (*http.Response, error) {
	r.calls++
	h := http.Header{}
	h.Set("Content-Type", "application/json; charset=utf-8")
	h.Set("X-Ratelimit-Remaining", "14000")
	h.Set("X-Ratelimit-Reset", strconv.FormatInt(now.Add(time.Hour).Unix(), 10))
	var body []byte
	if below, ok := strings.CutSuffix(req.URL.Path, "/timeline"); ok {
		n, err := strconv.Atoi(below[strings.LastIndex(below, "/")+1:])
		if err != nil {
			return nil, err
		}
		if body, err = json.Marshal(timelineOf(n)); err != nil {
			return nil, err
		}
	} else {
		page, err := strconv.Atoi(req.URL.Query().Get("page"))
		if err != nil {
			return nil, err
		}
		body = r.pages[page-1]
		if page < len(r.pages) {
			h.Set("Link", fmt.Sprintf(`<https://api.github.com/x?page=%d>; rel="next", <https://api.github.com/x?page=%d>; rel="last"`, page+1, len(r.pages)))
		}
	}
	return &http.Response{StatusCode: http.StatusOK, Header: h, Body: io.NopCloser(bytes.NewReader(body)), Request: req}, nil
}
