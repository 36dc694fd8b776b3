package trackrecord

import (
	"cmp"
	_ "embed"
	"fmt"
	"html/template"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/org/foreman-action/internal/htmlpage"
	"github.com/org/foreman-action/internal/sanitize"
	"github.com/org/foreman-action/internal/text"
	"github.com/org/foreman-action/internal/wilson"
)

// Text returns the report as text for a terminal.
func (r Report) Text() string {
	var b strings.Builder
	b.WriteString(r.headline() + "\n")
	if len(r.Pairs) > 0 {
		b.WriteString("\n")
		w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
		fmt.Fprintln(w, strings.ToUpper(strings.Join(columns(), "\t")))
		for _, row := range r.rows() {
			row[0], row[1] = cell(row[0]), cell(row[1])
			fmt.Fprintln(w, strings.Join(row, "\t"))
		}
		_ = w.Flush() // writes to a strings.Builder do not fail
	}
	if len(r.Shadow) > 0 {
		b.WriteString("\nonly planned, in shadow mode:\n\n")
		w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
		fmt.Fprintln(w, strings.ToUpper(strings.Join(shadowColumns(), "\t")))
		for _, row := range r.shadowRows() {
			row[0], row[1] = cell(row[0]), cell(row[1])
			fmt.Fprintln(w, strings.Join(row, "\t"))
		}
		_ = w.Flush()
	}
	for _, d := range r.details() {
		b.WriteString("\n" + d.text(sanitize.Line, func(n int) string { return fmt.Sprintf("#%d", n) }) + "\n")
	}
	return b.String()
}

// Markdown returns the report as tables, for a job summary or a comment; empty: there is nothing to report.
func (r Report) Markdown() string {
	if len(r.Pairs)+len(r.Shadow)+len(r.Notes) == 0 && r.Waiting == nil {
		return ""
	}
	var b strings.Builder
	if len(r.Pairs) > 0 || len(r.Shadow) == 0 {
		b.WriteString("**What became of the actions**\n\n")
	}
	table := func(columns []string, rows [][]string) {
		b.WriteString("| " + strings.Join(columns, " | ") + " |\n|---|---|---" + strings.Repeat("|--:", len(columns)-3) + "|\n")
		for _, row := range rows {
			row[0], row[1] = sanitize.Cell(row[0], maxCell), sanitize.Cell(row[1], maxCell)
			b.WriteString("| " + strings.Join(row, " | ") + " |\n")
		}
		b.WriteString("\n")
	}
	if len(r.Pairs) > 0 {
		table(columns(), r.rows())
	}
	if len(r.Shadow) > 0 {
		b.WriteString("**Shadow mode**: actions that were only planned, compared with what people did\n\n")
		table(shadowColumns(), r.shadowRows())
	}
	link := func(n int) string {
		if r.web == "" {
			return fmt.Sprintf("issue %d", n)
		}
		return fmt.Sprintf("[%d](%s)", n, address(r.web, r.Repo, n))
	}
	for _, d := range r.details() {
		b.WriteString(d.text(sanitize.Markdown, link) + "\n\n")
	}
	return b.String()
}

//go:embed page.html
var page string

// HTML returns the report as a self-contained page without scripts.
func (r Report) HTML() string {
	v := struct {
		Report
		Headline            string
		Columns, ShadowHead []string
		Rows, ShadowRows    [][]string
		Details             []detail
	}{r, r.headline(), columns(), shadowColumns(), r.rows(), r.shadowRows(), r.details()}
	return htmlpage.Render(page, template.FuncMap{
		"line": sanitize.Line,
		"cell": cell,
		"url": func(n int) string {
			if r.web == "" {
				return ""
			}
			return address(r.web, r.Repo, n)
		},
	}, v)
}

// headline describes the report in a line.
func (r Report) headline() string {
	s := fmt.Sprintf("%s: what became of Foreman's actions (memory: %s)", sanitize.Line(r.Repo), sanitize.Line(r.Memory))
	if !r.Judged.IsZero() {
		s += ", judged up to " + day(r.Judged)
	}
	if !r.Since.IsZero() {
		s += ", since " + day(r.Since)
	}
	return s
}

// rows returns the cells of the table of pairs. The first two are untrusted text.
func (r Report) rows() [][]string {
	var list [][]string
	for _, p := range r.Pairs {
		list = append(list, append([]string{p.name(), p.what()}, p.figures()...))
	}
	return list
}

// shadowRows returns the cells of the table of shadow mode. The first two are untrusted text.
func (r Report) shadowRows() [][]string {
	var list [][]string
	for _, s := range r.Shadow {
		list = append(list, append([]string{s.Source, s.What()}, s.figures()...))
	}
	return list
}

