// Package bench contains domtap's benchmarks and their common parts: a page of a given size, and the floors to which every figure is a
// ratio. Floors are measured in the same run as the figure, because absolute times depend more on the machine than on domtap.
package bench

import (
	"fmt"
	"strings"
)

// HTML returns a page of about n DOM elements, half of them interactive. It consists of cards of ten elements, of which five are a link, a
// checkbox, a text field and two buttons.
func HTML(n int) string {
	var b strings.Builder
	b.WriteString("<!doctype html><title>Bench</title><style>.card{border:1px solid #ccc;margin:2px;padding:2px;display:inline-block}</style><main>")
	for i := 0; i < n/10; i++ {
		fmt.Fprintf(&b, `<div class="card" id="c%d"><h3>Card %d</h3><p>Some text about thing %d</p><a href="/item/%d">Open item %d</a>`, i, i, i, i, i)
		fmt.Fprintf(&b, `<label><input type="checkbox" name="pick%d"> Pick item %d</label><input type="text" name="qty%d" placeholder="Quantity" value="%d"><button>Buy item %d</button><button aria-pressed="false">Like item %d</button></div>`, i, i, i, i%9, i, i)
	}
	b.WriteString("</main>")
	return b.String()
}

// RawColumnar is a script that walks over the interactive elements of a page and returns one string. It measures the minimum cost of an
// extraction. It computes no names, roles or states and stores nothing.
const RawColumnar = `(() => {
  const columns = [[], [], [], [], [], [], [], [], [], [], []];
  for (const e of document.querySelectorAll('a,button,input,select,textarea,details,summary,[role],[onclick],[tabindex],[contenteditable]')) {
    const r = e.getBoundingClientRect();
    if (!(r.width > 0 && r.height > 0)) continue;
    const row = [e.localName, e.getAttribute('role') || '', (e.textContent || '').slice(0, 100), e.href || '', e.getAttribute('name') || '',
      e.type || '', e.value || '', Math.round(r.x), Math.round(r.y), Math.round(r.width), Math.round(r.height)];
    for (let i = 0; i < row.length; i++) columns[i].push(row[i]);
  }
  return columns.map((c) => c.join('\t')).join('\n');
})()`
