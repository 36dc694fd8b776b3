package discover

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/org/foreman-action/internal/scoring"
)

func TestQuery(t *testing.T) {
	t.Parallel()
	tests := []struct {
		profile scoring.Profile
		want    string // the part after openIssues
	}{
		{scoring.Profile{}, ""},
		{scoring.Profile{Languages: []string{"TypeScript"}, Topics: []string{"cli"}}, " language:TypeScript cli"},
		{scoring.Profile{Languages: []string{"Go", "Rust"}}, " (language:Go OR language:Rust)"},
		{scoring.Profile{Languages: []string{"Jupyter Notebook", "C++"}}, ` (language:"Jupyter Notebook" OR language:C++)`},
		{scoring.Profile{Topics: []string{"cli", "machine learning"}}, ` (cli OR "machine learning")`},
		{scoring.Profile{Topics: []string{"OR", "-x", "is:pr", `a"b`}}, ` ("OR" OR "-x" OR "is:pr" OR "ab")`},
		{scoring.Profile{Types: []string{"docs", "good-first"}}, ` label:"documentation","docs","good first issue","good-first-issue"`},
		{scoring.Profile{Languages: strings.Fields("a b c d e f g")}, " (language:a OR language:b OR language:c OR language:d OR language:e OR language:f)"},
		{scoring.Profile{Languages: strings.Fields("a b c d"), Topics: strings.Fields("t u v w x")}, " (language:a OR language:b OR language:c OR language:d) (t OR u OR v)"},
		{scoring.Profile{Languages: []string{strings.Repeat("x", 300), "Go"}}, ""},
	}
	for _, tt := range tests {
		got := Query(tt.profile)
		if got != openIssues+tt.want {
			t.Errorf("got  %s\nwant %s", got, openIssues+tt.want)
		}
	}
}

// FuzzQuery checks that every query is within GitHub's limits, and contains the terms of the
// profile.
func FuzzQuery(f *testing.F) {
	f.Add("Go", "machine learning", "a OR b", "-x")
	f.Fuzz(func(t *testing.T, a, b, c, d string) {
		p := scoring.Profile{Languages: []string{a, b, c, d}, Topics: []string{d, c, b, a}, Types: []string{"docs"}}
		got := Query(p)
		if n := utf8.RuneCountInString(got); n > maxQuery || !strings.HasPrefix(got, openIssues) {
			t.Errorf("%d characters: %q", n, got)
		}
		commandFor(p, scoring.Profile{})
	})
}
