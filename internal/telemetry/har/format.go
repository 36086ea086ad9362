package har

// file is the JSON form of an archive. The format defines the names and the required fields. Fields that begin with _ are extensions that
// browsers also write.
type file struct {
	Log log `json:"log"`
}

type log struct {
	Version string    `json:"version"`
	Creator software  `json:"creator"`
	Browser *software `json:"browser,omitempty"`
	Pages   []page    `json:"pages"`
	Entries []entry   `json:"entries"`
	Comment string    `json:"comment,omitempty"`
}

type software struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}

type page struct {
	StartedDateTime string      `json:"startedDateTime"`
	ID              string      `json:"id"`
	Title           string      `json:"title"`
	PageTimings     pageTimings `json:"pageTimings"`
}

type pageTimings struct {
	OnContentLoad float64 `json:"onContentLoad"`
	OnLoad        float64 `json:"onLoad"`
}

type entry struct {
	PageRef         string   `json:"pageref,omitempty"`
	StartedDateTime string   `json:"startedDateTime"`
	Time            float64  `json:"time"`
	Request         request  `json:"request"`
	Response        response `json:"response"`
	Cache           struct{} `json:"cache"`
	Timings         timings  `json:"timings"`
	ServerIPAddress string   `json:"serverIPAddress,omitempty"`
	ResourceType    string   `json:"_resourceType,omitempty"`
}

type request struct {
	Method      string    `json:"method"`
	URL         string    `json:"url"`
	HTTPVersion string    `json:"httpVersion"`
	Cookies     []cookie  `json:"cookies"`
	Headers     []param   `json:"headers"`
	QueryString []param   `json:"queryString"`
	PostData    *postData `json:"postData,omitempty"`
	HeadersSize int64     `json:"headersSize"`
	BodySize    int64     `json:"bodySize"`
}

type response struct {
	Status       int      `json:"status"`
	StatusText   string   `json:"statusText"`
	HTTPVersion  string   `json:"httpVersion"`
	Cookies      []cookie `json:"cookies"`
	Headers      []param  `json:"headers"`
	Content      content  `json:"content"`
	RedirectURL  string   `json:"redirectURL"`
	HeadersSize  int64    `json:"headersSize"`
	BodySize     int64    `json:"bodySize"`
	TransferSize int64    `json:"_transferSize"`
	Error        string   `json:"_error,omitempty"`
}

type cookie struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

type param struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

type postData struct {
	MimeType string  `json:"mimeType"`
	Params   []param `json:"params"`
	Text     string  `json:"text"`
}

type content struct {
	Size     int64  `json:"size"`
	MimeType string `json:"mimeType"`
	Text     string `json:"text,omitempty"`
	Encoding string `json:"encoding,omitempty"`
	Comment  string `json:"comment,omitempty"`
}

type timings struct {
	Blocked float64 `json:"blocked"`
	DNS     float64 `json:"dns"`
	Connect float64 `json:"connect"`
	SSL     float64 `json:"ssl"`
	Send    float64 `json:"send"`
	Wait    float64 `json:"wait"`
	Receive float64 `json:"receive"`
}

// total returns the time of an entry: the sum of its parts, without parts that did not happen. SSL is included in Connect.
func (t timings) total() float64 {
	sum := 0.0
	for _, part := range []float64{t.Blocked, t.DNS, t.Connect, t.Send, t.Wait, t.Receive} {
		sum += max(part, 0)
	}
	return sum
}
