package hour

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// stockSeed lists the initial stock, one article per line: article, aisle, count, reorder level, supplier, unit, note, and whether the
// stocktake has locked it.
const stockSeed = `Lamp oil 1 l|A|11|5|Norlund|can||
Lamp oil 5 l|E|48|40|Brandt|can||
Rope hemp 8 mm|D|85|25|Pellgren|m||
Rope nylon 8 mm|E|122|20|Haverkamp|m||
Rope nylon 12 mm|D|19|12|Oakes and Daughter|m||
Anchor 5 kg|F|56|10|Haverkamp|pc|chain apart|
Anchor 10 kg|F|93|5|Oakes and Daughter|pc||
Buoy red|A|130|40|Norlund|pc||
Buoy yellow|G|27|25|Brandt|pc||locked
Fender small|D|64|20|Pellgren|pc||
Fender large|E|101|12|Brandt|pc||
Life vest S|A|138|10|Pellgren|pc||
Life vest M|B|35|5|Haverkamp|pc|new straps due|
Life vest L|F|72|40|Oakes and Daughter|pc||
Flare red|A|109|25|Norlund|box||locked
Flare white|E|6|20|Oakes and Daughter|box||
Tar 1 kg|E|43|12|Norlund|can||
Tar 5 kg|E|80|10|Brandt|can||
Varnish clear|A|117|5|Pellgren|can||
Varnish teak|F|14|40|Haverkamp|can|shake well|
Paint white|H|51|25|Pellgren|can||
Paint navy|A|88|20|Haverkamp|can||locked
Brush 40 mm|E|125|12|Oakes and Daughter|pc||
Brush 60 mm|D|22|10|Norlund|pc||
Sandpaper 80|C|59|5|Brandt|box||
Sandpaper 120|A|96|40|Norlund|box||
Sandpaper 240|F|133|25|Brandt|box||
Screws 4x30|F|30|20|Pellgren|box||locked
Screws 5x50|F|67|12|Haverkamp|box||
Bolts M8|E|104|10|Oakes and Daughter|box||
Bolts M10|D|1|5|Haverkamp|box|zinc|
Nuts M8|E|38|40|Oakes and Daughter|box||
Nuts M10|A|75|25|Norlund|box||locked
Shackle 6 mm|F|112|20|Brandt|pc||
Shackle 8 mm|F|9|12|Pellgren|pc||
Block single|A|46|10|Brandt|pc||
Block double|D|83|5|Pellgren|pc||
Cleat brass|D|120|40|Haverkamp|pc||
Cleat steel|E|17|25|Oakes and Daughter|pc||
Winch handle|A|54|20|Norlund|pc||
Sail tape|G|91|12|Oakes and Daughter|roll||
Sail needle|F|128|10|Norlund|set||
Canvas grey|A|25|5|Brandt|m||
Canvas sand|E|62|40|Pellgren|m|fades|
Battery 12 V|B|99|25|Haverkamp|pc||
Bilge pump|E|136|20|Pellgren|pc||
Hose 19 mm|A|33|12|Haverkamp|m||locked
Hose 25 mm|F|70|10|Oakes and Daughter|m||
Hose clamp|E|107|5|Norlund|box||
Impeller|A|4|40|Brandt|pc||
Spark plug|E|41|25|Norlund|pc|gap 0.7|
Oil filter|D|78|20|Brandt|pc||
Fuel filter|H|115|12|Pellgren|pc||locked
Engine oil 4 l|A|12|10|Haverkamp|can||
Grease tube|F|49|5|Oakes and Daughter|pc||
Navigation lamp|F|86|40|Haverkamp|pc||
Torch waterproof|C|123|25|Oakes and Daughter|pc|battery apart|
Chart of the strait|E|20|20|Norlund|pc||
Compass dry|D|57|12|Brandt|pc||
Bell brass|E|94|10|Pellgren|pc||`

// stockRow is an article in the warehouse.
type stockRow struct {
	SKU      string `json:"sku"`
	Article  string `json:"article"`
	Aisle    string `json:"aisle"`
	Count    int    `json:"count"`
	Reorder  int    `json:"reorder"`
	Supplier string `json:"supplier"`
	Unit     string `json:"unit"`
	Note     string `json:"note"`
}

