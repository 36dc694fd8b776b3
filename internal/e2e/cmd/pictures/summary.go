package main

import (
	"bytes"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/renderer/html"
)

const summaryStyle = `
body { margin: 0; padding: 24px 32px; background: #fff; color: #1f2328;
  font: 15px/1.5 system-ui, "DejaVu Sans", sans-serif }
h2 { margin: 0 0 16px; padding-bottom: 8px; border-bottom: 1px solid #d1d9e0; font-size: 22px }
blockquote { margin: 0 0 16px; padding: 0 16px; border-left: 4px solid #d1d9e0; color: #59636e }
table { border-collapse: collapse; margin: 0 0 16px }
th, td { border: 1px solid #d1d9e0; padding: 5px 12px; text-align: left }
tr:nth-child(even) td { background: #f6f8fa }
details { margin: 0 0 12px }
details > table, details > pre { margin-top: 8px }
pre { padding: 14px; background: #f6f8fa; border-radius: 6px; font: 13px/1.45 "DejaVu Sans Mono", monospace }
a { color: #0969da }
sub { color: #59636e; font-size: 12px; vertical-align: baseline }
`

// renderSummary returns the page of a job summary. All its details are open.
func renderSummary(markdown []byte) ([]byte, error) {
	var body bytes.Buffer
	// The summary contains HTML such as details, which GitHub allows.
	md := goldmark.New(goldmark.WithExtensions(extension.GFM), goldmark.WithRendererOptions(html.WithUnsafe()))
	if err := md.Convert(markdown, &body); err != nil {
		return nil, err
	}
	open := strings.ReplaceAll(body.String(), "<details>", "<details open>")
	return []byte("<!doctype html>\n<meta charset=\"utf-8\">\n<title>Job summary</title>\n<style>" + summaryStyle + "</style>\n" + open), nil
}
