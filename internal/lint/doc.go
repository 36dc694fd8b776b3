// Package lint compares rules with the repository that they are for: its labels, its issue forms,
// and the workflows that labels start.
//
// The repository's files are untrusted. The package reads them within limits, and warns of a file
// that it cannot read.
package lint
