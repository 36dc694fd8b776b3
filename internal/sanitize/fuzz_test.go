package sanitize

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

// seed adds the input of every case in testdata, regardless of the function that the case is for.
func seed(f *testing.F) {
	f.Helper()
	files, err := filepath.Glob("testdata/*/*.txtar")
	if err != nil {
		f.Fatal(err)
	}
	t := &testing.T{}
	for _, file := range files {
		f.Add(readGolden(t, file).part("in"))
	}
	f.Add("\xff@\xffoctocat\x00\r\n")
}

// FuzzComment checks the promises of Comment without using the code of package sanitize.
func FuzzComment(f *testing.F) {
	seed(f)
	own := func(host string) bool { return host == "example.com" }
	f.Fuzz(func(t *testing.T, s string) {
		for _, o := range []Options{{}, {AllowLink: own}} {
			got := Comment(s, o)
			checkPosted(t, s, got)
			if again := Comment(got, o); again != got {
				t.Errorf("once %q, twice %q", got, again)
			}
			for _, live := range alive(got) {
				t.Errorf("%q is live in %q", live, got)
			}
			if o.AllowLink != nil && !strings.Contains(got, "`") {
				checkLinks(t, got)
			}
		}
	})
}

// FuzzTrusted checks that a maintainer's text does not change the line after it.
func FuzzTrusted(f *testing.F) {
	seed(f)
	f.Fuzz(func(t *testing.T, s string) {
		got := Trusted(s)
		checkPosted(t, s, got)
		if again := Trusted(got); again != got {
			t.Errorf("once %q, twice %q", got, again)
		}
	})
}

// FuzzValue puts a value into texts where it could do harm.
func FuzzValue(f *testing.F) {
	seed(f)
	f.Fuzz(func(t *testing.T, s string) {
		got := Value(s)
		checkPosted(t, s, got)
		if again := Value(got); again != got {
			t.Errorf("once %q, twice %q", got, again)
		}
		if strings.ContainsAny(got, "\n\t`|") {
			t.Errorf("%q could break out of code or a line", got)
		}
		for _, after := range []string{"octocat", "1", "!-- foreman:v1", "`@octocat`"} {
			if strings.HasPrefix(after, "!") && HasMarker(got+after) {
				t.Errorf("%q joins with what follows", got)
			}
			for _, live := range alive(strings.ReplaceAll(got+after, "`@octocat`", "")) {
				t.Errorf("%q is live in %q", live, got+after)
			}
		}
	})
}

// FuzzRationale checks the promises of Rationale, also for texts that it has to shorten.
func FuzzRationale(f *testing.F) {
	seed(f)
	want := unstyled(render(f, posted(proposals("x"))))
	f.Fuzz(func(t *testing.T, s string) {
		for _, s := range []string{s, strings.Repeat("a ", 135) + s, strings.Repeat(s+" ", 1+600/(len(s)+1))} {
			got := Rationale(s)
			checkPosted(t, s, got)
			if again := Rationale(got); again != got {
				t.Errorf("once %q, twice %q", got, again)
			}
			if n := utf8.RuneCountInString(got); n > 280 {
				t.Errorf("%q has %d characters", got, n)
			}
			if strings.ContainsAny(got, "\n\t`") {
				t.Errorf("%q could break out of code or a line", got)
			}
			for _, live := range alive(got) {
				t.Errorf("%q is live in %q", live, got)
			}
			if got == "" {
				continue
			}
			doc := render(t, posted(proposals(got)))
			for _, what := range live(doc, func(string) bool { return false }) {
				t.Errorf("%q is live in %q", what, got)
			}
			if found := unstyled(doc); found != want {
				t.Errorf("%q: the elements are %q, want %q", got, found, want)
			}
			if !hidden(doc) {
				t.Errorf("%q: the marker is shown or lost", got)
			}
		}
	})
}

// FuzzLog looks for commands in sanitized text with a parser that is as lenient as the runner.
func FuzzLog(f *testing.F) {
	seed(f)
	f.Fuzz(func(t *testing.T, s string) {
		for _, safe := range []func(string) string{Log, Line} {
			got := safe(s)
			checkText(t, s, got)
			if again := safe(got); again != got {
				t.Errorf("once %q, twice %q", got, again)
			}
			if found := commands(got); len(found) > 0 {
				t.Errorf("%q has commands %q", got, found)
			}
		}
		if got := Line(s); strings.ContainsAny(got, "\n\t") {
			t.Errorf("%q is not one line", got)
		}
	})
}

// FuzzMarkdown checks that no active sequence is left, and that the rendered text equals the
// input.
func FuzzMarkdown(f *testing.F) {
	seed(f)
	f.Fuzz(func(t *testing.T, s string) {
		for _, got := range []string{Markdown(s), Cell(s, 0)} {
			checkEscaped(t, got)
		}
		typed := strings.Join(strings.Fields(clean(s)), " ")
		if got := unescape(Cell(s, 0)); got != strings.ReplaceAll(typed, zwsp, "") {
			t.Errorf("shown is %q, want %q", got, typed)
		}
		if got := utf8.RuneCountInString(unescape(Cell(s, 5))); got > 5 {
			t.Errorf("got %d characters in %q, want 5", got, Cell(s, 5))
		}
		for _, got := range []string{Code(s), Fence(s, s)} {
			checkPosted(t, s, got)
		}
	})
}

