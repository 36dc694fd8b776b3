// Package sandbox runs untrusted commands in Docker containers, through the docker command line,
// with its contexts and DOCKER_HOST.
//
// A [Session] copies a git working tree into a volume; no folder of the host is mounted. Each
// command runs in its own container, with that volume as /workspace and a second volume for
// caches. The container has no network unless the command may use it, no capabilities, a read-only
// root file system, and no variable of the host. Processors, memory and processes are limited, and
// the user is not root. Commands cannot change the working tree; [Session.Export] checks the files
// and copies them into another directory.
//
// Containers and volumes have two labels: their run, and the directory with the lock of this run.
// [Session.Close] removes the containers and volumes. If a run was killed, the next [Open] with
// the same directory removes them. It first takes the lock of the dead run, which the kernel
// released when that process ended.
//
// Disk space is not limited, because Docker's volumes have no limit. Only the size of the
// workspace is limited when it is copied in and out.
package sandbox

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// The reasons why the sandbox cannot run any command.
var (
	// ErrUnavailable means that the docker program is missing, or that its daemon does not
	// answer.
	ErrUnavailable = errors.New("docker is not available")
	// ErrImage means that an image is missing and cannot be pulled.
	ErrImage = errors.New("the image is not available")
	// ErrTooLarge means that a workspace has more bytes than [Settings.MaxBytes].
	ErrTooLarge = errors.New("the workspace is too large for the sandbox")
	// ErrChanged means that a file changed while it was copied.
	ErrChanged = errors.New("the workspace changed while it was copied; try again")
)

// A Network decides which commands may use the network.
type Network string

// The values of [Network].
const (
	SetupOnly Network = "setup-only" // commands with [Command.Network]
	NoNetwork Network = "none"       // no command
)

// Settings are the limits of a session. A field that is zero has its default.
type Settings struct {
	Network        Network       // default: setup-only
	CPUs           float64       // default: 2, at most as many as the engine has; infinite: all
	Memory         string        // of one container, without swap; default: 4g
	PIDs           int           // processes of one container; default: 512
	Temp           string        // size of /tmp, which counts as memory; default: 1g
	CommandTimeout time.Duration // default: 10m
	TotalTimeout   time.Duration // of all commands, counted from Open; default: 30m
	MaxBytes       int64         // of the workspace, copied in or out; default: 1 GiB
}

// complete returns the settings with defaults in place of zero fields. The error names the first
// invalid field.
func (s Settings) complete() (Settings, error) {
	defaults := Settings{SetupOnly, 2, "4g", 512, "1g", 10 * time.Minute, 30 * time.Minute, 1 << 30}
	s.Network = orElse(s.Network, defaults.Network)
	s.CPUs = orElse(s.CPUs, defaults.CPUs)
	s.Memory = orElse(s.Memory, defaults.Memory)
	s.PIDs = orElse(s.PIDs, defaults.PIDs)
	s.Temp = orElse(s.Temp, defaults.Temp)
	s.CommandTimeout = orElse(s.CommandTimeout, defaults.CommandTimeout)
	s.TotalTimeout = orElse(s.TotalTimeout, defaults.TotalTimeout)
	s.MaxBytes = orElse(s.MaxBytes, defaults.MaxBytes)
	switch {
	case s.Network != SetupOnly && s.Network != NoNetwork:
		return s, fmt.Errorf("sandbox settings: network: want %s or %s, not %q", SetupOnly, NoNetwork, s.Network)
	case !(s.CPUs >= 0.01):
		return s, fmt.Errorf("sandbox settings: cpus: want at least 0.01, not %v", s.CPUs)
	case !size.MatchString(s.Memory):
		return s, fmt.Errorf("sandbox settings: memory: want a size, such as 4g, not %q", s.Memory)
	case !size.MatchString(s.Temp):
		return s, fmt.Errorf("sandbox settings: temp: want a size, such as 1g, not %q", s.Temp)
	case s.PIDs < 0:
		return s, fmt.Errorf("sandbox settings: pids: want a number above zero, not %d", s.PIDs)
	case s.CommandTimeout < 0 || s.TotalTimeout < 0:
		return s, errors.New("sandbox settings: timeouts: want times above zero")
	case s.MaxBytes < 0:
		return s, fmt.Errorf("sandbox settings: max bytes: want a number above zero, not %d", s.MaxBytes)
	}
	return s, nil
}

func orElse[T comparable](value, instead T) T {
	var zero T
	if value == zero {
		return instead
	}
	return value
}

var (
	size  = regexp.MustCompile(`^[1-9][0-9]*[bkmgBKMG]?$`)
	image = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._/:@-]*$`)
	word  = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]*$`)
)

// CheckImage returns an error for a text that is not an image name. Docker could interpret some of
// these texts as an option.
func CheckImage(name string) error {
	if !image.MatchString(name) {
		return fmt.Errorf("want the name of an image, such as golang:1.26-bookworm, not %q", name)
	}
	return nil
}

