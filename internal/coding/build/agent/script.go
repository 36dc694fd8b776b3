package agent

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strconv"
	"strings"

	"github.com/org/foreman-action/internal/coding/build/process"
)

// A Script is an agent without a model: a folder with one folder for each run, in order
// "builder-1", "builder-2", … or "inspector-1", …. Each may have
//
//	files/       files that are written to the clone
//	delete       paths that are removed from it, one to a line
//	result.json  the result
//	output       what the agent prints
//	exit         its exit code; without it 0
//
// A run beyond the last folder fails.
type Script struct{ Steps fs.FS }

// Run applies the recorded step for this run.
func (s Script) Run(_ context.Context, in Invocation) (process.Result, error) {
	name := in.Role + "-" + strconv.Itoa(in.Number)
	step, err := fs.Sub(s.Steps, name)
	if err != nil {
		return process.Result{}, err
	}
	if _, err := fs.Stat(s.Steps, name); err != nil {
		return process.Result{}, fmt.Errorf("run the script: there is no folder %s for this run", name)
	}
	root, err := os.OpenRoot(in.Dir)
	if err != nil {
		return process.Result{}, err
	}
	defer root.Close()
	if err := s.apply(root, step, in); err != nil {
		return process.Result{}, fmt.Errorf("run the script's step %s: %w", name, err)
	}
	code, err := optional(step, "exit")
	if err != nil {
		return process.Result{}, err
	}
	result := process.Result{Cause: process.Exited}
	if text := strings.TrimSpace(string(code)); text != "" {
		if result.ExitCode, err = strconv.Atoi(text); err != nil {
			return process.Result{}, fmt.Errorf("run the script's step %s: exit: %w", name, err)
		}
	}
	return result, nil
}

func (s Script) apply(root *os.Root, step fs.FS, in Invocation) error {
	output, err := optional(step, "output")
	if err != nil {
		return err
	}
	if in.Log != nil {
		if _, err := in.Log.Write(output); err != nil {
			return err
		}
	}
	removed, err := optional(step, "delete")
	if err != nil {
		return err
	}
	for line := range strings.Lines(string(removed)) {
		if name := strings.TrimSpace(line); name != "" {
			if err := root.RemoveAll(name); err != nil {
				return err
			}
		}
	}
	if err := copyFiles(root, step); err != nil {
		return err
	}
	result, err := optional(step, "result.json")
	if err != nil || result == nil {
		return err
	}
	return in.write(result)
}

func copyFiles(root *os.Root, step fs.FS) error {
	files, err := fs.Sub(step, "files")
	if err != nil {
		return err
	}
	err = fs.WalkDir(files, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := fs.ReadFile(files, name)
		if err != nil {
			return err
		}
		if err := root.MkdirAll(path.Dir(name), 0o750); err != nil {
			return err
		}
		return write(root, name, data)
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil // a step without files
	}
	return err
}

func write(root *os.Root, name string, data []byte) error {
	file, err := root.OpenFile(name, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = file.Write(data)
	return errors.Join(err, file.Close())
}

// optional returns the content of a file; nil when there is none.
func optional(step fs.FS, name string) ([]byte, error) {
	data, err := fs.ReadFile(step, name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return data, err
}
