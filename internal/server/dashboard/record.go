package dashboard

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/org/foreman-action/internal/trackrecord"
)

// maxRecordRows limits the rows of a track record that are shown.
const maxRecordRows = 300

// A recordPage shows what became of the actions in a repository.
type recordPage struct {
	Repo    string
	Repos   []recordLink // all repositories; empty: there is only one
	Text    string       // up to when actions were judged, in a sentence
	Waiting string       // what has no outcome yet, in a sentence; empty: unknown
	Earned  bool         // permissions are earned
	Rows    []recordRow
	More    int // rows that are not shown
	Shadow  []shadowRow
	Notes   []string
	JSON    string // address of the same for programs
}

// A recordLink is the address of the page of a repository, or of an issue.
type recordLink struct {
	Name, URL string // URL may be empty
	Current   bool
}

// A recordRow is the track record of one kind of action of a rule or an agent.
type recordRow struct {
	Source  string
	Earlier bool // the rule was changed since
	Action  string
	State   string    // empty: permissions are not earned
	Class   string    // of State, for its colour
	Since   time.Time // of State; zero: since the beginning
	Why     string    // why the permission was lost last; empty: never
	Lost    time.Time // when, if it is not Since; else zero
	Before  string    // the outcomes of earlier periods; empty: none
	Right   string    // such as "18 of 20"
	Bound   string
	Needs   string // empty: permissions are not earned
	Undone  int
	Links   []recordLink // the last issues of Undone and Rejected

	Rejected, Expired, Unjudged int
}

// A shadowRow is what became of the actions of one kind that shadow mode only planned.
type shadowRow struct {
	Source, Action string
	Ready          bool
	Right, Bound   string // as in recordRow
	Unjudged       int
}

// newRecordPage makes the page of a report.
func newRecordPage(r trackrecord.Report, repos []string, l links) *recordPage {
	p := &recordPage{Repo: word(r.Repo), Text: "No action was judged yet.", JSON: "/server/track-record?" + url.Values{"repo": {r.Repo}}.Encode()}
	if !r.Judged.IsZero() {
		p.Text = "Actions were judged up to " + day(r.Judged) + "."
	}
	for _, name := range repos {
		p.Repos = append(p.Repos, recordLink{word(name), recordURL(name), strings.EqualFold(name, r.Repo)})
	}
	if len(p.Repos) == 1 {
		p.Repos = nil
	}
	if w := r.Waiting; w != nil {
		p.Waiting = fmt.Sprintf("Waiting: %s with actions to judge, %s with younger actions, and %s without an answer.",
			plural(w.Due, "issue"), plural(w.Later, "issue"), plural(w.Proposals, "proposal"))
	}
	for _, pair := range r.Pairs {
		p.Earned = p.Earned || pair.State != ""
		if len(p.Rows) == maxRecordRows {
			p.More++
			continue
		}
		p.Rows = append(p.Rows, newRecordRow(r.Repo, pair, l))
	}
	for _, s := range r.Shadow {
		if len(p.Rows)+len(p.Shadow) == maxRecordRows {
			p.More++
			continue
		}
		p.Shadow = append(p.Shadow, shadowRow{word(s.Source), word(s.What()), s.Ready, fmt.Sprintf("%d of %d", s.Kept, s.Judged), s.BoundText(), s.Unjudged})
	}
	for _, n := range r.Notes {
		p.Notes = append(p.Notes, line(n, maxLine))
	}
	return p
}

func newRecordRow(repo string, p trackrecord.Pair, l links) recordRow {
	row := recordRow{
		Source: word(p.Source), Earlier: p.Earlier, Action: strings.TrimSpace(word(p.Action) + " " + word(p.Value)), State: word(p.State), Since: p.Since,
		Why: line(p.Why, maxTitle), Lost: p.Lost, Right: fmt.Sprintf("%d of %d", p.Right, p.Judged), Bound: p.BoundText(), Needs: p.NeedsText(),
		Undone: p.Undone, Rejected: p.Rejected, Expired: p.Expired, Unjudged: p.Unjudged,
	}
	if row.Lost.Equal(row.Since) {
		row.Lost = time.Time{}
	}
	switch p.State {
	case trackrecord.Applied, trackrecord.Trusted:
		row.Class = "done"
	case trackrecord.Proposed:
		row.Class = "pending"
	case trackrecord.Distrusted:
		row.Class = "failed"
	}
	if p.BeforeJudged > 0 {
		row.Before = fmt.Sprintf("%d of %d", p.BeforeRight, p.BeforeJudged)
	}
	for _, n := range slices.Backward(p.UndoneOn) {
		row.Links = append(row.Links, recordLink{Name: "#" + strconv.Itoa(n), URL: l.issue(repo, n)})
	}
	return row
}

func day(t time.Time) string { return t.UTC().Format(time.DateOnly) }

// recordURL returns the address of the page of a repository.
func recordURL(repo string) string { return "/track-record?" + url.Values{"repo": {repo}}.Encode() }

// trackRecord serves the page of a repository: the one in the address, or the first one.
func (d *Dashboard) trackRecord(w http.ResponseWriter, r *http.Request) {
	v, ok := d.admit(w, r)
	if !ok {
		return
	}
	if d.record == nil || len(d.repos) == 0 {
		d.renderer.show(w, r, response{Status: http.StatusNotFound, Visitor: v, Problem: "This server has no track record."})
		return
	}
	asked := r.URL.Query().Get("repo")
	i := slices.IndexFunc(d.repos, func(name string) bool { return strings.EqualFold(name, asked) })
	switch {
	case asked == "":
		i = 0
	case i < 0:
		d.renderer.show(w, r, response{Status: http.StatusNotFound, Visitor: v, Problem: "There is no such repository in the configuration."})
		return
	}
	report, err := d.record(r.Context(), d.repos[i])
	if err != nil {
		d.renderer.fail(w, r, err)
		return
	}
	d.renderer.show(w, r, response{Status: http.StatusOK, Visitor: v, Record: newRecordPage(report, d.repos, d.contents.links), content: content{Pauses: d.contents.pauseSection(r.Context())}})
}
