package ecosystem

import (
	"path"
	"regexp"
	"slices"
	"strings"
)

// An ecosystem is a row of the table: the files, package managers, lockfiles and commands of a
// language or a build tool.
type ecosystem struct {
	name  string // the key of its image in [Options.Images]
	image string // the default image
	// manifests are the files that make a folder a package, such as "mix.exs" or "*.csproj".
	manifests []string
	// partial are further files with which a package is detected. In nested folders they are often only
	// for documentation, or parts of the root's build, so they do not make a nested folder a package.
	partial []string
	// roots are manifests whose folder builds the packages in the folders below it; empty: none does.
	roots []string
	// managers are the package managers, in the order of preference.
	managers []manager
	// pins are files besides lockfiles with which the setup selects dependencies, such as
	// "nuget.config".
	pins []string
	// locks are lockfiles of managers that are not detected.
	locks []string
	// manifestsPin means that the manifests select the dependencies, so no lockfile is needed.
	manifestsPin bool
	needs        *regexp.Regexp // matches a manifest that declares dependencies from the network
	one          bool           // the commands work only if the folder has one manifest
	alone        bool           // used only if no other ecosystem of the folder has a command
	commands     []check
	// review are globs, in lower case, of files that a person must review before they are published.
	// They contain code that runs on other machines or without being asked, or keys.
	review []string
}

// A manager is a package manager of an ecosystem.
type manager struct {
	name  string   // the name that a plan shows
	image string   // its own default image; empty: that of the ecosystem
	locks []string // its lockfiles; a setup uses those that exist
	setup string   // installs the dependencies that the lockfiles pin; empty: there is nothing to install
	// otherSetup replaces setup for Yarn 2 and newer, and for the workspaces of uv.
	otherSetup string
	run        string   // runs a script of the manifest, whose name follows
	env        []string // variables of its commands
}

// A check is a command of an ecosystem.
type check struct {
	step
	tool    string         // it is run if the manifest configures this tool
	files   []string       // it is run if one of them exists; empty: always, or for tool
	without []string       // it is not run if one of them exists
	recipe  *regexp.Regexp // it is run if the manifest matches; nil: always
}