// Options configure a session.
type Options struct {
	Docker  string   // the program; empty: docker, found in PATH
	Environ []string // docker receives the variables for its daemon; commands receive none
	// Name begins the names of containers and volumes. Their labels are Name.run and
	// Name.owner.
	Name string
	// RunID is the value of the label Name.run. It consists of lower-case letters, digits, dots,
	// dashes and underscores, and is used only once. Empty: a random ID.
	RunID string
	// Locks is a directory for the locks of live runs. Open makes it when it is missing. Runs that
	// share the directory remove the containers and volumes of dead runs.
	Locks    string
	Settings Settings
	// Redact removes secrets from output before it becomes part of a [Result]. Its input begins a few
	// thousand bytes before the text that is kept, so that a secret at the start of that text is
	// complete. nil: output is not changed.
	Redact func(string) string
	Now    func() time.Time
	Log    *slog.Logger // nil: no log
}

// A Session is a workspace in a volume, and the containers of its commands. Its methods are not
// safe for concurrent use.
type Session struct {
	o        Options
	docker   docker
	run      string // the ID of the run
	labels   []string
	scratch  string // a directory of the host for files of the run
	deadline time.Time
	unlock   func()

	image     string          // whose tar unpacks and packs the workspace
	images    map[string]bool // images that the engine has
	loads     int             // number of workspaces loaded so far
	workspace string          // name of the workspace's volume; empty: no workspace is loaded
	started   int             // number of containers started so far
}

// Open prepares a session, and removes the containers and volumes of dead runs. The error is
// [ErrUnavailable] if no engine answers. The caller closes the session.
func Open(ctx context.Context, o Options) (*Session, error) {
	var err error
	if o.Settings, err = o.Settings.complete(); err != nil {
		return nil, err
	}
	if o.RunID == "" {
		o.RunID = strings.ToLower(rand.Text())
	}
	for field, text := range map[string]string{"name": o.Name, "run id": o.RunID} {
		if !word.MatchString(text) {
			return nil, fmt.Errorf("open the sandbox: %s: want lower-case letters, digits, dots, dashes and underscores, not %q", field, text)
		}
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	s := &Session{o: o, docker: docker{program: orElse(o.Docker, "docker"), env: environment(o.Environ)}, run: o.RunID, images: map[string]bool{}}
	if err := s.open(ctx); err != nil {
		return nil, fmt.Errorf("open the sandbox: %w", err)
	}
	return s, nil
}

func (s *Session) open(ctx context.Context) error {
	r, err := openRegistry(s.o.Locks, s.o.Name, s.docker)
	if err != nil {
		return err
	}
	defer r.close()
	if s.unlock, err = r.register(s.run); err != nil {
		return err
	}
	s.scratch = filepath.Join(s.o.Locks, s.run)
	s.labels = []string{"--label", s.o.Name + ".run=" + s.run, "--label", s.o.Name + ".owner=" + r.owner}
	if err := r.removeDead(ctx, s.run, s.o.Log); err != nil {
		err = errors.Join(err, r.forget(s.run))
		s.unlock()
		if ctx.Err() != nil {
			return err
		}
		// The engine has not answered any call so far, so every error means that it is unavailable.
		return fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	// The engine refuses a container that asks for more processors than the engine has.
	if out, err := s.docker.output(ctx, "info", "--format", "{{.NCPU}}"); err == nil {
		if n, err := strconv.Atoi(strings.TrimSpace(out)); err == nil && n > 0 {
			s.o.Settings.CPUs = min(s.o.Settings.CPUs, float64(n))
		}
	}
	s.deadline = s.o.Now().Add(s.o.Settings.TotalTimeout)
	return nil
}

// closing limits the time for removing containers and volumes.
const closing = 2 * time.Minute

// Close removes the session's containers and volumes, even if the context of its commands has
// ended. If Close fails, a later [Open] removes the rest.
func (s *Session) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), closing)
	defer cancel()
	r, err := openRegistry(s.o.Locks, s.o.Name, s.docker)
	if err == nil {
		defer r.close()
		if err = r.remove(ctx, s.run); err == nil {
			err = r.forget(s.run)
		}
	}
	s.unlock()
	if err != nil {
		return fmt.Errorf("close the sandbox: %w", err)
	}
	return nil
}

// volume makes a volume of the session.
func (s *Session) volume(ctx context.Context, name string) error {
	args := append([]string{"volume", "create"}, s.labels...)
	_, err := s.docker.output(ctx, append(args, name)...)
	return err
}

// have pulls an image if it is missing. It runs before the command, so that the pull does not
// count towards the command's time limit and prints nothing to its output.
func (s *Session) have(ctx context.Context, image string) error {
	if err := CheckImage(image); err != nil {
		return err
	}
	if s.images[image] {
		return nil
	}
	_, err := s.docker.output(ctx, "image", "inspect", "--format", "{{.Id}}", image)
	if err != nil && !errors.Is(err, ErrUnavailable) {
		if _, err = s.docker.output(ctx, "pull", "--quiet", image); err != nil && ctx.Err() == nil && !errors.Is(err, ErrUnavailable) {
			err = fmt.Errorf("%w: %w", ErrImage, err)
		}
	}
	s.images[image] = err == nil
	return err
}

// cache returns the name of the volume for caches.
func (s *Session) cache() string { return s.o.Name + "-" + s.run + "-cache" }
