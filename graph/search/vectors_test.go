package search

import (
	"encoding/json"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// meaning is an endpoint whose vectors say how often a text has certain letters.
func meaning(t *testing.T, asked *[]string) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/v1/embeddings" || r.Header.Get("Authorization") != "Bearer secret" {
			http.Error(w, "who are you?", http.StatusUnauthorized)
			return
		}
		var in embedRequest
		if err := json.NewDecoder(r.Body).Decode(&in); err != nil || in.Model != "letters" {
			http.Error(w, "no such model", http.StatusBadRequest)
			return
		}
		*asked = append(*asked, in.Input...)
		var out embedResponse
		for i, text := range slices.Backward(in.Input) { // in any order
			vector := make([]float32, 3)
			for n, letter := range []string{"a", "b", "c"} {
				vector[n] = float32(strings.Count(text, letter))
			}
			out.Data = append(out.Data, struct {
				Index     int       `json:"index"`
				Embedding []float32 `json:"embedding"`
			}{i, vector})
		}
		if err := json.NewEncoder(w).Encode(out); err != nil {
			t.Error(err)
		}
	}))
	t.Cleanup(s.Close)
	return s
}

func TestTextsAreRankedByMeaningAndSentOnce(t *testing.T) {
	var asked []string
	s := meaning(t, &asked)
	dir := t.TempDir()
	open := func() *Vectors {
		kept, err := OpenVectorFile(dir, s.URL, "letters", 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = kept.Close() })
		return &Vectors{Endpoint: Endpoint{URL: s.URL + "/v1", Model: "letters", Key: "secret", Timeout: time.Minute}, Kept: kept}
	}
	texts := []string{"bbb", "abab", "caaa", "aaaa", "bbb"}
	for range 2 {
		places, err := open().Rank(t.Context(), "aa", texts)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]int{3, 2, 1, 0, 4}, places); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
	if diff := cmp.Diff([]string{"aa", "bbb", "abab", "caaa", "aaaa"}, asked); diff != "" {
		t.Errorf("sent (-want +got):\n%s", diff)
	}
	info, err := os.ReadDir(dir)
	if err != nil || len(info) != 1 {
		t.Fatal(info, err)
	}
	// A torn record is made anew, and those before it are kept.
	name := filepath.Join(dir, info[0].Name())
	content, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	content[len(content)-1] ^= 1
	if err := os.WriteFile(name, content, 0o600); err != nil {
		t.Fatal(err)
	}
	asked = nil
	if _, err := open().Rank(t.Context(), "aa", texts); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"aaaa"}, asked); diff != "" {
		t.Errorf("sent after damage (-want +got):\n%s", diff)
	}
}

func TestAFullVectorFileBeginsAnew(t *testing.T) {
	kept, err := OpenVectorFile(t.TempDir(), "u", "m", 300)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = kept.Close() }()
	for i := range 50 {
		h := Hash{byte(i)}
		kept.put(h, []int8{int8(i), -1})
		if got := kept.get(h); len(got) != 2 || got[0] != int8(i) || got[1] != -1 {
			t.Fatalf("%d: %v", i, got)
		}
		if kept.size > 300 {
			t.Fatalf("%d bytes", kept.size)
		}
	}
	kept.put(Hash{99}, []int8{1, 2, 3}) // of a model that changed
	if got := kept.get(Hash{99}); len(got) != 3 || kept.get(Hash{49}) != nil {
		t.Error("vectors of two widths are kept together")
	}
}

// TestAnEndpointThatFailsIsNamed shows what a user reads; the key is never in it.
func TestAnEndpointThatFailsIsNamed(t *testing.T) {
	hang := make(chan struct{})
	var elsewhere string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case strings.HasPrefix(r.URL.Path, "/refuses"):
			http.Error(w, "quota", http.StatusTooManyRequests)
		case strings.HasPrefix(r.URL.Path, "/redirects"):
			http.Redirect(w, r, "/followed", http.StatusTemporaryRedirect)
		case strings.HasPrefix(r.URL.Path, "/followed"):
			elsewhere = r.URL.Path
		case strings.HasPrefix(r.URL.Path, "/hangs"):
			<-hang
		case strings.HasPrefix(r.URL.Path, "/few"):
			_, _ = w.Write([]byte(`{"data":[]}`))
		case strings.HasPrefix(r.URL.Path, "/wrong"):
			_, _ = w.Write([]byte(`{"data":[{"index":7,"embedding":[1]}]}`))
		default:
			_, _ = w.Write([]byte("<html>"))
		}
	}))
	defer s.Close()
	defer close(hang)
	for path, want := range map[string]string{
		"/refuses":   "429",
		"/redirects": "307",
		"/hangs":     "did not answer within 50ms",
		"/few":       "0 of 1 texts",
		"/wrong":     "fit nothing",
		"/html":      "something else than embeddings",
	} {
		e := Endpoint{URL: s.URL + path, Model: "m", Key: "secret", Timeout: time.Minute}
		if path == "/hangs" {
			e.Timeout = 50 * time.Millisecond
		}
		_, err := e.Embed(t.Context(), []string{"x"})
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", path, err)
		}
	}
	if elsewhere != "" {
		t.Error("texts were sent to where the endpoint pointed")
	}
	for _, bad := range []string{"", "ftp://x", "localhost:1", "http://"} {
		if _, err := (Endpoint{URL: bad, Timeout: time.Second}).Embed(t.Context(), []string{"x"}); err == nil || !strings.Contains(err.Error(), "no http") {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

func TestFusionFavoursWhatBothRankingsFavour(t *testing.T) {
	if Fused(0, 0) != 1 || Fused(0, 5) >= 1 || Fused(3, 0) <= Fused(3, -1) || Fused(9, -1) <= 0 {
		t.Error(Fused(0, 0), Fused(0, 5), Fused(3, 0), Fused(3, -1))
	}
	if math.Abs(Fused(2, 7)-Fused(7, 2)) > 1e-12 {
		t.Error("the rankings do not weigh the same")
	}
}
