package readcmd

import "testing"

func TestATableHasTheColumnsAskedFor(t *testing.T) {
	const all = `[{"Name":"Brass lamp","Left":"3","Note":"a, b"},{"Name":"Old lamp","Left":"1","Note":"say \"x\""}]`
	for _, test := range []struct {
		headers   []string
		json, csv string
	}{
		{nil, all, "Name,Left,Note\nBrass lamp,3,\"a, b\"\nOld lamp,1,\"say \"\"x\"\"\"\n"},
		{[]string{"left", "name"}, `[{"Left":"3","Name":"Brass lamp"},{"Left":"1","Name":"Old lamp"}]`, "Left,Name\n3,Brass lamp\n1,Old lamp\n"},
		{[]string{"Left", "Price"}, all, ""},
	} {
		got, err := tableOf(all)
		if err != nil {
			t.Fatal(err)
		}
		if got.only(test.headers); got.json() != test.json {
			t.Errorf("%q are %s, want %s", test.headers, got.json(), test.json)
		}
		if test.csv != "" && got.csv() != test.csv {
			t.Errorf("%q are %s, want %s", test.headers, got.csv(), test.csv)
		}
	}
}
