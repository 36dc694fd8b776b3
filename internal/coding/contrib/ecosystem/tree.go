package ecosystem

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"

	"github.com/org/foreman-action/internal/text"
	"github.com/org/foreman-action/internal/yamlfile"
)

// A Tree provides the files of a repository, either on GitHub or in a workspace.
type Tree struct {
	// Files are the paths of all files, with slashes, from the root. Others than those that
	// [fs.ValidPath] allows are ignored.
	Files []string
	// Read returns the content of a file, which has at most limit bytes. Detect calls it only for
	// manifests that affect the result. An error that matches [fs.ErrNotExist] or [ErrUnreadable] is
	// about this file and becomes a warning. Any other error ends the detection.
	Read func(name string, limit int64) ([]byte, error)
}

// ErrUnreadable means that a file cannot be read because it is too large, is not a regular file,
// or is a link out of the tree.
var ErrUnreadable = errors.New("the file cannot be read")

// FromFS returns the tree of a file system. It omits links. It returns an error if a folder cannot
// be listed.
func FromFS(fsys fs.FS) (Tree, error) {
	tree := Tree{Read: func(name string, limit int64) ([]byte, error) {
		file, err := fsys.Open(name)
		if err != nil {
			return nil, err
		}
		defer file.Close()
		data, err := io.ReadAll(io.LimitReader(file, limit+1))
		if err == nil && int64(len(data)) > limit {
			return nil, fmt.Errorf("%w: it has more than %d bytes", ErrUnreadable, limit)
		}
		return data, err
	}}
	err := fs.WalkDir(fsys, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return fmt.Errorf("list the files: %w", err)
		}
		if entry.IsDir() && entry.Name() == ".git" {
			return fs.SkipDir
		}
		if entry.Type().IsRegular() {
			tree.Files = append(tree.Files, name)
		}
		return nil
	})
	return tree, err
}

const (
	maxManifest = 1 << 20 // bytes of a manifest
	maxTOML     = 1 << 18 // bytes of a TOML manifest
	maxLockfile = 8 << 20 // bytes of a lockfile that has to be read
	maxWarnings = 20
	maxName     = 120 // characters of a name from the repository in a text
)

// A source is a tree with an index, the contents read so far, and the warnings.
type source struct {
	files    map[string]bool
	dirs     map[string]bool     // folders that contain a file at any depth; "" is the root
	projects map[string][]string // the paths of the files in a folder that "*.csproj" and the like match
	read     func(name string, limit int64) ([]byte, error)
	texts    map[string][]byte
	warnings []string
	failed   error // an error of Read that ends the detection
}

func newSource(tree Tree) *source {
	s := &source{files: map[string]bool{}, dirs: map[string]bool{"": true}, projects: map[string][]string{}, read: tree.Read, texts: map[string][]byte{}}
	for _, name := range tree.Files {
		if !fs.ValidPath(name) || name == "." {
			continue
		}
		s.files[name] = true
		if extensions[path.Ext(name)] {
			s.projects[parent(name)] = append(s.projects[parent(name)], name)
		}
		for dir := parent(name); !s.dirs[dir]; dir = parent(dir) {
			s.dirs[dir] = true
		}
	}
	return s
}

// parent returns the folder of a path; "" is the root.
func parent(name string) string {
	if i := strings.LastIndexByte(name, '/'); i >= 0 {
		return name[:i]
	}
	return ""
}

// has returns the path of the first of the names that exists in a folder.
func (s *source) has(dir string, names ...string) (string, bool) {
	for _, name := range names {
		if found := s.all(dir, name); len(found) > 0 {
			return found[0], true
		}
	}
	return "", false
}

// all returns the paths of all files of a folder that have one of the names. A name such as
// "*.csproj" stands for all files with this extension.
func (s *source) all(dir string, names ...string) []string {
	var found []string
	for _, name := range names {
		if ext, ok := strings.CutPrefix(name, "*"); ok {
			for _, file := range s.projects[dir] {
				if path.Ext(file) == ext {
					found = append(found, file)
				}
			}
		} else if file := path.Join(dir, name); s.files[file] {
			found = append(found, file)
		}
	}
	return found
}

// any reports whether one of the names is a file of a folder.
func (s *source) any(dir string, names ...string) bool {
	_, ok := s.has(dir, names...)
	return ok
}