// ecosystems is the table, in the order of the commands of a folder. Ecosystems whose rules are more
// than names of files and a pattern have a function in units, and a file with its name.
var ecosystems = []ecosystem{
	{
		name: "node", image: "node:22-bookworm-slim", manifests: []string{"package.json"},
		managers: []manager{
			{name: "npm", locks: []string{"package-lock.json", "npm-shrinkwrap.json"}, setup: "npm ci --ignore-scripts", run: "npm run "},
			{name: "pnpm", locks: []string{"pnpm-lock.yaml"}, setup: "corepack pnpm install --frozen-lockfile --ignore-scripts", run: "corepack pnpm run "},
			{name: "yarn", locks: []string{"yarn.lock"}, setup: "corepack yarn install --frozen-lockfile --ignore-scripts",
				otherSetup: "corepack yarn install --immutable --mode=skip-build", run: "corepack yarn run "},
			{name: "bun", image: "oven/bun:1-debian", locks: []string{"bun.lock", "bun.lockb"}, setup: "bun install --frozen-lockfile --ignore-scripts", run: "bun run "},
		},
		// The lines are names of scripts.
		commands: []check{{step: step{lint, "lint"}}, {step: step{typecheck, "typecheck"}}, {step: step{test, "test"}}, {step: step{build, "build"}}},
		review:   []string{"binding.gyp", ".pnpmfile.cjs", ".pnpmfile.mjs", ".yarn/**", ".npmrc", ".yarnrc*"},
	},
	{
		name: "go", image: "golang:1.26-bookworm", manifests: []string{"go.mod"},
		managers: []manager{{name: "go", locks: []string{"go.sum", "go.work.sum"}, setup: "go mod download"}},
		commands: []check{{step: step{lint, "go vet ./..."}}, {step: step{test, "go test ./..."}}},
	},
	{
		name: "rust", image: "rust:1-bookworm", manifests: []string{"Cargo.toml"},
		managers: []manager{{name: "cargo", locks: []string{"Cargo.lock"}, setup: "cargo fetch --locked"}},
		commands: []check{{step: step{typecheck, "cargo check --locked --offline"}}, {step: step{test, "cargo test --locked --offline"}}},
		review:   []string{"build.rs", ".cargo/config", ".cargo/config.toml"},
	},
	{
		name: "python", image: "python:3.13-bookworm", manifests: []string{"pyproject.toml", "setup.py"}, partial: []string{"requirements.txt"},
		managers: []manager{
			{name: "uv", image: "ghcr.io/astral-sh/uv:python3.13-bookworm", locks: []string{"uv.lock"}, setup: "uv sync --frozen --no-install-project",
				otherSetup: "uv sync --frozen --all-packages --no-install-workspace"},
			{name: "poetry", locks: []string{"poetry.lock"}, setup: "poetry install --no-root"},
			{name: "pip", setup: "pip install --only-binary=:all:"},
		},
		locks: []string{"pdm.lock", "Pipfile.lock"},
		commands: []check{
			{step: step{lint, "ruff check ."}, tool: "ruff", files: []string{"ruff.toml", ".ruff.toml"}},
			{step: step{typecheck, "mypy ."}, tool: "mypy", files: []string{"mypy.ini", ".mypy.ini"}},
			{step: step{test, "python -m pytest"}, tool: "pytest", files: []string{"pytest.ini", "conftest.py"}},
			{step: step{test, "python -m unittest"}, tool: "unittest"},
		},
		review: []string{"setup.py", "conftest.py", "sitecustomize.py", "*.pth", "noxfile.py", "tox.ini", ".pypirc"},
	},
	{
		name: "maven", image: "maven:3-eclipse-temurin-21", manifests: []string{"pom.xml"}, manifestsPin: true,
		managers: []manager{{name: "maven", setup: "mvn -B -ntp dependency:go-offline"}},
		commands: []check{{step: step{test, "mvn -B -o test"}}},
		review:   []string{"mvnw", "mvnw.cmd", ".mvn/**"},
	},
	{
		name: "gradle", image: "gradle:8-jdk21", manifests: []string{"build.gradle", "build.gradle.kts", "settings.gradle", "settings.gradle.kts"},
		roots: []string{"settings.gradle", "settings.gradle.kts"}, manifestsPin: true,
		managers: []manager{{name: "gradle", locks: []string{"gradle.lockfile"}, setup: "gradle --no-daemon testClasses"}},
		pins:     []string{"gradle.properties", "gradle/libs.versions.toml", "gradle/verification-metadata.xml"},
		commands: []check{{step: step{test, "gradle --no-daemon --offline test"}}},
		review:   []string{"gradlew", "gradlew.bat", "gradle-wrapper.*"},
	},
	{
		name: "dotnet", image: "mcr.microsoft.com/dotnet/sdk:10.0",
		manifests: []string{"*.sln", "*.slnx", "*.csproj", "*.fsproj", "*.vbproj"}, roots: []string{"*.sln", "*.slnx"}, manifestsPin: true, one: true,
		managers: []manager{{
			name: "dotnet", locks: []string{"packages.lock.json"}, setup: "dotnet restore",
			env: []string{"DOTNET_NOLOGO=1", "DOTNET_CLI_TELEMETRY_OPTOUT=1", "DOTNET_ROLL_FORWARD=Major"},
		}},
		pins: []string{"global.json", "nuget.config", "Directory.Packages.props", "Directory.Build.props"},
		commands: []check{
			{step: step{typecheck, "dotnet build --no-restore"}},
			{step: step{test, "dotnet test --no-build"}},
		},
	},
	{
		name: "bundler", image: "ruby:3.4-bookworm", manifests: []string{"Gemfile"}, needs: regexp.MustCompile(`(?m)^\s*(gem|gemspec)\b`),
		managers: []manager{{name: "bundler", locks: []string{"Gemfile.lock"}, setup: "bundle install", env: []string{"BUNDLE_FROZEN=true", "BUNDLE_PATH=vendor/bundle"}}},
		commands: []check{
			{step: step{lint, "bundle exec rubocop"}, files: []string{".rubocop.yml"}},
			{step: step{test, "bundle exec rspec"}, files: []string{".rspec", "spec/spec_helper.rb"}},
			{step: step{test, "bundle exec rake"}, files: []string{"Rakefile"}, without: []string{".rspec", "spec/spec_helper.rb"}},
		},
		review: []string{"rakefile", "extconf.rb"},
	},
	{
		name: "composer", image: "composer:2", manifests: []string{"composer.json"}, needs: regexp.MustCompile(`"require(-dev)?"\s*:\s*\{[^}]*"[^"]*/`),
		managers: []manager{{name: "composer", locks: []string{"composer.lock"}, setup: "composer install --no-interaction --no-progress --no-scripts --no-plugins"}},
		commands: []check{
			{step: step{lint, "vendor/bin/phpstan analyse --no-progress"}, files: []string{"phpstan.neon", "phpstan.neon.dist", "phpstan.dist.neon"}},
			{step: step{test, "vendor/bin/phpunit"}, files: []string{"phpunit.xml", "phpunit.xml.dist", "phpunit.dist.xml"}, without: []string{"tests/Pest.php"}},
			{step: step{test, "vendor/bin/pest"}, files: []string{"tests/Pest.php"}},
		},
	},
	{
		name: "mix", image: "elixir:1.18", manifests: []string{"mix.exs"}, roots: []string{"mix.exs"}, needs: regexp.MustCompile(`\{:\w+,\s*("|git|github|hex)`),
		managers: []manager{{
			name: "mix", locks: []string{"mix.lock"}, setup: "mix do local.hex --force + local.rebar --force + deps.get --check-locked",
			env: []string{"MIX_ENV=test"},
		}},
		commands: []check{
			{step: step{lint, "mix format --check-formatted"}, files: []string{".formatter.exs"}},
			{step: step{test, "mix test"}},
		},
	},
	{
		name: "swift", image: "swift:6.2-bookworm", manifests: []string{"Package.swift"}, needs: regexp.MustCompile(`\.package\(\s*(name:[^,)]*,\s*)?(url|id):`),
		managers: []manager{{name: "swift", locks: []string{"Package.resolved"}, setup: "swift package resolve --force-resolved-versions"}},
		commands: []check{
			{step: step{typecheck, "swift build --skip-update"}},
			{step: step{test, "swift test --skip-update"}},
		},
	},
	{
		name: "deno", image: "denoland/deno:debian", manifests: []string{"deno.json", "deno.jsonc"}, roots: []string{"deno.json", "deno.jsonc"},
		needs:    regexp.MustCompile(`"(jsr|npm|https?):`),
		managers: []manager{{name: "deno", locks: []string{"deno.lock"}, setup: "deno install --frozen"}},
		commands: []check{
			{step: step{lint, "deno lint"}, recipe: regexp.MustCompile(`"lint"\s*:`)},
			{step: step{test, "deno test --allow-all --cached-only --permit-no-files"}},
		},
	},
	{name: "dart", locks: []string{"pubspec.lock"}},
	{name: "nix", locks: []string{"flake.lock"}},
	{
		// A Makefile is used only if a folder has no other ecosystem.
		name: "make", image: "buildpack-deps:bookworm", partial: []string{"GNUmakefile", "makefile", "Makefile"},
		managers: []manager{{name: "make"}},
		// The lines are names of targets.
		commands: []check{{step: step{lint, "lint"}}, {step: step{typecheck, "check"}}, {step: step{test, "test"}}},
		review:   []string{"makefile", "gnumakefile", "*.mk"},
	},
	{
		name: "cmake", image: "mcr.microsoft.com/devcontainers/cpp:1-bookworm", partial: []string{"CMakeLists.txt"}, manifestsPin: true, alone: true,
		managers: []manager{{name: "cmake", setup: "cmake -S . -B .contribflow-build"}},
		commands: []check{
			{step: step{typecheck, "cmake --build .contribflow-build"}},
			{step: step{test, "ctest --test-dir .contribflow-build --output-on-failure"}},
		},
	},
	{
		name: "just", image: "buildpack-deps:bookworm", partial: []string{"justfile", ".justfile", "Justfile"}, alone: true,
		managers: []manager{{name: "just"}},
		commands: []check{
			{step: step{lint, "just lint"}, recipe: recipe("lint")},
			{step: step{typecheck, "just check"}, recipe: recipe("check")},
			{step: step{test, "just test"}, recipe: recipe("test")},
		},
		review: []string{"justfile"},
	},
	{name: "git", image: "buildpack-deps:bookworm-scm", managers: []manager{{name: "git"}}},
}

