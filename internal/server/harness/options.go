package harness

import (
	"log/slog"

	"github.com/org/foreman-action/config/serverconfig"
	"github.com/org/foreman-action/internal/server/database"
)

// Options are the settings and dependencies of a Harness. All fields but Version must be set.
type Options struct {
	Settings  *serverconfig.Config
	Databases database.Locations
	Version   string // of the program
	Log       *slog.Logger
}
