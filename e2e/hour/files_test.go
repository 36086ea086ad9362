package hour

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// filesFile is a file in a folder of the archive.
type filesFile struct {
	Name string `json:"name"`
	KB   int    `json:"kb"`
	Day  string `json:"day"`
}

// filesPage is the number of files on a page.
const filesPage = 8

// files serves folders of files that are sorted and paged by the backend. A folder takes text files of new names.
func files(s *Site) {
	folders := map[string][]filesFile{}
	for i := range 60 {
		folder := []string{"Minutes", "Photographs", "Plans"}[i%3]
		ext := map[string]string{"Minutes": "txt", "Photographs": "jpg", "Plans": "pdf"}[folder]
		folders[folder] = append(folders[folder], filesFile{fmt.Sprintf("%s-%d.%s", strings.ToLower(folder[:4]), 1900+i*7%61, ext), 40 + i*i*37%911, fmt.Sprintf("2026-%02d-%02d", 1+i*5%12, 1+i*11%28)})
	}
	var deleted, loaded []string
	uploaded := map[string]string{}
	save := func() {
		s.saved = map[string]any{"deleted": deleted, "uploaded": uploaded, "downloaded": loaded}
	}
	answers(s, "POST /api/list", func(in struct {
		Folder, Key string
		Down        bool
		Page        int
	}) (any, error) {
		all := slices.Clone(folders[in.Folder])
		slices.SortStableFunc(all, func(a, b filesFile) int {
			order := cmp.Compare(a.Name, b.Name)
			switch in.Key {
			case "kb":
				order = cmp.Compare(a.KB, b.KB)
			case "day":
				order = cmp.Compare(a.Day, b.Day)
			}
			if in.Down {
				order = -order
			}
			return order
		})
		from := min(in.Page*filesPage, len(all))
		return map[string]any{"files": all[from:min(from+filesPage, len(all))], "pages": (len(all) + filesPage - 1) / filesPage}, nil
	})
	answers(s, "POST /api/delete", func(in struct{ Folder, Name string }) (bool, error) {
		folders[in.Folder] = slices.DeleteFunc(slices.Clone(folders[in.Folder]), func(f filesFile) bool { return f.Name == in.Name })
		deleted = append(deleted, in.Folder+"/"+in.Name)
		save()
		return true, nil
	})
	answers(s, "POST /api/upload", func(in struct{ Folder, Name, Text string }) (bool, error) {
		if in.Folder != "Minutes" {
			return false, refused("Texts go to the folder Minutes.")
		}
		folders[in.Folder] = append(folders[in.Folder], filesFile{in.Name, 1, "2026-11-09"})
		uploaded[in.Folder+"/"+in.Name] = in.Text
		save()
		return true, nil
	})
	s.handle("GET /file/{folder}/{name}", func(w http.ResponseWriter, r *http.Request) {
		loaded = append(loaded, r.PathValue("folder")+"/"+r.PathValue("name"))
		save()
		w.Header().Set("content-disposition", "attachment")
		_, _ = fmt.Fprint(w, "contents")
	})
}
