package search

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestIdentifiersAreTakenApart(t *testing.T) {
	for word, want := range map[string]string{
		"parseHTTPRequest": "parse http request",
		"HTTPServer":       "http server",
		"user_id":          "user id",
		"__init__":         "init",
		"getURLs":          "get urls",
		"URLs":             "urls",
		"IDs":              "ids",
		"HTMLSpan":         "html span",
		"sha256Sum":        "sha256 sum",
		"utf8":             "utf8",
		"x86_64":           "x86 64",
		"base64encode":     "base64 encode",
		"MAX_FILE_SIZE":    "max file size",
		"Größe":            "größe",
		"ÜberÄnderung":     "über änderung",
		"注文サービス":           "注文 文サ サー ービ ビス",
		"注文Save":           "注文 save",
		"i18n":             "i18n",
		"A":                "a",
		"_":                "",
	} {
		if diff := cmp.Diff(want, strings.Join(split(word), " ")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", word, diff)
		}
	}
}

// TestWordsAreFoundInTheFormsThatProgramsWrite asks in one form for what stands in
// another.
func TestWordsAreFoundInTheFormsThatProgramsWrite(t *testing.T) {
	for _, c := range []struct{ text, question string }{
		{"func (c *Client) RetryRequests() {}", "retrying a request"},
		{"def parse_http_request(self):", "parseHTTPRequest"},
		{"type OrderService struct{}", "order_service"},
		{"var cfg = loadConfiguration()", "config loading"},
		{"class Authenticator: pass", "authenticators"},
		{"let rateLimiter = new RateLimiter()", "rate limiter"},
		{"hash := sha256.New()", "SHA"},
		{"函数 计算 订单总额", "订单"},
		{"fn größe() {}", "Größe"},
	} {
		x := New()
		x.Put(File{Path: "a.x", Category: Code, Content: []byte(c.text)}, Hash{1})
		hits, _, err := x.Search(t.Context(), Query{Text: c.question, Limit: 1})
		if err != nil || len(hits) != 1 {
			t.Errorf("%q does not find %q: %v, %v", c.question, c.text, hits, err)
		}
	}
}

func TestDataIsNotTakenForWords(t *testing.T) {
	var words []string
	eachWord([]byte("x = 7 + "+strings.Repeat("QUJD", 30)+"; id"), func(w []byte) { words = append(words, string(w)) })
	if diff := cmp.Diff([]string{"7", "id"}, words); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestQuestionsOfStopWordsAloneAreStillAsked(t *testing.T) {
	terms, groups, _ := newAnalyzer().parse("where is the code")
	if groups == 0 || len(terms) == 0 {
		t.Error("nothing is looked for")
	}
	terms, groups, _ = newAnalyzer().parse("where is the parser")
	if groups != 1 || !slices.ContainsFunc(terms, func(t term) bool { return t.hash == hash(stem("parser")) }) {
		t.Errorf("%d words are looked for", groups)
	}
}
