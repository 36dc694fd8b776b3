package importer

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/org/foreman-action/internal/importer/jsregexp"
	"github.com/org/foreman-action/internal/text"
	"github.com/org/foreman-action/internal/yamlfile"
)

// A finding is one remark about a source: an unmapped part, a mistake or a general difference.
type finding struct {
	kind     findingKind
	workflow bool       // node is in the workflow, not in the configuration
	node     *yaml.Node // nil for a hint
	msg      string     // message for the start of node; empty if places is set
	places   []jsregexp.Problem
	shift    int // number of characters in the node's text before the expression that places is about
}

type findingKind int

const (
	noCounterpart findingKind = iota
	mistake                   // the source is not a configuration of the tool
	hint                      // a difference of the whole file
)

// findings are in the order in which they were found.
type findings []finding

// lost returns the finding that the part at n has no counterpart.
func lost(n *yaml.Node, format string, args ...any) finding {
	return finding{kind: noCounterpart, node: n, msg: fmt.Sprintf(format, args...)}
}

// wrong returns the finding that n is a mistake in the source.
func wrong(n *yaml.Node, format string, args ...any) finding {
	return finding{kind: mistake, node: n, msg: fmt.Sprintf(format, args...)}
}

// unknownKey returns the finding that a key is not one of the known keys.
func unknownKey(key *yaml.Node, known []string) finding {
	return wrong(key, "unknown key %q%s (known: %s)", key.Value, yamlfile.DidYouMean(key.Value, known), strings.Join(known, ", "))
}

// general returns a finding about the whole file: a sentence about a difference from the source.
func general(text string) finding { return finding{kind: hint, msg: text} }

// inWorkflow returns the finding, marked as one of the workflow.
func (f finding) inWorkflow() finding {
	f.workflow = true
	return f
}

// quoted returns an untrusted value for a message: in quotation marks and shortened.
func quoted(s string) string {
	return strconv.Quote(text.Shorten(s, 60))
}

// maxNotes is the maximal number of problems in a report.
const maxNotes = 1000

// A report lists the parts that could not be imported.
type report struct {
	listed   yamlfile.Problems
	unlisted int            // number of problems beyond maxNotes
	seen     map[place]bool // not nil
}

// A place identifies a note: a position in a node, and the message.
type place struct {
	node *yaml.Node
	at   int // offset in the node's text, in characters
	msg  string
}

// add lists a finding about a file unless it is listed already. It returns the new problems as
// texts for YAML comments.
func (r *report) add(file *yamlfile.File, f finding) []string {
	if f.places == nil {
		return r.addAt(file, place{f.node, 0, f.msg})
	}
	var out []string
	for _, p := range f.places {
		out = append(out, r.addAt(file, place{f.node, f.shift + p.At, p.Msg})...)
	}
	return out
}

// strict returns the findings; each about an expression that JavaScript rejects becomes a mistake.
func (list findings) strict() findings {
	for i, f := range list {
		if faults := jsregexp.Rejected(f.places); len(faults) > 0 {
			list[i].kind, list[i].places = mistake, faults
		}
	}
	return list
}

// record records a mistake in a file.
func (f finding) record(file *yamlfile.File) {
	if f.places == nil {
		file.Problemf(f.node, "%s", f.msg)
	}
	for _, p := range f.places {
		line, column := inNode(f.node, f.shift+p.At)
		file.ProblemIn(f.node, line, column, p.Msg)
	}
}

// inNode returns the line and column of an offset in a node's text.
func inNode(n *yaml.Node, at int) (line, column int) {
	before := string([]rune(n.Value)[:at])
	return text.Position(before, len(before))
}

func (r *report) addAt(file *yamlfile.File, p place) []string {
	if r.seen[p] || r.full() {
		return nil
	}
	r.seen[p] = true
	return []string{r.list(locate(file, p))}
}

// locate returns the problem at a place of a file.
func locate(file *yamlfile.File, p place) yamlfile.Problem {
	if p.at == 0 {
		// Use the start of the node. In a quoted or block scalar its text begins later.
		return file.At(&yaml.Node{Line: p.node.Line, Column: p.node.Column}, 1, 1, p.msg)
	}
	line, column := inNode(p.node, p.at)
	return file.At(p.node, line, column, p.msg)
}

// addLine lists a message about a line of a file and returns it like add.
func (r *report) addLine(file *yamlfile.File, line int, msg string) []string {
	if r.full() {
		return nil
	}
	return []string{r.list(file.At(&yaml.Node{Line: line, Column: 1}, 1, 1, msg))}
}

// full reports whether the report is full. If it is, full counts one more problem as unlisted.
func (r *report) full() bool {
	if len(r.listed) < maxNotes {
		return false
	}
	r.unlisted++
	return true
}

func (r *report) list(p yamlfile.Problem) string {
	const most = 10_000
	if len(p.Source) > most {
		p.Source = "" // without the source line, because shortening a long one is slow
	}
	r.listed = append(r.listed, p)
	return fmt.Sprintf("%s:%d:%d: %s", p.File, p.Line, p.Column, p.Message)
}

// problems returns the report in the order of the source. file is the name for the last problem,
// which counts those that are not listed.
func (r *report) problems(file string) yamlfile.Problems {
	out := slices.Clone(r.listed)
	slices.SortStableFunc(out, func(a, b yamlfile.Problem) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	if r.unlisted > 0 {
		out = append(out, yamlfile.Problem{File: file, Message: fmt.Sprintf("%d more differences are not listed", r.unlisted)})
	}
	return out
}
