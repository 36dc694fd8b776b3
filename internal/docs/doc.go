// Package docs parses the Markdown pages of the repository for tests, which check links, files
// and commands. A comment before a fenced block is the block's marker:
//
//	<!-- not run: REASON -->        the programs parse the commands, but the commands do not run
//	<!-- in an empty folder -->     the commands run in a new folder
//	<!-- output -->                 the output of the commands before the block
//	<!-- go output -->              the output of the Go program before the block
//	<!-- file NAME -->              the contents of a file
//	<!-- issue N: TITLE | BODY -->  the beginning of the job summary, and the issue, after a run
//	<!-- comment N: TITLE | BODY | ANSWER -->
//	                                the comment with proposals, after a run for the issue, and one for
//	                                each answer, such as "mona ticks 2" or "mona: /foreman accept 1"
//
// A block whose first line is a comment with a path, such as "# .github/foreman.yml", shows that
// file. Blocks with other markers are tested in other packages, beside the code that they
// describe.
package docs
