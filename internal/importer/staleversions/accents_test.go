package staleversions_test

import (
	"testing"

	"github.com/org/foreman-action/internal/importer/staleversions"
)

// TestPlain compares with results of lodash.deburr for the same texts in lower case.
func TestPlain(t *testing.T) {
	t.Parallel()
	tests := map[string]string{
		"needs-résumé":                     "needs-resume",
		"PRIORITE\u0301 haute":             "priorite haute",
		"Straße, Þór, İstanbul, ŉ":         "strasse, thor, istanbul, 'n",
		"×÷ ĿŁĦŦĐŊĸ ĲŒÆ":                   "×÷ llhtdnk ijoeae",
		"1\ufe0f\u20e3 ế ș ñandú бой 日本 ⚓": "1\ufe0f ế ș nandu бой 日本 ⚓", //nolint:gosmopolitan // the texts that are compared
		"": "",
	}
	for name, want := range tests {
		if got := staleversions.Plain(name); got != want {
			t.Errorf("%q: got %q, want %q", name, got, want)
		}
	}
}
