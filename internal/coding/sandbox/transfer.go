package sandbox

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// A Workspace is the input of a session: a git working tree.
type Workspace struct {
	Dir   string // the root of a git working tree
	Image string // has GNU's or busybox's tar; its container runs no other command
	// Base is a commit's hash. The copy has a .git with the commits from Base to HEAD, without the
	// configuration and hooks of the original. Empty: the copy has no .git.
	Base string
	// All copies every file of Dir, also files that git ignores, but not .git.
	All     bool
	Environ []string // environment for git
}

// Load copies a workspace into a volume, in the state of the working tree: the files that git
// tracks or does not ignore, or with All every file. Links are copied as links, even if they lead
// out of the workspace. A second workspace replaces the first; the caches stay. The error is
// [ErrTooLarge], [ErrChanged], [ErrImage] or [ErrUnavailable] in these cases.
func (s *Session) Load(ctx context.Context, w Workspace) error {
	if err := s.load(ctx, w); err != nil {
		return fmt.Errorf("copy the workspace into the sandbox: %w", err)
	}
	return nil
}

func (s *Session) load(ctx context.Context, w Workspace) error {
	files, err := list(ctx, w, s.o.Settings.MaxBytes)
	if err != nil {
		return err
	}
	if s.loads == 0 { // first, because a later run finds the files of a killed one by its volumes
		if err := s.volume(ctx, s.cache()); err != nil {
			return err
		}
	}
	history := ""
	if w.Base != "" {
		history = filepath.Join(s.scratch, "history")
		if err := shallow(ctx, w, history); err != nil {
			return fmt.Errorf("copy its history: %w", err)
		}
		defer os.RemoveAll(history) // if this fails, the folder is removed with the files of the run
	}
	if err := s.have(ctx, w.Image); err != nil {
		return err
	}
	old := s.workspace
	s.loads++
	s.workspace, s.image = s.o.Name+"-"+s.run+"-workspace-"+strconv.Itoa(s.loads), w.Image
	err = s.volume(ctx, s.workspace)
	if err == nil {
		err = s.fill(ctx, w.Dir, files, history)
	}
	if err != nil {
		s.workspace = ""
		return err
	}
	if old != "" {
		_, err = s.docker.output(ctx, "volume", "rm", "--force", old)
	}
	return err
}

// fill unpacks the workspace in a container that runs only tar. It runs as root, because a new
// volume belongs to root; commands do not run as root.
func (s *Session) fill(ctx context.Context, dir string, files []string, history string) error {
	const mount = "/load"
	read, write := io.Pipe()
	packed := make(chan error, 1)
	go func() {
		p := &packer{tar: tar.NewWriter(write), left: s.o.Settings.MaxBytes, limit: s.o.Settings.MaxBytes, folders: map[string]bool{}}
		err := p.pack(dir, files, history)
		_ = write.CloseWithError(err) // the result is always nil
		packed <- err
	}()
	problem := &tail{limit: maxProblem}
	unpack := job{
		what: "run (the step that copies files in)", image: s.image, stdin: read, stdout: io.Discard, stderr: problem,
		command: []string{"tar", "-x", "-p", "-f", "-", "-C", mount},
		args: append(s.limits("0:0"), "--network", "none", "--cap-add", "CHOWN", "--cap-add", "DAC_OVERRIDE", "--cap-add", "FOWNER",
			"--mount", "type=volume,source="+s.workspace+",target="+mount+workspacePath,
			"--mount", "type=volume,source="+s.cache()+",target="+mount+cachePath,
			"--workdir", mount),
	}
	code, err := s.container(ctx, unpack)
	_ = read.Close() // so that the packer ends; the result is always nil
	if packErr := <-packed; packErr != nil && !errors.Is(packErr, io.ErrClosedPipe) {
		return packErr // the cause; tar only reports that its input ended too early
	}
	if err == nil && code != 0 {
		err = fmt.Errorf("tar in the image %s ended with exit code %d: %s", s.image, code, strings.TrimSpace(problem.String()))
	}
	return err
}

// Export copies files, folders and links of the workspace into dir, which must be empty. It skips
// every .git folder, devices, pipes and sockets. It never writes outside dir. A link may lead
// anywhere, so the caller has to check the links. The error is [ErrTooLarge] if the workspace
// exceeds the limit.
func (s *Session) Export(ctx context.Context, dir string) error {
	if err := s.export(ctx, dir); err != nil {
		return fmt.Errorf("copy the workspace out of the sandbox: %w", err)
	}
	return nil
}

func (s *Session) export(ctx context.Context, dir string) error {
	if s.workspace == "" {
		return errors.New("no workspace is loaded")
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	read, write := io.Pipe()
	unpacked := make(chan error, 1)
	go func() {
		err := unpack(read, root, s.o.Settings.MaxBytes)
		if err == nil {
			_, err = io.Copy(io.Discard, read) // tar pads the last block with zeros
		}
		_ = read.CloseWithError(err) // the result is always nil
		unpacked <- err
	}()
	problem := &tail{limit: maxProblem}
	pack := job{
		what: "run (the step that copies files out)", image: s.image, stdout: write, stderr: problem,
		command: []string{"tar", "-c", "-f", "-", "-C", workspacePath, "."},
		// Even the owner of a file may lack the permission to read it.
		args: append(s.limits("0:0"), "--network", "none", "--cap-add", "DAC_READ_SEARCH",
			"--mount", "type=volume,source="+s.workspace+",target="+workspacePath+",readonly", "--workdir", workspacePath),
	}
	code, err := s.container(ctx, pack)
	_ = write.Close() // so that unpack ends; the result is always nil
	unpackErr := <-unpacked
	switch {
	case err != nil: // includes an error of unpack, which ends the container
		return err
	case code != 0:
		return fmt.Errorf("tar in the image %s ended with exit code %d: %s", s.image, code, strings.TrimSpace(problem.String()))
	}
	return unpackErr
}