// columns returns the headings of the table of pairs.
func columns() []string {
	return []string{"source", "action", "state", "right", "of", "bound", "needs", "undone", "rejected", "expired", "unjudged"}
}

// shadowColumns returns the headings of the table of shadow mode.
func shadowColumns() []string {
	return []string{"source", "action", "state", "right", "of", "bound", "unjudged"}
}

// figures returns the cells from the third column on.
func (s Shadow) figures() []string {
	state := "-"
	if s.Ready {
		state = "ready"
	}
	return []string{state, strconv.Itoa(s.Kept), strconv.Itoa(s.Judged), s.BoundText(), strconv.Itoa(s.Unjudged)}
}

// BoundText returns the bound in the form of [Pair.BoundText].
func (s Shadow) BoundText() string { return wilson.Text(s.Bound, 1) }

// figures returns the cells of a pair from the third column on. They contain no untrusted text.
func (p Pair) figures() []string {
	return []string{
		cmp.Or(p.State, "-"), strconv.Itoa(p.Right), strconv.Itoa(p.Judged), p.BoundText(), cmp.Or(p.NeedsText(), "-"),
		strconv.Itoa(p.Undone), strconv.Itoa(p.Rejected), strconv.Itoa(p.Expired), strconv.Itoa(p.Unjudged),
	}
}

// BoundText returns the bound for people. It never looks like enough if it is not.
func (p Pair) BoundText() string {
	if p.Needs == nil {
		return wilson.Text(p.Bound, 1)
	}
	return wilson.Text(p.Bound, p.Needs.Bound)
}

// NeedsText returns the proof that the policy demands, such as "0.85 of 20"; empty: none.
func (p Pair) NeedsText() string {
	if p.Needs == nil {
		return ""
	}
	return fmt.Sprintf("%.2f of %d", p.Needs.Bound, p.Needs.Of)
}

// A detail is a sentence below the table: what a part of it is about, the sentence, and the issues that it ends
// with. About and Text may be untrusted.
type detail struct {
	About, Text string
	Issues      []int
}

// text returns the sentence. safe neutralizes texts, and issue renders the number of an issue.
func (d detail) text(safe func(string) string, issue func(int) string) string {
	s := safe(d.Text)
	if d.About != "" {
		s = safe(d.About) + ": " + s
	}
	var on []string
	for _, n := range d.Issues {
		on = append(on, issue(n))
	}
	if len(on) > 0 {
		s += " " + strings.Join(on, ", ")
	}
	return s
}

// details returns a sentence for each pair that lost its permission or has undone actions, for what waits, and
// the notes.
func (r Report) details() []detail {
	var list []detail
	for _, p := range r.Pairs {
		what := text.Shorten(p.name(), maxCell) + ", " + text.Shorten(p.what(), maxCell)
		if p.Why != "" {
			now := "proposed again since " + day(p.Lost)
			if p.State == Applied {
				now = "lost its permission on " + day(p.Lost)
			}
			list = append(list, detail{About: what, Text: fmt.Sprintf("%s: %s; before that %d of %d were right (bound %.2f)", now, p.Why, p.BeforeRight, p.BeforeJudged, p.BeforeBound)})
		}
		if len(p.UndoneOn) > 0 {
			list = append(list, detail{About: what, Text: "last undone or rejected on", Issues: p.UndoneOn})
		}
	}
	if w := r.Waiting; w != nil {
		list = append(list, detail{Text: fmt.Sprintf("waiting: %s with actions to judge, %s with younger actions, %s without an answer", many(w.Due, "issue"), many(w.Later, "issue"), many(w.Proposals, "proposal"))})
		if len(w.ProposedOn) > 0 {
			list = append(list, detail{Text: "proposals wait on", Issues: w.ProposedOn})
		}
	}
	for _, n := range r.Notes {
		list = append(list, detail{Text: n})
	}
	return list
}

// maxCell is the number of characters of a name in a table.
const maxCell = 60

// name returns the source, and whether it is an earlier version.
func (p Pair) name() string {
	if p.Earlier {
		return p.Source + " (before a change)"
	}
	return p.Source
}

// What returns the action with its value.
func (p Pair) what() string { return strings.TrimSpace(p.Action + " " + p.Value) }

// What returns the action with its value, or that the figures are those of all actions.
func (s Shadow) What() string {
	return cmp.Or(strings.TrimSpace(s.Action+" "+s.Value), "labels and closes, by an earlier version")
}

func cell(s string) string { return text.Shorten(sanitize.Line(s), maxCell) }

func day(t time.Time) string { return t.UTC().Format(time.DateOnly) }

func many(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}
