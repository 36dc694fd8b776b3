package main

import (
	"bytes"
	"context"
	"fmt"
	"html"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-graphviz"
	"github.com/yuin/goldmark/ast"
)

// A diagram is a flowchart of the language Mermaid. Its lines connect nodes, as in
//
//	a["the first"] -- "a text" --> b --> c
//
// Other parts of the language are mistakes.
type diagram struct {
	down   bool // from the top to the bottom, not from left to right
	nodes  []string
	labels map[string]string
	edges  []edge
}

type edge struct{ from, to, text string }

var (
	nodePart = regexp.MustCompile(`^\s*(\w+)(?:\["([^"]*)"\])?`)
	edgePart = regexp.MustCompile(`^\s*--(?:\s*"([^"]*)"\s*--|\s+([^"\s].*?)\s+--)?>`)
)

// parseDiagram reads a diagram.
func parseDiagram(text string) (diagram, error) {
	d := diagram{labels: map[string]string{}}
	lines := strings.Split(strings.TrimSpace(text), "\n")
	switch strings.TrimSpace(lines[0]) {
	case "flowchart LR":
	case "flowchart TD":
		d.down = true
	default:
		return d, fmt.Errorf("line 1: want flowchart LR or flowchart TD, got %q", lines[0])
	}
	for n, line := range lines[1:] {
		rest, from, text := line, "", ""
		for {
			node := nodePart.FindStringSubmatch(rest)
			if node == nil {
				return d, fmt.Errorf("line %d: want a node such as a[\"text\"], got %q", n+2, rest)
			}
			d.add(node[1], node[2])
			if from != "" {
				d.edges = append(d.edges, edge{from, node[1], text})
			}
			if rest = rest[len(node[0]):]; strings.TrimSpace(rest) == "" {
				break
			}
			arrow := edgePart.FindStringSubmatch(rest)
			if arrow == nil {
				return d, fmt.Errorf("line %d: want an arrow such as -- text -->, got %q", n+2, rest)
			}
			from, text, rest = node[1], arrow[1]+arrow[2], rest[len(arrow[0]):]
		}
	}
	return d, nil
}

// add adds a node. Later mentions of it have no label.
func (d *diagram) add(name, label string) {
	if !slices.Contains(d.nodes, name) {
		d.nodes, d.labels[name] = append(d.nodes, name), name
	}
	if label != "" {
		d.labels[name] = label
	}
}

// String returns the diagram in words, for people who do not see it.
func (d diagram) String() string {
	var parts []string
	for _, e := range d.edges {
		arrow := " to "
		if e.text != "" {
			arrow = " (" + e.text + ") to "
		}
		parts = append(parts, d.labels[e.from]+arrow+d.labels[e.to])
	}
	return "Diagram: " + strings.Join(parts, "; ")
}

// dot returns the diagram in the language of Graphviz.
func (d diagram) dot() string {
	var b strings.Builder
	direction := "LR"
	if d.down {
		direction = "TB"
	}
	fmt.Fprintf(&b, "digraph {\n rankdir=%s\n bgcolor=transparent\n node [shape=box, style=rounded, fontsize=14]\n edge [fontsize=14]\n", direction)
	for _, name := range d.nodes {
		fmt.Fprintf(&b, " %s [label=%s]\n", strconv.Quote(name), dotText(d.labels[name]))
	}
	for _, e := range d.edges {
		fmt.Fprintf(&b, " %s -> %s [label=%s]\n", strconv.Quote(e.from), strconv.Quote(e.to), dotText(e.text))
	}
	b.WriteString("}\n")
	return b.String()
}

// maxLine is how many characters a line of a text in a diagram has, at about.
const maxLine = 24

// dotText returns a text in quotes, in lines.
func dotText(s string) string {
	var lines []string
	for word := range strings.FieldsSeq(strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s)) {
		if last := len(lines) - 1; last >= 0 && len(lines[last])+len(word) < maxLine {
			lines[last] += " " + word
			continue
		}
		lines = append(lines, word)
	}
	return `"` + strings.Join(lines, `\n`) + `"`
}

var ids = regexp.MustCompile(` id="[^"]*"`)

// svg draws a diagram. The result has no style attributes, which the site's Content Security Policy
// forbids.
func (d diagram) svg(ctx context.Context) (string, error) {
	g, err := graphviz.New(ctx)
	if err != nil {
		return "", err
	}
	defer g.Close()
	graph, err := graphviz.ParseBytes([]byte(d.dot()))
	if err != nil {
		return "", err
	}
	defer graph.Close()
	var b bytes.Buffer
	if err := g.Render(ctx, graph, graphviz.SVG, &b); err != nil {
		return "", err
	}
	_, drawn, ok := strings.Cut(b.String(), "<svg ")
	if !ok || strings.Contains(drawn, " style=") {
		return "", fmt.Errorf("the drawing is not the expected SVG:\n%s", b.String())
	}
	drawn = ids.ReplaceAllString(drawn, "") // a page may have several diagrams
	return `<svg role="img" aria-label="` + html.EscapeString(d.String()) + `" ` + strings.TrimSpace(drawn), nil
}

// draw puts the drawing of a diagram before its text, which can be opened.
func draw(block *ast.FencedCodeBlock, source []byte) error {
	d, err := parseDiagram(string(block.Lines().Value(source)))
	if err != nil {
		return fmt.Errorf("diagram: %w", err)
	}
	picture, err := d.svg(context.Background())
	if err != nil {
		return fmt.Errorf("draw a diagram: %w", err)
	}
	parent := block.Parent()
	parent.InsertBefore(parent, block, markup(`<div class="diagram">`+picture+"</div>\n<details><summary>The diagram as text, in the language Mermaid</summary>"))
	parent.InsertAfter(parent, block, markup("</details>\n"))
	return nil
}

// markup returns a block of HTML that the site writes itself.
func markup(text string) ast.Node {
	s := ast.NewString([]byte(text))
	s.SetCode(true) // is written as it is
	block := ast.NewTextBlock()
	block.AppendChild(block, s)
	return block
}

// isMarkup reports whether a node is one of markup.
func isMarkup(n ast.Node) bool {
	s, ok := n.FirstChild().(*ast.String)
	return ok && n.Kind() == ast.KindTextBlock && s.IsCode()
}
