package contents_test

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/org/foreman-action/internal/release/contents"
	"github.com/org/foreman-action/internal/release/entry"
	"github.com/org/foreman-action/internal/release/program"
)

const version = "1.2.3"

// A dist is a folder as goreleaser leaves it, of programs that are small texts.
type dist struct {
	files map[string]string // name to content
	built map[string]string // SHA-256 of our own builds
}

func sum(text string) string {
	h := sha256.Sum256([]byte(text))
	return hex.EncodeToString(h[:])
}

func complete(t *testing.T) dist {
	t.Helper()
	d := dist{map[string]string{}, map[string]string{}}
	for _, p := range program.All() {
		for _, platform := range entry.Platforms() {
			file, code := entry.File(p.Name, platform), "code of "+p.Name+" for "+platform
			d.files[file], d.built[file] = code, sum(code)
			d.files[file+".sbom.json"] = `{"bomFormat":"CycloneDX","components":[{"name":"a","version":"v1"}]}`
			system, machine, _ := strings.Cut(platform, "-")
			name := p.Name + "_" + version + "_" + system + "_" + machine
			if system == "windows" {
				d.files[name+".zip"] = archive(t, packed{"zip", p.Name, p.Name + ".exe", code})
				continue
			}
			d.files[name+".tar.gz"] = archive(t, packed{"tar", p.Name, p.Name, code})
			if system == "linux" {
				d.files[p.Name+"_"+version+"_"+machine+".deb"] = "!<arch>\ndebian"
				d.files[p.Name+"_"+version+"_"+machine+".rpm"] = "\xed\xab\xee\xdbrpm"
			}
		}
	}
	return d
}

// packed describes an archive of a program.
type packed struct {
	kind, name string
	program    string // its file
	code       string // the contents of that
}

