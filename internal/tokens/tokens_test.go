package tokens_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/domtap/domtap/compact"
	"github.com/domtap/domtap/diff"
	"github.com/domtap/domtap/dom"
	"github.com/domtap/domtap/internal/tokens"
	"github.com/domtap/domtap/view"
	"github.com/tiktoken-go/tokenizer/codec"
)

func TestCount(t *testing.T) {
	tests := []struct {
		text string
		want int
	}{
		{"", 0}, {"a", 1}, {" ", 1}, {"\n", 1}, {"hello world", 2}, {"Hello, world!", 4},
		{"123456", 2}, {"1234567", 3}, {"tiktoken is great!", 6}, {")\n[", 2},
	}
	for _, test := range tests {
		if got := tokens.Count(test.text); got != test.want {
			t.Errorf("Count(%q) = %d, want %d", test.text, got, test.want)
		}
	}
}

func TestCountFromManyGoroutines(t *testing.T) {
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for range 20 {
				if got := tokens.Count("[7] Email (input type=email)\n"); got != 9 {
					t.Errorf("got %d tokens, want 9", got)
				}
			}
		})
	}
	group.Wait()
}

// TestLongTextIsCountedExactly compares the counts of texts that are counted in pieces with the tokenizer's count of the whole.
func TestLongTextIsCountedExactly(t *testing.T) {
	whole := codec.NewO200kBase()
	texts := map[string]string{
		"prose":     strings.Repeat("It's a long text without any line end, isn't it? We'll see; 12,345 times. ", 300),
		"no spaces": strings.Repeat("这是一个没有空格的很长的文本，但是有标点符号。", 300),
		"base64":    strings.Repeat("iVBORw0KGgo/AAAANSUhEUgAA+ADIAAAAyCAYAAAAeP4ixAAAA", 300),
		"json":      strings.Repeat(`{"name":"value","list":[1,2,3],"nested":{"a":"b"}},`, 300),
	}
	for language := range phrases {
		texts["lines in "+language] = page(1, language, 400)
	}
	for name, text := range texts {
		want, err := whole.Count(text)
		if got := tokens.Count(text); err != nil || got != want {
			t.Errorf("%s: Count = %d, want %d (%v)", name, got, want, err)
		}
	}
}

// TestHugeRunsAreCountedInTime counts long runs that make naive tokenizers extremely slow.
func TestHugeRunsAreCountedInTime(t *testing.T) {
	const kilobyte = 1 << 10
	tests := []struct {
		unit string
		size int
	}{
		{"a", 256 * kilobyte}, {" \n", 256 * kilobyte}, // the common case and the worst one
		{" ", 64 * kilobyte}, {"\n", 64 * kilobyte}, {"1", 64 * kilobyte}, {"(", 64 * kilobyte},
		{"/", 64 * kilobyte}, {"\n ", 64 * kilobyte}, {"\t\r\n", 64 * kilobyte}, {"汉", 64 * kilobyte},
		{"é", 64 * kilobyte}, {"\u0301", 64 * kilobyte}, {"👩\u200d", 64 * kilobyte}, {"\xff", 64 * kilobyte},
		{"aB", 64 * kilobyte}, {"'s", 64 * kilobyte},
	}
	for _, test := range tests {
		text := strings.Repeat(test.unit, test.size/len(test.unit))
		start := time.Now()
		n := tokens.Count(text)
		// A linear algorithm takes a quarter of a second for the largest text. The margin allows for the race detector on a busy machine.
		// A quadratic one would take minutes.
		if took := time.Since(start); took > 30*time.Second {
			t.Errorf("%q: took %v", test.unit, took)
		}
		if n < len(text)/256 || n > len(text) {
			t.Errorf("%q: %d tokens in %d bytes", test.unit, n, len(text))
		}
	}
}

