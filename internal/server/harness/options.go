package harness

import (
	"log/slog"

	"github.com/org/foreman-action/internal/server/database"
	"github.com/org/foreman-action/internal/server/settings"
)

// Options are what a Harness is made of. All fields but Version must be set.
type Options struct {
	Settings  *settings.Settings
	Databases database.Locations
	Version   string // of the program
	Log       *slog.Logger
}
