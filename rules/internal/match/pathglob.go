package match

import (
	"fmt"
	"path"
	"strings"

	"github.com/org/foreman-action/internal/text"
)

// SplitGlob returns the folders of a glob for paths. A glob that ends with "/" stands for everything
// below that folder.
func SplitGlob(glob string) []string {
	if strings.HasSuffix(glob, "/") {
		glob += text.AnyFolders
	}
	return strings.Split(glob, "/")
}

// AnyPath reports whether one of the globs matches a path, as [text.MatchFolders] does. work is the
// number of names that were compared.
func AnyPath(globs [][]string, path string) (hit bool, work int) {
	folders := strings.Split(path, "/")
	for _, g := range globs {
		if work++; text.MatchFolders(g, folders, &work) {
			return true, work
		}
	}
	return false, work
}

// globBraces matches alternatives as in other glob languages, such as *.{js,ts}.
var globBraces = text.Regexp(`(^|[^\\])\{[^{}]*,[^{}]*\}`)

// PathGlobMistake returns why a glob matches no file; "" when it may match one.
func PathGlobMistake(glob string) string {
	_, err := path.Match(glob, "")
	root := strings.TrimPrefix(strings.TrimPrefix(glob, "."), "/")
	switch {
	case glob == "":
		return `all files are "**"`
	case strings.HasPrefix(glob, "!"):
		return "! does not exclude files; write not any_file(...)"
	case strings.HasPrefix(glob, "/") || strings.HasPrefix(glob, "./"):
		return fmt.Sprintf("paths start at the repository's root, without a slash: %q", root)
	case globBraces().MatchString(glob):
		return `braces have no special meaning; write several globs, "*.js", "*.ts"`
	case err != nil:
		return "a bracket is not closed, or the last character is a backslash"
	}
	for folder := range strings.SplitSeq(glob, "/") {
		if folder != text.AnyFolders && strings.Contains(folder, text.AnyFolders) {
			return fmt.Sprintf("** stands for whole folders; write %q", strings.ReplaceAll(glob, folder, "**/"+strings.ReplaceAll(folder, "**", "*")))
		}
	}
	return ""
}
