package outcome

import (
	"github.com/org/foreman-action/internal/sanitize"
	"github.com/org/foreman-action/protocol"
)

// Name returns a parameter that is a name, sanitized; empty if the parameter is absent.
func Name(a protocol.ActionItem, param string) string {
	s, _, _ := a.Text(param)
	return sanitize.Name(s)
}

// names returns a parameter that is a list of names: sanitized, without duplicates.
func names(a protocol.ActionItem, param string) []string {
	list, _, _ := a.Texts(param)
	var out []string
	seen := Names{}
	for _, s := range list {
		s = sanitize.Name(s)
		if s != "" && !seen.Has(s) {
			seen.put([]string{s}, true)
			out = append(out, s)
		}
	}
	return out
}
