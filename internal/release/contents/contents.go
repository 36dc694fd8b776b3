// Package contents checks the files of a release, as goreleaser made them.
package contents

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/org/foreman-action/internal/release/entry"
	"github.com/org/foreman-action/internal/release/manual"
	"github.com/org/foreman-action/internal/release/program"
)

// A Dist is the folder that goreleaser writes, as its artifacts.json describes it.
type Dist struct {
	files map[string]string // that are published: name to path
	sums  map[string]string // from checksums.txt
}

const checksums = "checksums.txt"

// Open reads artifacts.json and checksums.txt. Paths in artifacts.json start at the parent
// of the folder.
func Open(folder string) (*Dist, error) {
	text, err := os.ReadFile(filepath.Join(folder, "artifacts.json"))
	if err != nil {
		return nil, fmt.Errorf("read the list of files: %w", err)
	}
	var list []struct {
		Name, Path, Type string
		Internal         int `json:"internal_type"`
	}
	if err := json.Unmarshal(text, &list); err != nil {
		return nil, fmt.Errorf("read %s/artifacts.json: %w", folder, err)
	}
	d := &Dist{files: map[string]string{}}
	for _, a := range list {
		const uploadable = 2 // of the two kinds that are called Binary
		published := a.Type != "Binary" || a.Internal == uploadable
		if published && slices.Contains([]string{"Archive", "Binary", "Linux Package", "SBOM"}, a.Type) {
			d.files[a.Name] = filepath.Join(filepath.Dir(folder), filepath.FromSlash(a.Path))
		}
	}
	text, err = os.ReadFile(filepath.Join(folder, checksums))
	if err != nil {
		return nil, err
	}
	if d.sums, err = entry.ParseSums(string(text)); err != nil {
		return nil, fmt.Errorf("read %s: %w", checksums, err)
	}
	return d, nil
}

// Check compares the programs of a release, bare and in every archive, with the SHA-256 of our
// own builds, and checks that each archive, package and SBOM is there and complete. It reports
// all mistakes at once, and returns the number of files.
func (d *Dist) Check(version string, built map[string]string) (int, error) {
	var mistakes []error
	note := func(err error) {
		if err != nil {
			mistakes = append(mistakes, err)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(d.files)) {
		note(d.listed(name))
	}
	for _, name := range slices.Sorted(maps.Keys(d.sums)) {
		if d.files[name] == "" {
			note(fmt.Errorf("%s lists %s, which is not published", checksums, name))
		}
	}
	for _, p := range program.All() {
		for _, platform := range entry.Platforms() {
			file := entry.File(p.Name, platform)
			if d.sums[file] != built[file] || built[file] == "" {
				note(fmt.Errorf("%s has the SHA-256 %q, our own build %q", file, d.sums[file], built[file]))
			}
			note(d.archive(p.Name, version, platform, built[file]))
			note(d.sbom(file + ".sbom.json"))
			if machine, ok := strings.CutPrefix(platform, "linux-"); ok {
				note(d.kind(p.Name+"_"+version+"_"+machine+".deb", "!<arch>\n"))
				note(d.kind(p.Name+"_"+version+"_"+machine+".rpm", "\xed\xab\xee\xdb"))
			}
		}
	}
	return len(d.files), errors.Join(mistakes...)
}

// listed compares a file with its line in the list of checksums.
func (d *Dist) listed(name string) error {
	sum, err := program.Sum(d.files[name])
	if err != nil {
		return err
	}
	if d.sums[name] != sum {
		return fmt.Errorf("%s has the SHA-256 %s, and %s lists %q", name, sum, checksums, d.sums[name])
	}
	return nil
}

// kind checks the kind of a package by its first bytes.
func (d *Dist) kind(name, magic string) error {
	if d.files[name] == "" {
		return fmt.Errorf("the package %s is missing", name)
	}
	text, err := os.ReadFile(d.files[name])
	if err == nil && !strings.HasPrefix(string(text), magic) {
		err = fmt.Errorf("%s is no package of its kind", name)
	}
	return err
}

// sbom checks that an SBOM lists at least one module.
func (d *Dist) sbom(name string) error {
	if d.files[name] == "" {
		return fmt.Errorf("the SBOM %s is missing", name)
	}
	text, err := os.ReadFile(d.files[name])
	if err != nil {
		return err
	}
	var content struct {
		BOMFormat  string `json:"bomFormat"`
		Components []struct{ Name, Version string }
	}
	if err := json.Unmarshal(text, &content); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if content.BOMFormat != "CycloneDX" || len(content.Components) == 0 {
		return fmt.Errorf("%s: want a CycloneDX document that lists modules", name)
	}
	return nil
}

// archive checks the files in an archive.
func (d *Dist) archive(name, version, platform, sum string) error {
	system, machine, _ := strings.Cut(platform, "-")
	file, code := name+"_"+version+"_"+system+"_"+machine+".tar.gz", name
	read := readTar
	if system == "windows" {
		file, code, read = strings.TrimSuffix(file, ".tar.gz")+".zip", name+".exe", readZip
	}
	if d.files[file] == "" {
		return fmt.Errorf("the archive %s is missing", file)
	}
	found, err := read(d.files[file])
	if err != nil {
		return fmt.Errorf("read %s: %w", file, err)
	}
	want := []string{code, "LICENSE", "README.md", "CHANGELOG.md", "man/man1/" + name + ".1"}
	for _, shell := range manual.Shells() {
		want = append(want, "completions/"+name+"."+shell)
	}
	var mistakes []error
	for _, w := range want {
		if found[w] == "" {
			mistakes = append(mistakes, fmt.Errorf("%s has no %s", file, w))
		}
	}
	for f := range found {
		manualPage := path.Dir(f) == "man/man1" && strings.HasPrefix(path.Base(f), name+"-") && path.Ext(f) == ".1"
		if !slices.Contains(want, f) && !manualPage {
			mistakes = append(mistakes, fmt.Errorf("%s has %s, which does not belong there", file, f))
		}
	}
	if found[code] != "" && found[code] != sum {
		mistakes = append(mistakes, fmt.Errorf("%s in %s has the SHA-256 %s, our own build %s", code, file, found[code], sum))
	}
	return errors.Join(mistakes...)
}

// readTar returns the SHA-256 of the files of an archive by name.
func readTar(name string) (map[string]string, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return nil, err
	}
	found := map[string]string{}
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return found, nil
		}
		if err != nil {
			return nil, err
		}
		if h.Typeflag != tar.TypeReg {
			continue
		}
		if found[h.Name], err = sum(r); err != nil {
			return nil, err
		}
	}
}

