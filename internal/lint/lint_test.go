package lint_test

import (
	"context"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/org/foreman-action/config"
	"github.com/org/foreman-action/internal/actions"
	"github.com/org/foreman-action/internal/lint"
	"github.com/org/foreman-action/internal/yamlfile"
)

var update = flag.Bool("update", false, "rewrite the expected parts of testdata")

// TestGolden checks the foreman.yml of every archive in testdata. The repository consists of the
// files below .github in the archive, and of its labels, one a line, if it lists any.
func TestGolden(t *testing.T) {
	t.Parallel()
	names, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(names) < 10 {
		t.Fatalf("%d cases: %v", len(names), err)
	}
	for _, name := range names {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			t.Parallel()
			ar, err := txtar.ParseFile(name)
			if err != nil {
				t.Fatal(err)
			}
			got := check(t, archive{ar})
			if *update {
				i := slices.IndexFunc(ar.Files, func(f txtar.File) bool { return f.Name == "want" })
				ar.Files[i].Data = []byte(got)
				if err := os.WriteFile(name, txtar.Format(ar), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			want, _ := archive{ar}.Read(t.Context(), "want")
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func check(t *testing.T, files archive) string {
	t.Helper()
	src, err := files.Read(t.Context(), "foreman.yml")
	if err != nil {
		t.Fatal(err)
	}
	cfg, err := config.Parse("foreman.yml", src, nil)
	if err != nil {
		t.Fatal(err)
	}
	f, err := yamlfile.Parse("foreman.yml", src)
	if err != nil {
		t.Fatal(err)
	}
	repo, err := lint.Read(t.Context(), files)
	if err != nil {
		t.Fatal(err)
	}
	if err := repo.ReadEvidence(t.Context(), files, cfg.Policy.Earn.Evidence); err != nil {
		t.Fatal(err)
	}
	repo.Name = "octo/hello"
	for _, input := range actions.Inputs() {
		repo.Inputs = append(repo.Inputs, string(input.Name))
	}
	if labels, err := files.Read(t.Context(), "labels"); err == nil {
		repo.Labels = strings.Split(strings.TrimSpace(string(labels)), "\n")
	}
	var b strings.Builder
	for _, p := range lint.Check(cfg, []*yamlfile.File{f}, repo) {
		fmt.Fprintln(&b, p.Error())
	}
	return b.String()
}

// An archive is the files of a repository.
type archive struct{ *txtar.Archive }

func (a archive) Read(_ context.Context, name string) ([]byte, error) {
	for _, f := range a.Files {
		if f.Name == name {
			if strings.HasPrefix(string(f.Data), "unreadable") {
				return nil, fmt.Errorf("%w: it is a directory", lint.ErrUnreadable)
			}
			return f.Data, nil
		}
	}
	return nil, fs.ErrNotExist
}

func (a archive) Glob(_ context.Context, pattern string) ([]string, error) {
	var list []string
	for _, f := range a.Files {
		if ok, err := path.Match(pattern, f.Name); err == nil && ok {
			list = append(list, f.Name)
		}
	}
	return list, nil
}

// TestTrouble checks that an error of a file or of a folder ends the reading.
func TestTrouble(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		files config.Files
		want  string
	}{
		{broken{onGlob: true}, "list .github/ISSUE_TEMPLATE: gone"},
		{broken{}, "read .github/ISSUE_TEMPLATE/a.yml: gone"},
		{broken{folder: lint.WorkflowFolder}, "read .github/workflows/a.yml: gone"},
	} {
		repo, err := lint.Read(t.Context(), tt.files)
		if err == nil || err.Error() != tt.want || repo != nil {
			t.Errorf("got %v, %v, want %s", repo, err, tt.want)
		}
	}
	if err := (&lint.Repository{}).ReadEvidence(t.Context(), broken{}, "a.json"); err == nil || err.Error() != "read a.json: gone" {
		t.Errorf("evidence: got %v", err)
	}
}

// broken is a file system that returns an error.
type broken struct {
	onGlob bool
	folder string // the only folder with files
}

func (b broken) Read(context.Context, string) ([]byte, error) { return nil, fmt.Errorf("gone") }

func (b broken) Glob(_ context.Context, pattern string) ([]string, error) {
	if b.onGlob {
		return nil, fmt.Errorf("gone")
	}
	if folder := path.Dir(pattern); b.folder == "" || b.folder == folder {
		return []string{folder + "/a.yml"}, nil
	}
	return nil, nil
}

// TestManyFiles checks that the first hundred files are read, and that there is a warning.
func TestManyFiles(t *testing.T) {
	t.Parallel()
	ar := &txtar.Archive{}
	for i := range 130 {
		ar.Files = append(ar.Files, txtar.File{Name: fmt.Sprintf("%s/f%d.yml", lint.FormFolder, i), Data: []byte("body: []\n")})
	}
	repo, err := lint.Read(t.Context(), archive{ar})
	if err != nil || len(repo.Forms) != 100 || len(repo.Warnings) != 1 || !strings.Contains(repo.Warnings[0].Message, "130 files") {
		t.Errorf("got %d forms, %v, %v", len(repo.Forms), repo.Warnings, err)
	}
}
