// Package logpart gives each part of the server its own log level.
package logpart

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/org/foreman-action/internal/yamlfile"
)

// The parts. Records of a logger that [Of] did not return belong to the server.
const (
	Agents      = "agents"      // containers of managed agents
	API         = "api"         // requests of agents, GitHub and operators
	Dashboard   = "dashboard"   // pages
	Dispatch    = "dispatch"    // notifies and asks agents
	Executor    = "executor"    // carries decisions out
	GitHub      = "github"      // requests to GitHub, its limits and outages
	Intake      = "intake"      // makes tasks of events
	Judging     = "judging"     // judges what became of actions
	Maintenance = "maintenance" // requeues and deletes tasks
	Poll        = "poll"        // polls GitHub
	Proposals   = "proposals"   // ends proposals that nobody answered
	Server      = "server"      // start, stop and configuration
	Storage     = "storage"     // the database
	Telemetry   = "telemetry"   // metrics and traces
)

// key is the attribute with the part.
const key = "part"

// Names returns all parts, sorted.
func Names() []string {
	return []string{Agents, API, Dashboard, Dispatch, Executor, GitHub, Intake, Judging, Maintenance, Poll, Proposals, Server, Storage, Telemetry}
}

// LevelNames returns the names of all levels, the lowest first.
func LevelNames() []string { return []string{"debug", "info", "warn", "error"} }

// Of returns a logger for the records of a part. They have the attribute "part".
func Of(log *slog.Logger, part string) *slog.Logger { return log.With(key, part) }

// Levels are the lowest levels that are logged. The zero value logs all parts from info on.
type Levels struct {
	Default slog.Level
	Parts   map[string]slog.Level // by part; absent: Default
}

// of returns the level of a part; "" is the server.
func (l Levels) of(part string) slog.Level {
	if part == "" {
		part = Server
	}
	if level, ok := l.Parts[part]; ok {
		return level
	}
	return l.Default
}

// With returns the levels changed by a text: a list with commas between levels and PART=LEVEL.
func (l Levels) With(text string) (Levels, error) {
	l.Parts = maps.Clone(l.Parts)
	for item := range strings.SplitSeq(text, ",") {
		part, name, named := strings.Cut(strings.TrimSpace(item), "=")
		if !named {
			part, name = "", part
		}
		level, err := ParseLevel(name)
		if err == nil && named {
			err = CheckPart(part)
		}
		switch {
		case err != nil:
			return Levels{}, err
		case !named:
			l.Default = level
		default:
			if l.Parts == nil {
				l.Parts = map[string]slog.Level{}
			}
			l.Parts[part] = level
		}
	}
	return l, nil
}

// ParseLevel returns the level of a name.
func ParseLevel(name string) (level slog.Level, err error) {
	if !slices.Contains(LevelNames(), name) {
		return 0, fmt.Errorf("unknown level %q%s (known: %s)", name, yamlfile.DidYouMean(name, LevelNames()), strings.Join(LevelNames(), ", "))
	}
	err = level.UnmarshalText([]byte(name))
	return level, err
}

// CheckPart returns an error if there is no part of a name.
func CheckPart(name string) error {
	if slices.Contains(Names(), name) {
		return nil
	}
	return fmt.Errorf("unknown part %q%s (known: %s)", name, yamlfile.DidYouMean(name, Names()), strings.Join(Names(), ", "))
}

// A Handler passes the records on that have at least the level of their part. The levels can change
// at any time. It is safe for concurrent use.
type Handler struct {
	slog.Handler // passes on all records from debug on

	levels *atomic.Pointer[Levels] // shared with the handlers that WithAttrs returns
	part   string                  // empty: none
	group  bool                    // later attributes are in a group
}

// NewHandler returns a handler with the zero Levels. to must accept records from debug on.
func NewHandler(to slog.Handler) *Handler {
	h := &Handler{Handler: to, levels: new(atomic.Pointer[Levels])}
	h.Set(Levels{})
	return h
}

// Set changes the levels, also those of all loggers that exist.
func (h *Handler) Set(l Levels) { h.levels.Store(&l) }

// Enabled implements [slog.Handler].
func (h *Handler) Enabled(ctx context.Context, level slog.Level) bool {
	return level >= h.levels.Load().of(h.part) && h.Handler.Enabled(ctx, level)
}

// WithAttrs implements [slog.Handler]. The attribute "part" sets the part.
func (h *Handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	next := *h
	next.Handler = h.Handler.WithAttrs(attrs)
	for _, a := range attrs {
		if a.Key == key && !h.group {
			next.part = a.Value.String()
		}
	}
	return &next
}

// WithGroup implements [slog.Handler].
func (h *Handler) WithGroup(name string) slog.Handler {
	next := *h
	next.Handler, next.group = h.Handler.WithGroup(name), true
	return &next
}
