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

// A Tree is the files of a repository: those that a remote tree lists, or those that git
// lists in a workspace.
type Tree struct {
	// Files are the paths of all files, with slashes, from the root. Others than those that
	// [fs.ValidPath] allows are ignored.
	Files []string
	// Read returns the content of a file that is at most limit bytes long. It is called for
	// the few manifests that count. An error that is [fs.ErrNotExist] or [ErrUnreadable] is
	// about that file and becomes a warning; any other ends the detection.
	Read func(name string, limit int64) ([]byte, error)
}

// ErrUnreadable means that a file can never be read: it is too large, not a regular file, or a
// link out of the tree.
var ErrUnreadable = errors.New("the file cannot be read")

// FromFS returns the tree of a file system, in which links are not files. The error is that of a
// folder that cannot be listed.
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
	maxTOML     = 1 << 18 // bytes of one in TOML
	maxLockfile = 8 << 20 // bytes of a lockfile that has to be read
	maxWarnings = 20
	maxName     = 120 // characters of a name from the repository in a text
)

// A source is a tree with an index, the contents read so far, and the warnings about them.
type source struct {
	files    map[string]bool
	dirs     map[string]bool // that have a file below them; "" is the root
	read     func(name string, limit int64) ([]byte, error)
	texts    map[string][]byte
	warnings []string
	failed   error // of Read, and about no file
}

func newSource(tree Tree) *source {
	s := &source{files: map[string]bool{}, dirs: map[string]bool{"": true}, read: tree.Read, texts: map[string][]byte{}}
	for _, name := range tree.Files {
		if !fs.ValidPath(name) || name == "." {
			continue
		}
		s.files[name] = true
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

// has returns the first of the names that is a file of a folder, as a path.
func (s *source) has(dir string, names ...string) (string, bool) {
	for _, name := range names {
		if name = path.Join(dir, name); s.files[name] {
			return name, true
		}
	}
	return "", false
}

// any reports whether one of the names is a file of a folder.
func (s *source) any(dir string, names ...string) bool {
	_, ok := s.has(dir, names...)
	return ok
}

// warn records a problem of the repository. The names in it are untrusted text.
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

// json reads the members of a JSON object. Found is false, with a warning, where there is
// none.
func (s *source) json(name string) (members map[string]json.RawMessage, found bool) {
	data := s.text(name, maxManifest)
	if data == nil {
		return nil, false
	}
	if err := json.Unmarshal(data, &members); err != nil {
		s.warn("%s is ignored: it is no JSON object: %v", name, err)
		return nil, false
	}
	return members, true
}

// member reads a member of a JSON object, with a warning where it is of another kind.
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

// toml reads a TOML file. A table that is missing or of another kind is nil for [table].
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
	err := errors.New("it is nested too deep")
	if !deep(data) {
		_, err = toml.Decode(string(data), &root)
	}
	if err != nil {
		s.warn("%s is ignored: it is no TOML: %v", name, err)
		return nil
	}
	return root
}

// deep reports whether values may be nested deeper than any manifest has them, in brackets
// or by keys such as a.b.c. The parser has no limit of its own, and its time grows with the
// square of the depth.
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

// list returns the texts of a list.
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

// yamlList returns the texts of a list in a YAML file.
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
		s.warn("%s is ignored: it is no XML: %v", name, err)
		return false
	}
	return true
}