// recipe returns a pattern for a recipe of a justfile.
func recipe(name string) *regexp.Regexp {
	return regexp.MustCompile(`(?m)^@?` + name + `(\s[^:\n]*)?:([^=]|$)`)
}

// row returns the ecosystem with a name of the table.
func row(name string) ecosystem {
	return ecosystems[slices.IndexFunc(ecosystems, func(e ecosystem) bool { return e.name == name })]
}

// files returns all files with which the ecosystem is detected.
func (e ecosystem) files() []string { return slices.Concat(e.manifests, e.partial) }

// manager returns the package manager with a name; ok is false if the ecosystem has none of that name.
func (e ecosystem) manager(name string) (m manager, ok bool) {
	i := slices.IndexFunc(e.managers, func(m manager) bool { return m.name == name })
	if i < 0 {
		return manager{}, false
	}
	return e.managers[i], true
}

// manifests returns the files that make a folder a separate package.
func manifests() []string {
	var list []string
	for _, e := range ecosystems {
		list = append(list, e.manifests...)
	}
	return list
}

// extensions are the extensions of manifests such as "*.csproj".
var extensions = func() map[string]bool {
	found := map[string]bool{}
	for _, name := range manifests() {
		if ext, ok := strings.CutPrefix(name, "*"); ok {
			found[ext] = true
		}
	}
	return found
}()

