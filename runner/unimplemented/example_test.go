package unimplemented_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/org/foreman-action/runner"
	"github.com/org/foreman-action/runner/unimplemented"
	"github.com/org/foreman-action/triage"
)

// repository has labels, and no accounts or pull requests.
type repository struct {
	unimplemented.Repository
	labels []string
}

func (r repository) Label(_ context.Context, _ triage.Ref, name string) (string, error) {
	for _, l := range r.labels {
		if strings.EqualFold(l, name) {
			return l, nil
		}
	}
	return "", triage.ErrNotFound
}

// A host implements the methods that its rules need.
func Example() {
	var r runner.Repository = repository{labels: []string{"Crash"}}
	ctx, ref := context.Background(), triage.Ref{Owner: "octo-org", Repo: "hello", Number: 7}
	fmt.Println(r.Label(ctx, ref, "crash"))
	_, err := r.Permission(ctx, ref, "mona")
	fmt.Println(err)
	// Output:
	// Crash <nil>
	// the host has no method Repository.Permission, which is needed by conditions on actor.permission, and commands in comments: unsupported operation
}
