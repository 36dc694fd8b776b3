// Package config reads the configuration file of the action: the policy, the rules, the
// agent and the memory, from the repository's own files and from the file that they extend.
//
// [Load] does it in this order:
//
//	read ──▶ decode ──▶ join ──▶ settle ──▶ compile ──▶ problems
//
// It reads the file, what it includes and what it extends, decodes the sections of each file,
// joins those of one side, settles what counts where both sides contain a value, compiles the
// rules, and returns either a [Config] or the problems of all files at once.
package config
