package sanitize

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
)

// hostile are texts that are repeated. For each, the time once grew faster than the length of the
// text, or could do so.
var hostile = []string{
	"`", "``a`", "`a`b", "<", "<!--", "<a ", "<a b='", "<pre ", "</pre>", "<http://x>", "@", "@a/b", "a@b.c", "#1",
	"/x ", " /", "//", "[a](", "](", "]: ", "www.", "a.", "http://", "a://x ", "a://)", "a+", "&#", "&a", "::", "##[",
	"> ", "- ", "1. ", "- > ", "\n", "\n```", "```http://x\n```\n```\n", "~", "|", "*", "$", "\t", "\\", "\u200b",
	"👩\u200d💻", "🏴\U000E0067\U000E0062", "GH-1 ", "o/r#1 ", "/pull/1", "\x1b]", "\x1b[", "\xff", "\r",
}

// lengths returns runs of backticks that all have different lengths, followed by many runs of one
// backtick.
func lengths(size int) string {
	var b strings.Builder
	for n := 2; b.Len() < size/2; n++ {
		b.WriteString(strings.Repeat("`", n) + "a")
	}
	return b.String() + strings.Repeat("`a", (size-b.Len())/2)
}

// everything returns each function, with the settings that take the most work.
func everything() map[string]func(string) string {
	all := functions(golden{settings: map[string]string{"max": "80", "links": "none", "mentions": "x a/b"}})
	delete(all, "blocks")
	all["comment-plain"] = func(s string) string { return Comment(s, Options{}) }
	all["comment-links"] = func(s string) string { return Comment(s, Options{AllowLink: func(string) bool { return true }}) }
	all["cell-whole"] = func(s string) string { return Cell(s, 0) }
	return all
}

// TestHostile checks that no result is much longer than its text, and that a second pass
// changes nothing.
func TestHostile(t *testing.T) {
	t.Parallel()
	texts := map[string]string{"lengths": lengths(4 << 10)}
	for _, p := range hostile {
		texts[p] = strings.Repeat(p, 4<<10/len(p))
	}
	once := []string{"cell", "cell-whole", "code", "fence", "markdown", "marker"}
	for name, f := range everything() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for p, s := range texts {
				got := f(s)
				checkText(t, s, got)
				if !slices.Contains(once, name) && f(got) != got {
					t.Errorf("%q changes again", p)
				}
			}
		})
	}
}

// BenchmarkHostile runs every function on each hostile text. The speed in MB/s must be about the
// same for both sizes.
func BenchmarkHostile(b *testing.B) {
	all := everything()
	for _, size := range []int{64 << 10, 256 << 10} {
		texts := map[string]string{"lengths": lengths(size)}
		for _, p := range hostile {
			texts[fmt.Sprintf("%+q", p)] = strings.Repeat(p, size/len(p))
		}
		for _, p := range slices.Sorted(maps.Keys(texts)) {
			b.Run(fmt.Sprintf("%s/%dKiB", p, size>>10), func(b *testing.B) {
				b.SetBytes(int64(len(texts[p])))
				for b.Loop() {
					for _, f := range all {
						f(texts[p])
					}
				}
			})
		}
	}
}
