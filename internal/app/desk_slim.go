//go:build slim

package app

import "github.com/spf13/cobra"

// deskCommands stands for the commands of the whole program.
func (a App) deskCommands() []*cobra.Command { return nil }

// deskRules stands for those of "rules".
func (a App) deskRules() []*cobra.Command { return nil }
