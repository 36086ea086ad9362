package har

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
)

func sample() Archive {
	at := time.Date(2026, 3, 4, 5, 6, 7, 8_000_000, time.UTC)
	return Archive{
		Creator: Software{"domtap", "1"}, Browser: Software{"Chrome", "156"},
		Pages: []Page{{ID: "page_1", Title: "A", Started: at}},
		Entries: []Entry{
			{Started: at.Add(time.Second), Took: 30 * time.Millisecond, Request: Request{Method: "GET", URL: "https://a.example/late", Size: 0}, Failed: "net::ERR_FAILED"},
			{Page: "page_1", Started: at, Took: 12 * time.Millisecond,
				Timing: Timing{Blocked: -1, DNS: time.Millisecond, Connect: 3 * time.Millisecond, SSL: 2 * time.Millisecond, Send: time.Millisecond, Wait: 4 * time.Millisecond, Receive: 5 * time.Millisecond},
				Request: Request{Method: "POST", URL: "https://u:pw@a.example/x?q=a%20b&access_token=canary1#state=canary2", Protocol: "h2", Body: []byte(`{"a":1}`), Size: 7,
					Headers: []Header{{"Content-Type", "application/json"}, {"Authorization", "Bearer canary3"}, {"Cookie", "sid=canary4; b=canary5"}, {"Referer", "https://a.example/?code=canary6"}}},
				Response: Response{Status: 302, StatusText: "Found", Type: "text/html", Body: []byte{0xff, 0x00}, Size: 2, Transferred: 200,
					Headers: []Header{{"Set-Cookie", "sid=canary7; Path=/\nx=canary8"}, {"Location", "/next?token=canary9"}, {"X-Api-Key", "canary10"}}}},
		},
	}
}

func TestWhatIsWrittenIsHAR(t *testing.T) {
	text, err := Marshal(sample())
	if err != nil {
		t.Fatal(err)
	}
	if err := Validate(text); err != nil {
		t.Fatal(err)
	}
	var got file
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	first, second := got.Log.Entries[0], got.Log.Entries[1]
	if first.StartedDateTime != "2026-03-04T05:06:07.008Z" || first.Time != 14 || first.Request.QueryString[0] != (param{"q", "a b"}) {
		t.Errorf("got %+v", first)
	}
	if first.Response.Content.Encoding != "base64" || first.Response.RedirectURL != "/next?token=***" || len(first.Response.Cookies) != 2 {
		t.Errorf("got %+v", first.Response)
	}
	if second.Time != 30 || second.Response.Error != "net::ERR_FAILED" || second.Response.Content.MimeType == "" {
		t.Errorf("got %+v", second)
	}
}

func TestNoSecretIsWritten(t *testing.T) {
	text, err := Marshal(sample())
	if err != nil {
		t.Fatal(err)
	}
	for _, word := range []string{"canary", "u:pw", "pw@"} {
		if strings.Contains(string(text), word) {
			t.Errorf("%s is in %s", word, text)
		}
	}
	for _, name := range []string{"sid", "Authorization", "access_token", "X-Api-Key"} {
		if !strings.Contains(string(text), name) {
			t.Errorf("the name %s is not in %s", name, text)
		}
	}
}

func TestEmptyArchivesAreHAR(t *testing.T) {
	text, err := Marshal(Archive{})
	if err != nil {
		t.Fatal(err)
	}
	if err := Validate(text); err != nil {
		t.Error(err)
	}
}

func TestValidateFindsWhatIsMissing(t *testing.T) {
	text, err := Marshal(sample())
	if err != nil {
		t.Fatal(err)
	}
	for _, edit := range [][2]string{
		{`"version":"1.2"`, `"version":"1.1"`}, {`"creator":`, `"creator2":`}, {`"startedDateTime":"2026-03-04T05:06:07`, `"startedDateTime":"yesterday`},
		{`"cache":{}`, `"cash":{}`}, {`"headersSize":-1`, `"headersSize":"x"`}, {`"time":14`, `"time":15`}, {`"pageref":"page_1"`, `"pageref":"page_2"`},
		{`"mimeType":`, `"mime":`}, {`"queryString":[`, `"queryString":[7,`},
	} {
		broken := strings.Replace(string(text), edit[0], edit[1], 1)
		if broken == string(text) {
			t.Fatalf("%s is not in %s", edit[0], text)
		}
		if Validate([]byte(broken)) == nil {
			t.Errorf("with %s, it is no archive", edit[1])
		}
	}
}

