package task

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"

	cli "github.com/org/foreman-action/internal/cli/process"
	"github.com/org/foreman-action/internal/coding/build"
	"github.com/org/foreman-action/internal/command"
)

// Print prints a document as JSON, or else its text for people.
func Print(env cli.Env, asJSON bool, document any, text string) error {
	if asJSON {
		data, err := json.MarshalIndent(document, "", "  ")
		if err != nil {
			return err
		}
		text = string(data) + "\n"
	}
	return env.Print(text)
}

// Summarize adds Markdown to the summary of a job, if the command runs in one.
func Summarize(env cli.Env, markdown string) error {
	name := env.Getenv("GITHUB_STEP_SUMMARY")
	if name == "" {
		return nil
	}
	file, err := os.OpenFile(name, os.O_APPEND|os.O_WRONLY, 0)
	if err == nil {
		_, err = file.WriteString(markdown + "\n")
		err = errors.Join(err, file.Close())
	}
	if err != nil {
		return command.Failed(fmt.Errorf("add to the job summary: %w", err))
	}
	return nil
}

// Classify marks an error of the pipeline as a mistake of the user or as a failure.
func Classify(err error) error {
	if mistake, ok := errors.AsType[*build.UsageError](err); ok {
		return command.Usage(mistake)
	}
	return command.Failed(err)
}
