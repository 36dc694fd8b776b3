package backtest

import (
	_ "embed"
	"html/template"

	"github.com/org/foreman-action/internal/htmlpage"
)

//go:embed page.html
var page string

// HTML returns a report as a self-contained page without scripts. It is light or dark like the
// reader's system.
func HTML(r Report) string {
	return htmlpage.Render(page, template.FuncMap{
		"many":  many,
		"sum":   func(a, b int) int { return a + b },
		"cells": func(l Label) []string { return append([]string{l.Name}, figureCells(l.Figures, true)...) },
	}, viewOf(r))
}

// A view is the data of the page.
type view struct {
	Report
	Headline string
	Table    [][]string // the headings, and a row for each rule
	Most     int        // issues that the longest bar of the chart counts
}

func viewOf(r Report) view {
	v := view{Report: r, Headline: headline(r), Table: [][]string{columns(r)}}
	for _, rule := range r.Rules {
		v.Table = append(v.Table, cells(r, rule))
		if rule.Judged {
			v.Most = max(v.Most, rule.Agreed+rule.Disagreed+rule.Undecided)
		}
	}
	return v
}