// phrases lists texts of buttons and links.
var phrases = map[string]string{
	"en": "Sign in|Create an account|Add to basket|Search this site|Terms of use|Privacy policy|Follow us on " +
		"Facebook|Read the full story|Why the government's new budget could cost households £1,200 a year|" +
		"Show 25 more results|Next page|Reply|Share|Edit|Women's shoes (128)|iPhone 16 Pro Max 256GB|Gift wrap",
	"es": "Iniciar sesión|Crear una cuenta|Añadir a la cesta|Buscar en este sitio|Condiciones de uso|Política de " +
		"privacidad|Leer la noticia completa|Página siguiente|Compartir|¿Olvidaste tu contraseña?",
	"pt": "Entrar|Criar uma conta|Adicionar ao carrinho|Pesquisar neste site|Termos de uso|Política de privacidade|" +
		"Leia a notícia completa|Próxima página|Compartilhar|Esqueceu a senha?",
	"sv": "Logga in|Skapa konto|Lägg i varukorgen|Sök på webbplatsen|Användarvillkor|Integritetspolicy|Läs hela " +
		"artikeln|Nästa sida|Dela|Glömt lösenordet?",
	"ru": "Войти|Создать учётную запись|Положить в корзину|Искать на этом сайте|Правила пользования|Политика " +
		"конфиденциальности|Читать статью полностью|Следующая страница|Поделиться|Забыли пароль?",
	"uk": "Увійти|Створити обліковий запис|Додати до кошика|Шукати на цьому сайті|Умови використання|Політика " +
		"приватності|Читати статтю повністю|Наступна сторінка|Поділитися|Забули пароль?",
	"fa": "ورود|ایجاد حساب کاربری|افزودن به سبد خرید|جستجو در این سایت|شرایط استفاده|حریم خصوصی|صفحه بعد|ارسال نظر",
	"zh": "登录|创建新账户|加入购物车|搜索本站|使用条款|隐私政策|阅读全文|下一页|分享|忘记密码|查看更多评论|客户服务中心",
	"ja": "ログイン|アカウントを作成|カートに追加|サイト内を検索|利用規約|プライバシーポリシー|続きを読む|次のページ|共有|パスワードを忘れた方",
	"ko": "로그인|계정 만들기|장바구니에 추가|사이트 검색|이용 약관|개인정보 보호정책|전체 기사 읽기|다음 페이지|공유|비밀번호를 잊으셨나요",
	"th": "เข้าสู่ระบบ|สร้างบัญชี|เพิ่มลงในตะกร้า|ค้นหาในเว็บไซต์|เงื่อนไขการใช้งาน|อ่านข่าวทั้งหมด|หน้าถัดไป|แชร์|ลืมรหัสผ่าน",
}

var paths = []string{
	"/", "/login?next=%2Fcart", "/news/2024/11/budget-what-it-means-for-you", "/p/8841-blue-shirt", "#main",
	"/wiki/Special:Search", "https://www.facebook.com/shop.example", "/category/women/shoes?sort=price&page=2",
	"javascript:…", "mailto:help@shop.example", "/index.php?id=4211&lang=en#comments",
}

// elements returns the elements of a page with n phrases of a language.
func elements(seed uint64, language string, n int) []*dom.Element {
	random := rand.New(rand.NewPCG(seed, 1))
	words := strings.Split(phrases[language], "|")
	var out []*dom.Element
	for i := range n {
		e := &dom.Element{Ref: dom.Ref(i), Tag: "a", Role: "link", Text: words[random.IntN(len(words))]}
		switch random.IntN(8) {
		case 0:
			e.Tag, e.Role = "button", "button"
		case 1:
			e.Tag, e.Role, e.Type = "input", "textbox", "email"
			e.States.Required = dom.True
		case 2:
			e.Tag, e.Role, e.Type = "input", "checkbox", "checkbox"
			e.States.Checked = dom.Tri(random.IntN(4))
		case 3:
			e.Tag, e.Role, e.Value = "select", "combobox", words[random.IntN(len(words))]
		case 4:
			e.Tag, e.Role, e.States.Expanded = "div", "button", dom.False
		default:
			e.Href = paths[random.IntN(len(paths))]
		}
		out = append(out, e)
	}
	return out
}

func page(seed uint64, language string, n int) string {
	h := compact.Header{URL: "https://shop.example/", Title: "Shop"}
	return compact.Lines(h, view.View{Elements: dom.ListOf(elements(seed, language, n)), Total: n})
}

// perLine returns the sum of the costs of the lines of a text.
func perLine(text string) int {
	sum := 0
	for line := range strings.Lines(text) {
		sum += tokens.Count(line)
	}
	return sum
}

func TestLinesAddUp(t *testing.T) {
	for language := range phrases {
		old, now := elements(3, language, 120), elements(4, language, 120)
		texts := map[string]string{
			"lines": page(3, language, 120),
			"diff":  compact.Diff(diff.Compute(old, now)),
			"truncated": compact.Lines(
				compact.Header{URL: "https://a.example/", Title: old[0].Text, Next: "c1", History: []compact.Visit{{Title: old[1].Text}, {Title: old[2].Text}}},
				view.View{Elements: dom.ListOf(old), Total: 5538, Reason: view.ElementLimit, Tokens: 4512}),
		}
		for name, text := range texts {
			if sum, whole := perLine(text), tokens.Count(text); sum != whole {
				t.Errorf("%s in %s: lines cost %d, the text %d", name, language, sum, whole)
			}
		}
	}
}

