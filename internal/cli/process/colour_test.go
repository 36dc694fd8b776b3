package process_test

import (
	"testing"

	"github.com/org/foreman-action/internal/cli/process"
)

func TestColoured(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name     string
		flag     string
		terminal bool
		vars     map[string]string
		want     bool
	}{
		{name: "a terminal", terminal: true, want: true},
		{name: "a file"},
		{name: "a terminal without colours", terminal: true, vars: map[string]string{"TERM": "dumb"}},
		{name: "NO_COLOR", terminal: true, vars: map[string]string{"NO_COLOR": "1"}},
		{name: "NO_COLOR of any value", terminal: true, vars: map[string]string{"NO_COLOR": "0"}},
		{name: "an empty NO_COLOR", terminal: true, vars: map[string]string{"NO_COLOR": ""}, want: true},
		{name: "FORCE_COLOR", vars: map[string]string{"FORCE_COLOR": "1"}, want: true},
		{name: "FORCE_COLOR of any value", vars: map[string]string{"FORCE_COLOR": "0"}, want: true},
		{name: "an empty FORCE_COLOR", vars: map[string]string{"FORCE_COLOR": ""}},
		{name: "FORCE_COLOR before TERM", vars: map[string]string{"FORCE_COLOR": "1", "TERM": "dumb"}, want: true},
		{name: "NO_COLOR before FORCE_COLOR", terminal: true, vars: map[string]string{"NO_COLOR": "1", "FORCE_COLOR": "1"}},
		{name: "--color always", flag: "always", vars: map[string]string{"NO_COLOR": "1", "TERM": "dumb"}, want: true},
		{name: "--color never", flag: "never", terminal: true, vars: map[string]string{"FORCE_COLOR": "1"}},
		{name: "--color auto", flag: "auto", vars: map[string]string{"FORCE_COLOR": "1"}, want: true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			env := process.Env{Getenv: func(name string) string { return tt.vars[name] }, OutTerminal: tt.terminal}.Complete()
			if tt.flag != "" {
				if err := env.Colour.Set(tt.flag); err != nil {
					t.Fatal(err)
				}
			}
			if got := env.Coloured(); got != tt.want {
				t.Errorf("got %t, want %t", got, tt.want)
			}
		})
	}
}
