package check

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
	"github.com/org/foreman-action/internal/actions"
	"github.com/org/foreman-action/internal/cli/failure"
	"github.com/org/foreman-action/internal/cli/files"
	"github.com/org/foreman-action/internal/cli/process"
	"github.com/org/foreman-action/internal/cli/remote"
	"github.com/org/foreman-action/internal/command"
	"github.com/org/foreman-action/internal/github"
	"github.com/org/foreman-action/internal/lint"
	"github.com/org/foreman-action/internal/ruleset"
	"github.com/org/foreman-action/internal/yamlfile"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/rules"
	"github.com/org/foreman-action/triage"
)

// unlisted is the note for a check without the labels of the repository.
const unlisted = "labels were not checked: name the repository with --repository OWNER/NAME (and GITHUB_TOKEN), or list its labels in .github/labels.yml"

// unclosed is the note for rules that close issues, if no workflow is known whose input may allow it.
const unclosed = "closing is not allowed here: it is skipped unless policy.allow_close, or the input allow-close of the workflow, is true"

// closes reports whether a rule closes issues.
func closes(i rules.Info) bool {
	return slices.Contains(i.Actions, protocol.ActionCloseIssue) || slices.Contains(i.Actions, protocol.ActionMarkDuplicate)
}

// compare compares a configuration with the named repository on GitHub. If name is empty, it uses
// the folder of the files. The notes name the parts that were not compared.
func compare(ctx context.Context, env process.Env, name string, cfg *config.Config) (problems yamlfile.Problems, notes []string, err error) {
	dir, err := env.WorkDir()
	if err != nil {
		return nil, nil, err
	}
	repo, err := repository(ctx, env, name, cfg)
	if err != nil {
		return nil, nil, err
	}
	if (repo == nil || repo.Labels == nil) && len((*ruleset.Set)(cfg.Rules).Rules().Labels()) > 0 && !cfg.Policy.CreateLabels {
		notes = append(notes, unlisted)
	}
	if (repo == nil || len(repo.RunsOf(cfg.Files)) == 0) && !cfg.Policy.AllowClose && !cfg.NeverClose && slices.ContainsFunc(rules.Infos(cfg.Rules), closes) {
		notes = append(notes, unclosed)
	}
	if repo == nil {
		repo = &lint.Repository{} // some checks need only the files
	}
	var parsed []*yamlfile.File
	for _, name := range cfg.Files {
		src, err := files.Anywhere{Dir: dir}.Read(ctx, name)
		if err != nil {
			continue // an extended file is elsewhere, and a file may have been deleted
		}
		if f, err := yamlfile.Parse(name, src); err == nil {
			parsed = append(parsed, f)
		}
	}
	for _, input := range actions.Inputs() {
		repo.Inputs = append(repo.Inputs, string(input.Name))
	}
	return lint.Check(cfg, parsed, repo), notes, nil
}

// repository reads what the rules are compared with, from the named repository on GitHub: labels, forms,
// workflows and evidence. If name is empty, it reads the folder of the files. It returns nil if there is
// nothing of these.
func repository(ctx context.Context, env process.Env, name string, cfg *config.Config) (*lint.Repository, error) {
	evidence := cfg.Policy.Earn.Evidence
	if name != "" {
		return remoteRepository(ctx, env, name, evidence)
	}
	dir, err := env.WorkDir()
	if err != nil {
		return nil, err
	}
	folders := append(roots(dir, cfg.Files), dir)
	repo := env.Getenv("GITHUB_REPOSITORY")
	for _, root := range folders {
		for _, below := range append([]string{lint.FormFolder, lint.WorkflowFolder}, lint.LabelFiles()...) {
			if _, err := os.Stat(filepath.Join(root, filepath.FromSlash(below))); err == nil {
				return localRepository(ctx, root, repo, evidence)
			}
		}
	}
	if evidence == "" {
		return nil, nil
	}
	return localRepository(ctx, folders[0], repo, evidence)
}

func localRepository(ctx context.Context, root, name, evidence string) (*lint.Repository, error) {
	all := lenient{files.Folder{Dir: root}}
	repo, err := lint.Read(ctx, all)
	if err == nil {
		err = repo.ReadLabelFile(ctx, all)
	}
	if err == nil {
		err = repo.ReadEvidence(ctx, all, evidence)
	}
	if err != nil {
		return nil, err
	}
	repo.Name = name
	return repo, nil
}

// roots returns the folders that may contain the .github of the files.
func roots(dir string, names []string) []string {
	var list []string
	for _, name := range names {
		root := filepath.ToSlash(filepath.Dir(process.Below(dir, name)))
		if i := strings.LastIndex(root+"/", "/.github/"); i >= 0 {
			root = path.Clean(root[:i] + "/")
		}
		if root = filepath.FromSlash(root); !slices.Contains(list, root) {
			list = append(list, root)
		}
	}
	return list
}

func remoteRepository(ctx context.Context, env process.Env, full, evidence string) (*lint.Repository, error) {
	owner, name, ok := protocol.SplitRepo(full)
	if !ok {
		return nil, command.Usagef("--repository: want OWNER/NAME, got %q", full)
	}
	client, err := remote.FromEnv(env).Client()
	if err != nil {
		return nil, err
	}
	if client == nil {
		return nil, command.Usagef("read the repository %s: %w", full, failure.ErrNoToken)
	}
	labels, err := client.Labels(ctx, owner, name)
	many := errors.Is(err, triage.ErrTruncated)
	if err != nil && !many {
		return nil, unreached(full, err)
	}
	all := lenient{remote.Branch{Client: client, Tree: github.Tree{Owner: owner, Repo: name}}}
	repo, err := lint.Read(ctx, all)
	if err == nil {
		err = repo.ReadEvidence(ctx, all, evidence)
	}
	if err == nil && len(repo.Forms) == 0 {
		// On GitHub, a repository without issue forms uses those of its owner's repository .github.
		err = repo.ReadForms(ctx, lenient{remote.Branch{Client: client, Tree: github.Tree{Owner: owner, Repo: ".github"}}})
	}
	if err != nil {
		return nil, unreached(full, err)
	}
	repo.Name = full
	if repo.Labels = labels; many {
		repo.Labels = nil
		repo.Warnings = append(repo.Warnings, yamlfile.Problem{File: full, Warning: true, Message: "it has more than 2,000 labels; whether it has those of the rules is not checked"})
	}
	return repo, nil
}

// unreached adds advice to the error for a repository that cannot be read.
func unreached(full string, err error) error {
	hint := "try again later"
	if p, ok := errors.AsType[*triage.PermissionError](err); ok {
		hint = "give the token " + p.Need
	} else if errors.Is(err, triage.ErrNotFound) {
		hint = "check the name, and that GITHUB_TOKEN may read it"
	}
	return command.Failed(fmt.Errorf("read the repository %s: %w; %s", full, err, hint))
}

// lenient is a place of files in which unreadable files are skipped.
type lenient struct{ config.Files }

func (l lenient) Read(ctx context.Context, name string) ([]byte, error) {
	data, err := l.Files.Read(ctx, name)
	if _, local := errors.AsType[*command.UsageError](err); local || isContent(err) {
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
