package observer

import (
	"io/fs"
	"strings"
	"testing"
)

func TestWithoutComments(t *testing.T) {
	src := `// @ts-check
// A file.

/** One line. @param {string} a */
function f(a) {
  /**
   * Several lines.
   */
  const url = "https://example.com/*"; // stays: it is behind code
  /** @type {Rec} */ (a).b = 1;
}
`
	want := `function f(a) {
const url = "https://example.com/*"; // stays: it is behind code
/** @type {Rec} */ (a).b = 1;
}
`
	if got := withoutComments(src); got != want {
		t.Errorf("withoutComments(%q) = %q, want %q", src, got, want)
	}
}

// A template literal may hold lines that look like comments, and white space that counts.
func TestScriptsHaveNoTemplates(t *testing.T) {
	names, err := fs.Glob(files, "js/*.js")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		src, err := files.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(withoutComments(string(src)), "`") {
			t.Errorf("%s has a template literal, which withoutComments could cut: write it as strings that are joined", name)
		}
	}
}
