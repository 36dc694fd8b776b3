package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const dir = "../../../../docs/pictures"

// TestPages checks that each page is rendered from the current text. A test of package picture
// checks that each picture is made from its page.
func TestPages(t *testing.T) {
	t.Parallel()
	for ending, render := range renderers() {
		sources, err := filepath.Glob(dir + "/*" + ending)
		if err != nil || len(sources) == 0 {
			t.Fatalf("%d files *%s, %v", len(sources), ending, err)
		}
		for _, source := range sources {
			t.Run(filepath.Base(source), func(t *testing.T) {
				t.Parallel()
				page := strings.TrimSuffix(source, ending) + ".html"
				text, err := os.ReadFile(source)
				if err != nil {
					t.Fatal(err)
				}
				want, err := os.ReadFile(page)
				if err != nil {
					t.Fatal(err)
				}
				got, err := render(text)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(string(want), string(got)); diff != "" {
					t.Errorf("%s is not what %s renders to; run make pictures (-page +now):\n%s", page, source, diff)
				}
			})
		}
	}
}

func TestRenderSummary(t *testing.T) {
	t.Parallel()
	page, err := renderSummary([]byte("## A\n\n| a |\n|---|\n| 1 |\n\n<details><summary>More</summary>\n\nx\n\n</details>\n"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"<h2", "<td>1</td>", "<details open><summary>More</summary>"} {
		if !bytes.Contains(page, []byte(want)) {
			t.Errorf("the page lacks %q:\n%s", want, page)
		}
	}
}

func TestRenderComment(t *testing.T) {
	t.Parallel()
	page, err := renderComment([]byte("- [ ] **1** close <!-- x -->\n  why\n\n  <details><summary>The comment</summary>\n\n  x\n\n  </details>\n"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`<input type="checkbox"> <strong>1</strong> close <!-- x --><br>`, "<details open><summary>The comment</summary>"} {
		if !bytes.Contains(page, []byte(want)) {
			t.Errorf("the page lacks %q:\n%s", want, page)
		}
	}
}

func TestRenderTerminal(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, text, want string }{
		{"plain", "a < b\n", "<pre>a &lt; b\n</pre>"},
		{"a colour", "\x1b[32m+\x1b[0m x", `<pre><span class="green">+</span> x</pre>`},
		{"two at a time", "\x1b[1m\x1b[31mx\x1b[0m", `<pre><span class="bold"><span class="red">x</span></span></pre>`},
		{"never ended", "\x1b[2mx", `<pre><span class="faint">x</span></pre>`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			page, err := renderTerminal([]byte(tt.text))
			if err != nil || !bytes.Contains(page, []byte(tt.want)) {
				t.Errorf("got %s, %v; want %s", page, err, tt.want)
			}
		})
	}
	for _, text := range []string{"\x1b[K", "\x1b[45mx\x1b[0m", "x\x1b"} {
		if _, err := renderTerminal([]byte(text)); err == nil {
			t.Errorf("no error for %q", text)
		}
	}
}
