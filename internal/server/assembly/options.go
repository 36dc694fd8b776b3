package assembly

import (
	"context"
	"log/slog"
	"time"

	"github.com/org/foreman-action/internal/config/serverconfig"
	"github.com/org/foreman-action/internal/server/database"
)

// Options are the settings and dependencies of a Server. A field must be set unless its comment
// describes the zero value.
type Options struct {
	Settings  *serverconfig.Config
	Databases database.Locations
	Version   string // of the program; may be empty
	// Getenv returns variables of the process's environment; nil: those of OpenTelemetry count as unset.
	Getenv func(string) string
	Now    func() time.Time // nil: time.Now
	Log    *slog.Logger
	// Limits are GitHub's limits, of an earlier server in this process; nil: none are known.
	Limits *Limits
	// Listener is the server's own listener, without TLS; nil: Open listens on the configured
	// address. When the server stops, the listener stays open, so that the next server can use it.
	Listener KeptListener
	// Reload reads the configuration again, for operators. It returns the keys whose new values need
	// a restart. Nil: operators cannot request it.
	Reload func(ctx context.Context) (unchanged []string, err error)
	// Stop ends the context of Run, and starts no other server. A server that was drained calls it. Nil:
	// operators cannot drain the server.
	Stop func()
	// Status gets the state of a draining server, for people; nil: it is only logged.
	Status func(text string)
	// Ready is called with the server's address when the server accepts requests; nil: it is not called.
	Ready func(url string)
}
