package background_test

import (
	"strings"
	"testing"
	"time"

	"github.com/org/foreman-action/internal/server/background"
)

// TestOptions checks that errors name the missing or invalid option.
func TestOptions(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		change func(*background.Options)
	}{
		{"Queue", func(o *background.Options) { o.Queue = nil }},
		{"Cursors", func(o *background.Options) { o.Cursors = nil }},
		{"Settings", func(o *background.Options) { o.Executor.Settings = nil }},
		{"Owner", func(o *background.Options) { o.Owner = "" }},
		{"Concurrency", func(o *background.Options) { o.Executor.Concurrency = -1 }},
		{"Interval", func(o *background.Options) { o.Executor.Interval = -1 }},
		{"ClaimTimeout", func(o *background.Options) { o.ClaimTimeout = -1 }},
		{"RequeueInterval", func(o *background.Options) { o.Maintenance.RequeueInterval = -1 }},
		{"MaxClaims", func(o *background.Options) { o.MaxClaims = -1 }},
		{"MaxTries", func(o *background.Options) { o.MaxTries = -1 }},
		{"PerHour", func(o *background.Options) { o.Executor.PerHour = -1 }},
		{"Lease", func(o *background.Options) { o.Lease = time.Millisecond }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(r *rig) {
				o := r.options()
				o.Executor.Settings = r.settings
				tt.change(&o)
				if _, err := background.New(o); err == nil || !strings.Contains(err.Error(), ": "+tt.name) {
					t.Errorf("got %v", err)
				}
			})
		})
	}
}

// TestHealthBefore checks that no loop is reported as running before or after Run.
func TestHealthBefore(t *testing.T) {
	t.Parallel()
	inBubble(t, func(r *rig) {
		d, err := background.New(r.options())
		if err != nil {
			t.Fatal(err)
		}
		for _, h := range d.Health() {
			if h.OK {
				t.Errorf("got %+v", h)
			}
		}
		d, stop := r.start()
		stop()
		for _, h := range d.Health() {
			if h.OK || h.Reason == "" {
				t.Errorf("got %+v", h)
			}
		}
		if err := d.Run(r.t.Context()); err == nil {
			t.Error("it can be run again")
		}
	})
}
