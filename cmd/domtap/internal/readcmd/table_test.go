package readcmd

import (
	"slices"
	"testing"
)

func TestATableHasTheColumnsAskedFor(t *testing.T) {
	const all = `[{"Name":"Brass lamp","Left":"3","Note of the clerk":"a, b"},{"Name":"Old lamp","Left":"1","Note of the clerk":"say \"x\""}]`
	for _, test := range []struct {
		headers   []string
		json, tsv string
	}{
		{nil, all, "Name\tLeft\tNote of the clerk\nBrass lamp\t3\ta, b\nOld lamp\t1\tsay \"x\"\n"},
		{[]string{"left", "name"}, `[{"Left":"3","Name":"Brass lamp"},{"Left":"1","Name":"Old lamp"}]`, "Left\tName\n3\tBrass lamp\n1\tOld lamp\n"},
		{[]string{"Left", "Price"}, all, ""},
		{[]string{"note of"}, `[{"Note of the clerk":"a, b"},{"Note of the clerk":"say \"x\""}]`, ""},
		{[]string{"e"}, all, ""},
	} {
		got, ok := tableOf(all)
		if !ok {
			t.Fatal("the rows are not read")
		}
		if got.only(test.headers); got.json() != test.json {
			t.Errorf("%q are %s, want %s", test.headers, got.json(), test.json)
		}
		if test.tsv != "" && got.tsv() != test.tsv {
			t.Errorf("%q are %s, want %s", test.headers, got.tsv(), test.tsv)
		}
	}
}

func TestAHeaderOfSignsIsNoOtherHeaderOfSigns(t *testing.T) {
	const all = `[{"Name":"Brass lamp","%":"3"}]`
	for header, want := range map[string]string{"#": all, "%": `[{"%":"3"}]`} {
		got, _ := tableOf(all)
		if got.only([]string{header}); got.json() != want {
			t.Errorf("%q is %s, want %s", header, got.json(), want)
		}
	}
}

func TestATableWithoutHeadersHasNoLines(t *testing.T) {
	if got, _ := tableOf("[]"); got.tsv() != "" {
		t.Errorf("printed %q", got.tsv())
	}
}

func TestWhatIsNoTableIsNotRead(t *testing.T) {
	if got, ok := tableOf(`{"Name":"Brass lamp"}`); ok {
		t.Errorf("read %v", got)
	}
}

func TestAHeaderWithACommaIsQuoted(t *testing.T) {
	for list, want := range map[string][]string{
		`Name, "Size, KB" ,,Left,`: {"Name", "Size, KB", "Left"},
		`Screen 24",Price`:         {"Screen 24\"", "Price"},
	} {
		if got := split(list); !slices.Equal(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
