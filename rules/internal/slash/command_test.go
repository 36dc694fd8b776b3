package slash

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestArgs(t *testing.T) {
	t.Parallel()
	tests := []struct {
		rest string
		want []string
	}{
		{"", nil},
		{" a  b\tc ", []string{"a", "b", "c"}},
		{`bug "good first issue" docs`, []string{"bug", "good first issue", "docs"}},
		{`" a "b`, []string{"a", "b"}},
		{`"not closed at all`, []string{"not closed at all"}},
		{`"" " " x`, []string{"x"}},
		{`12" a"b "c`, []string{`12"`, `a"b`, "c"}},
		{`'a b' “c d”`, []string{"'a", "b'", "“c", "d”"}},
		{"a\u00a0b\u2003c", []string{"a", "b", "c"}},
		{"--flag=x @octocat #12", []string{"--flag=x", "@octocat", "#12"}},
	}
	for _, tt := range tests {
		if diff := cmp.Diff(tt.want, Command{Rest: tt.rest}.Args()); diff != "" {
			t.Errorf("%q (-want +got):\n%s", tt.rest, diff)
		}
	}
}

// FuzzArgs checks that no argument is blank, and that the line contains all arguments in this
// order.
func FuzzArgs(f *testing.F) {
	for _, seed := range []string{`a "b c" d`, `"`, `""x"`, "\u2003\"\u00a0", `a"b c"`, "\xff \"\xff"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, rest string) {
		left := rest
		for _, arg := range (Command{Rest: rest}).Args() {
			_, after, found := strings.Cut(left, arg)
			if strings.TrimSpace(arg) == "" || !found {
				t.Fatalf("%q: the argument %q", rest, arg)
			}
			left = after
		}
	})
}

