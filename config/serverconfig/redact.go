package serverconfig

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/org/foreman-action/internal/yamlfile"
)

// A redactor removes possible secrets from problems: the text of a line after its key.
type redactor struct {
	dir, main string // of the configuration file; others have no secrets
	shown     []span // lines of main that are shown
}

// redact changes and returns problems; their files get the folder in front.
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
