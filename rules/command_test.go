package rules

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestCommands(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, in string
		want     []Command
	}{
		{"one", "/foreman triage", []Command{{"triage", ""}}},
		{"any case", "/Foreman TRIAGE", []Command{{"triage", ""}}},
		{"with more", "/foreman\tundo \t the  last\x1b one ", []Command{{"undo", "the  last one"}}},
		{"among text", "Please.\r\n\r\n   /foreman why\r\nThanks\n/foreman undo", []Command{{"why", ""}, {"undo", ""}}},
		{"within a line", "do /foreman triage", nil},
		{"quoted", "> /foreman triage\n>/foreman triage", nil},
		{"in a list", "- /foreman triage", nil},
		{"indented code", "    /foreman triage\n\t/foreman triage", nil},
		{"fenced", "```\n/foreman triage\n```\n~~~~ sh\n/foreman triage\n~~~\n/foreman triage\n~~~~", nil},
		{"behind a fence", "```\nx\n```\n/foreman triage", []Command{{"triage", ""}}},
		{"open fence", "```\n/foreman triage", []Command{{"triage", ""}}},
		{"code in a line", "`/foreman triage`", nil},
		{"no name", "/foreman\n/foreman \n/foreman 7\n/foreman /why", nil},
		{"other word", "/foremantriage\n/foremans triage\n/forema n", nil},
		{"long name", "/foreman " + strings.Repeat("a", 33), nil},
		{"too many", strings.Repeat("/foreman a\n", 20), slicesOf(Command{"a", ""}, 10)},
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

func slicesOf[T any](v T, n int) []T {
	list := make([]T, n)
	for i := range list {
		list[i] = v
	}
	return list
}

func FuzzCommands(f *testing.F) {
	f.Add("> a\n/foreman triage now\n```\n/foreman why\n```\n    /foreman x")
	f.Fuzz(func(t *testing.T, comment string) {
		list := Commands(comment)
		if len(list) > maxCommands {
			t.Errorf("got %d commands", len(list))
		}
		for _, c := range list {
			if !commandName.MatchString(c.Name) || len([]rune(c.Rest)) > maxRest || strings.ContainsAny(c.Rest, "\r\n") {
				t.Errorf("got %+v", c)
			}
			again := Commands(commandPrefix + " " + c.Name + " " + c.Rest)
			if len(again) != 1 || again[0].Name != c.Name {
				t.Errorf("%+v is read again as %+v", c, again)
			}
		}
	})
}
