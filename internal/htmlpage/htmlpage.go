// Package htmlpage renders reports as self-contained HTML pages without scripts. A page is light or dark
// like the reader's system.
package htmlpage

import (
	_ "embed"
	"html/template"
	"strings"
)

//go:embed frame.html
var frame string

// Render returns a page with data. The layout defines the templates "title", the title of the page, and "main", its
// content. The package html/template escapes the data. The classes that a layout can use are in
// frame.html. A mistake in the layout is a panic.
func Render(layout string, funcs template.FuncMap, data any) string {
	var b strings.Builder
	t := template.Must(template.New("page").Funcs(funcs).Parse(frame))
	if err := template.Must(t.Parse(layout)).Execute(&b, data); err != nil {
		panic(err)
	}
	return b.String()
}
