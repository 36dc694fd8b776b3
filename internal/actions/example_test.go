package actions_test

import (
	"fmt"
	"os"

	"github.com/org/foreman-action/internal/actions"
)

// A step reads its inputs and prints the title of an issue. The title cannot run a workflow
// command.
func ExampleNew() {
	env := map[string]string{"GITHUB_ACTIONS": "true", "INPUT_DRY-RUN": "true"}
	r := actions.New(actions.Options{
		Getenv: func(name string) string { return env[name] },
		Stdout: os.Stdout,
	})
	inputs, err := r.ParseInputs()
	if err != nil {
		r.Log.Annotate(actions.Annotation{Level: actions.Error, Message: err.Error()})
		return
	}
	r.Log.Printf("dry run: %t, configuration: %s", inputs.DryRun, inputs.Config)
	// Output: dry run: true, configuration: .github/foreman.yml
}

func ExampleRuntime_ParseInputs() {
	env := map[string]string{"INPUT_MEMORY": "files", "INPUT_AGENT-TIMEOUT": "abc"}
	r := actions.New(actions.Options{Getenv: func(name string) string { return env[name] }})
	_, err := r.ParseInputs()
	fmt.Println(err)
	// Output:
	// input agent-timeout: want a duration such as 60s, got "abc"
	// input memory: want "artifact", "cache", "file" or "off", got "files" (did you mean "file"?)
}
