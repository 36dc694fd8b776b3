package main

import (
	"bytes"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/renderer/html"
)

const commentStyle = `
body { margin: 0; padding: 24px 32px; background: #fff; color: #1f2328;
  font: 15px/1.5 system-ui, "DejaVu Sans", sans-serif }
section { border: 1px solid #d1d9e0; border-radius: 6px }
header { padding: 8px 16px; border-bottom: 1px solid #d1d9e0; border-radius: 6px 6px 0 0;
  background: #f6f8fa; color: #59636e }
header b { color: #1f2328 }
header span { margin-left: 6px; padding: 1px 7px; border: 1px solid #d1d9e0; border-radius: 10px; font-size: 12px }
article { padding: 4px 16px }
ul { padding-left: 24px }
li { margin: 6px 0 }
li:has(> input), li:has(> p > input) { list-style: none }
li:has(> input) > input, li > p > input { margin: 0 6px 0 -22px }
li p { margin: 0 }
code { padding: 2px 6px; border-radius: 6px; background: #eff1f3; font: 13px "DejaVu Sans Mono", monospace }
pre { margin: 6px 0; padding: 12px; border-radius: 6px; background: #f6f8fa }
pre code { padding: 0; background: none }
`

// renderComment returns the page of a comment that Foreman posted on an issue. All its details are open.
func renderComment(markdown []byte) ([]byte, error) {
	var body bytes.Buffer
	// In a comment GitHub shows each line break of the text.
	md := goldmark.New(goldmark.WithExtensions(extension.GFM), goldmark.WithRendererOptions(html.WithUnsafe(), html.WithHardWraps()))
	if err := md.Convert(markdown, &body); err != nil {
		return nil, err
	}
	open := strings.NewReplacer("<details>", "<details open>", `disabled="" type="checkbox"`, `type="checkbox"`).Replace(body.String())
	return []byte("<!doctype html>\n<meta charset=\"utf-8\">\n<title>Comment</title>\n<style>" + commentStyle + "</style>\n<section>\n" +
		"<header><b>github-actions</b><span>bot</span> commented</header>\n<article>\n" + open + "</article>\n</section>\n"), nil
}
