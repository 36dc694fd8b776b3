package yamlfile

import (
	"bytes"
	"fmt"
	"reflect"

	"gopkg.in/yaml.v3"
)

// The limits of a document.
const (
	MaxSize  = 1 << 20 // bytes
	maxDepth = 100     // nested lists and mappings
	maxNodes = 200_000 // nodes, including the nodes that aliases repeat
	// maxRecorded is the number of problems that are kept. Further problems are only counted.
	maxRecorded = 1000
)

// A File is one parsed document and the problems found in it so far. It is not
// safe for concurrent use.
type File struct {
	source   source
	root     *yaml.Node
	problems Problems // at most maxRecorded
	errors   int      // number of errors, including those that were not kept
	// undeclared are those of problems that are names which no file declares.
	undeclared Problems
	shapes     map[reflect.Type]shape
}

// Parse reads src, which must be one YAML document of at most [MaxSize] bytes. An empty one counts
// as an empty mapping. The error is a [Problems]; it means that there is no usable document,
// because of bad syntax, its size or its nesting. Repeated keys, merge keys and custom tags do not
// make Parse fail; [File.Err] reports them together with later problems.
//
// Aliases are replaced by the nodes that they refer to. So a node may occur several times.
func Parse(name string, src []byte) (*File, error) {
	src = bytes.TrimPrefix(src, []byte("\xef\xbb\xbf"))
	if len(src) > MaxSize {
		return nil, Problems{{File: name, Message: fmt.Sprintf("the file has %d bytes; at most %d are allowed", len(src), MaxSize)}}
	}
	f := &File{source: newSource(name, string(src))}
	if p, ok := badCharacter(f.source, src); ok {
		return nil, Problems{p}
	}
	doc, err := decodeOne(src)
	if err != nil {
		return nil, Problems{syntaxProblem(f.source, src, err)}
	}
	f.root = &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map", Line: 1, Column: 1}
	if len(doc.Content) > 0 && doc.Content[0].ShortTag() != "!!null" {
		f.root = doc.Content[0]
	}
	found, fatal := walk(f.root)
	if fatal != nil {
		return nil, Problems{f.at(fatal.node, fatal.msg)}
	}
	for _, m := range found {
		f.Problemf(m.node, "%s", m.msg)
	}
	return f, nil
}

// Text returns a file that consists of a text alone, which is not YAML, and a scalar with the text as
// its value. A place in the scalar is a place of the text.
func Text(name, text string) (*File, *yaml.Node) {
	n := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Style: yaml.LiteralStyle, Value: text}
	return &File{source: newSource(name, text), root: n}, n
}

// Name returns the name given to [Parse].
func (f *File) Name() string { return f.source.name }

// Root returns the document's top node, usually a mapping. It must not be changed.
func (f *File) Root() *yaml.Node { return f.root }

// Problemf records an error at the start of n; a nil n is the start of the file.
func (f *File) Problemf(n *yaml.Node, format string, args ...any) {
	if f.errors++; f.keeps() {
		f.problems = append(f.problems, f.at(n, fmt.Sprintf(format, args...)))
	}
}

// Warnf records a warning at the start of n.
func (f *File) Warnf(n *yaml.Node, format string, args ...any) {
	if len(f.problems) < maxRecorded {
		p := f.at(n, fmt.Sprintf(format, args...))
		p.Warning = true
		f.problems = append(f.problems, p)
	}
}

// ProblemIn records an error inside the scalar n, at a line and column of its value. Both count
// from 1; columns count characters.
func (f *File) ProblemIn(n *yaml.Node, line, col int, msg string) {
	if f.errors++; f.keeps() {
		f.problems = append(f.problems, f.At(n, line, col, msg))
	}
}

// UndeclaredIn is [File.ProblemIn] for a name that no file declares.
func (f *File) UndeclaredIn(n *yaml.Node, line, col int, msg string) {
	if f.errors++; f.keeps() {
		p := f.At(n, line, col, msg)
		f.problems, f.undeclared = append(f.problems, p), append(f.undeclared, p)
	}
}

// Undeclared returns the problems of [File.UndeclaredIn] so far. Another file may still declare these
// names.
func (f *File) Undeclared() Problems { return f.undeclared }

// WarnIn records a warning inside the scalar n. The place is that of [File.ProblemIn].
func (f *File) WarnIn(n *yaml.Node, line, col int, msg string) {
	if len(f.problems) < maxRecorded {
		p := f.At(n, line, col, msg)
		p.Warning = true
		f.problems = append(f.problems, p)
	}
}

// keeps reports whether the error that was just counted is kept. The first error is always kept,
// even after maxRecorded warnings.
func (f *File) keeps() bool { return len(f.problems) < maxRecorded || f.errors == 1 }

// At returns the problem that [File.ProblemIn] would record, without recording it. Several
// goroutines may call At at the same time.
func (f *File) At(n *yaml.Node, line, col int, msg string) Problem {
	l, c := locate(f.source, n, line, col)
	return f.source.problem(l, c, msg)
}

// Err returns the errors found so far as a [Problems], or nil. Of more than 1,000 problems it
// returns the first ones, and a last entry with the number of the others.
func (f *File) Err() error { return Err(f) }

// Warnings returns the warnings found so far, sorted.
func (f *File) Warnings() Problems { return filter(f.problems, true) }

// ErrorCount returns the number of errors found so far, including those that [File.Err] only
// counts.
func (f *File) ErrorCount() int { return f.errors }

func (f *File) at(n *yaml.Node, msg string) Problem {
	if n == nil {
		return f.source.problem(1, 1, msg)
	}
	return f.source.problem(n.Line, n.Column, msg)
}

// Err returns the errors of all files as one [Problems], or nil when there are none. A nil file has
// no errors. If a file has too many, an entry without a line at the end counts those that are left
// out.
func Err(files ...*File) error {
	var all Problems
	for _, f := range files {
		if f != nil {
			all = append(all, filter(f.problems, false)...)
		}
	}
	Sort(all)
	for _, f := range files {
		if n := f.leftOut(); n > 0 {
			all = append(all, Problem{File: f.source.name, Message: fmt.Sprintf("%d more mistakes are not listed", n)})
		}
	}
	if len(all) > 0 {
		return all
	}
	return nil
}

// leftOut returns how many errors were counted but not kept; 0 for a nil file.
func (f *File) leftOut() int {
	if f == nil {
		return 0
	}
	return f.errors - len(filter(f.problems, false))
}
