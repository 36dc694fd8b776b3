package yamlfile_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/org/foreman-action/internal/yamlfile"
)

func TestExpand(t *testing.T) {
	t.Parallel()
	env := map[string]string{"A": "1", "B_2": "two", "NEST": "${A}", "SECRET": "hunter2"}
	tests := []struct{ in, want, err string }{
		{"", "", ""},
		{"plain $A $(A) $$", "plain $A $(A) $$", ""},
		{"${A}", "1", ""},
		{"x${A}y${B_2}z${A}", "x1ytwoz1", ""},
		{"${NEST}", "${A}", ""},
		{"${MISSING}", "", "environment variable MISSING is not set"},
		{"${SECRET}${MISSING}", "", "environment variable MISSING is not set"},
		{"${}", "", `want ${NAME}, got "${}"`},
		{"${1A}", "", `want ${NAME}, got "${1A}"`},
		{"a ${A", "", `want ${NAME}, got "${A"`},
		{"${A:-x}", "", `want ${NAME}, got "${A:-x}"`},
	}
	for _, tt := range tests {
		v := yamlfile.Variables{Lookup: func(name string) (string, error) {
			if value, ok := env[name]; ok {
				return value, nil
			}
			return "", fmt.Errorf("environment variable %s is not set", name)
		}}
		got, problems := v.Expand(tt.in)
		if got != tt.want || strings.Join(problems, "; ") != tt.err {
			t.Errorf("Expand(%q): got %q, %q, want %q, %q", tt.in, got, problems, tt.want, tt.err)
		}
	}
}

func TestSuggest(t *testing.T) {
	t.Parallel()
	known := []string{"add_label", "comment", "close_issue", "on", "when", "issue"}
	tests := []struct{ word, want string }{
		{"add-label", "add_label"},
		{"AddLabel", "add_label"},
		{"addlabels", "add_label"},
		{"coment", "comment"},
		{"ocmment", "comment"},
		{"close", ""},
		{"isue", "issue"},
		{"foo", ""},
		{"", ""},
		{"xy", ""},
		{"wehn", "when"},
		{strings.Repeat("comment", 100), ""},
	}
	for _, tt := range tests {
		if got := yamlfile.Suggest(tt.word, known); got != tt.want {
			t.Errorf("Suggest(%q): got %q, want %q", tt.word, got, tt.want)
		}
	}
	if got := yamlfile.DidYouMean("coment", known); got != "; did you mean comment?" {
		t.Errorf("DidYouMean: got %q", got)
	}
	if got := yamlfile.DidYouMean("zzz", known); got != "" {
		t.Errorf("DidYouMean: got %q, want nothing", got)
	}
}

func ExampleFile_Decode() {
	f, err := yamlfile.Parse("config.yml", []byte("mode: apply\npolcy:\n  allow_close: yes\n"))
	if err != nil {
		fmt.Println(err)
		return
	}
	var config struct {
		Mode   string `yaml:"mode"`
		Policy struct {
			AllowClose bool `yaml:"allow_close"`
		} `yaml:"policy"`
	}
	f.Decode(f.Root(), &config)
	var problems yamlfile.Problems
	if errors.As(f.Err(), &problems) {
		fmt.Println(problems)
	}
	// Output:
	// config.yml:2:1: unknown key "polcy"; did you mean policy? (known: mode, policy)
	//     polcy:
	//     ^
}