// checkPosted checks a text that is ready to be posted.
func checkPosted(t *testing.T, in, got string) {
	t.Helper()
	checkText(t, in, got)
	if HasMarker(got) {
		t.Errorf("%q holds a marker", got)
	}
}

// checkText checks any result of the sanitizer.
func checkText(t *testing.T, in, got string) {
	t.Helper()
	if !utf8.ValidString(got) {
		t.Errorf("%q is no valid UTF-8", got)
	}
	if strings.ContainsFunc(got, func(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' }) {
		t.Errorf("%q holds control characters", got)
	}
	if len(got) > 8*len(in)+64 {
		t.Errorf("%d bytes became %d", len(in), len(got))
	}
}

var (
	// noCode matches sequences that make code spans uncertain, so that nothing counts as code.
	noCode = regexp.MustCompile("<[A-Za-z/!?]|\\\\`|\\$\\$")
	acting = []*regexp.Regexp{
		regexp.MustCompile(`(?:^|[^A-Za-z0-9])@[A-Za-z0-9]`),
		regexp.MustCompile(`#[0-9]`),
		regexp.MustCompile(`(?i)(?:^|[^A-Za-z0-9])GH-[0-9]`),
		regexp.MustCompile(`(?i)[\w.-]/(issues|pull|discussions|commit)/\w`),
		regexp.MustCompile(`&#|&(commat|num|sol|period);`),
		regexp.MustCompile(`(?m)^[ \t]*/[A-Za-z]+[ \t]*$`),
	}
	comment = regexp.MustCompile(`<!--`)
)

// alive returns the parts of a text on which GitHub would act.
func alive(s string) []string {
	found := comment.FindAllString(s, -1)
	if !noCode.MatchString(strings.ReplaceAll(s, zwsp, "")) {
		s = withoutCode(s)
	}
	for _, re := range acting {
		found = append(found, re.FindAllString(s, -1)...)
	}
	return found
}

// withoutCode drops fences that begin in the first column, and everything between the first and the
// last backtick of a line, which is at least all code.
func withoutCode(s string) string {
	var kept []string
	fence := ""
	for line := range strings.SplitSeq(s, "\n") {
		begin := regexp.MustCompile("^(```+)[^`]*$|^(~~~+)").FindStringSubmatch(line)
		switch {
		case fence != "":
			if regexp.MustCompile("^ {0,3}" + fence + fence[:1] + "*[ \t]*$").MatchString(line) {
				fence = ""
			}
		case begin != nil:
			fence = begin[1] + begin[2]
		default:
			kept = append(kept, regexp.MustCompile("`.*`").ReplaceAllString(line, "``"))
		}
	}
	return strings.Join(kept, "\n")
}

// checkLinks checks the addresses in a text without code.
func checkLinks(t *testing.T, s string) {
	t.Helper()
	for _, m := range regexp.MustCompile(`https?://([^\s<>]*)`).FindAllStringSubmatch(s, -1) {
		if !strings.HasPrefix(strings.ToLower(m[1]), "example.com") {
			t.Errorf("%q links to %q", s, m[0])
		}
	}
}

// commands returns the lines that GitHub's runner would execute: "::" after white space, and "##["
// anywhere. It ignores characters without width, because a culture-aware comparison ignores them.
func commands(s string) []string {
	var found []string
	for _, line := range regexp.MustCompile(`\r\n|\r|\n`).Split(s, -1) {
		line = strings.Map(func(r rune) rune {
			if unicode.In(r, unicode.Cf, unicode.Variation_Selector) || unicode.IsControl(r) && !unicode.IsSpace(r) {
				return -1
			}
			return r
		}, line)
		if strings.HasPrefix(strings.TrimLeftFunc(line, unicode.IsSpace), "::") || strings.Contains(line, "##[") {
			found = append(found, line)
		}
	}
	return found
}

// checkEscaped looks for markup that is not escaped.
func checkEscaped(t *testing.T, s string) {
	t.Helper()
	escaped := regexp.MustCompile("\\\\[[:punct:]]|&(?:lt|gt|amp|#124);|@" + zwsp + `|\\$`)
	for line := range strings.SplitSeq(s, "\n") {
		rest := escaped.ReplaceAllString(line, "")
		if i := strings.IndexAny(rest, "<>&|`*_[]@#!~\\$"); i >= 0 {
			t.Errorf("%q is not escaped in %q", rest[i], line)
		}
		if regexp.MustCompile(`^\s*([-+=]|[0-9]{1,9}[.)]( |$))`).MatchString(line) {
			t.Errorf("%q begins a block", line)
		}
	}
}

// unescape reverses the escapes in one line.
func unescape(s string) string {
	s = strings.ReplaceAll(s, zwsp, "")
	s = regexp.MustCompile(`\\([[:punct:]])`).ReplaceAllString(s, "$1")
	return strings.NewReplacer("&lt;", "<", "&gt;", ">", "&amp;", "&", "&#124;", "|").Replace(s)
}
