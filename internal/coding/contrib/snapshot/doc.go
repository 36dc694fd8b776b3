// Package snapshot compares the files of a clone with the commit that it started from.
//
// The clone, with its folder .git, may contain hostile files. So git works in a separate
// repository, which borrows the objects of the clone and copies its index: git does not read
// the configuration, hooks, attributes and refs in the clone's folder .git. Filters, external
// diffs, the file system monitor and a moved working tree therefore have no effect, and the
// result does not depend on any configuration of git.
package snapshot
