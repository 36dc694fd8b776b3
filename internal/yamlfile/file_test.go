package yamlfile_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gopkg.in/yaml.v3"

	"github.com/org/foreman-action/internal/yamlfile"
)

func TestParseBounds(t *testing.T) {
	t.Parallel()
	var bomb strings.Builder
	bomb.WriteString("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n")
	for i := 1; i < 10; i++ {
		fmt.Fprintf(&bomb, "a%d: &a%d [%s]\n", i, i, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d, ", i-1), 10), ", "))
	}
	tests := []struct{ name, src, want string }{
		{"too large", strings.Repeat("#", yamlfile.MaxSize+1), "f: the file has 1048577 bytes; at most 1048576 are allowed"},
		{"alias bomb", bomb.String(), "the document has more than 200000 values, including its aliases"},
		{"deep lists", strings.Repeat("[", 200) + strings.Repeat("]", 200), "the document is nested more than 100 deep"},
		{"deep mappings", deepMappings(150), "the document is nested more than 100 deep"},
		{"hopelessly deep", strings.Repeat("[", 50_000), "exceeded max depth"},
		{"not UTF-8", "a: 1\nb: x\xff\n", "f:2:5: byte 0xff is not UTF-8; save the file as UTF-8"},
		{"UTF-16", "\xff\xfea\x00:\x00", "f:1:1: byte 0xff is not UTF-8"},
		{"NUL", "a: 1\nb: \x00\n", "f:2:4: character U+0000 is not allowed in YAML"},
		{"byte order mark inside", "a: \ufeffb", "f:1:4: character U+FEFF is not allowed in YAML"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			f, err := yamlfile.Parse("f", []byte(tt.src))
			if f != nil || err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Fatalf("got %v, want %q", err, tt.want)
			}
			if len(err.Error()) > 1000 {
				t.Errorf("the error has %d bytes", len(err.Error()))
			}
			if ps, ok := errors.AsType[yamlfile.Problems](err); !ok || len(ps) != 1 {
				t.Errorf("got a %T with %d problems, want one problem", err, len(ps))
			}
		})
	}
}

func deepMappings(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(strings.Repeat(" ", i) + "a:\n")
	}
	return b.String()
}

func TestParseTakesWhatIsAllowed(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, src string }{
		{"largest", "a: " + strings.Repeat("x", yamlfile.MaxSize-3)},
		{"depth 100", strings.Repeat("[", 100) + strings.Repeat("]", 100)},
		{"byte order mark", "\ufeffa: x\n"},
		{"document markers", "---\na: x\n...\n"},
		{"replacement character", "a: \ufffd\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			f, err := yamlfile.Parse("f", []byte(tt.src))
			if err != nil {
				t.Fatal(err)
			}
			if err := f.Err(); err != nil {
				t.Fatal(err)
			}
		})
	}
}

func TestByteOrderMarkDoesNotMoveColumns(t *testing.T) {
	t.Parallel()
	f, err := yamlfile.Parse("f", []byte("\ufeffa: x\n"))
	if err != nil {
		t.Fatal(err)
	}
	if got := f.Root().Content[1].Column; got != 4 {
		t.Errorf("got column %d, want 4", got)
	}
}

func TestAliasesAreReplaced(t *testing.T) {
	t.Parallel()
	f, err := yamlfile.Parse("f", []byte("a: &x {k: [1]}\nb: *x\nc: [*x]\n"))
	if err != nil {
		t.Fatal(err)
	}
	var check func(n *yaml.Node)
	check = func(n *yaml.Node) {
		if n.Kind == yaml.AliasNode {
			t.Errorf("alias left at %d:%d", n.Line, n.Column)
		}
		for _, c := range n.Content {
			check(c)
		}
	}
	check(f.Root())
	if a, b := f.Root().Content[1], f.Root().Content[3]; a != b {
		t.Error("b is not what a stands for")
	}
}

// A mistake in a value that aliases repeat is reported once.
func TestAliasedMistakeIsReportedOnce(t *testing.T) {
	t.Parallel()
	f, err := yamlfile.Parse("f", []byte("a: &x {k: 1, k: 2}\nb: *x\nc: *x\n"))
	if err != nil {
		t.Fatal(err)
	}
	if got := f.ErrorCount(); got != 1 {
		t.Errorf("got %d problems, want 1: %v", got, f.Err())
	}
}

