package starter

import (
	"strings"
	"testing"

	"github.com/org/foreman-action/internal/lint"
)

// FuzzPropose checks for any form and labels that the proposed rules load and their tests pass.
func FuzzPropose(f *testing.F) {
	const form = "body:\n  - {type: dropdown, attributes: {label: \"%s\", options: [\"%s\", b]}}\nlabels: bug\n"
	for _, seed := range [][2]string{{"Area", "a"}, {"in", "* a"}, {"Area: #1", "_No response_"}, {"{{ x }}", "a, b"}, {"crash", "- [x] a"}, {"\t", "```"}, {"no-details", strings.Repeat("a", 300)}, {"Ä", "é"}, {"#", "a"}, {"# a", strings.Repeat("b", 257)}, {"a", strings.Repeat("c", 100)}} {
		f.Add(strings.Replace(strings.Replace(form, "%s", seed[0], 1), "%s", seed[1], 1), seed[1]+"\nkind/b\nbug\nneeds-info")
	}
	f.Fuzz(func(t *testing.T, form, labels string) {
		r := Repository{Labels: strings.Split(labels, "\n")}
		if one, err := lint.ParseForm("form.yml", []byte(form)); err == nil {
			r.Forms = append(r.Forms, one)
		}
		if _, err := Propose(t.Context(), r, Options{Comments: len(form)%2 == 0}); err != nil {
			t.Error(err)
		}
	})
}
