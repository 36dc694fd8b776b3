package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/org/foreman-action/internal/coding/contrib/contract"
	"github.com/org/foreman-action/internal/coding/contrib/snapshot"
	"github.com/org/foreman-action/internal/coding/git"
	"github.com/org/foreman-action/internal/text"
	"github.com/org/foreman-action/internal/workdir"
)

// Submodules returns the state of the submodules that the workspace declares, and warnings about
// dangerous or invalid declarations. It does not initialize submodules.
func (w *Workspace) Submodules(ctx context.Context) (contract.Submodules, []string, error) {
	none := contract.Submodules{Status: contract.SubmodulesNone, Reason: "Workspace declares no submodules."}
	declared, warnings, err := w.declared(ctx)
	if err != nil || len(declared) == 0 {
		return none, warnings, err
	}
	links, err := w.submoduleLinks(ctx)
	if err != nil {
		return contract.Submodules{}, nil, err
	}
	var paths, missing []string
	for _, link := range links {
		if !slices.Contains(declared, link) {
			warnings = append(warnings, fmt.Sprintf("the submodule %q is not declared in .gitmodules", text.Quote(link)))
			continue
		}
		paths = append(paths, link)
		if !initialized(w.Clone.Dir, link) {
			missing = append(missing, link)
		}
	}
	switch {
	case len(paths) == 0:
		return none, warnings, nil
	case len(missing) == 0:
		return contract.Submodules{
			Status: contract.SubmodulesReady, Paths: paths, Reason: fmt.Sprintf("Workspace declares %d submodule(s), all initialized.", len(paths)),
		}, warnings, nil
	}
	command := "git -C " + w.Files.Workspace + " submodule update --init --recursive"
	return contract.Submodules{
		Status: contract.SubmodulesMissing, Paths: missing, RecommendedCommand: &command,
		Reason: fmt.Sprintf("Workspace declares %d submodule(s) that require initialization.", len(missing)),
	}, warnings, nil
}

// declared returns the paths that .gitmodules names.
func (w *Workspace) declared(ctx context.Context) (paths, warnings []string, err error) {
	const name, limit = ".gitmodules", 1 << 20
	data, err := workdir.Dir(w.Clone.Dir).Read(name, limit)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	}
	if err == nil {
		if info, errInfo := os.Lstat(filepath.Join(w.Clone.Dir, name)); errInfo != nil || !info.Mode().IsRegular() {
			err = workdir.ErrNoFile // git does not follow a link either
		}
	}
	if err != nil {
		return nil, []string{fmt.Sprintf("read .gitmodules: %v", err)}, nil
	}
	var out strings.Builder
	outside := git.Repo{Dir: os.TempDir(), Environ: w.Clone.Environ, Vars: []string{"GIT_DIR=" + os.DevNull}}
	err = outside.Stream(ctx, git.Streams{In: strings.NewReader(string(data)), Out: &out}, "config", "--file", "-", "--no-includes", "-z", "--list")
	if err != nil {
		if errors.Is(snapshot.Problem(err), err) && ctx.Err() == nil {
			return nil, []string{"git cannot read .gitmodules"}, nil
		}
		return nil, nil, snapshot.Problem(err)
	}
	for entry := range strings.SplitSeq(out.String(), "\x00") {
		key, value, _ := strings.Cut(entry, "\n")
		switch {
		case !strings.HasPrefix(key, "submodule."):
		case strings.HasSuffix(key, ".path"):
			paths = append(paths, value)
		case strings.HasSuffix(key, ".update") && strings.HasPrefix(value, "!"):
			warnings = append(warnings, fmt.Sprintf(".gitmodules names a command to run: %q; look at it before you initialize submodules", text.Quote(value)))
		case strings.HasSuffix(key, ".url") && !strings.HasPrefix(value, "https://") && !strings.HasPrefix(value, "../") && !strings.HasPrefix(value, "./"):
			warnings = append(warnings, fmt.Sprintf(".gitmodules names a repository that is not reached by https: %q; look at it before you initialize submodules", text.Quote(value)))
		}
	}
	return paths, warnings, nil
}

// submoduleLinks returns the paths of the submodules in the index.
func (w *Workspace) submoduleLinks(ctx context.Context) ([]string, error) {
	s, err := snapshot.NewScratch(w.Clone)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	out, err := s.Files.Run(ctx, "ls-files", "-z", "--stage")
	if err != nil {
		return nil, snapshot.Problem(err)
	}
	var links []string
	for entry := range strings.SplitSeq(string(out), "\x00") {
		about, name, _ := strings.Cut(entry, "\t")
		if strings.HasPrefix(about, git.ModeSubmodule+" ") {
			links = append(links, name)
		}
	}
	return links, nil
}

// initialized reports whether the folder of a submodule contains a clone.
func initialized(dir, name string) bool {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return false
	}
	defer root.Close()
	_, err = root.Lstat(filepath.Join(filepath.FromSlash(name), ".git"))
	return err == nil
}

// Warnings returns warnings for the contributor about the files of the workspace.
func (w *Workspace) Warnings(ctx context.Context) ([]string, error) {
	s, err := snapshot.NewScratch(w.Clone)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	out, err := s.Files.Run(ctx, "ls-files", "-z", "--", ":(attr:filter=lfs)")
	if err != nil {
		return nil, snapshot.Problem(err)
	}
	if n := strings.Count(string(out), "\x00"); n > 0 {
		return []string{fmt.Sprintf("%d file(s) are kept in Git LFS; the workspace has their pointers, not their content", n)}, nil
	}
	return nil, nil
}
