package backtest_test

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
	"gopkg.in/yaml.v3"

	"github.com/org/foreman-action/config"
	"github.com/org/foreman-action/internal/backtest"
	"github.com/org/foreman-action/internal/evidence"
	"github.com/org/foreman-action/triage"
)

var update = flag.Bool("update", false, "rewrite what the cases expect")

var now = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// A caseFile is one archive of testdata/cases. It contains "rules.yml", "history.yml", optionally
// "old.yml" and "options.yml", and the expected output: "text", and optionally "json", "markdown"
// and "html".
type caseFile struct {
	*txtar.Archive
	path string
}

func (c caseFile) part(name string) (*txtar.File, bool) {
	i := slices.IndexFunc(c.Files, func(f txtar.File) bool { return f.Name == name })
	if i < 0 {
		return nil, false
	}
	return &c.Files[i], true
}

// past is the history of a case. It is a Source with pages of three issues.
type past struct {
	Issues_   []pastIssue `yaml:"issues"`
	StopAfter int         `yaml:"stop_after"` // number of timelines
	FailAfter int         `yaml:"fail_after"` // number of pages
	reads     []int       // issues whose timelines were read
}

type pastIssue struct {
	Number                                  int
	Opened                                  time.Time
	By, Association, Type, Title, Body, URL string
	Labels                                  []string
	State, Reason                           string
	PR                                      bool
	Truncated                               bool
	Events                                  []pastEvent
}

type pastEvent struct {
	After                           time.Duration
	By, Kind, Label, Reason, From   string
	Assignee, Milestone, Issue_type string
}

const pageSize = 3

func (p *past) Issues(_ context.Context, page int) (backtest.Page, error) {
	if p.FailAfter > 0 && page > p.FailAfter {
		return backtest.Page{}, errors.New("the network is gone")
	}
	from := min((page-1)*pageSize, len(p.Issues_))
	to := min(from+pageSize, len(p.Issues_))
	out := backtest.Page{More: to < len(p.Issues_), About: len(p.Issues_)}
	for _, i := range p.Issues_[from:to] {
		out.Issues = append(out.Issues, i.issue())
	}
	return out, nil
}

func (p *past) Timeline(_ context.Context, i triage.Issue) (triage.Timeline, error) {
	if p.StopAfter > 0 && len(p.reads) == p.StopAfter {
		return triage.Timeline{}, &backtest.StopError{Until: now.Add(42 * time.Minute), Err: errors.New("the calls are used up")}
	}
	p.reads = append(p.reads, i.Number)
	k := slices.IndexFunc(p.Issues_, func(o pastIssue) bool { return o.Number == i.Number })
	return p.Issues_[k].timeline()
}

func (i pastIssue) issue() triage.Issue {
	out := triage.Issue{
		Number: i.Number, Title: i.Title, Body: i.Body, State: i.State, StateReason: i.Reason, Author: i.By,
		AuthorType: "User", Association: i.Association, Labels: i.Labels, Type: i.Type, CreatedAt: i.Opened, UpdatedAt: now,
		URL: i.URL, PullRequest: i.PR,
	}
	if out.State == "" {
		out.State = "open"
	}
	if out.URL == "" {
		out.URL = "https://github.com/octo/hello/issues/" + strconv.Itoa(i.Number)
	}
	return out
}

func (i pastIssue) timeline() (triage.Timeline, error) {
	if i.Body == "GONE" {
		return triage.Timeline{}, triage.ErrGone
	}
	t := triage.Timeline{Complete: !i.Truncated}
	for _, e := range i.Events {
		kind := "User"
		if strings.HasSuffix(e.By, "[bot]") {
			kind = "Bot"
		}
		t.Events = append(t.Events, triage.TimelineEvent{
			Kind: e.Kind, At: i.Opened.Add(e.After), Actor: e.By, ActorType: kind, Label: e.Label, Reason: e.Reason, From: e.From,
			Assignee: e.Assignee, Milestone: e.Milestone, IssueType: e.Issue_type,
		})
	}
	return t, nil
}

func TestCases(t *testing.T) {
	t.Parallel()
	paths, err := filepath.Glob("testdata/cases/*.txtar")
	if err != nil || len(paths) < 10 {
		t.Fatalf("got %d cases, %v", len(paths), err)
	}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			t.Parallel()
			ar, err := txtar.ParseFile(path)
			if err != nil {
				t.Fatal(err)
			}
			runCase(t, caseFile{ar, path})
		})
	}
}

func runCase(t *testing.T, c caseFile) {
	t.Helper()
	if *update {
		defer func() {
			if err := os.WriteFile(c.path, txtar.Format(c.Archive), 0o644); err != nil {
				t.Error(err)
			}
		}()
	}
	src, o := c.setUp(t)
	report, err := backtest.Run(t.Context(), src, o)
	if err != nil {
		c.compare(t, "text", err.Error()+"\n")
		return
	}
	proof, err := evidence.Encode(report.Evidence)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := json.MarshalIndent(report, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	c.compare(t, "text", backtest.Text(report)+fmt.Sprintf("timelines read: %d\n", src.reads))
	for name, text := range map[string]string{
		"json": string(raw) + "\n", "evidence": string(proof), "markdown": backtest.Markdown(report), "html": backtest.HTML(report),
	} {
		if _, ok := c.part(name); ok {
			c.compare(t, name, text)
		}
	}
}

// setUp reads the repository and the options of a case.
func (c caseFile) setUp(t *testing.T) (*past, backtest.Options) {
	t.Helper()
	src := &past{}
	var more struct {
		Since time.Time
		Limit int
		Links int
	}
	for name, v := range map[string]any{"history.yml": src, "options.yml": &more} {
		if f, ok := c.part(name); ok {
			if err := yaml.Unmarshal(f.Data, v); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
	}
	o := backtest.Options{Repo: "octo/hello", Now: now, Since: more.Since, Limit: more.Limit, Links: more.Links}
	o.Config = c.config(t, "rules.yml")
	if _, ok := c.part("old.yml"); ok {
		o.Old, o.OldName = c.config(t, "old.yml"), "main"
	}
	return src, o
}

func (c caseFile) config(t *testing.T, name string) *config.Config {
	t.Helper()
	f, ok := c.part(name)
	if !ok {
		t.Fatalf("no %s", name)
	}
	cfg, err := config.Parse(name, f.Data, nil)
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}

// compare compares a part with the output, or updates it.
func (c caseFile) compare(t *testing.T, name, got string) {
	t.Helper()
	f, ok := c.part(name)
	if *update {
		if !ok {
			c.Files = append(c.Files, txtar.File{Name: name})
			f = &c.Files[len(c.Files)-1]
		}
		f.Data = []byte(got)
		return
	}
	if !ok {
		t.Fatalf("no part %s", name)
	}
	if diff := cmp.Diff(string(f.Data), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", name, diff)
	}
}