func readZip(name string) (map[string]string, error) {
	z, err := zip.OpenReader(name)
	if err != nil {
		return nil, err
	}
	defer z.Close()
	found := map[string]string{}
	for _, f := range z.File {
		r, err := f.Open()
		if err != nil {
			return nil, err
		}
		found[f.Name], err = sum(r)
		if err := errors.Join(err, r.Close()); err != nil {
			return nil, err
		}
	}
	return found, nil
}

func sum(r io.Reader) (string, error) {
	h := sha256.New()
	if _, err := io.Copy(h, r); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// Formula returns the Homebrew formula for foreman: the archives of a release by their address and
// SHA-256.
func (d *Dist) Formula(version, downloads, homepage string) (string, error) {
	var mistakes []error
	block := func(system, machine string) string {
		file := "foreman_" + version + "_" + system + "_" + machine + ".tar.gz"
		if d.sums[file] == "" {
			mistakes = append(mistakes, fmt.Errorf("%s lists no %s", checksums, file))
		}
		return fmt.Sprintf("      url %q\n      sha256 %q\n", downloads+"/"+file, d.sums[file])
	}
	var b strings.Builder
	fmt.Fprintf(&b, "class Foreman < Formula\n  desc \"Guarded, exactly-once triage of GitHub issues\"\n  homepage %q\n  version %q\n  license \"MIT\"\n", homepage, version)
	for _, s := range []struct{ brew, system string }{{"macos", "darwin"}, {"linux", "linux"}} {
		fmt.Fprintf(&b, "\n  on_%s do\n    on_arm do\n%s    end\n    on_intel do\n%s    end\n  end\n", s.brew, block(s.system, "arm64"), block(s.system, "amd64"))
	}
	b.WriteString(`
  def install
    bin.install "foreman"
    man1.install Dir["man/man1/*.1"]
    bash_completion.install "completions/foreman.bash" => "foreman"
    fish_completion.install "completions/foreman.fish"
    zsh_completion.install "completions/foreman.zsh" => "_foreman"
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/foreman --version")
  end
end
`)
	if err := errors.Join(mistakes...); err != nil {
		return "", err
	}
	return b.String(), nil
}
