package starter

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/org/foreman-action/config"
	"github.com/org/foreman-action/internal/command"
	"github.com/org/foreman-action/internal/lint"
	"github.com/org/foreman-action/internal/othertools"
	"github.com/org/foreman-action/internal/sanitize"
	"github.com/org/foreman-action/internal/yamlfile"
)

// A Repository is the data from which rules are proposed. The zero value is a repository without
// any data.
type Repository struct {
	Labels []string // nil: they are not known
	Forms  []lint.Form
	Tools  []othertools.Request // configurations of other tools
	Runs   []string             // workflows that run Foreman already
	// Others are the actions of other tools that workflows run.
	Others []string
	// Notes name the parts of the repository that are left out.
	Notes []string
}

// usable returns the labels that rules may use: those of the repository, or if they are unknown,
// those in its forms.
func (r Repository) usable() []string {
	labels := r.Labels
	if labels == nil {
		seen := map[string]bool{}
		for _, f := range r.Forms {
			for _, l := range f.Labels {
				if !seen[l] {
					labels = append(labels, l)
				}
				seen[l] = true
			}
		}
	}
	return slices.DeleteFunc(slices.Clone(labels), func(l string) bool {
		return l == "" || !utf8.ValidString(l) || len(l) > maxLabel || strings.ContainsAny(l, "*?[]{}`\\\"") || strings.ContainsFunc(l, unprintable)
	})
}

// maxLabel bounds a label, in bytes. GitHub permits 50 characters.
const maxLabel = 200

// A Limit bounds what [Read] reads.
type Limit struct {
	Folder int // maximum number of files read in a folder
	// Labels means that the labels are already known, so that Read does not read them from files.
	Labels bool
	// Names means that the names of other tools suffice, so that Read does not read their configurations.
	Names bool
}

// Read reads a repository. The problems are the mistakes in its files; Read skips a file with a
// mistake. An error means that the files could not be reached.
func Read(ctx context.Context, files config.Files, limit Limit) (Repository, yamlfile.Problems, error) {
	r := reader{files: files, limit: limit}
	err := r.forms(ctx)
	if err == nil && !limit.Labels {
		err = r.labels(ctx)
	}
	if err == nil {
		err = r.workflows(ctx)
	}
	return r.repo, r.problems, err
}

// A reader reads one repository.
type reader struct {
	files    config.Files
	limit    Limit
	repo     Repository
	problems yamlfile.Problems
}

// read returns the content of a file. An existing file that cannot be read is recorded as a
// problem.
func (r *reader) read(ctx context.Context, name string) (src []byte, ok bool, err error) {
	src, err = r.files.Read(ctx, name)
	if _, local := errors.AsType[*command.UsageError](err); local {
		r.problem(name, err)
		return nil, false, nil
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, fmt.Errorf("read %s: %w", sanitize.Log(name), err)
	}
	return src, true, nil
}

// problem records the mistakes of a file.
func (r *reader) problem(name string, err error) {
	r.problems = append(r.problems, Mistakes(name, err)...)
}

// Mistakes returns an error about the content of a file as problems with their positions, and nil
// for a nil error.
func Mistakes(name string, err error) yamlfile.Problems {
	if ps, ok := errors.AsType[yamlfile.Problems](err); ok {
		return ps
	}
	if err == nil {
		return nil
	}
	p := yamlfile.Problem{File: sanitize.Log(name), Message: err.Error()}
	if _, local := errors.AsType[*command.UsageError](err); !local {
		p.Line, p.Column = 1, 1 // it is about the file as a whole
	}
	return yamlfile.Problems{p}
}

// list returns the YAML files of a folder.
func (r *reader) list(ctx context.Context, folder string) ([]string, error) {
	names, err := r.files.Glob(ctx, folder+"/*")
	if _, local := errors.AsType[*command.UsageError](err); local {
		return nil, nil // it is a file, not a folder
	}
	if err != nil {
		return nil, fmt.Errorf("list %s: %w", folder, err)
	}
	names = slices.DeleteFunc(names, func(name string) bool {
		ext := path.Ext(name)
		return ext != ".yml" && ext != ".yaml" || folder == lint.FormFolder && strings.TrimSuffix(path.Base(name), ext) == "config"
	})
	if n := len(names); n > r.limit.Folder {
		r.note("%s has %d files; only the first %d were read", folder, n, r.limit.Folder)
		names = names[:r.limit.Folder]
	}
	return names, nil
}

func (r *reader) note(format string, args ...any) {
	r.repo.Notes = append(r.repo.Notes, sanitize.Log(fmt.Sprintf(format, args...)))
}

func (r *reader) forms(ctx context.Context) error {
	names, err := r.list(ctx, lint.FormFolder)
	if err != nil {
		return err
	}
	for _, name := range names {
		src, ok, err := r.read(ctx, name)
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		form, err := lint.ParseForm(sanitize.Log(name), src)
		if err != nil {
			r.problem(name, err)
			continue
		}
		r.repo.Forms = append(r.repo.Forms, form)
	}
	return nil
}

func (r *reader) labels(ctx context.Context) error {
	for _, name := range lint.LabelFiles() {
		src, ok, err := r.read(ctx, name)
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		labels, err := lint.ParseLabels(name, src)
		r.problem(name, err)
		r.repo.Labels = labels
		return nil
	}
	return nil
}

func (r *reader) workflows(ctx context.Context) error {
	names, err := r.list(ctx, lint.WorkflowFolder)
	if err != nil {
		return err
	}
	found := map[string]bool{} // the configurations by tool and name
	for _, name := range names {
		src, ok, err := r.read(ctx, name)
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		w := othertools.Source{Name: sanitize.Log(name), Data: src}
		uses, err := othertools.Find(w)
		if err == nil {
			var runs []lint.Run
			if runs, err = lint.ParseRuns(w.Name, src); len(runs) > 0 {
				r.repo.Runs = append(r.repo.Runs, w.Name)
			}
		}
		if err != nil {
			r.problem(name, err)
			continue
		}
		for _, u := range uses {
			if !slices.Contains(r.repo.Others, u.Tool.Action) {
				r.repo.Others = append(r.repo.Others, u.Tool.Action)
			}
			if r.limit.Names {
				continue
			}
			if u.Config != "" {
				u.Config = path.Clean(u.Config)
				if found[u.Tool.Name+" "+u.Config] {
					r.note("%s: %s has another step with %s; only the first was imported", w.Name, u.Tool.Name, u.Config)
					continue
				}
				found[u.Tool.Name+" "+u.Config] = true
			}
			if err := r.tool(ctx, w, u); err != nil {
				return err
			}
		}
	}
	return nil
}

// tool reads the configuration of a tool that a workflow runs.
func (r *reader) tool(ctx context.Context, w othertools.Source, u othertools.Use) error {
	req := othertools.Request{Tool: u.Tool.Name, File: w}
	if u.Config != "" {
		if strings.Contains(u.Config, "${{") || strings.Contains(u.Config, "://") || !fs.ValidPath(u.Config) {
			r.note("%s: the configuration of %s is not in this repository: %s", w.Name, u.Tool.Name, u.Config)
			return nil
		}
		name := u.Config
		src, ok, err := r.read(ctx, name)
		if err != nil {
			return err
		}
		if !ok {
			r.note("%s: there is no configuration %s for %s", w.Name, name, u.Tool.Name)
			return nil
		}
		req.File, req.Workflow = othertools.Source{Name: sanitize.Log(name), Data: src}, w
	}
	r.repo.Tools = append(r.repo.Tools, req)
	return nil
}
