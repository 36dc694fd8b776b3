package backtest

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"
)

// Text returns a report for a terminal.
func Text(r Report) string {
	var b strings.Builder
	b.WriteString(headline(r) + "\n")
	if r.ComparedWith != "" {
		fmt.Fprintf(&b, "compared with %s\n", oneLine(r.ComparedWith))
	}
	if r.Stopped != nil {
		b.WriteString(r.Stopped.String() + "\n")
	}
	b.WriteString("\n")
	rows := [][]string{columns(r)}
	for _, rule := range r.Rules {
		rows = append(rows, cells(r, rule))
		if len(rule.Labels) > 1 {
			for _, l := range rule.Labels {
				rows = append(rows, append([]string{"  " + l.Name}, figureCells(l.Figures, true)...))
			}
		}
	}
	writeTable(&b, rows)
	for _, rule := range r.Rules {
		writeDetails(&b, rule)
	}
	b.WriteString("\n")
	for _, n := range r.Notes {
		b.WriteString("note: " + n + "\n")
	}
	return b.String()
}

// headline describes the replayed issues.
func headline(r Report) string {
	s := fmt.Sprintf("%s: %s replayed as %s", r.Repo, many(r.Issues, "issue"), r.Event)
	if r.Since != nil {
		s += ", opened since " + r.Since.Format(time.DateOnly)
	}
	return s
}

func many(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// columns returns the headings of the table of rules.
func columns(r Report) []string {
	list := []string{"rule", "fired", "agreed", "disagreed", "undecided", "precision", "recall"}
	if r.ComparedWith != "" {
		list = append(list, "fired before", "newly", "no longer", "otherwise")
	}
	return list
}

// cells returns a rule's row of the table. The rule's name is not escaped.
func cells(r Report, rule Rule) []string {
	name := rule.ID
	if rule.State != "" {
		name += " (" + rule.State + ")"
	}
	row := append([]string{name}, figureCells(rule.Figures, rule.Judged)...)
	if rule.NotReplayed != "" || rule.State == "removed" {
		row = []string{name, "–", "–", "–", "–", "–", "–"}
	}
	if r.ComparedWith == "" {
		return row
	}
	before := "–"
	if rule.Old != nil {
		before = fmt.Sprint(rule.Old.Fired)
	}
	return append(row, before, fmt.Sprint(rule.NewlyFires), fmt.Sprint(rule.NoLongerFires), fmt.Sprint(rule.ActsOtherwise))
}

func figureCells(f Figures, judged bool) []string {
	if !judged {
		return []string{fmt.Sprint(f.Fired), "–", "–", "–", "–", "–"}
	}
	return []string{
		fmt.Sprint(f.Fired), fmt.Sprint(f.Agreed), fmt.Sprint(f.Disagreed), fmt.Sprint(f.Undecided),
		percent(f.Precision), percent(f.Recall),
	}
}

// percent returns a share as a percentage. It rounds to 100 or 0 only if the share is exactly 1 or
// 0.
func percent(share *float64) string {
	switch {
	case share == nil:
		return "–"
	case *share > 0.99 && *share < 1:
		return "99 %"
	case *share > 0 && *share < 0.01:
		return "1 %"
	}
	return fmt.Sprintf("%.0f %%", *share*100)
}

// writeTable writes rows. The first column is aligned left, the others right.
func writeTable(b *strings.Builder, rows [][]string) {
	var width []int
	for _, row := range rows {
		for k, cell := range row {
			if k == len(width) {
				width = append(width, 0)
			}
			width[k] = max(width[k], utf8.RuneCountInString(cell))
		}
	}
	for _, row := range rows {
		parts := make([]string, len(row))
		for k, cell := range row {
			pad := strings.Repeat(" ", width[k]-utf8.RuneCountInString(cell))
			parts[k] = pad + cell
			if k == 0 {
				parts[k] = cell + pad
			}
		}
		b.WriteString(strings.TrimRight(strings.Join(parts, "  "), " ") + "\n")
	}
}

// writeDetails writes the details that do not fit into the table.
func writeDetails(b *strings.Builder, r Rule) {
	lists := []struct {
		title string
		links []Link
	}{{"people disagree", r.Disagreements}, {"newly fires", r.NewlyFiresOn}, {"no longer fires", r.NoLongerFiresOn}}
	if r.NotReplayed == "" && r.Failed == 0 && len(r.Disagreements)+len(r.NewlyFiresOn)+len(r.NoLongerFiresOn) == 0 {
		return
	}
	fmt.Fprintf(b, "\n%s (%s:%d)\n", r.ID, r.File, r.Line)
	if r.NotReplayed != "" {
		fmt.Fprintf(b, "  not replayed: %s\n", r.NotReplayed)
	}
	if r.Failed > 0 {
		fmt.Fprintf(b, "  cannot be judged on %s, and does nothing there: %s\n", many(r.Failed, "issue"), r.Failure)
	}
	for _, l := range lists {
		for k, link := range l.links {
			if k == 0 {
				fmt.Fprintf(b, "  %s\n", l.title)
			}
			fmt.Fprintf(b, "    #%d %s%s\n", link.Issue, link.Title, suffix(link))
			if link.URL != "" {
				fmt.Fprintf(b, "      %s\n", link.URL)
			}
		}
	}
}

func suffix(l Link) string {
	if l.Why == "" {
		return ""
	}
	return " (" + l.Why + ")"
}
