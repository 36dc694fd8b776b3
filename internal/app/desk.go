//go:build !slim

package app

import "github.com/spf13/cobra"

// deskCommands are the commands for people at a desk, which the action's image does
// without.
func (a App) deskCommands() []*cobra.Command { return nil }

// deskRules are those of "rules".
func (a App) deskRules() []*cobra.Command { return nil }
