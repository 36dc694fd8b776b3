// Package controller manages the folder .contribflow: its files, their names, and the lock that
// only one writer can have.
//
// Files are replaced atomically, so that a killed process leaves valid JSON.
package controller

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/org/foreman-action/internal/filelock"
	"github.com/org/foreman-action/internal/wait"
	"github.com/org/foreman-action/internal/workdir"
	"github.com/org/foreman-action/triage"
)

// Folder is the name of the folder below a controller's root.
const Folder = ".contribflow"

// ConfigPath is the file of the configuration, from the controller's root.
const ConfigPath = Folder + "/config.json"

// maxFile is how many bytes of a file are read.
const maxFile = 64 << 20

// A Controller is a folder that contains .contribflow. Its methods take paths relative to Root,
// with slashes.
type Controller struct {
	Root string
	// ConfigFile is the path of a configuration in another place; empty: ConfigPath.
	ConfigFile string
	// KeyFile is the path of the user's key, with which records are sealed; see [KeyFile]. Empty:
	// records are not sealed.
	KeyFile string
}

// Find returns the controller of a working directory. It is the nearest folder with a
// configuration: the directory itself or one above it. Inside a workspace, the search starts above
// .contribflow, so that a cloned repository cannot provide a configuration. If no folder has a
// configuration, the controller is the folder in which the search starts.
func Find(dir string) (c Controller, err error) {
	dir, err = filepath.Abs(dir)
	if err != nil {
		return Controller{}, fmt.Errorf("find the controller's folder: %w", err)
	}
	if resolved, err := filepath.EvalSymlinks(dir); err == nil {
		dir = resolved
	}
	start := dir
	if outer, _, inside := strings.Cut(filepath.ToSlash(dir)+"/", "/"+Folder+"/workspaces/"); inside {
		start = filepath.FromSlash(outer)
		if start == "" {
			start = string(filepath.Separator)
		}
	}
	for at := start; ; at = filepath.Dir(at) {
		if _, err := os.Lstat(filepath.Join(at, ConfigPath)); err == nil {
			return Controller{Root: at}, nil
		}
		if at == filepath.Dir(at) {
			return Controller{Root: start}, nil
		}
	}
}

// Config reads the configuration. If the file does not exist, exists is false and config is the
// default. If the file is invalid, the error names every mistake in it.
func (c Controller) Config() (config Config, exists bool, err error) {
	name := ConfigPath
	var data []byte
	if c.ConfigFile != "" {
		name = c.ConfigFile
		data, err = workdir.Dir(filepath.Dir(name)).Read(filepath.Base(name), maxFile)
	} else {
		data, err = c.files().Read(name, maxFile)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return Default(), false, nil
	}
	if err != nil {
		return Config{}, true, fmt.Errorf("read %s: %w", name, err)
	}
	if config, err = parseConfig(name, data); err != nil {
		return Config{}, true, fmt.Errorf("parse the configuration: %w", err)
	}
	return config, true, nil
}

// Lock waits at most ten seconds for the lock of the folder, which only one process can have. The
// error matches [filelock.ErrLocked] if another process keeps the lock.
func (c Controller) Lock(ctx context.Context, sleep func(context.Context, time.Duration) error) (unlock func(), err error) {
	if err := os.MkdirAll(filepath.Join(c.Root, Folder), 0o700); err != nil {
		return nil, fmt.Errorf("make %s: %w", Folder, err)
	}
	root, err := os.OpenRoot(filepath.Join(c.Root, Folder))
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", Folder, err)
	}
	if sleep == nil {
		sleep = wait.For
	}
	const pause, tries = 100 * time.Millisecond, 100
	for try := range tries {
		if try > 0 {
			if err := sleep(ctx, pause); err != nil {
				return nil, errors.Join(err, root.Close())
			}
		}
		release, err := filelock.Try(root, "lock")
		if err == nil {
			return func() { release(); root.Close() }, nil
		}
		if !errors.Is(err, filelock.ErrLocked) {
			return nil, errors.Join(fmt.Errorf("lock %s: %w", Folder, err), root.Close())
		}
	}
	return nil, errors.Join(fmt.Errorf("another command works in %s; wait until it ends: %w", Folder, filelock.ErrLocked), root.Close())
}

