//go:build cgo

// One call into C per file: parsing and matching call back a hundred times for
// every line, and each crossing between Go and C costs more than the work.

#include "shim.h"

#include <stdlib.h>
#include <time.h>

typedef struct {
  const char *text;
  uint32_t length;
  struct timespec end;
  uint32_t asked;
} input;

static const char *read_input(void *payload, uint32_t at, TSPoint position, uint32_t *count) {
  (void)position;
  input *in = payload;
  if (at >= in->length) {
    *count = 0;
    return "";
  }
  *count = in->length - at;
  return in->text + at;
}

static bool late(const input *in) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec > in->end.tv_sec || (now.tv_sec == in->end.tv_sec && now.tv_nsec >= in->end.tv_nsec);
}

// The library asks after every hundred steps, more often than a clock should
// be read: in some sandboxes that is a system call.
static bool due(input *in) { return ++in->asked % 64 == 0 && late(in); }

static bool parse_late(TSParseState *state) { return due(state->payload); }
static bool query_late(TSQueryCursorState *state) { return due(state->payload); }

static int add(aura_result *out, uint32_t match, const TSQueryMatch *m, bool fault) {
  for (uint16_t i = 0; i < m->capture_count; i++) {
    if (out->count == out->size) {
      size_t size = out->size ? out->size * 2 : 1024;
      aura_capture *items = realloc(out->items, size * sizeof *items);
      if (!items) return AURA_NO_MEMORY;
      out->items = items;
      out->size = size;
    }
    TSNode node = m->captures[i].node;
    out->items[out->count++] = (aura_capture){
      .node = (uint64_t)(uintptr_t)node.id,
      .start = ts_node_start_byte(node),
      .end = ts_node_end_byte(node),
      .match = match,
      .pattern = fault ? AURA_FAULT : m->pattern_index,
      .capture = fault ? AURA_FAULT : (uint16_t)m->captures[i].index,
      .symbol = ts_node_symbol(node),
    };
  }
  return AURA_OK;
}

static int match(const TSQuery *query, TSNode root, input *in, aura_result *out, bool fault) {
  TSQueryCursor *cursor = ts_query_cursor_new();
  if (!cursor) return AURA_NO_MEMORY;
  TSQueryCursorOptions options = {.payload = in, .progress_callback = query_late};
  ts_query_cursor_exec_with_options(cursor, query, root, &options);
  int status = AURA_OK;
  TSQueryMatch m;
  for (uint32_t n = 0; status == AURA_OK && ts_query_cursor_next_match(cursor, &m); n++) {
    status = add(out, n, &m, fault);
  }
  // A cursor that was stopped looks like one that has come to its end.
  if (status == AURA_OK && late(in)) status = AURA_TIMEOUT;
  ts_query_cursor_delete(cursor);
  return status;
}

int aura_scan(const TSLanguage *language, const TSQuery *query, const TSQuery *faults, const char *text, uint32_t length, int64_t budget, aura_result *out) {
  input in = {.text = text, .length = length};
  clock_gettime(CLOCK_MONOTONIC, &in.end);
  in.end.tv_sec += budget / 1000000000;
  in.end.tv_nsec += budget % 1000000000;
  if (in.end.tv_nsec >= 1000000000) {
    in.end.tv_sec++;
    in.end.tv_nsec -= 1000000000;
  }
  TSParser *parser = ts_parser_new();
  if (!parser) return AURA_NO_MEMORY;
  int status = AURA_TIMEOUT;
  if (ts_parser_set_language(parser, language)) {
    TSInput source = {.payload = &in, .read = read_input};
    TSParseOptions options = {.payload = &in, .progress_callback = parse_late};
    TSTree *tree = ts_parser_parse_with_options(parser, NULL, source, options);
    if (tree) {
      TSNode root = ts_tree_root_node(tree);
      status = match(query, root, &in, out, false);
      if (status == AURA_OK && ts_node_has_error(root)) status = match(faults, root, &in, out, true);
      ts_tree_delete(tree);
    }
  }
  ts_parser_delete(parser);
  return status;
}
