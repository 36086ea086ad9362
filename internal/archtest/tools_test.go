package archtest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestPluginMatchesRuntime compares the versions of the plugin that generated gen/ and of the library that gen/ uses. A newer plugin may
// generate code that an older library does not compile.
func TestPluginMatchesRuntime(t *testing.T) {
	const protobuf = "google.golang.org/protobuf"
	runtime := required(t, filepath.Join("..", "..", "go.mod"), protobuf)
	plugin := required(t, filepath.Join("..", "..", "tools", "go.mod"), protobuf)
	if runtime != plugin {
		t.Errorf("go.mod has %s %s, but tools/go.mod has %s; raise the older one with go get, then run make gen",
			protobuf, runtime, plugin)
	}
}

// required returns the version of a module that a go.mod requires.
func required(t *testing.T, file, path string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		fields := strings.Fields(strings.TrimPrefix(line, "require "))
		if len(fields) >= 2 && fields[0] == path {
			return fields[1]
		}
	}
	t.Fatalf("%s does not require %s", file, path)
	return ""
}
