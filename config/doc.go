// Package config reads the configuration file of the action: the policy, the rules, the
// agent and the memory, from the repository's own files and from the file that they extend.
//
// [Load] has these steps:
//
//	read ──▶ decode ──▶ check ──▶ join ──▶ settle and expand ──▶ compile ──▶ problems
//
// It reads the file with those that it includes and extends, decodes the sections of each
// and checks their values, joins the repository's own sections and those of the file that is
// extended, takes of a key that both have the value that counts, resolves the variables in the
// values, compiles the rules, and returns either a [Config] or the problems of all files at
// once.
//
// A new key is a field of its section in sections.go, which has the name and the type, and a
// row in table.go, which has the permitted values and the description; [Load] and [Schema] use
// both. settle.go puts its value into the Config. The keys of policy are fields of
// [policy.Section], and [policy.Tighten] puts them into the Config.
package config
