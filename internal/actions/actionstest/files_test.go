package actionstest_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/org/foreman-action/internal/actions/actionstest"
)

func TestParseFileCommands(t *testing.T) {
	t.Parallel()
	type pairs = []actionstest.Pair
	tests := []struct {
		name, text string
		want       pairs
		wantErr    string
	}{
		{name: "empty", text: ""},
		{name: "empty lines", text: "\n\n"},
		{name: "value", text: "a=b\n", want: pairs{{"a", "b"}}},
		{name: "value without line feed", text: "a=b", want: pairs{{"a", "b"}}},
		{name: "empty value", text: "a=\n", want: pairs{{"a", ""}}},
		{name: "equals comes first", text: "a=b<<c\n", want: pairs{{"a", "b<<c"}}},
		{name: "heredoc comes first", text: "a<<b=c\nx\nb=c\n", want: pairs{{"a", "x"}}},
		{name: "empty heredoc", text: "a<<E\nE\n", want: pairs{{"a", ""}}},
		{name: "heredoc of one empty line", text: "a<<E\n\nE\n", want: pairs{{"a", ""}}},
		{name: "heredoc ends in line feed", text: "a<<E\nx\n\nE\n", want: pairs{{"a", "x\n"}}},
		{name: "carriage return is data", text: "a<<E\nx\r\ny\nE\n", want: pairs{{"a", "x\r\ny"}}},
		{name: "delimiter with carriage return is data", text: "a<<E\nE\r\nE\n", want: pairs{{"a", "E\r"}}},
		{name: "two", text: "a<<E\n1\nE\nb=2\n", want: pairs{{"a", "1"}, {"b", "2"}}},
		{name: "forged", text: "a<<E\nx\nE\nforged=1\nE\n", want: pairs{{"a", "x"}, {"forged", "1"}},
			wantErr: `line "E" is neither`},
		{name: "empty name", text: "=x\n", want: pairs{{"", "x"}}},
		{name: "heredoc without name", text: "<<E\nE\n", wantErr: `line "<<E" is neither`},
		{name: "heredoc without delimiter", text: "a<<\n\n", wantErr: `line "a<<" is neither`},
		{name: "delimiter does not come", text: "z=1\na<<E\nx\n", want: pairs{{"z", "1"}},
			wantErr: `the delimiter "E" of "a" is missing`},
		{name: "neither", text: "text\n", wantErr: `line "text" is neither`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := actionstest.ParseFileCommands(tt.text)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("pairs (-want +got):\n%s", diff)
			}
			checkError(t, err, tt.wantErr)
		})
	}
}

func checkError(t *testing.T, err error, want string) {
	t.Helper()
	switch {
	case err == nil && want != "":
		t.Errorf("got no error, want %q", want)
	case err != nil && (want == "" || !strings.Contains(err.Error(), want)):
		t.Errorf("got error %q, want %q", err, want)
	}
}

func FuzzParseFileCommands(f *testing.F) {
	for _, seed := range []string{"", "a=b", "a<<E\nx\nE\n", "a<<E\n", "<<\n=\n", "a<<E\n\n\nE\nb=c<<d\n"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		pairs, err := actionstest.ParseFileCommands(text)
		if err != nil {
			return
		}
		size := 0
		for _, p := range pairs {
			size += len(p.Name) + len(p.Value)
		}
		if size > len(text) {
			t.Errorf("%d bytes of names and values out of %d bytes of text", size, len(text))
		}
	})
}
