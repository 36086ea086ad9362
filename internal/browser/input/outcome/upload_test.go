package outcome

import "testing"

func TestFilesOfAnotherKindAreSaid(t *testing.T) {
	for _, test := range []struct {
		accept string
		path   string
		want   string
	}{
		{"", "/d/a.txt", ""},
		{".pdf, .PNG", "/d/a.png", ""},
		{"image/*", "/d/a.PNG", ""},
		{"image/jpg", "/d/a.jpg", ""},
		{"application/pdf", "/d/a.pdf", ""},
		{"*/*", "/d/a.pdf", ""},
		{"image/*", "/d/a.nobody-knows", ""},
		{".pdf", "/d/a.txt", `ok, though it asks for .pdf, which "a.txt" is not`},
		{"image/*,.pdf", "/d/a.html", `ok, though it asks for image/*, .pdf, which "a.html" is not`},
	} {
		if got := Uploaded(test.accept, []string{test.path}); got != test.want {
			t.Errorf("%q, %s: %q, want %q", test.accept, test.path, got, test.want)
		}
	}
}
