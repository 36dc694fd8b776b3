package intake

import (
	"testing"

	"github.com/org/foreman-action/internal/github"
)

// FuzzParseLabel checks that a change always has a repository and a label, and that the memory takes it.
func FuzzParseLabel(f *testing.F) {
	for _, seed := range []string{
		"", "null", "{", `{"action":"created","label":{"node_id":"L_1","name":"docs"},"repository":{"full_name":"o/r"}}`,
		`{"action":"edited","label":{"node_id":"L_1","name":"Docs"},"changes":{"name":{"from":"docs"}},"repository":{"full_name":"o/r"}}`,
		`{"action":"deleted","label":{"name":"\ud800"},"repository":{"full_name":"o/r/x"}}`, `{"label":null,"repository":{"full_name":"/"}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := parseLabel(data)
		if err != nil {
			return
		}
		if c.Repo == "" || c.Label.Name == "" {
			t.Errorf("got %+v", c)
		}
		github.NewLabels(nil).Changed(c)
	})
}