func archive(t *testing.T, p packed, more ...string) string {
	t.Helper()
	kind, name, program, code := p.kind, p.name, p.program, p.code
	list := append([]string{program, "LICENSE", "README.md", "CHANGELOG.md", "man/man1/" + name + ".1", "man/man1/" + name + "-x.1",
		"completions/" + name + ".bash", "completions/" + name + ".fish", "completions/" + name + ".ps1", "completions/" + name + ".zsh"}, more...)
	var b bytes.Buffer
	z, zipped := gzip.NewWriter(&b), zip.NewWriter(&b)
	tarred := tar.NewWriter(z)
	for _, file := range list {
		content := "text"
		if file == program {
			content = code
		}
		if kind == "zip" {
			w, err := zipped.Create(file)
			if err == nil {
				_, err = w.Write([]byte(content))
			}
			if err != nil {
				t.Fatal(err)
			}
			continue
		}
		if err := tarred.WriteHeader(&tar.Header{Name: file, Size: int64(len(content)), Mode: 0o644}); err != nil {
			t.Fatal(err)
		}
		if _, err := tarred.Write([]byte(content)); err != nil {
			t.Fatal(err)
		}
	}
	var err error
	if kind == "zip" {
		err = zipped.Close()
	} else if err = tarred.Close(); err == nil {
		err = z.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// write writes the folder; unlisted files are left out of the list of checksums.
func (d dist) write(t *testing.T, unlisted ...string) string {
	t.Helper()
	folder := filepath.Join(t.TempDir(), "dist")
	if err := os.Mkdir(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	type artifact struct {
		Name     string `json:"name"`
		Path     string `json:"path"`
		Type     string `json:"type"`
		Internal int    `json:"internal_type"`
	}
	list := []artifact{{"checksums.txt", "dist/checksums.txt", "Checksum", 12}, {"foreman", "dist/none/foreman", "Binary", 4}}
	var sums strings.Builder
	for name, content := range d.files {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		a := artifact{name, "dist/" + name, "Archive", 1}
		switch {
		case strings.HasSuffix(name, ".sbom.json"):
			a.Type, a.Internal = "SBOM", 30
		case strings.HasSuffix(name, ".deb"), strings.HasSuffix(name, ".rpm"):
			a.Type, a.Internal = "Linux Package", 6
		case d.built[name] != "":
			a.Type, a.Internal = "Binary", 2
		}
		list = append(list, a)
		if len(unlisted) == 0 || unlisted[0] != name {
			sums.WriteString(sum(content) + "  " + name + "\n")
		}
	}
	text, err := json.Marshal(list)
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string]string{"artifacts.json": string(text), "checksums.txt": sums.String()} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

func TestCheck(t *testing.T) {
	t.Parallel()
	d := complete(t)
	opened, err := contents.Open(d.write(t))
	if err != nil {
		t.Fatal(err)
	}
	if n, err := opened.Check(version, d.built); err != nil || n != len(d.files) {
		t.Errorf("got %d files and the error %v, want %d", n, err, len(d.files))
	}
	tests := []struct {
		name   string
		change func(dist)
		want   []string
	}{
		{"other program", func(d dist) { d.files["foreman-linux-amd64"] = "other" }, []string{"foreman-linux-amd64 has the SHA-256"}},
		{"other program in an archive", func(d dist) {
			d.files["foremand_1.2.3_darwin_arm64.tar.gz"] = archive(t, packed{"tar", "foremand", "foremand", "other"})
		}, []string{"foremand in foremand_1.2.3_darwin_arm64.tar.gz has the SHA-256"}},
		{"missing files", func(d dist) {
			for _, name := range []string{"foreman_1.2.3_windows_arm64.zip", "foreman_1.2.3_amd64.deb", "foremand_1.2.3_arm64.rpm", "foreman-linux-arm64.sbom.json"} {
				delete(d.files, name)
			}
		}, []string{"foreman_1.2.3_windows_arm64.zip is missing", "foreman_1.2.3_amd64.deb is missing", "foremand_1.2.3_arm64.rpm is missing", "foreman-linux-arm64.sbom.json is missing"}},
		{"foreign file in an archive", func(d dist) {
			d.files["contribflow_1.2.3_windows_amd64.zip"] = archive(t, packed{"zip", "contribflow", "contribflow.exe", "code of contribflow for windows-amd64"}, "notes.txt")
		}, []string{"contribflow_1.2.3_windows_amd64.zip has notes.txt"}},
		{"archive without completions", func(d dist) {
			d.files["foreman_1.2.3_linux_amd64.tar.gz"] = archive(t, packed{"tar", "x", "foreman", "code of foreman for linux-amd64"})
		}, []string{"foreman_1.2.3_linux_amd64.tar.gz has no completions/foreman.bash", "has no man/man1/foreman.1"}},
		{"no package", func(d dist) { d.files["foreman_1.2.3_amd64.deb"] = "text" }, []string{"foreman_1.2.3_amd64.deb is no package"}},
		{"empty SBOM", func(d dist) { d.files["foreman-linux-arm64.sbom.json"] = `{"bomFormat":"CycloneDX"}` }, []string{"foreman-linux-arm64.sbom.json: want"}},
	}
	for _, tt := range tests {
		d := complete(t)
		tt.change(d)
		opened, err := contents.Open(d.write(t))
		if err != nil {
			t.Fatal(err)
		}
		_, err = opened.Check(version, d.built)
		for _, want := range tt.want {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: got the error %v, want %q in it", tt.name, err, want)
			}
		}
	}
	opened, err = contents.Open(d.write(t, "foreman_1.2.3_amd64.deb"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := opened.Check(version, d.built); err == nil || !strings.Contains(err.Error(), "foreman_1.2.3_amd64.deb has the SHA-256") {
		t.Errorf("an unlisted file: got the error %v", err)
	}
}

func TestFormula(t *testing.T) {
	t.Parallel()
	d := complete(t)
	opened, err := contents.Open(d.write(t))
	if err != nil {
		t.Fatal(err)
	}
	text, err := opened.Formula(version, "https://github.com/org/foreman-action/releases/download/v1.2.3", "https://github.com/org/foreman-action")
	if err != nil {
		t.Fatal(err)
	}
	for _, platform := range []string{"darwin_arm64", "darwin_amd64", "linux_arm64", "linux_amd64"} {
		file := "foreman_1.2.3_" + platform + ".tar.gz"
		want := "url \"https://github.com/org/foreman-action/releases/download/v1.2.3/" + file + "\"\n      sha256 \"" + sum(d.files[file]) + "\"\n"
		if !strings.Contains(text, want) {
			t.Errorf("got the formula\n%s\nwant %q in it", text, want)
		}
	}
	if _, err := opened.Formula("1.2.4", "https://github.com", ""); err == nil || !strings.Contains(err.Error(), "foreman_1.2.4_darwin_arm64.tar.gz") {
		t.Errorf("another version: got the error %v", err)
	}
}
