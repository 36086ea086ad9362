package css

import "testing"

func TestString(t *testing.T) {
	for text, want := range map[string]string{
		"plain": `"plain"`, "": `""`, "Größe 'x'": `"Größe 'x'"`,
		`say "a"`: `"say \22 a\22 "`, `a\b`: `"a\5c b"`, "a\nb\x7f": `"a\a b\7f "`,
	} {
		if got := String(text); got != want {
			t.Errorf("%q: got %s, want %s", text, got, want)
		}
	}
}