func TestCommands(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, in string
		want     []Command
	}{
		{"one", "/foreman triage", []Command{{"triage", ""}}},
		{"any case", "/Foreman TRIAGE", []Command{{"triage", ""}}},
		{"with more", "/foreman\tundo \t the  last\x1b one ", []Command{{"undo", "the  last one"}}},
		{"behind characters that are not seen", "\ufeff/foreman why\n\u00a0/foreman\u00a0undo\u00a0x\n \u200b\u3000/foreman triage", []Command{{"why", ""}, {"undo", "x"}, {"triage", ""}}},
		{"behind what is seen", "“/foreman why”\n\u2800/foreman why\n.\u00a0/foreman why", nil},
		{"a name that only looks like one", "/foreman\u200bwhy\n/foreman \u200bwhy", nil},
		{"a byte order mark before code", "\ufeff```\n/foreman why\n```", nil},
		{"a byte order mark before a quote", "\ufeff> a\n/foreman why", nil},
		{"among text", "Please.\r\n\r\n   /foreman why\r\nThanks\n/foreman undo", []Command{{"why", ""}, {"undo", ""}}},
		{"within a line", "do /foreman triage", nil},
		{"quoted", "> /foreman triage\n>/foreman triage", nil},
		{"in a list", "- /foreman triage", nil},
		{"indented code", "    /foreman triage\n\t/foreman triage", nil},
		{"fenced", "```\n/foreman triage\n```\n~~~~ sh\n/foreman triage\n~~~\n/foreman triage\n~~~~", nil},
		{"behind a fence", "```\nx\n```\n/foreman triage", []Command{{"triage", ""}}},
		{"open fence", "```\n/foreman triage", nil},
		{"open tildes", "~~~ text\n\n/foreman triage\n```", nil},
		{"behind an open fence that another closes not", "````\n```\n/foreman triage", nil},
		{"lazy quote", "> q\n/foreman undo\n\n/foreman why", []Command{{"why", ""}}},
		{"lazy quote in a list", "- > q\n/foreman undo", nil},
		{"fence behind a quote", "> q\n```\n\n/foreman undo\n```\n/foreman why", []Command{{"why", ""}}},
		{"fence in a quote", "> ```\n> a\n\n/foreman undo", []Command{{"undo", ""}}},
		{"comment", "<!-- a\n\n/foreman undo\n-->\n/foreman why", []Command{{"why", ""}}},
		{"comment never closed", "<!--\n\n/foreman undo", nil},
		{"comments of a line", "<!-- a --> <!--> <!---> b\n/foreman undo", []Command{{"undo", ""}}},
		{"comment behind a comment", "<!-- a --> <!--\n/foreman undo\n--> b", nil},
		{"comment within text", "a <!-- b\n/foreman undo\n--> c\n/foreman why", []Command{{"why", ""}}},
		{"no comment within text", "a <!-- b\n\n/foreman undo", []Command{{"undo", ""}}},
		{"comment in a list", "- <!--\n\n/foreman undo\n-->", nil},
		{"comment in code", "```\n<!--\n```\n/foreman undo\n`<!--` is how it begins\n/foreman why", []Command{{"undo", ""}, {"why", ""}}},
		{"fence in a comment", "<!--\n```\n-->\n/foreman undo", []Command{{"undo", ""}}},
		{"pre", "<PRE>\n\n/foreman undo\n</pre>\n/foreman why", []Command{{"why", ""}}},
		{"code", "<code>\n/foreman undo\n\n/foreman undo</code>\n/foreman why", []Command{{"why", ""}}},
		{"pre and code", "<pre><code class=x>\n/foreman undo\n</code>\n/foreman undo\n</pre>\n/foreman why", []Command{{"why", ""}}},
		{"blockquote", "<blockquote>\n\n/foreman undo\n\n</blockquote>", nil},
		{"tags in code", "Use `<pre>` and `` ` <code> ``.\n/foreman undo", []Command{{"undo", ""}}},
		{"tags of a line", "a <code>b</code>\n/foreman undo", []Command{{"undo", ""}}},
		{"other tags", "<prefix> <codec>\n/foreman undo", []Command{{"undo", ""}}},
		{"fence and tag", "<code>\n\n```\n</code>\n\n/foreman undo\n```", nil},
		{"fence in a list", "1. ```\n/foreman undo\n```\n/foreman why", nil},
		{"fence in a list, indented", "- ```\n  /foreman undo\n  ```\n/foreman why", []Command{{"why", ""}}},
		{"fence in a list, cut off", "- ```\n  a\n\ntext\n\n```\n/foreman undo\n```", nil},
		{"fence below a list item", "- a\n  ```\n  /foreman undo\n  ```\n  /foreman why\n\n/foreman triage", []Command{{"triage", ""}}},
		{"fence below a list item, cut off", "- a\n  ```\n  x\n```\n/foreman undo\n```", nil},
		{"fence behind a list", "- a\n\n  ```\nx\n  ```\n/foreman undo", nil},
		{"no end, too far in", "- ```\n          ```\n  /foreman undo", nil},
		{"other line ends", "> q\r/foreman undo\r\r/foreman why\r```\r/foreman why", []Command{{"why", ""}}},
		{"code in a line", "`/foreman triage`", nil},
		{"code over lines", "`a\n/foreman undo\nb`\n/foreman why", []Command{{"why", ""}}},
		{"code over lines, of more signs", "``a `\n/foreman undo\n``", nil},
		{"lazy quote in a list item", "- a\n  > q\n/foreman undo", nil},
		{"lazy quote in a quote", "> > q\n/foreman undo", nil},
		{"processing instruction", "<?php\n\n/foreman undo\n\n?>\n/foreman why", []Command{{"why", ""}}},
		{"processing instruction within text", "a <?\n/foreman undo\n?>\n/foreman why", []Command{{"why", ""}}},
		{"declaration", "<!DOCTYPE\n\n/foreman undo\n>\n/foreman why", []Command{{"why", ""}}},
		{"character data", "<![CDATA[\n\n/foreman undo\n]]>\n/foreman why", []Command{{"why", ""}}},
		{"attribute over lines", "a <b title=\"\n/foreman undo\n\">b</b>\n/foreman why", []Command{{"why", ""}}},
		{"attribute that does not end", "<div title=\"\n\n/foreman undo", nil},
		{"above a signature", "/foreman why\n-- \nMona", []Command{{"why", ""}}},
		{"heading", "# /foreman why", nil},
		{"nested too deep", strings.Repeat(">", 300) + "\n\n/foreman why", nil},
		{"footnote", "[^x]: note\n/foreman undo", nil},
		{"title of a definition", "[x]: y '\n/foreman undo\n'", nil},
		{"title of a link", "[a](b '\n/foreman undo\n')", nil},
		{"label of a definition", "[\n/foreman undo\n]: x", nil},
		{"behind a link, in the next paragraph", "[a](b)\n\n/foreman why", []Command{{"why", ""}}},
		{"equality as a name", "<div =\"><!--\">\n\n/foreman undo", nil},
		{"another end of a comment", "<div><!-- --!><b title=\"-->\n\n/foreman undo", nil},
		{"end of a quote in a comment", "<blockquote><!-- </blockquote> -->\n\n/foreman undo", nil},
		{"end of a quote in an attribute", "<blockquote title=\"</blockquote>\">\n\n/foreman undo", nil},
		{"end of another element", "<blockquote></blockquote-x>\n\n/foreman undo", nil},
		{"many quotes", strings.Repeat("<blockquote>", 17) + strings.Repeat("</blockquote>", 16) + "\n\n/foreman undo", nil},
		{"crossed elements", "<div><kbd><blockquote></kbd>\n\n/foreman undo", nil},
		{"table", "a | b\n--|--\n/foreman undo\n\n/foreman why", []Command{{"why", ""}}},
		{"table of one column", "a\n:-\n/foreman undo", nil},
		{"head of a table", "/foreman undo\n|-|", nil},
		{"above a table", "/foreman why\na | b\n--|--\nc | d", []Command{{"why", ""}}},
		{"behind a table", "a | b\n--|--\nc | d\n\n/foreman why", []Command{{"why", ""}}},
		{"no table", "a | b\n/foreman why", []Command{{"why", ""}}},
		{"end of a quote in a table", "<blockquote>\n\n| a |\n|---|\n| </blockquote> |\n\n/foreman undo", nil},
		{"end of a quote in a list", "<blockquote>\n\n- a </blockquote>\n\n/foreman undo", nil},
		{"end of a quote in a quote", "<blockquote>\n\n> a </blockquote>\n\n/foreman undo", nil},
		{"end of a quote in a paragraph", "<blockquote>\n\na </blockquote>\n\n/foreman why", []Command{{"why", ""}}},
		{"list of HTML", "<ul><li>\n\n/foreman undo\n\n</li></ul>\n\n/foreman why", []Command{{"why", ""}}},
		{"list item without a list", "<li>\n\n/foreman undo", nil},
		{"details", "<details><summary>more</summary>\n\n/foreman undo\n\n</details>\n\n/foreman why", []Command{{"why", ""}}},
		{"cell of HTML", "<table><tr><td>\n\n/foreman undo\n\n</td></tr></table>\n\n/foreman why", []Command{{"why", ""}}},
		{"struck out", "a <del>\n/foreman undo\n</del>\n\n/foreman why", []Command{{"why", ""}}},
		{"element in a heading", "<h2 align=center>\n\n/foreman undo\n\n</h2>", nil},
		{"elements without an end", "a<br>b<hr><img src=x>\n\n/foreman why", []Command{{"why", ""}}},
		{"generics", "Use `Vec<T>`, or Vec<T>.\n\n/foreman why", []Command{{"why", ""}}},
		{"math", "$$\n/foreman undo\n$$\n\n/foreman why", []Command{{"why", ""}}},
		{"math within text", "so $$ a\n/foreman undo\nb $$", nil},
		{"no math", "It costs $5.\n/foreman why", []Command{{"why", ""}}},
		{"declaration that GitHub takes for text", "a <!X<details>\n/foreman undo", nil},
		{"comment that GitHub takes for text", "a <!-- x -- <details> -->\n/foreman undo", nil},
		{"tag behind a quote, without its sign", "> a\n<br>\n<a title=\"\n\n/foreman undo\n\">", nil},
		{"HTML behind a list, without its sign", "- a\n<br>\n***\n<a title=\"b\n/foreman undo\n\"c\">\n\n/foreman why", []Command{{"why", ""}}},
		{"tags behind a list, of which one is none", "- a\n<b x=\"\n- a\n<br>\n<i y=\">\n\n/foreman undo", nil},
		{"images in a list", "- a\n  <img src=x>\n- b\n  <img src=x>\n\n/foreman why", []Command{{"why", ""}}},
		{"row that looks like an underline", "| a |\n| - |\n===\n/foreman undo\n\n/foreman why", []Command{{"why", ""}}},
		{"tag behind a quote, and a line of spaces", "> a\n<br>\n<a title=\"\n \n\">\n\n/foreman undo", nil},
		{"tags in what GitHub shows as typed", "<script><details></script>\n\n/foreman undo", nil},
		{"code in what GitHub shows as typed", "<xmp>\n<pre>\n\n/foreman undo", nil},
		{"selection in a quote", "> <select>\n\n/foreman undo", nil},
		{"tab in a tag", "<p\ta\"><!--\n/foreman undo", nil},
		{"form feed in a table", "/foreman undo\n\f-\n/foreman undo", nil},
		{"form feed in a tag", "a <details\fopen>\n/foreman undo", nil},
		{"no name", "/foreman\n/foreman \n/foreman 7\n/foreman /why", nil},
		{"other word", "/foremantriage\n/foremans triage\n/forema n", nil},
		{"long name", "/foreman " + strings.Repeat("a", 33), nil},
		{"too many", strings.Repeat("/foreman a\n", 20), slices.Repeat([]Command{{"a", ""}}, 10)},
		{"long rest", "/foreman a " + strings.Repeat("é", 300), []Command{{"a", strings.Repeat("é", 256)}}},
		{"nothing", "", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, Commands(tt.in)); diff != "" {
				t.Errorf("commands (-want +got):\n%s", diff)
			}
		})
	}
}

