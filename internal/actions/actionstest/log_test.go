package actionstest_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/org/foreman-action/internal/actions/actionstest"
)

func TestParseLog(t *testing.T) {
	t.Parallel()
	type commands = []actionstest.Command
	none := map[string]string{}
	tests := []struct {
		name, log string
		want      commands
	}{
		{name: "empty", log: ""},
		{name: "plain", log: "hello\nworld: a::b::c\n"},
		{name: "command", log: "x\n::error::boom\n",
			want: commands{{Line: 2, Name: "error", Properties: none, Data: "boom"}}},
		{name: "name in capitals", log: "::Set-OUTPUT name=a::b",
			want: commands{{Line: 1, Name: "set-output", Properties: map[string]string{"name": "a"}, Data: "b"}}},
		{name: "after white space", log: "\t \u00a0\u2028::debug::x ",
			want: commands{{Line: 1, Name: "debug", Properties: none, Data: "x "}}},
		{name: "after a byte order mark", log: "\uFEFF::debug::x",
			want: commands{{Line: 1, Name: "debug", Properties: none, Data: "x"}}},
		{name: "after a carriage return", log: "x\r::debug::y",
			want: commands{{Line: 2, Name: "debug", Properties: none, Data: "y"}}},
		{name: "properties", log: "::error file=a%2Cb%3Ac,line=3,empty=,col=4::50%25%0Aof%3A",
			want: commands{{Line: 1, Name: "error", Data: "50%\nof%3A",
				Properties: map[string]string{"file": "a,b:c", "line": "3", "col": "4"}}}},
		{name: "escaped percent first", log: "::error::%250A",
			want: commands{{Line: 1, Name: "error", Properties: none, Data: "%0A"}}},
		{name: "no second separator", log: "::error: x"},
		{name: "legacy anywhere", log: "say ##[set-output name=a;x=%3B]b%5D",
			want: commands{{Line: 1, Name: "set-output", Legacy: true, Data: "b]",
				Properties: map[string]string{"name": "a", "x": ";"}}}},
		{name: "legacy not closed", log: "##[error x"},
		{name: "legacy in a command's data", log: "::error::##[debug]x",
			want: commands{{Line: 1, Name: "error", Properties: none, Data: "##[debug]x"}}},
		{name: "legacy after half a command", log: "::error ##[debug]x",
			want: commands{{Line: 1, Name: "debug", Properties: none, Data: "x", Legacy: true}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, actionstest.ParseLog(tt.log)); diff != "" {
				t.Errorf("commands (-want +got):\n%s", diff)
			}
		})
	}
}

func FuzzParseLog(f *testing.F) {
	for _, seed := range []string{"", "::error::x", "##[debug]x", "a\r::b c=d::e", "::::", "##[]"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, log string) {
		last := 0
		for _, c := range actionstest.ParseLog(log) {
			if c.Line <= last {
				t.Errorf("got a command on line %d after one on line %d, want at most one a line", c.Line, last)
			}
			last = c.Line
		}
	})
}
