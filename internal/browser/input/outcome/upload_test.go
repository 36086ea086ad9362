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
		{".pdf", "/d/a.txt", `ok, although it asks for .pdf and "a.txt" is another type`},
		{"image/*,.pdf", "/d/a.html", `ok, although it asks for image/*, .pdf and "a.html" is another type`},
	} {
		if got := Uploaded(test.accept, []string{test.path}); got != test.want {
			t.Errorf("%q, %s: %q, want %q", test.accept, test.path, got, test.want)
		}
	}
}
