package check

import (
	"context"

	"github.com/org/foreman-action/internal/cli/files"
	"github.com/org/foreman-action/internal/cli/process"
	"github.com/org/foreman-action/internal/importer"
	"github.com/org/foreman-action/internal/yamlfile"
)

// imported returns the differences from their source that imported files still list in their
// comments.
func imported(ctx context.Context, env process.Env, names []string) (yamlfile.Problems, error) {
	dir, err := env.WorkDir()
	if err != nil {
		return nil, err
	}
	var out yamlfile.Problems
	for _, name := range names {
		src, err := files.Anywhere{Dir: dir}.Read(ctx, name)
		if err != nil {
			continue // an extended file is elsewhere, and a file may have been deleted
		}
		out = append(out, importer.Open(name, src)...)
	}
	return out, nil
}
