package pr

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/org/foreman-action/internal/sanitize"
	"github.com/org/foreman-action/internal/text"
	"github.com/org/foreman-action/internal/workdir"
)

// templateDirs are the folders in which GitHub looks for templates, in its order.
var templateDirs = []string{".github", ".", "docs"}

// template returns the template of pull requests in a clone; empty: it has none. Its text is
// untrusted, so mentions, closing keywords and hidden text are neutralized. warning is the reason
// why a template is left out.
func template(clone string) (body, warning string) {
	name, several := findTemplate(clone)
	if len(several) > 0 {
		return "", fmt.Sprintf("The repository has several templates of pull requests: %s. To use one, copy it, fill it in, and name the copy as --body-file.", some(several))
	}
	if name == "" {
		return "", ""
	}
	data, err := workdir.Dir(clone).Read(name, maxExtra)
	if err == nil && !utf8.Valid(data) {
		err = errors.New("it is not UTF-8")
	}
	if err != nil {
		return "", fmt.Sprintf("The template %s is left out: %v.", shown(name), err)
	}
	return sanitize.Comment(string(data), sanitize.Options{}), ""
}

// findTemplate returns the path of the template in a clone, or the paths of several of which a
// person must choose one. GitHub ignores the case of the names, and the extension.
func findTemplate(clone string) (name string, several []string) {
	root, err := os.OpenRoot(clone)
	if err != nil {
		return "", nil
	}
	defer root.Close()
	for _, dir := range templateDirs {
		for _, at := range entries(root, dir, fs.FileMode.IsRegular) {
			base := strings.ToLower(path.Base(at))
			if ext := path.Ext(base); strings.TrimSuffix(base, ext) == "pull_request_template" && slices.Contains([]string{"", ".md", ".txt"}, ext) {
				return at, nil
			}
		}
	}
	for _, dir := range templateDirs {
		for _, at := range entries(root, dir, fs.FileMode.IsDir) {
			if strings.EqualFold(path.Base(at), "pull_request_template") {
				for _, file := range entries(root, at, fs.FileMode.IsRegular) {
					if ext := strings.ToLower(path.Ext(file)); ext == ".md" || ext == ".txt" {
						several = append(several, file)
					}
				}
			}
		}
	}
	if len(several) == 1 {
		return several[0], nil
	}
	for i, name := range several {
		several[i] = shown(name)
	}
	return "", several
}

// entries returns the sorted paths in a folder whose mode has a property. It does not follow links
// out of the root. A folder that cannot be listed has none.
func entries(root *os.Root, dir string, is func(fs.FileMode) bool) []string {
	list, err := fs.ReadDir(root.FS(), dir)
	if err != nil {
		return nil
	}
	var paths []string
	for _, entry := range list {
		if is(entry.Type()) {
			paths = append(paths, path.Join(dir, entry.Name()))
		}
	}
	return paths
}

// shown returns a name from the repository as one short line.
func shown(name string) string {
	const most = 200
	return text.Plain(name, most)
}
