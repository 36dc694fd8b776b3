package lint

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/org/foreman-action/config"
	"github.com/org/foreman-action/internal/evidence"
	"github.com/org/foreman-action/internal/ruleset"
	"github.com/org/foreman-action/internal/yamlfile"
)

// An evidenceFile is the content of the file with the results of replays, or why it cannot be read.
type evidenceFile struct {
	data []byte
	err  error
}

// ReadEvidence reads the file with the results of replays, which the policy names. An error other than that
// the file is missing or unreadable is that of files. An empty path means none.
func (r *Repository) ReadEvidence(ctx context.Context, files config.Files, path string) error {
	if path == "" {
		return nil
	}
	data, err := files.Read(ctx, path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, ErrUnreadable) {
		return fmt.Errorf("read %s: %w", path, err)
	}
	r.evidence = &evidenceFile{data, err}
	return nil
}

// evidence warns if the results of replays do not count for any rule.
func (c *checker) evidence(files []*yamlfile.File) {
	path, read := c.config.Policy.Earn.Evidence, c.repo.evidence
	if path == "" || read == nil {
		return
	}
	var at yamlfile.Problem
	for _, f := range files { // an extended file is not among them
		if n := yamlfile.Child(f.Root(), "policy", "earn", "evidence"); n != nil {
			at = f.At(n, 1, 1, "")
		}
	}
	if at.File == "" && len(files) > 0 {
		at.File = files[0].Name()
	}
	again := "foreman rules backtest --write-evidence " + path
	if errors.Is(read.err, fs.ErrNotExist) {
		c.warn(at, "policy.earn.evidence: there is no file %s; %s writes it", path, again)
		return
	}
	var f evidence.File
	err := read.err
	if err == nil {
		f, err = evidence.Decode(read.data, c.repo.Name)
	}
	if err != nil {
		c.warn(at, "policy.earn.evidence: %s does not count: %v", path, err)
		return
	}
	digests := (*ruleset.Set)(c.config.Rules).Rules().Digests()
	if !slices.ContainsFunc(f.Pairs, func(p evidence.Pair) bool { return slices.Contains(digests, p.Digest) }) {
		c.warn(at, "policy.earn.evidence: %s has no result of the present rules; %s writes it anew", path, again)
	}
}
