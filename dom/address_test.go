package dom

import "testing"

func TestCredentialsInAddressesAreMasked(t *testing.T) {
	for url, want := range map[string][2]string{ // as shown now, and as stored
		"https://a.example/x?q=1":                         {"https://a.example/x?q=1", "https://a.example/x?q=1"},
		"https://user:pass@a.example/x":                   {"https://a.example/x", "https://a.example/x"},
		"https://user:p@ss@a.example":                     {"https://a.example", "https://a.example"},
		"https://a.example/x?mail=me@b.example":           {"https://a.example/x?mail=me@b.example", "https://a.example/x?mail=me@b.example"},
		"data:text/html,http://me:pw@b.example":           {"data:text/html,http://me:pw@b.example", "data:text/html,http://me:pw@b.example"},
		"about:blank":                                     {"about:blank", "about:blank"},
		"https://a.example/#part":                         {"https://a.example/#part", "https://a.example/#part"},
		"https://a.example/#/orders/5":                    {"https://a.example/#/orders/5", "https://a.example/#/orders/5"},
		"https://a.example/#token=abc":                    {"https://a.example/#token=***", "https://a.example/#token=***"},
		"https://a.example/#page=3":                       {"https://a.example/#page=3", "https://a.example/#page=***"},
		"https://a.example/#?Access_Token=abc&a=1":        {"https://a.example/#?Access_Token=***&a=1", "https://a.example/#?Access_Token=***&a=***"},
		"https://a.example/#/cb?id_token=abc&tab=2":       {"https://a.example/#/cb?id_token=***&tab=2", "https://a.example/#/cb?id_token=***&tab=2"},
		"https://a.example/#/cb#access_token=abc":         {"https://a.example/#/cb#access_token=***", "https://a.example/#/cb#access_token=***"},
		"https://a.example/#x=abcdefghijklmnopqrstuvwxyz": {"https://a.example/#x=***", "https://a.example/#x=***"},
	} {
		if got := [2]string{MaskCredentials(url), MaskParameters(url)}; got != want {
			t.Errorf("%s is shown and kept as %q, want %q", url, got, want)
		}
	}
}
