// Package session is the context of a command of contribflow: the controller's folder, its
// configuration, and the environment of the process.
package session

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/org/foreman-action/internal/coding/contrib/contract"
	"github.com/org/foreman-action/internal/coding/contrib/controller"
	"github.com/org/foreman-action/internal/workdir"
	"github.com/org/foreman-action/triage"
)

// A Session is one run of a command. It does not change while the command runs.
type Session struct {
	Controller controller.Controller
	Config     controller.Config
	Dir        string   // working directory, for file names from the user
	Environ    []string // of the process, for the programs that it starts
	Now        func() time.Time
	Sleep      func(context.Context, time.Duration) error
	// Report receives the progress of a command; it must not be nil.
	Report func(Progress)
	// Offline prevents all requests to GitHub; only cached answers are used.
	Offline bool
	// IgnoreBackoff repeats requests even if GitHub has recently refused them.
	IgnoreBackoff bool
	UserAgent     string // User-Agent header of requests
}

// A Progress is the progress of a command: Done of Total steps. Total is 0 if it is unknown.
type Progress struct {
	What        string // such as "clone owner/repo"
	Done, Total int
}

// Getenv returns an environment variable; empty if it is not set.
func (s Session) Getenv(name string) string {
	for _, v := range slices.Backward(s.Environ) { // if a name occurs twice, the last value is used
		if key, value, ok := strings.Cut(v, "="); ok && key == name {
			return value
		}
	}
	return ""
}

// Active returns the active issue and the names of its files. The error is a
// [contract.Problem] when there is none.
func (s Session) Active() (triage.Ref, controller.Files, error) {
	state, err := s.Controller.State()
	if err != nil {
		return triage.Ref{}, controller.Files{}, err
	}
	if state.ActiveIssue == nil {
		return triage.Ref{}, controller.Files{}, contract.Fail(contract.CodeNoIssue, "no issue is active; choose one with: contribflow plan OWNER/REPO#N").
			With(contract.Run(contract.ActionDiscover, "contribflow discover --json"))
	}
	ref, err := controller.ParseIssue(*state.ActiveIssue)
	if err != nil {
		return triage.Ref{}, controller.Files{}, fmt.Errorf("read the active issue: %w", err)
	}
	files, err := s.Files(ref)
	return ref, files, err
}

// Files returns the names of the files of an issue.
func (s Session) Files(issue triage.Ref) (controller.Files, error) {
	slug, err := s.Controller.Slug(issue)
	if err != nil {
		return controller.Files{}, err
	}
	return controller.Paths(slug), nil
}

// ReadInput reads a file that the user names, relative to the working directory. The file may have
// at most limit bytes.
func (s Session) ReadInput(name string, limit int64) ([]byte, error) {
	if !filepath.IsAbs(name) {
		name = filepath.Join(s.Dir, name)
	}
	data, err := workdir.Dir(filepath.Dir(name)).Read(filepath.Base(name), limit)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	if !utf8.Valid(data) {
		return nil, fmt.Errorf("read %s: it is not UTF-8", name)
	}
	return data, nil
}
