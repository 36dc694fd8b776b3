package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/org/foreman-action/config"
	"github.com/org/foreman-action/internal/command"
	"github.com/org/foreman-action/internal/github"
	"github.com/org/foreman-action/internal/lint"
	"github.com/org/foreman-action/internal/strictyaml"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/triage"
)

// checkIn compares a configuration with the repository that it is for; what that has
// lies beside the files when it has no name.
func (a App) checkIn(ctx context.Context, name string, cfg *config.Config) (strictyaml.Problems, error) {
	dir, err := a.workDir()
	if err != nil {
		return nil, err
	}
	repo, err := a.repository(ctx, name, cfg.Files)
	if err != nil || repo == nil {
		return nil, err
	}
	var files []*strictyaml.File
	for _, name := range cfg.Files {
		src, err := anywhere{dir}.Read(ctx, name)
		if err != nil {
			continue // it is elsewhere, or gone by now
		}
		if f, err := strictyaml.Parse(name, src); err == nil {
			files = append(files, f)
		}
	}
	return lint.Check(cfg, files, repo), nil
}

// repository reads what rules are compared with: over the API, or without a name from
// what lies beside the files; nil when there is nothing.
func (a App) repository(ctx context.Context, name string, files []string) (*lint.Repository, error) {
	if name != "" {
		return a.remoteRepository(ctx, name)
	}
	dir, err := a.workDir()
	if err != nil {
		return nil, err
	}
	for _, root := range append(roots(dir, files), dir) {
		for _, below := range []string{lint.FormFolder, lint.WorkflowFolder} {
			if info, err := os.Stat(filepath.Join(root, filepath.FromSlash(below))); err == nil && info.IsDir() {
				return lint.Read(ctx, lenient{folder{root}})
			}
		}
	}
	return nil, nil
}

// roots are the folders that may hold the .github of the files.
func roots(dir string, files []string) []string {
	var list []string
	for _, name := range files {
		root := filepath.ToSlash(filepath.Dir(anywhere{dir}.path(name)))
		if i := strings.LastIndex(root+"/", "/.github/"); i >= 0 {
			root = path.Clean(root[:i] + "/")
		}
		if root = filepath.FromSlash(root); !slices.Contains(list, root) {
			list = append(list, root)
		}
	}
	return list
}

func (a App) remoteRepository(ctx context.Context, full string) (*lint.Repository, error) {
	owner, name, ok := protocol.SplitRepo(full)
	if !ok {
		return nil, usagef("--repository: want OWNER/NAME, got %q", full)
	}
	client, err := job{app: a, token: a.Getenv("GITHUB_TOKEN"), apiURL: a.Getenv("GITHUB_API_URL")}.host()
	if err != nil {
		return nil, err
	}
	if client == nil {
		return nil, usagef("read the repository %s: %w: set GITHUB_TOKEN", full, triage.ErrNeedsHost)
	}
	labels, err := client.Labels(ctx, owner, name)
	many := errors.Is(err, triage.ErrTruncated)
	if err != nil && !many {
		return nil, unreached(full, err)
	}
	repo, err := lint.Read(ctx, lenient{branch{client, github.Tree{Owner: owner, Repo: name}}})
	if err == nil && len(repo.Forms) == 0 {
		// A repository without forms of its own has those of its owner.
		err = repo.ReadForms(ctx, lenient{branch{client, github.Tree{Owner: owner, Repo: ".github"}}})
	}
	if err != nil {
		return nil, unreached(full, err)
	}
	if repo.Labels = labels; many {
		repo.Labels = nil
		repo.Warnings = append(repo.Warnings, strictyaml.Problem{File: full, Warning: true, Msg: "it has more than 2,000 labels; whether it has those of the rules is not checked"})
	}
	return repo, nil
}

// unreached says what to do about a repository that cannot be read.
func unreached(full string, err error) error {
	hint := "try again later"
	if p, ok := errors.AsType[*triage.PermissionError](err); ok {
		hint = "give the token " + p.Need
	} else if errors.Is(err, triage.ErrNotFound) {
		hint = "check the name, and that GITHUB_TOKEN may read it"
	}
	return command.Failed(fmt.Errorf("read the repository %s: %w; %s", full, err, hint))
}

// lenient reads files of which single ones may be left out.
type lenient struct{ config.Files }

func (l lenient) Read(ctx context.Context, name string) ([]byte, error) {
	data, err := l.Files.Read(ctx, name)
	if _, local := errors.AsType[*usageError](err); local || isContent(err) {
		return nil, fmt.Errorf("%w: %w", lint.ErrUnreadable, err)
	}
	return data, err
}

func (l lenient) Glob(ctx context.Context, pattern string) ([]string, error) {
	names, err := l.Files.Glob(ctx, pattern)
	if isContent(err) {
		return nil, nil // a file stands where a folder would
	}
	return names, err
}

func isContent(err error) bool {
	_, ok := errors.AsType[*github.ContentError](err)
	return ok
}
