package observer

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/domtap/domtap/dom"
)

const noticeHeader = "doc\t7\to\t1.0\t0\t0\t1280\t800\thttp://h/\tT\n"

func TestDecodeReadsNotices(t *testing.T) {
	m, err := Decode(noticeHeader + `{"id":1,"kind":"alert","text":"Wrong\u0007","detail":"","ref":-1,"gone":false}` + "\n" +
		`{"id":2,"kind":"dialog","text":"Delete?","detail":"For ever","ref":7,"gone":true}`)
	want := []dom.Notice{
		{ID: 1, Kind: dom.NoticeAlert, Text: "Wrong ", Ref: dom.NoRef},
		{ID: 2, Kind: dom.NoticeDialog, Text: "Delete?", Detail: "For ever", Ref: 7, Gone: true},
	}
	if err != nil || !m.HasNotices || !m.Empty || !slices.Equal(m.Notices, want) {
		t.Errorf("got %+v, %v", m, err)
	}
}

func TestDecodeRefusesNotices(t *testing.T) {
	line := `{"id":1,"kind":"alert","text":"x","ref":-1}`
	for name, lines := range map[string]string{
		"no JSON":         "alert",
		"an unknown kind": `{"id":1,"kind":"shout","text":"x","ref":-1}`,
		"a ref":           `{"id":1,"kind":"alert","text":"x","ref":4294967295}`,
		"a long text":     `{"id":1,"kind":"alert","text":"` + strings.Repeat("x", maxNotice+1) + `","ref":-1}`,
		"too many":        strings.Repeat(line+"\n", maxNotices) + line,
	} {
		if _, err := Decode(noticeHeader + lines); !errors.Is(err, ErrMalformed) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
