package sandbox

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/org/foreman-action/internal/filelock"
	"github.com/org/foreman-action/internal/wait"
)

// A registry is a directory with an ID and a lock for each live run. Containers and volumes have
// this ID as a label, because an engine may serve several machines and users. The locks of other
// machines and users are not in this directory.
type registry struct {
	root   *os.Root
	name   string // first part of the labels
	owner  string
	docker docker
}

const ownerFile = "owner"

// openRegistry opens the directory, and makes it when it is missing.
func openRegistry(dir, name string, d docker) (*registry, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make the directory of locks: %w", err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("open the directory of locks: %w", err)
	}
	r := &registry{root: root, name: name, docker: d}
	if r.owner, err = owner(root); err != nil {
		root.Close()
		return nil, fmt.Errorf("read the id of the directory of locks %s: %w", dir, err)
	}
	return r, nil
}

// owner returns the ID of a directory. If several programs create it at the same time, all return
// the same ID.
func owner(root *os.Root) (string, error) {
	id, err := root.ReadFile(ownerFile)
	if errors.Is(err, fs.ErrNotExist) {
		temp := ownerFile + "-" + strings.ToLower(rand.Text())
		if err := root.WriteFile(temp, []byte(strings.ToLower(rand.Text())), 0o600); err != nil {
			return "", err
		}
		err = root.Link(temp, ownerFile)
		if err != nil && !errors.Is(err, fs.ErrExist) {
			return "", errors.Join(err, root.Remove(temp))
		}
		if err := root.Remove(temp); err != nil {
			return "", err
		}
		id, err = root.ReadFile(ownerFile)
	}
	if err != nil {
		return "", err
	}
	if !word.Match(id) {
		return "", fmt.Errorf("the file %s has invalid content; remove it", filepath.Join(root.Name(), ownerFile))
	}
	return placed(string(id), root.Name())
}

// placed combines an ID with the host name and the path of its directory. A copy of the directory
// has the same file with the ID but not the same locks. With the same ID, it would treat live runs
// of the original as dead.
func placed(id, dir string) (string, error) {
	path, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	machine, err := os.Hostname()
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256([]byte(machine + "\x00" + path))
	const enough = 6 // bytes
	return id + "-" + hex.EncodeToString(sum[:enough]), nil
}

func (r *registry) close() { r.root.Close() }

func lockFile(run string) string { return run + ".lock" }

// register locks a run until unlock is called or this process ends. It makes a folder for the
// files of the run.
func (r *registry) register(run string) (unlock func(), err error) {
	unlock, err = filelock.Try(r.root, lockFile(run))
	if err != nil {
		return nil, fmt.Errorf("lock the run %s: %w", run, err)
	}
	if err := r.root.Mkdir(run, 0o700); err != nil {
		unlock()
		return nil, fmt.Errorf("make a folder for the run %s: %w", run, err)
	}
	return unlock, nil
}

// forget removes the folder and the lock file of a run whose containers and volumes are removed.
func (r *registry) forget(run string) error {
	err := errors.Join(r.root.RemoveAll(run), r.root.Remove(lockFile(run)))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// removeDead removes the containers and volumes of dead runs. It returns an error if the engine
// does not answer. If it cannot remove a run's containers or volumes, it only logs a warning.
func (r *registry) removeDead(ctx context.Context, self string, log *slog.Logger) error {
	dead := map[string]bool{}
	label := r.name + ".run"
	which := []string{"--filter", "label=" + r.name + ".owner=" + r.owner, "--format", fmt.Sprintf(`{{.Label %q}}`, label)}
	for _, list := range [][]string{{"ps", "--all"}, {"volume", "ls"}} {
		out, err := r.docker.output(ctx, append(list, which...)...)
		if err != nil {
			return err
		}
		for run := range strings.Lines(out) {
			if run = strings.TrimSpace(run); word.MatchString(run) && run != self {
				dead[run] = true
			}
		}
	}
	for run := range dead {
		unlock, err := filelock.Try(r.root, lockFile(run))
		if errors.Is(err, filelock.ErrLocked) {
			continue // the run is live
		}
		if err == nil {
			err = r.remove(ctx, run)
			if err == nil {
				err = r.forget(run)
			}
			unlock()
		}
		if err != nil {
			log.Warn("removing the sandbox of an interrupted run failed; the next run tries again", "run", run, "error", err)
			continue
		}
		log.Info("removed the sandbox of an interrupted run", "run", run)
	}
	return nil
}

// The pauses between tries of removing. A try that begins after removalTime is the last one.
const (
	removalTime     = 8 * time.Second
	minRemovalPause = 50 * time.Millisecond
	maxRemovalPause = 2 * time.Second
)

// remove removes the containers and volumes of a run. It retries, because docker may still create a
// container after its run was killed, and such a container keeps the volumes in use. While docker is
// removing a container, it refuses to remove it again, or to remove its volumes.
func (r *registry) remove(ctx context.Context, run string) error {
	filters := []string{"--filter", "label=" + r.name + ".run=" + run, "--filter", "label=" + r.name + ".owner=" + r.owner, "--quiet"}
	begin := time.Now()
	for n := 0; ; n++ {
		last := time.Since(begin) > removalTime
		err := r.removeAll(ctx, append([]string{"ps", "--all"}, filters...), []string{"rm", "--force", "--volumes"})
		if err == nil {
			err = r.removeAll(ctx, append([]string{"volume", "ls"}, filters...), []string{"volume", "rm", "--force"})
		}
		if err == nil || errors.Is(err, ErrUnavailable) || last || wait.For(ctx, wait.Backoff(n, minRemovalPause, maxRemovalPause)) != nil {
			return err
		}
	}
}

func (r *registry) removeAll(ctx context.Context, list, remove []string) error {
	out, err := r.docker.output(ctx, list...)
	if err != nil {
		return err
	}
	ids := strings.Fields(out)
	if len(ids) == 0 {
		return nil
	}
	_, err = r.docker.output(ctx, append(remove, ids...)...)
	return err
}
