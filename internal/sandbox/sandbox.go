// Package sandbox runs untrusted commands in Docker containers, through the docker command
// line, with its contexts and DOCKER_HOST.
//
// A [Session] copies a git working tree into a volume; nothing of the host is mounted. Each
// command gets a container of its own with that volume as /workspace and a second volume for
// caches: no network unless the command may use it, no capabilities, a read-only root file
// system, limits on processors, memory and processes, an ordinary user, and no variable of
// the host. Nothing that a command does changes the working tree; [Session.Export] copies the
// files out into another directory, through checks.
//
// Containers and volumes have two labels: the run they belong to and the directory of locks
// that the run is registered in. [Session.Close] removes them. Those of a run that was killed
// are removed by the next [Open] with the same directory, which takes the dead run's lock
// first: the kernel gives up a lock when its holder ends, however it ends.
//
// A limit on disk space is missing, because Docker's volumes have none; only the workspace
// that is copied in and out is bounded.
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

// Reasons why commands cannot run, which are not about the commands.
var (
	// ErrUnavailable means that the docker program is missing, or that its daemon does not
	// answer.
	ErrUnavailable = errors.New("docker is not available")
	// ErrImage means that an image is neither there nor can it be pulled.
	ErrImage = errors.New("the image is not available")
	// ErrTooLarge means that a workspace has more bytes than [Settings.MaxBytes].
	ErrTooLarge = errors.New("the workspace is too large for the sandbox")
	// ErrChanged means that a file changed while it was copied.
	ErrChanged = errors.New("the workspace changed while it was copied; try again")
)

// A Network is which commands may use the network.
type Network string

// The networks.
const (
	SetupOnly Network = "setup-only" // commands with [Command.Network]
	NoNetwork Network = "none"       // no command
)

// Settings are the limits of a session. A field that is zero has its default.
type Settings struct {
	Network        Network       // setup-only
	CPUs           float64       // 2, at most as many as the engine has; infinite: all
	Memory         string        // of one container, without swap: 4g
	PIDs           int           // processes of one container: 512
	Temp           string        // size of /tmp, which counts as memory: 1g
	CommandTimeout time.Duration // 10m
	TotalTimeout   time.Duration // of all commands, from Open on: 30m
	MaxBytes       int64         // of the workspace, copied in or out: 1 GiB
}

// complete returns the settings with the defaults, or the first field that is wrong.
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

// CheckImage reports why a text is not the name of an image, so that it could be taken for
// an option of docker for example.
func CheckImage(name string) error {
	if !image.MatchString(name) {
		return fmt.Errorf("want the name of an image, such as golang:1.26-bookworm, not %q", name)
	}
	return nil
}

// Options configure a session.
type Options struct {
	Docker  string   // the program; empty: docker, found in PATH
	Environ []string // of the program; docker gets the variables for its daemon, commands get none
	// Name begins the names of containers and volumes. Their labels are Name.run and
	// Name.owner.
	Name string
	// RunID is the value of the label Name.run: lower-case letters, digits, dots, dashes and
	// underscores, used once. Empty: random.
	RunID string
	// Locks is a directory for the locks of live runs, made when it is missing. Runs that
	// share it remove the containers and volumes of dead ones.
	Locks    string
	Settings Settings
	// Redact takes secrets out of output before it becomes part of a [Result]. It gets a few
	// thousand bytes more than are kept, so that it sees a secret at the cut as a whole. nil:
	// output stays as it is.
	Redact func(string) string
	Now    func() time.Time
	Log    *slog.Logger // nil: dropped
}

// A Session is a workspace in volumes, and the containers of its commands. Its methods are
// not for concurrent use.
type Session struct {
	o        Options
	docker   docker
	run      string // the id
	labels   []string
	scratch  string // a directory of the host for files of the run
	deadline time.Time
	unlock   func()

	image     string          // whose tar unpacks and packs the workspace
	images    map[string]bool // those that are there
	loads     int             // how often a workspace was loaded
	workspace string          // its volume; empty: none is loaded
	started   int             // containers
}

// Open prepares a session, and removes the remains of dead runs. The error is
// [ErrUnavailable] where no engine answers. The caller closes the session.
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
		// No engine has answered so far, so every error counts as unavailable.
		return fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	// More processors than there are is an error for the engine.
	if out, err := s.docker.output(ctx, "info", "--format", "{{.NCPU}}"); err == nil {
		if n, err := strconv.Atoi(strings.TrimSpace(out)); err == nil && n > 0 {
			s.o.Settings.CPUs = min(s.o.Settings.CPUs, float64(n))
		}
	}
	s.deadline = s.o.Now().Add(s.o.Settings.TotalTimeout)
	return nil
}

// closing is how long the removal of containers and volumes may take.
const closing = 2 * time.Minute

// Close removes the session's containers and volumes, also after the context of its commands
// has ended. A later [Open] removes the rest.
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

// have makes sure that an image is there, so that no time of a command is spent on it and
// none of its output is about it.
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

// cache is the name of the volume for caches.
func (s *Session) cache() string { return s.o.Name + "-" + s.run + "-cache" }
