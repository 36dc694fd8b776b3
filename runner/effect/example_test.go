package effect_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/org/foreman-action/runner/effect"
	"github.com/org/foreman-action/triage"
)

// A host logs the names that an effect writes, and never its text.
func ExampleValues() {
	for _, e := range []effect.Effect{
		effect.AddLabels{Names: []string{"bug", "help wanted"}},
		effect.Comment{Body: "Thanks, we look into it."},
	} {
		fmt.Printf("%s %q\n", effect.TypeOf(e), effect.Values(e))
	}
	// Output:
	// add_labels ["bug" "help wanted"]
	// comment []
}

// A host calls the gate immediately before each request that changes something.
func ExamplePassGate() {
	write := func(ctx context.Context) error {
		if err := effect.PassGate(ctx); err != nil {
			return err
		}
		fmt.Println("request sent")
		return nil
	}
	closed := effect.WithGate(context.Background(), func(context.Context) error {
		return errors.New("another process has the lease")
	})
	err := write(closed)
	fmt.Println(err, errors.Is(err, triage.ErrHalted))
	fmt.Println(write(context.Background()))
	// Output:
	// the run was stopped before a write: another process has the lease true
	// request sent
	// <nil>
}
