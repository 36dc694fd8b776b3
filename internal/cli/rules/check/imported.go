package check

import (
	"context"

	"github.com/org/foreman-action/internal/cli/files"
	"github.com/org/foreman-action/internal/cli/process"
	"github.com/org/foreman-action/internal/importer"
	"github.com/org/foreman-action/internal/yamlfile"
)

// imported returns the differences that imported files still list between them and their source.
func imported(ctx context.Context, env process.Env, names []string) (yamlfile.Problems, error) {
	dir, err := env.WorkDir()
	if err != nil {
		return nil, err
	}
	var out yamlfile.Problems
	for _, name := range names {
		src, err := files.Anywhere{Dir: dir}.Read(ctx, name)
		if err != nil {
			continue // it is elsewhere, or gone by now
		}
		out = append(out, importer.Open(name, src)...)
	}
	return out, nil
}
