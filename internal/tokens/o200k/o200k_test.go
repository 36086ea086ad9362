package o200k

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode"

	"github.com/dlclark/regexp2/v2"
	"github.com/tiktoken-go/tokenizer/codec"
)

// library provides the reference vocabulary and merging.
var library = sync.OnceValue(codec.NewO200kBase)

// splitter interprets the pattern. The additional group keeps regexp2 from using the code that was generated for the library. That code
// drops DEL, and cuts white space after the first line end instead of the last.
var splitter = sync.OnceValue(func() *regexp2.Regexp {
	return regexp2.MustCompile("(?:"+strings.Join([]string{
		`[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?`,
		`[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?`,
		`\p{N}{1,3}`,
		` ?[^\s\p{L}\p{N}]+[\r\n/]*`,
		`\s*[\r\n]+`,
		`\s+(?!\S)`,
		`\s+`,
	}, "|")+")", regexp2.None)
})

// pieces returns the pieces of s according to the pattern.
func pieces(t *testing.T, s string) []string {
	t.Helper()
	var out []string
	match, err := splitter().FindStringMatch(s)
	for match != nil && err == nil {
		out = append(out, match.String())
		match, err = splitter().FindNextMatch(match)
	}
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// departs reports whether the library splits s differently from the pattern.
func departs(s string) bool {
	return strings.Contains(s, "\x7f") || apart.MatchString(s)
}

// apart matches line ends separated by white space.
var apart = regexp.MustCompile(`[\r\n][\t\v\f\x{85}\pZ]+[\r\n]`)

// merged returns the tokens that a piece is merged into.
func merged(text string) []string {
	n := len(text)
	m := merger{text, make([]uint64, 2*n), make([]uint32, n), make([]uint32, n)}
	m.run()
	var tokens []string
	for i := 0; i < n; i = int(m.next[i]) {
		tokens = append(tokens, text[i:m.next[i]])
	}
	return tokens
}

// tokensOf returns the tokens that Count counts, and their pieces.
func tokensOf(s string) (tokens, pieces []string) {
	s = string([]rune(s))
	for s != "" {
		size := piece(s)
		pieces = append(pieces, s[:size])
		if cost(s[:size]) == 1 {
			tokens = append(tokens, s[:size])
		} else {
			tokens = append(tokens, merged(s[:size])...)
		}
		s = s[size:]
	}
	return tokens, pieces
}

// compare fails the test if s is not split according to the pattern, or if its tokens differ from the library's where the library follows
// the pattern.
func compare(t *testing.T, s string) {
	t.Helper()
	tokens, got := tokensOf(s)
	if want := pieces(t, s); !slices.Equal(got, want) {
		t.Fatalf("%q: got the pieces %q, by the pattern %q", s, got, want)
	}
	if n := Count(s); n != len(tokens) {
		t.Fatalf("Count(%q) = %d, but the tokens are %q", s, n, tokens)
	}
	if departs(s) {
		return
	}
	_, want, err := library().Encode(s)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(tokens, want) {
		t.Fatalf("%q: got %q, the library has %q", s, tokens, want)
	}
}

// TestCountKeepsToThePatternWhereTheLibraryDoesNot counts texts that the library counts differently.
func TestCountKeepsToThePatternWhereTheLibraryDoesNot(t *testing.T) {
	for s, want := range map[string]int{"\x7f": 1, "a\n  \nb": 3, "\n  \n": 1} {
		other, err := library().Count(s)
		if err != nil {
			t.Fatal(err)
		}
		if got := Count(s); got != want || other == want {
			t.Errorf("Count(%q) = %d, want %d; the library has %d", s, got, want, other)
		}
	}
}

// symbols contains some characters of each class and alternative of the pattern, and invalid UTF-8.
var symbols = []string{
	"a", "s", "S", "B", "é", "ſ", "ǅ", "ª", "汉", "\u0301", "1", "Ⅷ", " ", "\t", "\u00a0", "\n", "\r", "/", "'", ".", "→", "\x7f", "\xff",
	"re", "VE", "ll", "L", "m", "D", "T", "E", "я", "É", "ʰ", "ก", "\u20dd", "٣", "²", "\u0085", "\u2028", "\u3000", "(", "_",
	"👩", "\u200d", "\ufeff", "\x00", "\ufffd", "\xc3", "\xf0\x9f", "\xed\xa0\x80", "<|endoftext|>",
}

func TestTokensAreTheLibrarys(t *testing.T) {
	for _, s := range []string{
		"", "hello world", "it's IT'S it'ſ we'Ll they'VE I'm he'd 'tis ''s 's", "camelCase HTTPServer iPhone", "汉字ABCabc", "\u0301ABC \u0301abc", "1234567 12,345.67",
		"a\n\n  b", "a\n  \n  b", " \r\n\t\n x", "\n \n", "  ", "   x", "\u3000\u3000.", "//\n/ x", " /\r\n\r\n/a", "(\u0301)", "<|endoftext|><|endofprompt|>",
	} {
		compare(t, s)
	}
	distinct := symbols[:23]
	for _, a := range distinct {
		for _, b := range distinct {
			for _, c := range distinct {
				compare(t, a+b+c)
			}
		}
	}
}

func TestTokensOfRandomTextsAreTheLibrarys(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	for range 3000 {
		var s strings.Builder
		for range 1 + random.IntN(30) {
			if random.IntN(10) == 0 {
				s.WriteRune(random.Int32N(unicode.MaxRune + 1))
			} else {
				s.WriteString(symbols[random.IntN(len(symbols))])
			}
		}
		compare(t, s.String())
	}
}

// TestTokensOfEachRangeOfUnicodeAreTheLibrarys tests the characters at the limits of the pattern's classes.
func TestTokensOfEachRangeOfUnicodeAreTheLibrarys(t *testing.T) {
	edges := map[rune]bool{}
	for _, table := range []*unicode.RangeTable{unicode.Lu, unicode.Ll, unicode.Lt, unicode.Lm, unicode.Lo, unicode.M, unicode.N, unicode.White_Space} {
		for _, r := range table.R16 {
			addEdges(edges, rune(r.Lo), rune(r.Hi), rune(r.Stride))
		}
		for _, r := range table.R32 {
			addEdges(edges, rune(r.Lo), rune(r.Hi), rune(r.Stride))
		}
	}
	if len(edges) < 3000 {
		t.Errorf("there are %d characters", len(edges))
	}
	for _, r := range slices.Sorted(maps.Keys(edges)) {
		compare(t, fmt.Sprintf("a%cB %c'S 1%c\n", r, r, r))
	}
}

// addEdges adds the first and last characters of a range and their neighbors. For a range with gaps it adds all characters.
func addEdges(edges map[rune]bool, first, last, stride rune) {
	if stride == 1 {
		stride = max(last-first, 1)
	}
	for r := first; r <= last; r += stride {
		edges[r-1], edges[r], edges[r+1] = true, true, true
	}
}

// TestLongPiecesAreMergedAsByTheLibrary tests pieces on both sides of the size above which merging allocates memory.
func TestLongPiecesAreMergedAsByTheLibrary(t *testing.T) {
	random := rand.New(rand.NewPCG(2, 2))
	alphabets := []string{"a", "ab", "aeinrst", "abcdefghijklmnopqrstuvwxyz", "กขคงา่", "汉字这是中文", "áéíóú", "=-", " "}
	for _, alphabet := range alphabets {
		letters := []rune(alphabet)
		for _, size := range []int{2, 3, short - 1, short, short + 1, 100, longest, longest + 1, 700, 3000} {
			var s strings.Builder
			for s.Len() < size {
				s.WriteRune(letters[random.IntN(len(letters))])
			}
			compare(t, s.String())
		}
	}
}

func FuzzTokensAreTheLibrarys(f *testing.F) {
	f.Add("It's a \"test\", isn't it?\n[7] Email (input type=email)\n/x y  z\t\n 12,345 汉字。かな A1-b")
	f.Add("\u00a0x \u3000y\u2028z \u0301a \u200d'S ' \r\n\r\n/ \x85 a")
	f.Add("don'T 'll a'b ''s ǅx Ⅷ٣ ªº _é́ 1 2\xff\xc3(")
	f.Fuzz(func(t *testing.T, s string) {
		if len(s) < 5000 {
			compare(t, s)
		}
	})
}

func TestShortTextsAreCountedWithoutAllocations(t *testing.T) {
	for _, s := range []string{
		"[12] Women's shoes (128) (a →/category/women/shoes?sort=price&page=2)\n", "Zxqvjk wqzzkxj", "Создать учётную запись", "创建新账户",
	} {
		if n := testing.AllocsPerRun(100, func() { Count(s) }); n != 0 {
			t.Errorf("%q: %v allocations", s, n)
		}
	}
}

func BenchmarkCount(b *testing.B) {
	texts := map[string]string{
		"line":    "[12] Women's shoes (128) (a →/category/women/shoes?sort=price&page=2)\n",
		"english": "It's a long text without any line end, isn't it? We'll see; 12,345 times. ",
		"russian": "Правила пользования сайтом, политика конфиденциальности: читать полностью. ",
		"chinese": "这是一个没有空格的很长的文本，但是有标点符号。",
		"thai":    "ค้นหาในเว็บไซต์เงื่อนไขการใช้งานอ่านข่าวทั้งหมด",
		"base64":  "iVBORw0KGgoAAAANSUhEUgAAADIAAAAyCAYAAAAeP4ixAAAA",
	}
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		b.Run(name, func(b *testing.B) {
			text := texts[name]
			if name != "line" {
				text = strings.Repeat(text, 100_000/len(text)) // 100 KB
			}
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				Count(text)
			}
		})
	}
}
