package importer

import (
	"fmt"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/org/foreman-action/internal/importer/jsregexp"
	"github.com/org/foreman-action/internal/text"
	"github.com/org/foreman-action/internal/yamlfile"
)

// A finding is one remark about a source: something without a counterpart, a mistake, or
// a general difference.
type finding struct {
	kind     findingKind
	workflow bool       // the node is one of the workflow, not of the configuration
	node     *yaml.Node // nil for a hint
	msg      string     // about the start of node; empty when places are set
	places   []jsregexp.Problem
	shift    int // characters of the node's text before those that places count
}

type findingKind int

const (
	noCounterpart findingKind = iota
	mistake                   // the source is no configuration of the tool
	hint                      // how the whole file differs
)

// findings are in the order in which they were made.
type findings []finding

// lost returns the finding that something at n has no counterpart.
func lost(n *yaml.Node, format string, args ...any) finding {
	return finding{kind: noCounterpart, node: n, msg: fmt.Sprintf(format, args...)}
}

// wrong returns the finding that n is a mistake of the source.
func wrong(n *yaml.Node, format string, args ...any) finding {
	return finding{kind: mistake, node: n, msg: fmt.Sprintf(format, args...)}
}

// unknownKey returns the finding that a key is none of the known keys.
func unknownKey(key *yaml.Node, known []string) finding {
	return wrong(key, "unknown key %q%s (known: %s)", key.Value, yamlfile.DidYouMean(key.Value, known), strings.Join(known, ", "))
}

// general returns a sentence about how the file differs.
func general(text string) finding { return finding{kind: hint, msg: text} }

// inWorkflow returns the finding as one of a workflow.
func (f finding) inWorkflow() finding {
	f.workflow = true
	return f
}

// quoted shows a foreign value in a message.
func quoted(s string) string {
	return strconv.Quote(text.Clip(s, 60))
}
