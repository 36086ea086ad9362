package settings

import (
	"errors"
	"reflect"
	"strings"
	"testing"
)

var known = map[string]bool{"max-tabs": false, "max-sessions": false, "upload-dir": true, "listen": false, "ui": false}

func TestAFileIsOneSettingALine(t *testing.T) {
	got, err := Parse([]byte("\ufeff# the daemon\n\nmax-tabs=50\r\n  upload-dir = /srv/a b \nupload-dir = \"/srv/\\\"c\\\"\"\nlisten =\n--ui = true\n"), known)
	want := []Setting{{3, "max-tabs", "50"}, {4, "upload-dir", "/srv/a b"}, {5, "upload-dir", `/srv/"c"`}, {6, "listen", ""}, {7, "ui", "true"}}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestAFileIsYAML(t *testing.T) {
	got, err := Parse([]byte("\ufeff# the daemon\n\nmax-tabs: 50\nupload-dir:\n  - /srv/a b\n  - '/srv/\"c\"'\nlisten:\nui: yes\n"), known)
	want := []Setting{{3, "max-tabs", "50"}, {5, "upload-dir", "/srv/a b"}, {6, "upload-dir", `/srv/"c"`}, {7, "listen", ""}, {8, "ui", "yes"}}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestProblemsNameTheLineAndWhatWasMeant(t *testing.T) {
	for text, want := range map[string]string{
		"max-tabs = 1\nmax-tab = 2":    "line 2: unknown setting \"max-tab\": did you mean max-tabs?",
		"MAX_TABS = 1":                 "line 1: unknown setting \"MAX_TABS\": did you mean max-tabs?",
		"colour = red":                 "line 1: unknown setting \"colour\": domtap config --all lists all settings",
		"# x\n[server]":                "line 2: not NAME: VALUE",
		"max-tabs = 1\n\nmax-tabs = 2": "line 3: max-tabs is set in line 1 already",
		"listen = \"x":                 "line 1: the value of listen starts with a double quote",
		"= 3":                          "line 1: not NAME = VALUE",
	} {
		_, err := Parse([]byte(text), known)
		var p *Problem
		if !errors.As(err, &p) || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: got %v, want %s", text, err, want)
		}
	}
}

func TestALongFileIsRefused(t *testing.T) {
	if _, err := Parse([]byte(strings.Repeat("#", MaxBytes+1)), known); err == nil {
		t.Error("it was read")
	}
	if _, err := Parse([]byte(strings.Repeat("#", MaxBytes)), known); err != nil {
		t.Error(err)
	}
}

// FuzzParse checks that a valid file contains only known settings, and that Parse returns what Format has written.
func FuzzParse(f *testing.F) {
	f.Add("max-tabs = 50\nupload-dir = \"a\\n\"\n# x")
	f.Add("max-tabs: 50\nupload-dir: [a, 'b: c', \"\\t\"]\nlisten:")
	f.Add("listen = \"")
	f.Fuzz(func(t *testing.T, text string) {
		all, err := Parse([]byte(text), known)
		if err != nil {
			return
		}
		for _, s := range all {
			repeats, there := known[s.Name]
			if !there || s.Line < 1 {
				t.Fatalf("got %+v", s)
			}
			line, err := Format(s.Name, repeats, s.Value)
			if err != nil {
				t.Fatal(err)
			}
			if again, err := Parse([]byte(line), known); err != nil || len(again) != 1 || again[0].Value != s.Value {
				t.Fatalf("%q became %q: %+v, %v", s.Value, line, again, err)
			}
		}
	})
}