// lockfiles are the names of all lockfiles, in lower case.
var lockfiles = func() map[string]bool {
	found := map[string]bool{}
	for _, e := range ecosystems {
		names := e.locks
		for _, m := range e.managers {
			names = slices.Concat(names, m.locks)
		}
		for _, name := range names {
			found[strings.ToLower(name)] = true
		}
	}
	return found
}()

// IsLockfile reports whether a file of that name, without a folder, pins versions for a package
// manager. Case is ignored.
func IsLockfile(name string) bool { return lockfiles[strings.ToLower(name)] }

// Review returns globs, in lower case, of files that a person must review before they are published.
// They contain code that runs on other machines or without being asked, or keys. Lockfiles are not
// among them.
func Review() []string {
	var globs []string
	for _, e := range ecosystems {
		globs = append(globs, e.review...)
	}
	return globs
}

// Ecosystems returns the keys of [Options.Images]: the ecosystems with an image, and the package
// managers of those that have several.
func Ecosystems() []string {
	var keys []string
	for _, e := range ecosystems {
		if e.image != "" {
			keys = append(keys, e.name)
		}
		if len(e.managers) > 1 {
			for _, m := range e.managers {
				keys = append(keys, m.name)
			}
		}
	}
	slices.Sort(keys)
	return keys
}

// image returns the image of a package manager, and the key of [Options.Images] that replaces it.
func (o Options) image(name string) (image, key string) {
	for _, e := range ecosystems {
		m, ok := e.manager(name)
		if !ok {
			continue
		}
		key, image = e.name, e.image
		if len(e.managers) > 1 {
			key = m.name
		}
		if m.image != "" {
			image = m.image
		}
		for _, at := range []string{e.name, key} {
			if set := o.Images[at]; set != "" {
				image = set
			}
		}
	}
	return image, key
}

// detect returns the unit of a folder.
func (e ecosystem) detect(s *source, o Options, dir string) (unit, bool) {
	file, ok := s.has(dir, e.files()...)
	if !ok {
		return unit{}, false
	}
	m := e.managers[0]
	u := unit{manager: m.name, env: m.env}
	if e.member(s, dir) {
		return u, true
	}
	if found := s.all(dir, e.manifests...); e.one && len(found) > 1 {
		s.warn("%s is one of %d projects in its folder. None of them is validated, because %q refuses several", file, len(found), m.setup)
		return u, true
	}
	var manifest []byte
	if e.needs != nil || slices.ContainsFunc(e.commands, func(c check) bool { return c.recipe != nil }) {
		manifest = s.text(file, maxManifest)
	}
	for _, c := range e.commands {
		if len(c.files) > 0 && !s.any(dir, c.files...) || s.any(dir, c.without...) || c.recipe != nil && !c.recipe.Match(manifest) {
			continue
		}
		u.commands = append(u.commands, c.step)
	}
	if m.setup != "" {
		l := e.lock(s, o, dir)
		l.needed = e.needs != nil && e.needs.Match(manifest)
		if u.setup = l.setup(o, dir, m.setup); u.setup != nil {
			u.setup.Env = m.env
		}
	}
	return u, true
}

// member reports whether a project above a folder builds it.
func (e ecosystem) member(s *source, dir string) bool {
	if s.any(dir, e.roots...) && e.manifestsPin { // a solution is no part of another one
		return false
	}
	for at := dir; at != ""; {
		at = parent(at)
		if s.any(at, e.roots...) {
			return true
		}
	}
	return false
}

// lock returns the files that pin the dependencies of a folder. Manifests that pin dependencies also
// count in the folders below it if the patch changes them, because the setup installs their
// dependencies, too.
func (e ecosystem) lock(s *source, o Options, dir string) lock {
	m := e.managers[0]
	if !e.manifestsPin {
		return lock{wanted: strings.Join(m.locks, " or "), files: s.all(dir, m.locks...)}
	}
	l := lock{files: s.all(dir, e.files()...)}
	for _, file := range o.Changed {
		if (dir == "" || strings.HasPrefix(file, dir+"/")) && e.pinning(path.Base(file)) {
			l.files = append(l.files, file)
		}
	}
	return l
}

// pinning reports whether a file of that name pins dependencies. The case of other names than those
// of manifests is ignored, as .NET does.
func (e ecosystem) pinning(name string) bool {
	for _, other := range slices.Concat(e.managers[0].locks, e.pins) {
		if strings.EqualFold(name, other) {
			return true
		}
	}
	return slices.ContainsFunc(e.files(), func(m string) bool {
		ext, glob := strings.CutPrefix(m, "*")
		return glob && path.Ext(name) == ext || !glob && name == m
	})
}
