// Package manual writes what a release has beside each program: completions for shells and
// manual pages.
package manual

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/org/foreman-action/internal/cli"
	"github.com/org/foreman-action/internal/cli/contribflow"
	"github.com/org/foreman-action/internal/cli/foremand"
	"github.com/org/foreman-action/internal/cli/group"
)

// Shells returns the shells with a completion. They are also the extensions of its files.
func Shells() []string { return []string{"bash", "fish", "ps1", "zsh"} }

// Write writes completions/PROGRAM.SHELL and man/PROGRAM/*.1 below a folder. The pages bear the
// version and the time of the release, so that the same commit makes the same pages.
func Write(folder, version string, at time.Time) error {
	for _, root := range []*cobra.Command{cli.Commands(), foremand.Commands(), contribflow.Commands()} {
		if err := completions(filepath.Join(folder, "completions"), root); err != nil {
			return fmt.Errorf("write the completions of %s: %w", root.Name(), err)
		}
		if err := group.WriteManual(filepath.Join(folder, "man", root.Name()), root, version, at); err != nil {
			return fmt.Errorf("write the manual of %s: %w", root.Name(), err)
		}
	}
	return nil
}

func completions(folder string, root *cobra.Command) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	for _, shell := range Shells() {
		var b bytes.Buffer
		var err error
		switch shell {
		case "bash":
			err = root.GenBashCompletionV2(&b, true)
		case "fish":
			err = root.GenFishCompletion(&b, true)
		case "ps1":
			err = root.GenPowerShellCompletionWithDesc(&b)
		case "zsh":
			err = root.GenZshCompletion(&b)
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(folder, root.Name()+"."+shell), b.Bytes(), 0o644)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