// BenchmarkCommands parses the largest comments that are hard to parse.
func BenchmarkCommands(b *testing.B) {
	for _, line := range []string{"/foreman 1\n", "```\n", "```a\n", "````\n~~~\n```a\n", "`", ">", "<!--\n", "<pre>", "\r", "> ", "- ", "1. ", "<b>", "<a ", "- a\n<b>\n", "`` ` ", "a`b``c", "- a\n", "-\n", "\\`", "- - - - - - - - - - - - - - - - - - - - - a\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n"} {
		comment := "/foreman why\n" + strings.Repeat(line, 65_536/len(line))
		b.Run(line, func(b *testing.B) {
			for b.Loop() {
				Commands(comment)
			}
		})
	}
}

func FuzzCommands(f *testing.F) {
	f.Add("> a\n/foreman triage now\n```\n/foreman why\n```\n    /foreman x")
	f.Fuzz(func(t *testing.T, comment string) {
		list := Commands(comment)
		if len(list) > MaxCommands {
			t.Errorf("got %d commands", len(list))
		}
		for _, c := range list {
			if !commandName().MatchString(c.Name) || len([]rune(c.Rest)) > maxRest || strings.ContainsAny(c.Rest, "\r\n") {
				t.Errorf("got %+v", c)
			}
			again := Commands(commandPrefix + " " + c.Name + " " + c.Rest)
			if len(again) != 1 || again[0].Name != c.Name {
				t.Errorf("%+v is read again as %+v", c, again)
			}
		}
	})
}
