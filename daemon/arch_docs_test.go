package daemon_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// quoted matches what the documents set as code.
var quoted = regexp.MustCompile("`([^`\n]+)`")

// named matches a path of the tree: a package, or a file with its folder.
var named = regexp.MustCompile(`^(?:[a-z0-9_]+/)+[A-Za-z0-9_]*(?:\.go)?$`)

// absent are packages that the documents name because they are not there yet.
var absent = map[string]bool{"graph/store": true}

// TestDocumentsNameWhatIsThere follows the paths in the documents: a page that
// names a file which was renamed since leads a reader astray.
func TestDocumentsNameWhatIsThere(t *testing.T) {
	followed := 0
	for _, page := range []string{"README.md", "ARCHITECTURE.md", "CONTRIBUTING.md"} {
		content, err := os.ReadFile(filepath.Join("..", page))
		if err != nil {
			t.Fatal(err)
		}
		for _, found := range quoted.FindAllSubmatch(content, -1) {
			name := string(found[1])
			if !named.MatchString(name) || absent[name] || strings.HasPrefix(name, "bin/") {
				continue
			}
			followed++
			if !exists(name) && !exists("daemon/"+name) && !exists("lspclient/"+name) && !exists("adapters/"+name) {
				t.Errorf("%s names %s, which is not there", page, name)
			}
		}
	}
	if followed < 40 {
		t.Errorf("followed only %d paths: the pattern does not fit the documents", followed)
	}
}

// exists reports whether a slash path from the module's root is there.
func exists(name string) bool {
	_, err := os.Stat(filepath.Join("..", filepath.FromSlash(name)))
	return err == nil
}