// stock serves a warehouse as a grid. Cells change one by one, or in a batch that succeeds for all rows or fails for all rows. Counts
// cannot be negative. In rows that the stocktake has locked, only the note can change.
func stock(s *Site) {
	type change struct {
		SKUs   []string `json:"skus"`
		Column string   `json:"column"`
		Value  string   `json:"value"`
		Add    bool     `json:"add"`
	}
	type differs struct {
		Changed []stockRow `json:"changed"`
	}
	first, locked := stockRows()
	rows := slices.Clone(first)
	save := func() {
		out := differs{Changed: []stockRow{}}
		for i, r := range rows {
			if r != first[i] {
				out.Changed = append(out.Changed, r)
			}
		}
		s.saved = out
	}
	answers(s, "GET /api/rows", func(struct{}) ([]stockRow, error) { return rows, nil })
	answers(s, "POST /api/change", func(in change) ([]stockRow, error) {
		next := slices.Clone(rows)
		var stuck []string
		for _, sku := range in.SKUs {
			i := slices.IndexFunc(next, func(r stockRow) bool { return r.SKU == sku })
			if i < 0 {
				return nil, refused("There is no " + sku + ".")
			}
			if locked[sku] && in.Column != "note" {
				stuck = append(stuck, sku)
				continue
			}
			if err := stockSet(&next[i], in.Column, strings.TrimSpace(in.Value), in.Add); err != nil {
				return nil, err
			}
		}
		if len(stuck) > 0 {
			slices.Sort(stuck)
			return nil, refused("Locked by the stocktake: " + strings.Join(stuck, ", ") + ". Only the note may change there. Nothing was saved.")
		}
		rows = next
		save()
		return rows, nil
	})
}

// stockRows returns the initial rows, and the locked ones by SKU.
func stockRows() (rows []stockRow, locked map[string]bool) {
	locked = map[string]bool{}
	for i, line := range strings.Split(stockSeed, "\n") {
		part := strings.Split(line, "|")
		count, _ := strconv.Atoi(part[2])
		reorder, _ := strconv.Atoi(part[3])
		r := stockRow{fmt.Sprintf("W-%d", 1001+i), part[0], part[1], count, reorder, part[4], part[5], part[6]}
		rows = append(rows, r)
		locked[r.SKU] = part[7] != ""
	}
	return rows, locked
}

// stockSet sets a cell, or adds to its number.
func stockSet(r *stockRow, column, value string, add bool) error {
	switch column {
	case "count":
		return stockNumber(&r.Count, r.SKU, "count", value, add)
	case "reorder":
		return stockNumber(&r.Reorder, r.SKU, "reorder level", value, add)
	case "aisle":
		if len(value) != 1 || !strings.Contains("ABCDEFGH", value) {
			return refused("An aisle is a letter from A to H.")
		}
		r.Aisle = value
	case "supplier":
		if !slices.Contains([]string{"Brandt", "Haverkamp", "Norlund", "Oakes and Daughter", "Pellgren"}, value) {
			return refused("This supplier is not known: Brandt, Haverkamp, Norlund, Oakes and Daughter or Pellgren.")
		}
		r.Supplier = value
	case "unit":
		if !slices.Contains([]string{"box", "can", "m", "pc", "roll", "set"}, value) {
			return refused("A unit is box, can, m, pc, roll or set.")
		}
		r.Unit = value
	case "note":
		if len(value) > 40 {
			return refused("A note has 40 letters at most.")
		}
		r.Note = value
	default:
		return refused("This column cannot be changed.")
	}
	return nil
}

// stockNumber sets a number that must not be negative, or adds to it.
func stockNumber(n *int, sku, what, value string, add bool) error {
	v, err := strconv.Atoi(value)
	if err != nil {
		return refused("Enter a whole number.")
	}
	if add {
		v += *n
	}
	if v < 0 {
		return refused(fmt.Sprintf("The %s of %s would be %d, and it cannot be below 0.", what, sku, v))
	}
	*n = v
	return nil
}
