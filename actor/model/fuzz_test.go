package model_test

import (
	"testing"

	"github.com/domtap/domtap/actor/model"
	"github.com/domtap/domtap/dom"
)

// tape reads patches from a fuzzer's bytes. After its end it returns zeros.
type tape struct{ data []byte }

func (p *tape) next() int {
	if len(p.data) == 0 {
		return 0
	}
	b := p.data[0]
	p.data = p.data[1:]
	return int(b)
}

func (p *tape) frame() dom.FrameID { return dom.FrameID([]string{"", "f", "g"}[p.next()%3]) }

func (p *tape) place() dom.Place {
	b := p.next()
	if b%3 == 0 {
		return dom.Place{Ref: dom.NoRef, New: b/3%6 - 1}
	}
	return dom.Place{Ref: dom.Ref(b % 24), New: -1}
}

func (p *tape) patch(sequence map[string]uint64) dom.Patch {
	head := p.next()
	frame := p.frame()
	out := dom.Patch{Frame: frame, Document: string(frame) + []string{"1", "2"}[head&1], Full: head&6 == 0, Measured: head&8 != 0}
	sequence[out.Document]++
	out.Sequence = sequence[out.Document]
	if head&240 == 240 {
		out.Sequence += 5
	}
	for range p.next() % 12 {
		b := p.next()
		op := dom.Op{
			Kind: dom.OpKind(b % 6), Ref: dom.Ref(p.next() % 24), After: p.place(), Parent: p.place(), Mask: dom.Field(p.next() * 77),
		}
		op.Element.Kind = dom.Kind(b / 6 % 3)
		op.Element.Child = p.frame()
		out.Ops = append(out.Ops, op)
	}
	for range p.next() % 4 {
		out.Boxes = append(out.Boxes, dom.PlacedBox{Place: p.place(), Box: dom.Box{X: float64(p.next()), Y: float64(p.next())}})
	}
	return out
}

// FuzzModelRefusesBadPatches applies random patches. The model must never panic and must stay consistent. An acknowledgement must list
// every element that its patch added, and rejected patches must leave their document empty.
func FuzzModelRefusesBadPatches(f *testing.F) {
	f.Add([]byte{0, 0, 3, 0, 0, 0, 0, 255, 0, 0, 0, 3, 3, 255, 0, 0, 0, 6, 3, 255, 0, 0, 2, 0, 1, 2, 4, 1, 4})
	f.Add([]byte{0, 1, 2, 12, 0, 0, 0, 255, 1, 0, 0, 3, 0, 255, 2, 0, 0, 0, 1, 12, 0, 0, 0, 255, 2, 0, 0, 0})
	f.Fuzz(func(t *testing.T, data []byte) {
		p := &tape{data: data[:min(len(data), 2000)]}
		m := model.New()
		sequence := map[string]uint64{}
		for len(p.data) > 0 {
			switch b := p.next() % 8; b {
			case 0:
				m.Commit(p.frame(), string([]byte{'1' + byte(p.next()%2)}))
			case 1:
				m.Drop(p.frame())
			default:
				patches := []dom.Patch{p.patch(sequence)}
				if b == 2 {
					patches = append(patches, p.patch(sequence))
				}
				applyAndCheck(t, m, sequence, patches)
			}
			sound(t, m)
		}
	})
}

func applyAndCheck(t *testing.T, m *model.Model, sequence map[string]uint64, patches []dom.Patch) {
	err := m.Apply(patches...)
	acks := m.Pending()
	m.Delivered(acks)
	for _, a := range acks {
		for _, p := range patches {
			adds := 0
			for _, op := range p.Ops {
				if op.Kind == dom.OpAdd {
					adds++
				}
			}
			if p.Document == a.Document && p.Frame == a.Frame && p.Sequence == a.Sequence && adds != len(a.Refs) {
				t.Fatalf("%d refs for %d added elements", len(a.Refs), adds)
			}
		}
		for _, ref := range a.Refs {
			if frame, document, ok := m.Where(ref); ok && (frame != a.Frame || document != a.Document) {
				t.Fatalf("ref %d of document %q is in %q", ref, a.Document, document)
			}
		}
	}
	if err == nil {
		return
	}
	for _, p := range patches {
		if m.Broken(p.Frame) {
			sequence[p.Document] = 0
			for _, el := range m.Elements().Slice() {
				if el.Frame == p.Frame {
					t.Fatalf("frame %q is broken and shows element %d", p.Frame, el.Ref)
				}
			}
		}
	}
}
