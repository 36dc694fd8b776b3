package lint

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/org/foreman-action/config"
	"github.com/org/foreman-action/internal/sanitize"
	"github.com/org/foreman-action/internal/yamlfile"
)

// A Repository contains the data of a repository that rules are compared with.
type Repository struct {
	Labels    []string // nil: unknown
	Forms     []Form
	Workflows []Workflow
	Runs      []Run // steps that run Foreman, in any workflow
	// Inputs are the names of the inputs that such a step has; nil: they are not checked.
	Inputs []string
	// LabelFile is the file that Labels were read from; empty: the labels on GitHub.
	LabelFile string
	// Name is "owner/name"; empty: unknown.
	Name string
	// Warnings name the files that could not be read.
	Warnings yamlfile.Problems
	// partial is true if one of these files is a form.
	partial bool
	// evidence is the file that the policy names; nil: it was not read.
	evidence *evidenceFile
	// folder reports whether the repository has a folder with files; nil: it is not known.
	folder func(path string) bool
}

func (r *Repository) isFolder(path string) bool { return r.folder != nil && r.folder(path) }

// RunsOf returns the steps that read one of the files of a configuration.
func (r *Repository) RunsOf(files []string) []Run {
	var runs []Run
	for _, run := range r.Runs {
		if slices.ContainsFunc(files, run.reads) {
			runs = append(runs, run)
		}
	}
	return runs
}

// ErrUnreadable marks an error of a file that exists but cannot be read. Such a file is skipped
// with a warning. Any other error ends the reading.
var ErrUnreadable = errors.New("it cannot be read")

// The folders that are read.
const (
	FormFolder     = ".github/ISSUE_TEMPLATE"
	WorkflowFolder = ".github/workflows"
)

const maxFiles = 100 // of a folder

// Read reads the issue forms and the workflows of a repository. A missing folder counts as empty.
// The error is that of files.
func Read(ctx context.Context, files config.Files) (*Repository, error) {
	r := &Repository{folder: func(path string) bool {
		names, err := files.Glob(ctx, path+"/*")
		return err == nil && len(names) > 0
	}}
	if err := r.ReadForms(ctx, files); err != nil {
		return nil, err
	}
	err := r.each(ctx, files, WorkflowFolder, func(name string, src []byte) error {
		w, err := ParseWorkflow(name, src)
		if err == nil && len(w.events) > 0 && !w.own {
			r.Workflows = append(r.Workflows, w)
		}
		if err == nil {
			var runs []Run
			runs, err = ParseRuns(name, src)
			r.Runs = append(r.Runs, runs...)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return r, nil
}

// ReadForms adds issue forms from other files, such as those of an organisation.
func (r *Repository) ReadForms(ctx context.Context, files config.Files) error {
	return r.each(ctx, files, FormFolder, func(name string, src []byte) error {
		form, err := ParseForm(name, src)
		if err == nil {
			r.Forms = append(r.Forms, form)
		}
		r.partial = r.partial || err != nil
		return err
	})
}

// each passes the files of a folder to parse. Errors of parse become warnings.
func (r *Repository) each(ctx context.Context, files config.Files, folder string, parse func(string, []byte) error) error {
	names, err := files.Glob(ctx, folder+"/*")
	if err != nil {
		return fmt.Errorf("list %s: %w", folder, err)
	}
	names = slices.DeleteFunc(names, func(name string) bool {
		ext := path.Ext(name)
		if folder == FormFolder && (ext == ".md" || strings.TrimSuffix(path.Base(name), ext) == "config") {
			return ext != ".md" // the file config configures the template chooser; it is not a form
		}
		return ext != ".yml" && ext != ".yaml"
	})
	if len(names) > maxFiles {
		r.leaveOut(folder, fmt.Errorf("it has %d files; only the first %d are read", len(names), maxFiles))
		r.partial = true
		names = names[:maxFiles]
	}
	for _, name := range names {
		src, err := files.Read(ctx, name)
		switch {
		case errors.Is(err, ErrUnreadable):
			r.partial = r.partial || folder == FormFolder
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err != nil:
			return fmt.Errorf("read %s: %w", sanitize.Log(name), err)
		default:
			err = parse(sanitize.Log(name), src)
		}
		if err != nil {
			r.leaveOut(sanitize.Log(name), err)
		}
	}
	return nil
}

// leaveOut records a warning about a file or a folder that the check leaves out.
func (r *Repository) leaveOut(name string, err error) {
	p := yamlfile.Problem{File: name, Message: sanitize.Log(err.Error())}
	if ps, ok := errors.AsType[yamlfile.Problems](err); ok && len(ps) > 0 {
		p = ps[0]
	}
	p.Warning, p.Message = true, "left out of the check: "+p.Message
	r.Warnings = append(r.Warnings, p)
}
