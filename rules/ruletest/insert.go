package ruletest

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/org/foreman-action/internal/yamlfile"
)

var (
	errFlow    = errors.New("the file, or its tests, are not written as a block; put each item on lines of its own")
	errEnd     = errors.New("the file ends with a document marker or an open scalar; remove it")
	errMeaning = errors.New("inserting the item would change other parts of the file; insert it by hand")
	errRepeats = errors.New("the file already has a test of that name")
)

// Insert appends an item that [Record] returned to the tests of a rule file. Nothing else in the
// file changes, not even comments and blank lines. Insert fails if that cannot be done safely: the
// YAML has mistakes, the tests are not in block style, or a test with the item's name exists.
func Insert(name string, src []byte, item string) ([]byte, error) {
	f, err := yamlfile.Parse(name, src)
	if err != nil {
		return nil, err
	}
	root, tests := f.Root(), yamlfile.Child(f.Root(), "tests")
	switch {
	case root.Kind != yaml.MappingNode || len(root.Content) == 0 || root.Style&yaml.FlowStyle != 0,
		tests != nil && (tests.Kind != yaml.SequenceNode || tests.Style&yaml.FlowStyle != 0 || len(tests.Content) == 0):
		return nil, fmt.Errorf("add a test to %s: %w", name, errFlow)
	}
	added, err := yamlfile.Parse("item", []byte(item))
	if err != nil {
		return nil, fmt.Errorf("add a test to %s: %w", name, err)
	}
	if tests != nil && slices.ContainsFunc(tests.Content, sameName(added.Root().Content[0])) {
		return nil, fmt.Errorf("add a test to %s: %w", name, errRepeats)
	}
	for _, at := range placesFor(f, src, tests) {
		out := insertAt(src, at, item, tests)
		if again, err := yamlfile.Parse(name, out); err == nil && appended(root, again.Root(), added.Root().Content[0]) {
			return out, nil
		}
	}
	err = errMeaning
	if last := bytes.TrimSpace(src); bytes.HasSuffix(last, []byte("\n...")) {
		err = errEnd
	}
	return nil, fmt.Errorf("add a test to %s: %w", name, err)
}

func sameName(item *yaml.Node) func(*yaml.Node) bool {
	return func(n *yaml.Node) bool {
		other := yamlfile.Child(n, "name")
		return other != nil && other.Value == yamlfile.Child(item, "name").Value
	}
}

// placesFor returns the offsets at which an item may be inserted, the best first.
func placesFor(f *yamlfile.File, src []byte, tests *yaml.Node) []int {
	end := len(src)
	if tests == nil {
		return []int{end}
	}
	for _, key := range keysOf(f.Root()) {
		if key.Line > tests.Line {
			end = min(end, lineStart(src, key.Line))
		}
	}
	// Comments and blank lines above the next section belong to that section.
	before := end
	for before > 0 {
		start := bytes.LastIndexByte(src[:before-1], '\n') + 1
		line := bytes.TrimRight(src[start:before], "\r\n \t")
		if len(line) > 0 && line[0] != '#' {
			break
		}
		before = start
	}
	return []int{before, end}
}

func keysOf(n *yaml.Node) []*yaml.Node {
	var keys []*yaml.Node
	for i := 0; i+1 < len(n.Content); i += 2 {
		keys = append(keys, n.Content[i])
	}
	return keys
}

func lineStart(src []byte, line int) int {
	at := 0
	for range line - 1 {
		i := bytes.IndexByte(src[at:], '\n')
		if i < 0 {
			return len(src)
		}
		at += i + 1
	}
	return at
}

// insertAt inserts the item at an offset. It indents the item like the tests and uses the line ends
// of the file.
func insertAt(src []byte, at int, item string, tests *yaml.Node) []byte {
	indent, head := "  ", "\ntests:\n"
	if tests != nil {
		indent, head = strings.Repeat(" ", tests.Column-1), ""
	}
	var b strings.Builder
	if at > 0 && src[at-1] != '\n' {
		b.WriteByte('\n')
	}
	b.WriteString(head)
	for line := range strings.Lines(item) {
		if line != "\n" {
			b.WriteString(indent)
		}
		b.WriteString(line)
	}
	text := b.String()
	if bytes.Contains(src, []byte("\r\n")) {
		text = strings.ReplaceAll(text, "\n", "\r\n")
	}
	return slices.Concat(src[:at], []byte(text), src[at:])
}

// appended reports whether after equals before with the item added as its last test.
func appended(before, after, item *yaml.Node) bool {
	tests := yamlfile.Child(after, "tests")
	if tests == nil || tests.Kind != yaml.SequenceNode || len(tests.Content) == 0 {
		return false
	}
	last := len(tests.Content) - 1
	if !sameNode(tests.Content[last], item) {
		return false
	}
	if tests.Content = tests.Content[:last]; last == 0 {
		n := len(after.Content)
		if after.Content[n-1] != tests {
			return false
		}
		after.Content = after.Content[:n-2]
	}
	return sameNode(before, after)
}

// sameNode reports whether two nodes have the same content.
func sameNode(a, b *yaml.Node) bool {
	return a.Kind == b.Kind && a.ShortTag() == b.ShortTag() && a.Value == b.Value &&
		slices.EqualFunc(a.Content, b.Content, sameNode)
}
