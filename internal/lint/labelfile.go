package lint

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"gopkg.in/yaml.v3"

	"github.com/org/foreman-action/config"
	"github.com/org/foreman-action/internal/sanitize"
	"github.com/org/foreman-action/internal/yamlfile"
)

// LabelFiles returns the paths of the files from which common tools create a repository's labels.
func LabelFiles() []string {
	return []string{".github/labels.yml", ".github/labels.yaml", ".github/labels.json"}
}

const maxLabels = 2000 // of a file; further labels are ignored

var errNoLabels = errors.New("it is not a list of labels")

// ReadLabelFile reads the labels from the first of [LabelFiles] that exists. It is used when the
// labels on GitHub are not available.
func (r *Repository) ReadLabelFile(ctx context.Context, files config.Files) error {
	for _, name := range LabelFiles() {
		src, err := files.Read(ctx, name)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case errors.Is(err, ErrUnreadable):
		case err != nil:
			return fmt.Errorf("read %s: %w", name, err)
		default:
			r.Labels, err = ParseLabels(name, src)
			r.LabelFile = name
		}
		if err != nil {
			r.leaveOut(name, err)
			r.Labels, r.LabelFile = nil, ""
		}
		return nil
	}
	return nil
}

// ParseLabels parses a list of labels: names, or mappings with a name. The error means that src is
// not a list of labels; it may be a [yamlfile.Problems].
func ParseLabels(name string, src []byte) ([]string, error) {
	f, err := yamlfile.Parse(name, src)
	if err != nil {
		return nil, err
	}
	root := f.Root()
	if labels := yamlfile.Child(root, "labels"); labels != nil {
		root = labels
	}
	if root == nil || root.Kind != yaml.SequenceNode {
		return nil, errNoLabels
	}
	list := []string{}
	for _, item := range root.Content {
		if n := yamlfile.Child(item, "name"); n != nil {
			item = n
		}
		if s := sanitize.Log(scalar(item)); s != "" && len(list) < maxLabels {
			list = append(list, s)
		}
	}
	if len(list) == 0 {
		return nil, errNoLabels
	}
	return list, nil
}
