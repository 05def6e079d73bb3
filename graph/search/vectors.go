package search

import (
	"cmp"
	"context"
	"crypto/sha256"
	"math"
	"slices"
)

// Vectors ranks texts by how near their meaning is to that of a question, as a
// model of the user's choice judges.
type Vectors struct {
	Endpoint Endpoint
	Kept     *VectorFile // may be nil
}

// maxText bounds what of a text is judged, in bytes: models read no more than
// some hundred words.
const maxText = 2000

// fuseAt is where reciprocal ranks are counted from (Cormack et al. 2009): the
// larger, the less the first places weigh.
const fuseAt = 60

// Rank returns for each text which place it has by its meaning, 0 for the nearest.
func (v *Vectors) Rank(ctx context.Context, question string, texts []string) ([]int, error) {
	var missing []string
	var hashes []Hash
	known := map[Hash][]int8{}
	for _, t := range append([]string{question}, texts...) {
		t = t[:min(len(t), maxText)]
		h := Hash(sha256.Sum256([]byte(t)))
		hashes = append(hashes, h)
		if _, ok := known[h]; ok {
			continue
		}
		if known[h] = v.Kept.get(h); known[h] == nil {
			missing = append(missing, t)
		}
	}
	for batch := range slices.Chunk(missing, maxBatch) {
		got, err := v.Endpoint.Embed(ctx, batch)
		if err != nil {
			return nil, err
		}
		for i, vector := range got {
			h := Hash(sha256.Sum256([]byte(batch[i])))
			known[h] = quantise(vector)
			v.Kept.put(h, known[h])
		}
	}
	near := make([]float64, len(texts))
	order := make([]int, len(texts))
	for i := range texts {
		near[i], order[i] = cosine(known[hashes[0]], known[hashes[i+1]]), i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(near[b], near[a]) })
	places := make([]int, len(texts))
	for place, i := range order {
		places[i] = place
	}
	return places, nil
}

// Fused is the score of a text that two rankings put at these places; a negative
// one says that a ranking knows nothing of it.
func Fused(lexical, vector int) float64 {
	sum := 0.0
	for _, place := range [...]int{lexical, vector} {
		if place >= 0 {
			sum += 1 / float64(fuseAt+1+place)
		}
	}
	return sum / (2 / float64(fuseAt+1))
}

// quantise keeps the direction of a vector in a byte for each number.
func quantise(v []float32) []int8 {
	most := 0.0
	for _, x := range v {
		most = max(most, math.Abs(float64(x)))
	}
	out := make([]int8, len(v))
	if most == 0 {
		return out
	}
	for i, x := range v {
		out[i] = int8(math.Round(float64(x) / most * math.MaxInt8))
	}
	return out
}

func cosine(a, b []int8) float64 {
	if len(a) != len(b) {
		return -1
	}
	var dot, aa, bb int
	for i := range a {
		dot += int(a[i]) * int(b[i])
		aa += int(a[i]) * int(a[i])
		bb += int(b[i]) * int(b[i])
	}
	if aa == 0 || bb == 0 {
		return -1
	}
	return float64(dot) / math.Sqrt(float64(aa)) / math.Sqrt(float64(bb))
}
