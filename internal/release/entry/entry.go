// Package entry pins a release in the two files that workflows start: action.yml names the image
// by its digest, slim/action.yml the programs by their SHA-256.
package entry

import (
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"strings"

	"gopkg.in/yaml.v3"
)

// The paths of the two files in the repository.
const (
	ContainerFile = "action.yml"
	SlimFile      = "slim/action.yml"
)

// Default is the repository that texts and programs name unless a release replaces it.
const Default = "org/foreman-action"

// A Repository is the repository that releases.
type Repository struct{ Owner, Name string }

var (
	repositoryForm = regexp.MustCompile(`^([A-Za-z0-9][A-Za-z0-9-]{0,38})/([A-Za-z0-9._-]{1,100})$`)
	digestForm     = regexp.MustCompile(`^sha256:[0-9a-f]{64}$`)
	imageForm      = regexp.MustCompile(`^docker://[a-z0-9][a-z0-9._:/-]*@sha256:[0-9a-f]{64}$`)
	sumForm        = regexp.MustCompile(`^[0-9a-f]{64}$`)
)

// ParseRepository parses owner/name.
func ParseRepository(text string) (Repository, error) {
	parts := repositoryForm.FindStringSubmatch(text)
	if len(parts) == 0 || strings.Trim(parts[2], ".") == "" {
		return Repository{}, fmt.Errorf("repository %q: want owner/name in GITHUB_REPOSITORY or -repository", text)
	}
	return Repository{parts[1], parts[2]}, nil
}

// String returns owner/name.
func (r Repository) String() string { return r.Owner + "/" + r.Name }

// Image returns the name of an image of the repository's owner. Registries accept lower case only.
func (r Repository) Image(registry, name string) string {
	return registry + "/" + strings.ToLower(r.Owner) + "/" + name
}

// CheckDigest refuses text that is no digest of an image.
func CheckDigest(digest string) error {
	if !digestForm.MatchString(digest) {
		return fmt.Errorf("image digest %q: want sha256: and 64 digits of lower-case hex", digest)
	}
	return nil
}

// PinImage returns action.yml with the image in place of the Dockerfile.
func PinImage(text, image, digest string) (string, error) {
	if err := CheckDigest(digest); err != nil {
		return "", err
	}
	const line = "\n  image: Dockerfile\n"
	if strings.Count(text, line) != 1 {
		return "", fmt.Errorf("%s: want one line %s in it", ContainerFile, strings.TrimSpace(line))
	}
	return strings.Replace(text, line, "\n  image: docker://"+image+"@"+digest+"\n", 1), nil
}

// Platforms returns the platforms with a program of their own, such as linux-amd64.
func Platforms() []string {
	return []string{"linux-amd64", "linux-arm64", "darwin-amd64", "darwin-arm64", "windows-amd64", "windows-arm64"}
}

// File returns the name that a release gives a program without an archive, such as
// foreman-windows-amd64.exe.
func File(program, platform string) string {
	if strings.HasPrefix(platform, "windows-") {
		return program + "-" + platform + ".exe"
	}
	return program + "-" + platform
}

// Downloads returns the address below which the files of a release lie.
func Downloads(server string, r Repository, tag string) (string, error) {
	u, err := url.Parse(server)
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" || u.User != nil || u.RawQuery != "" || u.Fragment != "" || strings.ContainsAny(server, "\"\\") {
		return "", fmt.Errorf("server %q: want an address such as https://github.com", server)
	}
	return strings.TrimRight(u.String(), "/") + "/" + r.String() + "/releases/download/" + tag, nil
}

// unreleased matches a part of a page that is only for the time before there is a release.
var unreleased = regexp.MustCompile(`(?s)<!-- until the first release -->\n.*?<!-- /until the first release -->\n\n?`)

// Page returns a page of the documentation as a release has it. It names the repository of the
// release in place of the default one: as an action, and in the address of its releases. The path
// of the module stays. The parts for the time until the first release are gone.
func Page(page, server string, r Repository) string {
	return strings.NewReplacer(
		"uses: "+Default+"@", "uses: "+r.String()+"@",
		"uses: "+Default+"/slim@", "uses: "+r.String()+"/slim@",
		"https://github.com/"+Default+"/releases", strings.TrimRight(server, "/")+"/"+r.String()+"/releases",
	).Replace(unreleased.ReplaceAllString(page, ""))
}

// DeployFolder is the folder with the files that set up a server.
const DeployFolder = "deploy"