func TestURL(t *testing.T) {
	for in, want := range map[string]string{
		"https://a.example/":                        "https://a.example/",
		"https://me:pw@a.example/p@q?x=1":           "https://***@a.example/p@q?x=1",
		"https://a.example?token=1&y=2":             "https://a.example?token=***&y=2",
		"https://a.example/#/in?id_token=1&a=b":     "https://a.example/#/in?id_token=***&a=b",
		"https://a.example/?%74oken=1":              "https://a.example/?%74oken=***",
		"https://a.example/?Key=1&monkey=2&key=":    "https://a.example/?Key=***&monkey=2&key=",
		"not a URL":                                 "not a URL",
		"data:text/plain,…":                         "data:text/plain,…",
		"https://a.example/?flag&x=%zz&%zztoke=1":   "https://a.example/?flag&x=%zz&%zztoke=***",
		"/x?ticket=1&SAMLResponse=2&hmac=3&a=4":     "/x?ticket=***&SAMLResponse=***&hmac=***&a=4",
		"/x?device_code=1&zipcode=2&countryCode=3":  "/x?device_code=***&zipcode=2&countryCode=3",
		"/x?next=%2Fy%3Ftoken%3D1%26b%3D2&c=d":      "/x?next=%2Fy%3Ftoken%3D***%26b%3D2&c=d",
		"/x?next=https%3A%2F%2Fme%3Apw%40b.example": "/x?next=https%3A%2F%2F***%40b.example",
	} {
		if got := URL(in); got != want {
			t.Errorf("URL(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestHeadersAreShownWithoutSecrets(t *testing.T) {
	for _, h := range [][3]string{
		{"Refresh", "5; url=/next?token=canary&a=b", "5; url=/next?token=***&a=b"},
		{"Link", `</a?token=canary>; rel=preload, <https://me:canary@b.example/c?x=1&sig=canary>; rel=next`, `</a?token=***>; rel=preload, <https://***@b.example/c?x=1&sig=***>; rel=next`},
		{"Content-Location", "/x?code=canary", "/x?code=***"},
		{"SourceMap", "app.js.map?key=canary", "app.js.map?key=***"},
		{":path", "/x?SAMLResponse=canary&q=1", "/x?SAMLResponse=***&q=1"},
		{"Referer", "https://a.example/in#id_token=canary&n=1", "https://a.example/in#id_token=***&n=1"},
		{"Report-To", `{"endpoints":[{"url":"https://a.example/r?token=canary"}]}`, `{"endpoints":[{"url":"https://a.example/r?token=***"}]}`},
		{"Content-Type", "text/html; charset=utf-8", "text/html; charset=utf-8"},
		{"Cache-Control", "max-age=600, private", "max-age=600, private"},
		{"X-Auth-Ticket", "canary", "***"},
	} {
		if got := Value(h[0], h[1]); got != h[2] {
			t.Errorf("%s is shown as %q, want %q", h[0], got, h[2])
		}
	}
}

func FuzzWhatIsWrittenIsHAR(f *testing.F) {
	f.Add("GET", "https://a.example/?a=b#c", "Cookie", "a=b; c=d", int64(7), []byte("x"))
	f.Fuzz(func(t *testing.T, method, address, name, value string, took int64, body []byte) {
		h := []Header{{name, value}}
		text, err := Marshal(Archive{Entries: []Entry{{Took: time.Duration(took), Request: Request{Method: method, URL: address, Headers: h, Body: body}, Response: Response{Headers: h, Body: body}}}})
		if err != nil {
			t.Fatal(err)
		}
		if took >= 0 {
			if err := Validate(text); err != nil {
				t.Error(err)
			}
		}
	})
}