func (c Controller) files() workdir.Dir { return workdir.Dir(c.Root) }

// WriteFile writes a file that only its owner can read.
func (c Controller) WriteFile(path string, data []byte) error {
	if err := c.files().WritePrivate(path, data); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}

// ReadFile reads a file. If there is no such file, the error matches [fs.ErrNotExist].
func (c Controller) ReadFile(path string) ([]byte, error) { return c.files().Read(path, maxFile) }

// ReadBeside reads a file of the folder of the configuration.
func (c Controller) ReadBeside(name string) ([]byte, error) {
	if c.ConfigFile != "" {
		return workdir.Dir(filepath.Dir(c.ConfigFile)).Read(name, maxFile)
	}
	return c.ReadFile(Folder + "/" + name)
}

// Abs returns the path of a file for the operating system.
func (c Controller) Abs(path string) string { return filepath.Join(c.Root, filepath.FromSlash(path)) }

// Slug returns the part of file names that identifies an issue: owner-repo-number. If another
// issue already has files with this name, six more characters follow.
func (c Controller) Slug(issue triage.Ref) (string, error) {
	plain := fmt.Sprintf("%s-%s-%d", issue.Owner, issue.Repo, issue.Number)
	for _, path := range []string{Paths(plain).WorkspaceState, Paths(plain).Plan, Paths(plain).Score} {
		var owner struct {
			Issue     string `json:"issue"`
			Candidate struct {
				ID string `json:"id"`
			} `json:"candidate"`
		}
		if _, err := c.Read(path, &owner); err != nil {
			if _, ok := Invalid(err); ok { // the command that needs it reports it
				continue
			}
			return "", err
		}
		if owner.Issue == "" {
			owner.Issue = strings.TrimPrefix(owner.Candidate.ID, "github:")
		}
		if owner.Issue != "" && !strings.EqualFold(owner.Issue, issue.String()) {
			sum := sha256.Sum256([]byte(strings.ToLower(issue.String())))
			return plain + "-" + hex.EncodeToString(sum[:])[:6], nil
		}
	}
	return plain, nil
}

// Paths returns the paths of an issue's files for its slug.
func Paths(slug string) Files {
	return Files{
		Score:          Folder + "/scores/score-" + slug + ".json",
		Plan:           Folder + "/plans/plan-" + slug + ".json",
		Workspace:      Folder + "/workspaces/" + slug,
		WorkspaceState: Folder + "/state/workspace-" + slug + ".json",
		Patch:          Folder + "/artifacts/patch-" + slug + ".json",
		Diff:           Folder + "/artifacts/patch-" + slug + ".diff",
		Validation:     Folder + "/artifacts/validation-" + slug + ".json",
		PullRequest:    Folder + "/artifacts/pr-" + slug + ".json",
		Inspector:      Folder + "/artifacts/inspector-" + slug + ".json",
		Builder:        Folder + "/artifacts/builder-" + slug + ".json",
		Body:           Folder + "/artifacts/pr-" + slug + ".md",
		CheckoutLog:    Folder + "/logs/checkout-" + slug + ".log",
		ValidationLog:  Folder + "/logs/validate-" + slug + ".log",
		PRLog:          Folder + "/logs/pr-" + slug + ".log",
	}
}

// Files are the files of one issue.
type Files struct {
	Score, Plan, Workspace, WorkspaceState, Patch, Diff, Validation, PullRequest, Body string
	Inspector, Builder                                                                 string // their results
	CheckoutLog, ValidationLog, PRLog                                                  string
}

// LastDiscovery is the newest result of a discovery.
const LastDiscovery = Folder + "/discovery/last.json"