// warn records a warning about the repository. Names in its arguments are untrusted.
func (s *source) warn(format string, args ...any) {
	warning := text.Plain(fmt.Sprintf(format, args...), 3*maxName)
	if len(s.warnings) < maxWarnings && !slices.Contains(s.warnings, warning) {
		s.warnings = append(s.warnings, warning)
	}
}

// text returns the content of a file; nil where it is missing or cannot be read.
func (s *source) text(name string, limit int64) []byte {
	if data, ok := s.texts[name]; ok || !s.files[name] || s.failed != nil {
		return data
	}
	data, err := s.read(name, limit)
	switch {
	case err == nil:
		data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	case errors.Is(err, fs.ErrNotExist) || errors.Is(err, ErrUnreadable):
		data = nil
		s.warn("%s is ignored: %v", name, err)
	default:
		data, s.failed = nil, fmt.Errorf("read %s: %w", name, err)
	}
	s.texts[name] = data
	return data
}

// json returns the members of the JSON object in a file. If the file contains no JSON object,
// found is false and a warning is recorded.
func (s *source) json(name string) (members map[string]json.RawMessage, found bool) {
	data := s.text(name, maxManifest)
	if data == nil {
		return nil, false
	}
	if err := json.Unmarshal(data, &members); err != nil {
		s.warn("%s is ignored: it is not a JSON object: %v", name, err)
		return nil, false
	}
	return members, true
}

// member returns a member of a JSON object. If the value has another type, member records a
// warning and returns the zero value.
func member[T any](s *source, name string, members map[string]json.RawMessage, key string) T {
	var value T
	if raw, ok := members[key]; ok {
		if err := json.Unmarshal(raw, &value); err != nil {
			s.warn("%s: %q is ignored: %v", name, key, err)
			var zero T
			return zero
		}
	}
	return value
}

// toml parses a TOML file. [table] reads the tables of the result.
func (s *source) toml(name string) map[string]any {
	data := s.text(name, maxManifest)
	if len(data) > maxTOML {
		s.warn("%s is ignored: it has more than %d bytes", name, maxTOML)
		return nil
	}
	if data == nil {
		return nil
	}
	var root map[string]any
	err := errors.New("it is nested too deeply")
	if !deep(data) {
		_, err = toml.Decode(string(data), &root)
	}
	if err != nil {
		s.warn("%s is ignored: it is not valid TOML: %v", name, err)
		return nil
	}
	return root
}

// deep reports whether TOML values may be nested deeper than in any real manifest, by brackets or
// by keys such as a.b.c. The parser has no limit, and its time grows with the square of the depth.
func deep(data []byte) bool {
	const brackets, dots = 50, 20
	depth, run := 0, 0
	for _, c := range data {
		switch c {
		case '[', '{':
			depth, run = depth+1, 0
		case ']', '}':
			depth, run = max(0, depth-1), 0
		case '=', ',', '\n', '#':
			run = 0
		case '.':
			run++
		}
		if depth > brackets || run > dots {
			return true
		}
	}
	return false
}

// table returns the table at a path of keys; nil where there is none.
func table(root map[string]any, keys ...string) map[string]any {
	for _, key := range keys {
		root, _ = root[key].(map[string]any)
	}
	return root
}

// list returns the strings in a list.
func list(value any) []string {
	items, _ := value.([]any)
	var texts []string
	for _, item := range items {
		if t, ok := item.(string); ok {
			texts = append(texts, t)
		}
	}
	return texts
}

// yamlList returns the strings in a list of a YAML file.
func (s *source) yamlList(name, key string) []string {
	data := s.text(name, maxManifest)
	if data == nil {
		return nil
	}
	file, err := yamlfile.Parse(name, data)
	if err != nil {
		s.warn("%s is ignored: %v", name, err)
		return nil
	}
	var texts []string
	if node := yamlfile.Child(file.Root(), key); node != nil {
		for _, item := range node.Content {
			texts = append(texts, item.Value)
		}
	}
	return texts
}

// xml reads an XML file into a pointer, and reports whether it could.
func (s *source) xml(name string, into any) bool {
	data := s.text(name, maxManifest)
	if data == nil {
		return false
	}
	if err := xml.Unmarshal(data, into); err != nil {
		s.warn("%s is ignored: it is not valid XML: %v", name, err)
		return false
	}
	return true
}
