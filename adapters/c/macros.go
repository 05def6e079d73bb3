package c

import (
	"regexp"

	"github.com/auralsp/aura/graph"
)

// macros finds uses of macros that the grammars take for something else, by
// where they stand and how projects name them. Each pattern's first group is it.
type macros []*regexp.Regexp

func newMacros() macros {
	return macros{
		// class SHOP_EXPORT Order : public Base {
		regexp.MustCompile(`\b(?:class|struct|union)[ \t]+([A-Z][A-Z0-9_]*[A-Z0-9])[ \t]+[A-Za-z_][\w:]*[^;(){}=]*\{`),
		// SHOP_API int sell(int);
		regexp.MustCompile(`(?m)^[ \t]*(?:extern[ \t]+|static[ \t]+)?([A-Z][A-Z0-9_]*_(?:EXPORT|EXPORTS|API|EXTERN|PUBLIC|INLINE|DEPRECATED|NODISCARD|NORETURN|VISIBLE))[ \t]+[A-Za-z_]`),
		// SHOP_BEGIN_DECLS on a line of its own
		regexp.MustCompile(`(?m)^[ \t]*(\w*_(?:BEGIN|END|BEGIN_\w+|END_\w+|\w*_BEGIN|\w*_END))[ \t]*\r?$`),
	}
}

// places returns where they are used.
func (m macros) places(content []byte) []graph.Span {
	var out []graph.Span
	for _, r := range m {
		for _, at := range r.FindAllSubmatchIndex(content, -1) {
			out = append(out, graph.Span{Start: at[2], End: at[3]})
		}
	}
	return out
}
