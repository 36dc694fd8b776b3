// Package docs reads the Markdown pages of the repository for its tests, which check links,
// files and commands. A comment before a fenced block is the block's marker:
//
//	<!-- not run: REASON -->        the commands are parsed by the programs, and not run
//	<!-- in an empty folder -->     the commands run in a folder of their own
//	<!-- output -->                 the output of the commands before it
//	<!-- go output -->              the output of the Go program before it
//	<!-- file NAME -->              the contents of a file
//	<!-- issue N: TITLE | BODY -->  the beginning of the job summary, and the issue, after a run
//
// A block whose first line is a comment with a path, such as "# .github/foreman.yml", is that
// file. Blocks with other markers have a test beside the code that they are about.
package docs
