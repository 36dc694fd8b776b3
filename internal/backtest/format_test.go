package backtest_test

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/org/foreman-action/config"
	"github.com/org/foreman-action/internal/backtest"
	"github.com/org/foreman-action/internal/sanitize"
)

// replayed returns the report on one issue with that title, label and address.
func replayed(tb testing.TB, title, label, url string) backtest.Report {
	tb.Helper()
	src := &past{Issues_: []pastIssue{{
		Number: 7, Opened: now.AddDate(0, -1, 0), By: "ann", Title: title, URL: url, State: "closed",
	}}}
	cfg, err := config.Parse("rules.yml", []byte("version: 1\nrules:\n  - {id: a, on: issues.opened, then: [{add_label: \"{{ issue.body }}x\"}, {add_label: y}]}\n"), nil)
	if err != nil {
		tb.Fatal(err)
	}
	src.Issues_[0].Body = label
	report, err := backtest.Run(tb.Context(), src, backtest.Options{Repo: "octo/hello", Config: cfg, Old: &config.Config{}, OldName: label, Now: now})
	if err != nil {
		tb.Fatal(err)
	}
	return report
}

var htmlTag = regexp.MustCompile(`<[^>]*>`)

// tags returns the tags of a page without the addresses of its links.
func tags(page string) string {
	list := htmlTag.FindAllString(page, -1)
	return regexp.MustCompile(`href="https?://[^"<>' ]*"`).ReplaceAllString(strings.Join(list, "\n"), "href")
}

// FuzzFormats checks that titles, labels and addresses never change the tags of the page, and that
// the comment contains no mention and no reference.
func FuzzFormats(f *testing.F) {
	f.Add("plain", "bug", "https://github.com/octo/hello/issues/7")
	f.Add(`</title><script>alert("1")</script>`, `"><img src=x onerror=y>`, `https://github.com/"onclick="x`)
	f.Add("@octocat fixes #1 octo/other#2 GH-3", "@octo/team", "javascript:alert(1)")
	f.Add("</details> | ``` | <!-- foreman:v1 x --> \u202e ::error::x", "a|b", "https://x.example.org/a)[b](c")
	f.Add("https://github.com/octo/hello/issues/3 [a](b) ![c](d)", "<b>", "http://[::1]/%zz")
	const known = "https://github.com/octo/hello/issues/7"
	want, _ := strings.CutSuffix(tags(backtest.HTML(replayed(f, "x", "y", known))), "")
	f.Fuzz(func(t *testing.T, title, label, url string) {
		if !utf8.ValidString(title) || !utf8.ValidString(label) || strings.TrimSpace(title+label) == "" {
			return // GitHub sends only valid UTF-8
		}
		report := replayed(t, title, label, known)
		if got := tags(backtest.HTML(report)); got != want && len(report.Rules[0].Labels) == 2 {
			t.Errorf("other tags:\n%s", got)
		}
		report = replayed(t, title, label, url)
		page := backtest.HTML(report)
		if strings.Contains(page, "<script") || strings.Contains(page, `href="javascript`) || strings.Contains(page, "<img") {
			t.Errorf("the page runs something:\n%s", page)
		}
		wellFormed(t, page)
		comment := backtest.Markdown(report)
		if sanitize.HasMarker(comment) || regexp.MustCompile(`(^|[^\w])@\w`).MatchString(comment) || strings.Contains(comment, "github.com/octo/hello/issues/7") && !strings.Contains(comment, "redirect.github.com/octo/hello/issues/7") {
			t.Errorf("the comment acts:\n%s", comment)
		}
		if n := strings.Count(comment, "<details>"); n != strings.Count(comment, "</details>") || n != 2 {
			t.Errorf("the comment's parts are broken:\n%s", comment)
		}
		for line := range strings.Lines(backtest.Text(report)) {
			if sanitize.Log(strings.TrimSuffix(line, "\n")) != strings.TrimSuffix(line, "\n") {
				t.Errorf("a line of text acts: %q", line)
			}
		}
	})
}

// wellFormed checks that the elements of a page are well-formed XML.
func wellFormed(t *testing.T, page string) {
	t.Helper()
	_, body, _ := strings.Cut(page, "<body>")
	d := xml.NewDecoder(strings.NewReader("<body>" + strings.TrimSuffix(body, "</html>\n")))
	for {
		_, err := d.Token()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatalf("%v in:\n%s", err, page)
		}
	}
}

// TestMarkdownIsBounded checks that a comment on too many rules is cut at the end of a rule.
func TestMarkdownIsBounded(t *testing.T) {
	t.Parallel()
	r := backtest.Report{Repo: "octo/hello", ComparedWith: "main"}
	for n := range 3000 {
		rule := backtest.Rule{ID: fmt.Sprintf("rule-%d", n), NewlyFires: 5}
		for range 5 {
			rule.NewlyFiresOn = append(rule.NewlyFiresOn, backtest.Link{Issue: n, Title: strings.Repeat("ü@", 40), URL: "https://github.com/octo/hello/issues/1"})
		}
		r.Rules = append(r.Rules, rule)
	}
	text := backtest.Markdown(r)
	if len(text) > 60_000 || len(text) < 30_000 || strings.Count(text, "<details>") != strings.Count(text, "</details>") ||
		!strings.Contains(text, " rules more.") || !strings.Contains(text, "The details of ") {
		t.Errorf("got %d bytes, ending in\n%s", len(text), text[len(text)-500:])
	}
}

func TestRunRefuses(t *testing.T) {
	t.Parallel()
	for _, o := range []backtest.Options{{Repo: "octo", Config: &config.Config{}}, {Repo: "octo/hello"}} {
		if _, err := backtest.Run(t.Context(), &past{}, o); err == nil {
			t.Errorf("%+v: no error", o)
		}
	}
}