// Deployment returns a file of [DeployFolder] as the release of a tag has it. It names the server's image
// of the release, and the repository that releases. The chart has the version of the release.
func Deployment(text, server, registry, tag string, r Repository) string {
	const image = "ghcr.io/org/foremand"
	return strings.NewReplacer(
		image+":v1", r.Image(registry, "foremand")+":"+tag,
		image, r.Image(registry, "foremand"),
		"\nversion: 0.1.0\n", "\nversion: "+strings.TrimPrefix(tag, "v")+"\n",
		"\nappVersion: v1\n", "\nappVersion: "+tag+"\n",
		"https://github.com/"+Default, strings.TrimRight(server, "/")+"/"+r.String(),
	).Replace(text)
}

// The variables of slim/action.yml: the address of the release, and a SHA-256 per platform.
const address = "FOREMAN_DOWNLOAD"

func variable(platform string) string {
	return "FOREMAN_" + strings.ToUpper(strings.ReplaceAll(platform, "-", "_"))
}

// PinPrograms returns slim/action.yml with the address of the release and the SHA-256 of the
// program foreman for every platform. The keys of sums are names of files, as in the
// release's list of checksums. All mistakes are reported at once.
func PinPrograms(text, downloads string, sums map[string]string) (string, error) {
	var mistakes []error
	set := func(variable, value string) {
		line := "\n        " + variable + ": \"\"\n"
		if strings.Count(text, line) != 1 {
			mistakes = append(mistakes, fmt.Errorf("%s: want one line %s in it", SlimFile, strings.TrimSpace(line)))
			return
		}
		text = strings.Replace(text, line, "\n        "+variable+": \""+value+"\"\n", 1)
	}
	set(address, downloads)
	for _, platform := range Platforms() {
		file := File("foreman", platform)
		sum := sums[file]
		switch {
		case sum == "":
			mistakes = append(mistakes, fmt.Errorf("no checksum of %s: build every platform", file))
		case !sumForm.MatchString(sum):
			mistakes = append(mistakes, fmt.Errorf("checksum %q of %s: want 64 digits of lower-case hex", sum, file))
		default:
			set(variable(platform), sum)
		}
	}
	if err := errors.Join(mistakes...); err != nil {
		return "", err
	}
	return text, nil
}

// CheckPinned refuses the two files of a commit that is no release of a tag: without an image by its
// digest, without the address of that release, or without the checksum of a program. All
// mistakes are reported at once.
func CheckPinned(container, slim, tag string) error {
	var mistakes []error
	parse := func(name, text string) (f struct {
		Runs struct {
			Image string
			Steps []struct{ Env map[string]string }
		}
	}) {
		if err := yaml.Unmarshal([]byte(text), &f); err != nil {
			mistakes = append(mistakes, fmt.Errorf("%s: %w", name, err))
		}
		return f
	}
	if image := parse(ContainerFile, container).Runs.Image; !imageForm.MatchString(image) {
		mistakes = append(mistakes, fmt.Errorf("%s names the image %q: want docker:// and an image with its digest", ContainerFile, image))
	}
	var env map[string]string
	if steps := parse(SlimFile, slim).Runs.Steps; len(steps) > 0 {
		env = steps[0].Env
	}
	if !strings.HasSuffix(env[address], "/releases/download/"+tag) {
		mistakes = append(mistakes, fmt.Errorf("%s: %s is %q: want the address of the release %s", SlimFile, address, env[address], tag))
	}
	for _, platform := range Platforms() {
		if sum := env[variable(platform)]; !sumForm.MatchString(sum) {
			mistakes = append(mistakes, fmt.Errorf("%s: %s is %q: want a SHA-256", SlimFile, variable(platform), sum))
		}
	}
	return errors.Join(mistakes...)
}

// ParseSums parses a list of checksums: lines of a SHA-256, two spaces and the name of a file.
func ParseSums(text string) (map[string]string, error) {
	sums := map[string]string{}
	var mistakes []error
	for i, line := range strings.Split(strings.TrimRight(text, "\n"), "\n") {
		sum, file, ok := strings.Cut(line, "  ")
		switch {
		case !ok || !sumForm.MatchString(sum) || file == "":
			mistakes = append(mistakes, fmt.Errorf("line %d: want a SHA-256, two spaces and a name, got %q", i+1, line))
		case sums[file] != "":
			mistakes = append(mistakes, fmt.Errorf("line %d: %s is listed twice", i+1, file))
		default:
			sums[file] = sum
		}
	}
	return sums, errors.Join(mistakes...)
}
