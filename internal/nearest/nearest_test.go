package nearest

import "testing"

func TestNameSuggestsTheNearest(t *testing.T) {
	names := []string{"open", "compact", "max-tabs", "max-tokens", "full-page", "tabs"}
	for word, want := range map[string]string{
		"opne": "open", "compct": "compact", "MAX_TAB": "max-tabs", "fullpage": "full-page", "tab": "tabs", "comp": "compact", "zzz": "", "": "", "xs": "",
	} {
		if got := Name(word, names); got != want {
			t.Errorf("%q: got %q, want %q", word, got, want)
		}
	}
}