// TestBudgetIsExact combines the packages view, compact and tokens as the daemon does.
func TestBudgetIsExact(t *testing.T) {
	for _, budget := range []int{200, 999, 1000, 1001, 8000} {
		for language := range phrases {
			s := &dom.Snapshot{Elements: dom.ListOf(elements(5, language, 300))}
			h := compact.Header{URL: "https://shop.example/cart", Title: "Your cart", Next: "c9"}.Within(budget/2, tokens.Count)
			o := view.Options{
				MaxTokens: budget, Overhead: h.Overhead(tokens.Count),
				Cost: compact.Cost(compact.NewBase(h.URL), nil, tokens.Count),
			}
			v, err := view.Of(s, o)
			if err != nil {
				t.Fatal(err)
			}
			v = compact.Settle(h, v, o.Overhead, tokens.Count)
			if got := tokens.Count(compact.Lines(h, v)); got != v.Tokens || got > budget {
				t.Errorf("%s, budget %d: text costs %d, said %d", language, budget, got, v.Tokens)
			}
		}
	}
}

func TestEstimateIsClose(t *testing.T) {
	for language := range phrases {
		text := page(6, language, 300)
		count, estimate := tokens.Count(text), tokens.Estimate(text)
		off := 100 * float64(estimate-count) / float64(count)
		t.Logf("%s: %d tokens, estimate off by %.1f%%", language, count, off)
		if off < -15 || off > 15 {
			t.Errorf("%s: estimate %d, count %d, off by %.1f%%", language, estimate, count, off)
		}
	}
	if n := tokens.Estimate(""); n != 0 {
		t.Errorf("Estimate of nothing is %d", n)
	}
}

func FuzzCountAddsUpOverLines(f *testing.F) {
	f.Add("Email (input)", "Pay now", "https://a.example/")
	f.Add("it's\n/x", " \r\n\t", "汉字。")
	f.Fuzz(func(t *testing.T, a, b, c string) {
		x := &dom.Element{Ref: 7, Tag: "a", Text: a, Href: b, Role: c}
		y := &dom.Element{Ref: 8, Tag: c, Text: b, Value: a, Type: c}
		text := compact.Lines(compact.Header{URL: c, Title: b}, view.View{Elements: dom.ListOf([]*dom.Element{x, y, x})})
		if sum, whole := perLine(text), tokens.Count(text); sum != whole {
			t.Fatalf("lines of %q cost %d, the text %d", text, sum, whole)
		}
		text = compact.Diff(diff.Compute([]*dom.Element{x}, []*dom.Element{y}))
		if sum, whole := perLine(text), tokens.Count(text); sum != whole {
			t.Fatalf("lines of %q cost %d, the text %d", text, sum, whole)
		}
	})
}

func TestCacheCountsTheSame(t *testing.T) {
	cache := tokens.NewCache(50)
	for range 3 {
		for line := range strings.Lines(page(7, "en", 200)) {
			if got, want := cache.Count(line), tokens.Count(line); got != want {
				t.Fatalf("%q: cache says %d, want %d", line, got, want)
			}
		}
	}
	if n := tokens.Held(cache); n > 100 {
		t.Errorf("the cache holds %d texts, want at most 100", n)
	}
	if cache.Count(strings.Repeat("x ", 5000)); tokens.Held(cache) > 100 {
		t.Error("the cache grew beyond its limit")
	}
}

func TestCacheKeepsWhatIsUsed(t *testing.T) {
	cache := tokens.NewCache(2)
	for _, text := range []string{"a", "b", "a", "c", "a", "d", "a"} {
		cache.Count(text)
	}
	if !tokens.Holds(cache, "a") || tokens.Holds(cache, "b") {
		t.Error("what is used most was forgotten before what is used least")
	}
}

func TestCacheFromManyGoroutines(t *testing.T) {
	cache := tokens.NewCache(4)
	var group sync.WaitGroup
	for i := range 8 {
		group.Go(func() {
			for k := range 100 {
				text := strings.Repeat("word ", 1+(i+k)%7)
				if got, want := cache.Count(text), tokens.Count(text); got != want {
					t.Errorf("%q: got %d, want %d", text, got, want)
				}
			}
		})
	}
	group.Wait()
}

func BenchmarkCacheCount(b *testing.B) {
	cache := tokens.NewCache(1000)
	line := "[12] Women's shoes (128) (a →/category/women/shoes?sort=price&page=2)\n"
	b.ReportAllocs()
	for b.Loop() {
		cache.Count(line)
	}
}

func BenchmarkCount(b *testing.B) {
	text := page(1, "en", 600)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		tokens.Count(text)
	}
}

func BenchmarkCountLine(b *testing.B) {
	line := "[12] Women's shoes (128) (a →/category/women/shoes?sort=price&page=2)\n"
	b.SetBytes(int64(len(line)))
	b.ReportAllocs()
	for b.Loop() {
		tokens.Count(line)
	}
}

func BenchmarkEstimate(b *testing.B) {
	for _, language := range []string{"en", "ru", "ja"} {
		b.Run(language, func(b *testing.B) {
			text := page(1, language, 600)
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				tokens.Estimate(text)
			}
		})
	}
}

func ExampleCount() {
	fmt.Println(tokens.Count("[12] Pay now (button disabled)\n"), tokens.Name)
	// Output: 9 o200k_base
}
