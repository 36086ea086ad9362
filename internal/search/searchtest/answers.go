package searchtest

// The answers of the providers, with the fields of the providers' documentation.
const (
	serperWeb = `{"searchParameters":{"q":"go","type":"search","num":10,"engine":"google"},"organic":[
		{"title":"The Go Programming Language","link":"https://go.dev/","snippet":"Go is an open source programming language.","date":"Feb 10, 2026","position":1,
			"sitelinks":[{"title":"Download","link":"https://go.dev/dl/"}]},
		{"title":"Go (game)","link":"https://en.wikipedia.org/wiki/Go_(game)","snippet":"Go is an abstract strategy board game.","position":2}],
		"relatedSearches":[{"query":"golang"}],"credits":1}`
	serperNews = `{"searchParameters":{"q":"go","type":"news"},"news":[
		{"title":"Go 1.26 is out","link":"https://news.example/go","snippet":"A release.","date":"2 days ago","source":"Example News","imageUrl":"data:image/jpeg;base64,AA=="},
		{"title":"Old news","link":"https://news.example/old","snippet":"Older.","date":"3 months ago","source":"Example News"}],"credits":1}`
	serperImages = `{"searchParameters":{"q":"go","type":"images"},"images":[
		{"title":"A gopher","imageUrl":"https://img.example/gopher.png","imageWidth":1200,"imageHeight":800,"thumbnailUrl":"https://thumb.example/1",
			"source":"Example","domain":"www.example.org","link":"https://www.example.org/gopher","googleUrl":"https://www.google.com/imgres","position":1},
		{"title":"Another","imageUrl":"https://img.example/2.png","link":"https://www.example.org/2","position":2}],"credits":1}`
	serperPlaces = `{"searchParameters":{"q":"coffee oslo","type":"places"},"places":[
		{"position":1,"title":"Tim Wendelboe","address":"Grüners gate 1, 0552 Oslo, Norway","latitude":59.92,"longitude":10.75,"rating":4.6,"ratingCount":2345,
			"priceLevel":"$$","category":"Coffee shop","phoneNumber":"+47 40 00 40 62","website":"https://timwendelboe.no/","cid":"123"},
		{"position":2,"title":"A stall","address":"Youngstorget, Oslo","category":"Coffee stand","cid":"456"}],"credits":1}`
	serperShopping = `{"searchParameters":{"q":"kettle","type":"shopping"},"shopping":[
		{"title":"A kettle","source":"Shop","link":"https://shop.example/kettle","price":"$39.99","delivery":"Free delivery","imageUrl":"https://img.example/k.png",
			"rating":4.5,"ratingCount":120,"productId":"1","position":1},
		{"title":"A better kettle","source":"Other shop","link":"https://other.example/kettle","price":"$59.00","rating":"4.8","ratingCount":"7","position":2}],"credits":2}`

	braveWeb = `{"type":"search","query":{"original":"go","more_results_available":true},"web":{"type":"search","family_friendly":true,"results":[
		{"title":"The Go Programming Language","url":"https://go.dev/","description":"<strong>Go</strong> is an open source language &amp; toolchain.","is_source_local":false,
			"page_age":"2026-02-10T09:00:00","age":"February 10, 2026","profile":{"name":"Go","url":"https://go.dev/"},"language":"en","type":"search_result",
			"meta_url":{"scheme":"https","netloc":"go.dev","hostname":"go.dev"}},
		{"title":"Go (game)","url":"https://en.wikipedia.org/wiki/Go_(game)","description":"A board game.","type":"search_result"}]}}`
	braveNews = `{"type":"news","query":{"original":"go"},"results":[
		{"type":"news_result","title":"Go 1.26 is out","url":"https://news.example/go","description":"A release.","age":"2 days ago","page_age":"2026-11-21T08:00:00",
			"page_fetched":"2026-11-21T09:00:00Z","breaking":false,"meta_url":{"hostname":"news.example"}},
		{"type":"news_result","title":"Other","url":"https://news.example/other","description":"Other.","age":"1 week ago"}]}`
	braveImages = `{"type":"images","query":{"original":"go"},"results":[
		{"type":"image_result","title":"A gopher","url":"https://www.example.org/gopher","source":"example.org","page_fetched":"2026-11-01T00:00:00Z",
			"thumbnail":{"src":"https://imgs.search.brave.com/1","width":500,"height":333},"properties":{"url":"https://img.example/gopher.png","placeholder":"https://imgs.search.brave.com/p","width":1200,"height":800},
			"meta_url":{"hostname":"www.example.org"},"confidence":"high"},
		{"type":"image_result","title":"Another","url":"https://www.example.org/2","source":"example.org","properties":{"url":"https://img.example/2.png"}}],"extra":{"might_be_offensive":false}}`
	bravePlaces = `{"type":"locations","query":{"original":"coffee oslo"},"results":[
		{"type":"location_result","title":"Tim Wendelboe","url":"https://timwendelboe.no/","description":"Coffee shop","provider_url":"","coordinates":[59.92,10.75],
			"postal_address":{"type":"PostalAddress","country":"NO","displayAddress":"Grüners gate 1, 0552 Oslo, Norway"},"contact":{"telephone":"+47 40 00 40 62"},
			"price_range":"$$","rating":{"ratingValue":4.6,"bestRating":5,"reviewCount":2345},"id":"loc1"},
		{"type":"location_result","title":"A stall","postal_address":{"displayAddress":"Youngstorget, Oslo"}}],"location":{"name":"Oslo","country":"NO"}}`

	tavilyWeb = `{"query":"go","follow_up_questions":null,"answer":null,"images":[],"results":[
		{"title":"The Go Programming Language","url":"https://go.dev/","content":"Go is an open source programming language.","score":0.98,"raw_content":null},
		{"title":"Go (game)","url":"https://en.wikipedia.org/wiki/Go_(game)","content":"A board game.","score":0.5,"raw_content":null}],"response_time":1.2,"request_id":"r1"}`
	tavilyNews = `{"query":"go","images":[],"results":[
		{"title":"Go 1.26 is out","url":"https://news.example/go","content":"A release.","score":0.9,"published_date":"Sat, 21 Nov 2026 08:00:00 GMT"},
		{"title":"Other","url":"https://news.example/other","content":"Other.","score":0.8,"published_date":"Fri, 20 Nov 2026 08:00:00 GMT"}],"response_time":0.9}`
	tavilyImages = `{"query":"go","images":[
		{"url":"https://img.example/gopher.png","description":"A gopher"},{"url":"https://img.example/2.png","description":"Another"}],
		"results":[{"title":"The Go Programming Language","url":"https://go.dev/","content":"Go.","score":0.98}],"response_time":1.2}`

	searxngWeb = `{"query":"go","results":[
		{"url":"https://go.dev/","title":"The Go Programming Language","content":"Go is an open source programming language.","publishedDate":"2026-02-10T00:00:00","thumbnail":"",
			"engine":"brave","template":"default.html","parsed_url":["https","go.dev","/","","",""],"img_src":"","priority":"","engines":["brave","google"],"positions":[1,1],"score":8.0,"category":"general"},
		{"url":"https://en.wikipedia.org/wiki/Go_(game)","title":"Go (game)","content":"A board game.","publishedDate":null,"engine":"google","engines":["google"],"score":1.0,"category":"general"}],
		"answers":[],"corrections":[],"infoboxes":[],"suggestions":["golang"],"unresponsive_engines":[["qwant","timeout"]]}`
	searxngNews = `{"query":"go","results":[
		{"url":"https://news.example/go","title":"Go 1.26 is out","content":"A release.","publishedDate":"2026-11-21T08:00:00+00:00","source":"Example News","engine":"bing news","category":"news"},
		{"url":"https://news.example/other","title":"Other","content":"Other.","publishedDate":null,"engine":"bing news","category":"news"}],
		"answers":[],"corrections":[],"infoboxes":[],"suggestions":[],"unresponsive_engines":[]}`
	searxngImages = `{"query":"go","results":[
		{"url":"https://www.example.org/gopher","title":"A gopher","content":"","img_src":"https://img.example/gopher.png","thumbnail_src":"https://thumb.example/1","resolution":"1200 x 800",
			"source":"example.org","template":"images.html","engine":"bing images","category":"images"},
		{"url":"https://www.example.org/2","title":"Another","img_src":"https://img.example/2.png","engine":"bing images","category":"images"}],
		"answers":[],"corrections":[],"infoboxes":[],"suggestions":[],"unresponsive_engines":[]}`
	searxngPlaces = `{"query":"coffee oslo","results":[
		{"template":"map.html","title":"Tim Wendelboe","address":{"name":"Tim Wendelboe","house_number":"1","road":"Grüners gate","locality":"Oslo","postcode":"0552","country":"Norway","country_code":"no"},
			"address_label":"Address","url":"https://openstreetmap.org/node/1","latitude":59.92,"longitude":10.75,"boundingbox":["59","60","10","11"],"type":"cafe","engine":"openstreetmap","category":"map"},
		{"template":"map.html","title":"Oslo","address":null,"url":"https://openstreetmap.org/relation/2","latitude":59.9,"longitude":10.7,"engine":"openstreetmap","category":"map"}],
		"answers":[],"corrections":[],"infoboxes":[],"suggestions":[],"unresponsive_engines":[]}`
	searxngShopping = `{"query":"kettle","results":[
		{"url":"https://shop.example/kettle","title":"A kettle","content":"","price":"$39.99","shipping":"Free","template":"products.html","engine":"ebay","category":"shopping"},
		{"url":"https://other.example/kettle","title":"A better kettle","price":"$59.00","engine":"ebay","category":"shopping"}],
		"answers":[],"corrections":[],"infoboxes":[],"suggestions":[],"unresponsive_engines":[]}`

	googleWeb = `{"kind":"customsearch#search","url":{"type":"application/json","template":"https://www.googleapis.com/customsearch/v1?q={searchTerms}"},
		"queries":{"request":[{"title":"Google Custom Search - go","totalResults":"2","searchTerms":"go","count":2,"startIndex":1}]},
		"searchInformation":{"searchTime":0.2,"totalResults":"2"},"items":[
		{"kind":"customsearch#result","title":"The Go Programming Language","htmlTitle":"The <b>Go</b> Programming Language","link":"https://go.dev/","displayLink":"go.dev",
			"snippet":"Go is an open source programming language.","htmlSnippet":"<b>Go</b> is …","formattedUrl":"https://go.dev/","pagemap":{"metatags":[{"article:published_time":"2026-02-10T00:00:00Z"}]}},
		{"kind":"customsearch#result","title":"Go (game)","link":"https://en.wikipedia.org/wiki/Go_(game)","displayLink":"en.wikipedia.org","snippet":"A board game."}]}`
	googleImages = `{"kind":"customsearch#search","items":[
		{"kind":"customsearch#result","title":"A gopher","link":"https://img.example/gopher.png","displayLink":"www.example.org","snippet":"A gopher","mime":"image/png",
			"image":{"contextLink":"https://www.example.org/gopher","height":800,"width":1200,"byteSize":1234,"thumbnailLink":"https://thumb.example/1","thumbnailHeight":100,"thumbnailWidth":150}},
		{"kind":"customsearch#result","title":"Another","link":"https://img.example/2.png","displayLink":"www.example.org","mime":"image/png","image":{"contextLink":"https://www.example.org/2"}}]}`
)
