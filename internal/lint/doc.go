// Package lint compares rules with the repository that they are for: the labels that
// it has, the issue forms, and the workflows that labels start.
//
// The repository's files are not ours. They are read within bounds, and one that cannot
// be read is left out with a warning.
package lint
