// Package contents checks the files of a release, as goreleaser made them.
package contents

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/org/foreman-action/internal/release/entry"
	"github.com/org/foreman-action/internal/release/program"
)

// A Dist is the folder that goreleaser writes, as its artifacts.json describes it.
type Dist struct {
	files map[string]string // published files: name to path
	sums  map[string]string // from checksums.txt
}

const (
	checksums = "checksums.txt"
	signature = checksums + ".sigstore.json"
)

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

// A Want is the parts that the files of a release are made of.
type Want struct {
	Version  string            // such as 1.2.3
	Programs map[string]string // SHA-256 of our own builds, by file
	Root     string            // the root of the repository
	Manual   string            // the folder that manual.Write wrote
}

// Check compares the programs of a release, bare, in every archive and in every package, with
// our own builds, and their texts, completions, manual pages, units and scripts with those on the disk. It
// reports each file that is missing, incomplete or not a part of a release, all mistakes at once, and
// returns the number of files.
func (d *Dist) Check(ctx context.Context, w Want) (int, error) {
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
	expected := map[string]bool{}
	for _, p := range program.All() {
		parts, err := w.read(p.Name)
		if err != nil {
			return 0, err
		}
		for _, platform := range entry.Platforms() {
			bare := entry.File(p.Name, platform)
			if d.sums[bare] != w.Programs[bare] || w.Programs[bare] == "" {
				note(fmt.Errorf("%s has the SHA-256 %q, our own build %q", bare, d.sums[bare], w.Programs[bare]))
			}
			note(d.sbom(bare+".sbom.json", platform))
			expected[bare], expected[bare+".sbom.json"] = true, true
			for _, c := range containers(p.Name, w.Version, platform) {
				note(d.compare(ctx, c, parts.in(c, p.Name, w.Programs[bare])))
				expected[c.file] = true
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(d.files)) {
		if !expected[name] {
			note(fmt.Errorf("%s is no file of a release", name))
		}
	}
	return len(d.files), errors.Join(mistakes...)
}

// Copy writes the files of a release to a folder under the names that they are published with, the
// more files by their names, and a list of the checksums of all. The folder must be empty.
func (d *Dist) Copy(folder string, more map[string]string) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	var list strings.Builder
	write := func(name string, text []byte) error {
		fmt.Fprintf(&list, "%x  %s\n", sha256.Sum256(text), name)
		return os.WriteFile(filepath.Join(folder, name), text, 0o644)
	}
	names := slices.Concat(slices.Collect(maps.Keys(d.files)), slices.Collect(maps.Keys(more)))
	slices.Sort(names)
	for _, name := range names {
		text, err := []byte(more[name]), error(nil)
		if path, ok := d.files[name]; ok {
			text, err = os.ReadFile(path)
		}
		if err == nil {
			err = write(name, text)
		}
		if err != nil {
			return err
		}
	}
	return os.WriteFile(filepath.Join(folder, checksums), []byte(list.String()), 0o644)
}

// Compare compares the files of a draft, downloaded to a folder, with a list of checksums: each
// listed file, the list itself, perhaps its signature, and no other. It returns the number of
// listed files, and reports all mistakes at once.
func Compare(folder, list string) (int, error) {
	sums, err := entry.ParseSums(list)
	if err != nil {
		return 0, err
	}
	found, err := os.ReadDir(folder)
	if err != nil {
		return 0, err
	}
	var mistakes []error
	for _, name := range slices.Sorted(maps.Keys(sums)) {
		sum, err := program.Sum(filepath.Join(folder, name))
		if err == nil && sum != sums[name] {
			err = fmt.Errorf("%s has the SHA-256 %s, want %s", name, sum, sums[name])
		}
		if err != nil {
			mistakes = append(mistakes, err)
		}
	}
	for _, f := range found {
		if name := f.Name(); sums[name] == "" && name != checksums && name != signature {
			mistakes = append(mistakes, fmt.Errorf("%s is no file of this release", name))
		}
	}
	if text, err := os.ReadFile(filepath.Join(folder, checksums)); err != nil || string(text) != list {
		mistakes = append(mistakes, errors.Join(fmt.Errorf("%s differs from the list of this release", checksums), err))
	}
	return len(sums), errors.Join(mistakes...)
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

// sbom checks that an SBOM lists at least one module, and the platform of its program.
func (d *Dist) sbom(name, platform string) error {
	if d.files[name] == "" {
		return fmt.Errorf("the SBOM %s is missing", name)
	}
	text, err := os.ReadFile(d.files[name])
	if err != nil {
		return err
	}
	var content struct {
		BOMFormat  string `json:"bomFormat"`
		Metadata   struct{ Component struct{ PURL string } }
		Components []struct{ Name, Version string }
	}
	if err := json.Unmarshal(text, &content); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if content.BOMFormat != "CycloneDX" || len(content.Components) == 0 {
		return fmt.Errorf("%s: want a CycloneDX document that lists modules", name)
	}
	system, machine, _ := strings.Cut(platform, "-")
	if purl := content.Metadata.Component.PURL; !strings.Contains(purl, "goarch="+machine+"&goos="+system+"&") {
		return fmt.Errorf("%s: it is of the program %q, want one for %s", name, purl, platform)
	}
	return nil
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
	fmt.Fprintf(&b, "class Foreman < Formula\n  desc \"Guarded triage of GitHub issues that looks before it repeats a write\"\n  homepage %q\n  version %q\n  license \"MIT\"\n", homepage, version)
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
