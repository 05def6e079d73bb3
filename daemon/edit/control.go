package edit

import (
	"path"
	"strings"
)

// control says why a path is a control file: one that decides what programs
// run on the user's machine, so that writing it is more than editing code. It
// returns the empty string for all others. rel is below the root.
func control(rel string) string {
	// Folded, since a file system may not tell .GIT from .git; and without the
	// characters that one may ignore in names (git's CVE-2014-9390).
	parts := strings.Split(strings.ToLower(strings.Map(visible, rel)), "/")
	for i, part := range parts {
		last := i == len(parts)-1
		switch part {
		case ".git":
			return "belongs to git"
		case stagingFallback:
			return "belongs to Aura"
		case ".vscode", ".idea", ".devcontainer", ".cursor", ".claude":
			return "configures an editor or an agent"
		case ".husky", ".githooks":
			return "is run as a git hook"
		case ".circleci", ".buildkite":
			return "is run by the CI"
		case ".github":
			if !last && (parts[i+1] == "workflows" || parts[i+1] == "actions") {
				return "is run by the CI"
			}
		case ".cargo":
			if !last && strings.HasPrefix(parts[i+1], "config") {
				return "configures what cargo runs"
			}
		}
	}
	name := parts[len(parts)-1]
	if ext := path.Ext(name); ext == ".work" || ext == ".code-workspace" {
		return "decides which code belongs to the workspace"
	}
	switch name {
	case ".envrc":
		return "is run by the shell"
	case ".mcp.json", ".aura.toml", "aura.toml":
		return "configures what agents may run"
	case ".pre-commit-config.yaml", ".pre-commit-hooks.yaml", "lefthook.yml", "lefthook.yaml", ".lefthook.yml":
		return "configures git hooks"
	case ".gitlab-ci.yml", ".travis.yml", ".drone.yml", "appveyor.yml", "azure-pipelines.yml",
		"bitbucket-pipelines.yml", "jenkinsfile", ".woodpecker.yml":
		return "is run by the CI"
	case ".gitattributes", ".gitmodules":
		return "configures git"
	}
	if dir := path.Dir(strings.Join(parts, "/")); strings.HasSuffix(dir, "hooks") && strings.HasPrefix(path.Base(dir), ".") {
		return "is run as a git hook"
	}
	return ""
}

// visible drops the characters that HFS+ leaves out when it compares names.
func visible(r rune) rune {
	switch {
	case r >= 0x200c && r <= 0x200f, r >= 0x202a && r <= 0x202e, r >= 0x206a && r <= 0x206f, r == 0xfeff:
		return -1
	}
	return r
}
