package serverconfig

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/org/foreman-action/internal/yamlfile"
)

// A redactor removes possible secrets from problems: everything after the key in a source line.
type redactor struct {
	dir, main string // folder and name of the configuration file; other files have no secrets
	shown     []span // lines of main that are not redacted
}

// redact redacts the problems in place and returns them. It prefixes the names of their files with
// the folder.
func (r redactor) redact(ps yamlfile.Problems) yamlfile.Problems {
	for i := range ps {
		p := &ps[i]
		if p.File == r.main && !slices.ContainsFunc(r.shown, func(s span) bool { return s.from <= p.Line && p.Line < s.to }) {
			if key, _, ok := strings.Cut(p.Source, ":"); ok {
				p.Source = key + ": …"
			} else {
				p.Source = ""
			}
		}
		p.File = filepath.Join(r.dir, p.File)
	}
	return ps
}