func TestErrSortsAndSeparates(t *testing.T) {
	t.Parallel()
	parse := func(name string) *yamlfile.File {
		f, err := yamlfile.Parse(name, []byte("a: 1\nb: 2\n"))
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	f, g := parse("f"), parse("e")
	f.Problemf(f.Root().Content[3], "later %d", 1)
	f.Warnf(f.Root().Content[1], "a warning")
	f.Problemf(f.Root().Content[0], "first")
	g.Problemf(nil, "other file")

	err := fmt.Errorf("load: %w", yamlfile.Err(f, nil, g))
	ps, ok := errors.AsType[yamlfile.Problems](err)
	if !ok {
		t.Fatalf("got %T, want Problems in the chain", err)
	}
	want := yamlfile.Problems{
		{File: "e", Line: 1, Column: 1, Message: "other file", Source: "a: 1"},
		{File: "f", Line: 1, Column: 1, Message: "first", Source: "a: 1"},
		{File: "f", Line: 2, Column: 4, Message: "later 1", Source: "b: 2"},
	}
	if diff := cmp.Diff(want, ps); diff != "" {
		t.Errorf("errors (-want +got):\n%s", diff)
	}
	warnings := yamlfile.Problems{{File: "f", Line: 1, Column: 4, Message: "a warning", Source: "a: 1", Warning: true}}
	if diff := cmp.Diff(warnings, f.Warnings()); diff != "" {
		t.Errorf("warnings (-want +got):\n%s", diff)
	}
	if got := f.ErrorCount(); got != 2 {
		t.Errorf("ErrorCount: got %d, want 2", got)
	}
	if err := parse("g").Err(); err != nil {
		t.Errorf("got %v, want nil", err)
	}
}

func TestDecodeReportsSuccess(t *testing.T) {
	t.Parallel()
	f, err := yamlfile.Parse("f", []byte("a: x\nb: 2\n"))
	if err != nil {
		t.Fatal(err)
	}
	s := "kept"
	if f.Decode(f.Root().Content[3], &s) || s != "kept" {
		t.Errorf("a number decoded into a string: %q", s)
	}
	if !f.Decode(f.Root().Content[1], &s) || s != "x" {
		t.Errorf("got %q, want x", s)
	}
}

func TestDecodePanicsForUnknownTypes(t *testing.T) {
	t.Parallel()
	f, err := yamlfile.Parse("f", []byte("a: x\n"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if recover() == nil {
			t.Error("no panic for a complex number")
		}
	}()
	var c complex128
	f.Decode(f.Root().Content[1], &c)
}

func FuzzParse(f *testing.F) {
	for _, src := range scalars {
		f.Add([]byte(src))
	}
	for _, src := range []string{
		"name: x\ntags: [a, {b: c}]\n", "a: &x [*x]\n", "<<: {a: 1}\n", "? [a]\n: b\n", "a: !b c\n", "%YAML 1.1\n---\na\n",
		"a: \"\\q\"\n", "\ta: b\n", "a: b: c\n", "- !\n", "a: |9\n b\n", "a: >-\n b\n", "{a: 1}}", "a: 'x\u2028y'", "a\u0085b: c",
	} {
		f.Add([]byte(src))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		file, err := yamlfile.Parse("f", src)
		if err == nil {
			var d document
			file.Decode(file.Root(), &d)
			eachScalar(file.Root(), func(n *yaml.Node) {
				file.ProblemIn(n, 1, len(n.Value)/2, "middle")
				file.ProblemIn(n, 1+strings.Count(n.Value, "\n"), 1, "last line")
			})
			err = file.Err()
		}
		ps, _ := errors.AsType[yamlfile.Problems](err)
		lines := strings.Count(string(src), "\n") + strings.Count(string(src), "\r") + strings.Count(string(src), "\u0085") +
			strings.Count(string(src), "\u2028") + strings.Count(string(src), "\u2029") + 1
		for _, p := range ps {
			_ = p.Error()
			if p.Line > lines || p.Line < 1 && len(src) <= yamlfile.MaxSize || p.Column > len([]rune(p.Source))+2 {
				t.Errorf("%q: position %d:%d outside of the file", src, p.Line, p.Column)
			}
		}
	})
}

// The first of very many mistakes are kept, and all of them are counted.
func TestManyMistakesAreCounted(t *testing.T) {
	t.Parallel()
	f, err := yamlfile.Parse("f", []byte("a: 1\n"))
	if err != nil {
		t.Fatal(err)
	}
	for range 1200 {
		f.Warnf(nil, "a warning")
	}
	n := f.Root().Content[0]
	for i := range 1500 {
		f.Problemf(n, "mistake %d", i)
		f.ProblemIn(n, 1, 1, "inside")
	}
	if got := f.ErrorCount(); got != 3000 {
		t.Errorf("ErrorCount: got %d, want 3000", got)
	}
	if got := len(f.Warnings()); got != 1000 {
		t.Errorf("got %d warnings, want 1000", got)
	}
	ps, _ := errors.AsType[yamlfile.Problems](f.Err())
	want := yamlfile.Problems{
		{File: "f", Line: 1, Column: 1, Message: "mistake 0", Source: "a: 1"},
		{File: "f", Message: "2999 more mistakes are not listed"},
	}
	if diff := cmp.Diff(want, ps); diff != "" {
		t.Errorf("errors (-want +got):\n%s", diff)
	}
}

// A mistake in a very long line is placed at the start of its scalar.
func TestPlaceInAVeryLongLine(t *testing.T) {
	t.Parallel()
	for size, want := range map[int]int{10_000: 9_004, 20_000: 4} {
		f, err := yamlfile.Parse("f", []byte("a: "+strings.Repeat("x", size)+"\n"))
		if err != nil {
			t.Fatal(err)
		}
		if got := f.At(f.Root().Content[1], 1, 9_001, "").Column; got != want {
			t.Errorf("%d characters: got column %d, want %d", size, got, want)
		}
	}
}

// A common wrong key gets a suggestion. The right key is then not reported as missing.
func TestMistakenKey(t *testing.T) {
	t.Parallel()
	f, err := yamlfile.Parse("f", []byte("name: x\nzzz: y\n"))
	if err != nil {
		t.Fatal(err)
	}
	var keys struct {
		ID string `mistaken:"title,name" yaml:"id,required"`
	}
	f.Decode(f.Root(), &keys)
	ps, _ := errors.AsType[yamlfile.Problems](f.Err())
	want := yamlfile.Problems{
		{File: "f", Line: 1, Column: 1, Message: `unknown key "name"; write id`, Source: "name: x"},
		{File: "f", Line: 2, Column: 1, Message: `unknown key "zzz" (known: id)`, Source: "zzz: y"},
	}
	if diff := cmp.Diff(want, ps); diff != "" {
		t.Errorf("errors (-want +got):\n%s", diff)
	}
}
