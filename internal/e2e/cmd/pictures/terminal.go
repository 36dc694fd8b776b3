package main

import (
	"fmt"
	"html"
	"strings"
)

const terminalStyle = `
body { margin: 0; padding: 20px 24px; background: #fff; color: #1f2328 }
pre { margin: 0; font: 14px/1.5 "DejaVu Sans Mono", monospace; white-space: pre-wrap }
.bold { font-weight: bold }
.faint { color: #59636e }
.red { color: #cf222e }
.green { color: #116329 }
.yellow { color: #7d4e00 }
`

// renderTerminal returns the page for a text with ANSI codes for colours. It returns an error for
// any other code, because the picture would not show its effect.
func renderTerminal(text []byte) ([]byte, error) {
	classes := map[string]string{"1": "bold", "2": "faint", "31": "red", "32": "green", "33": "yellow"}
	var body strings.Builder
	open := 0
	for i, part := range strings.Split(string(text), "\x1b") {
		if i > 0 {
			code, rest, found := strings.Cut(strings.TrimPrefix(part, "["), "m")
			switch {
			case !found || !strings.HasPrefix(part, "[") || code != "0" && classes[code] == "":
				return nil, fmt.Errorf("render the terminal: unsupported escape code %.10q", part)
			case code == "0":
				body.WriteString(strings.Repeat("</span>", open))
				open = 0
			default:
				fmt.Fprintf(&body, "<span class=%q>", classes[code])
				open++
			}
			part = rest
		}
		body.WriteString(html.EscapeString(part))
	}
	body.WriteString(strings.Repeat("</span>", open))
	return []byte("<!doctype html>\n<meta charset=\"utf-8\">\n<title>Terminal</title>\n<style>" + terminalStyle + "</style>\n<pre>" + body.String() + "</pre>\n"), nil
}
