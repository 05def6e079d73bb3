//go:build cgo

// The part of tree-sitter's C interface (tree_sitter/api.h of core v0.25) that
// this package calls. The binding's package compiles the library into the
// program but keeps its header to itself, so what is used is declared here. It
// has to be compared with the header when the version in go.mod changes; the
// languages' golden tests fail when the two differ.

#ifndef AURA_SYNTAX_SHIM_H
#define AURA_SYNTAX_SHIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct TSLanguage TSLanguage;
typedef struct TSParser TSParser;
typedef struct TSTree TSTree;
typedef struct TSQuery TSQuery;
typedef struct TSQueryCursor TSQueryCursor;

typedef struct { uint32_t row, column; } TSPoint;

typedef struct {
  void *payload;
  const char *(*read)(void *payload, uint32_t byte_index, TSPoint position, uint32_t *bytes_read);
  int encoding;
  uint32_t (*decode)(const uint8_t *string, uint32_t length, int32_t *code_point);
} TSInput;

typedef struct {
  void *payload;
  uint32_t current_byte_offset;
  bool has_error;
} TSParseState;

typedef struct {
  void *payload;
  bool (*progress_callback)(TSParseState *state);
} TSParseOptions;

typedef struct {
  uint32_t context[4];
  const void *id;
  const TSTree *tree;
} TSNode;

typedef struct {
  TSNode node;
  uint32_t index;
} TSQueryCapture;

typedef struct {
  uint32_t id;
  uint16_t pattern_index;
  uint16_t capture_count;
  const TSQueryCapture *captures;
} TSQueryMatch;

typedef struct {
  int type; // 0 done, 1 capture, 2 string
  uint32_t value_id;
} TSQueryPredicateStep;

typedef struct {
  void *payload;
  uint32_t current_byte_offset;
} TSQueryCursorState;

typedef struct {
  void *payload;
  bool (*progress_callback)(TSQueryCursorState *state);
} TSQueryCursorOptions;

void ts_set_allocator(void *(*)(size_t), void *(*)(size_t, size_t), void *(*)(void *, size_t), void (*)(void *));

uint32_t ts_language_abi_version(const TSLanguage *);
const char *ts_language_symbol_name(const TSLanguage *, uint16_t);

TSParser *ts_parser_new(void);
void ts_parser_delete(TSParser *);
bool ts_parser_set_language(TSParser *, const TSLanguage *);
TSTree *ts_parser_parse_with_options(TSParser *, const TSTree *, TSInput, TSParseOptions);

TSNode ts_tree_root_node(const TSTree *);
void ts_tree_delete(TSTree *);
uint32_t ts_node_start_byte(TSNode);
uint32_t ts_node_end_byte(TSNode);
uint16_t ts_node_symbol(TSNode);
bool ts_node_has_error(TSNode);

TSQuery *ts_query_new(const TSLanguage *, const char *source, uint32_t length, uint32_t *error_offset, int *error_type);
void ts_query_delete(TSQuery *);
uint32_t ts_query_pattern_count(const TSQuery *);
uint32_t ts_query_capture_count(const TSQuery *);
const char *ts_query_capture_name_for_id(const TSQuery *, uint32_t, uint32_t *length);
const char *ts_query_string_value_for_id(const TSQuery *, uint32_t, uint32_t *length);
const TSQueryPredicateStep *ts_query_predicates_for_pattern(const TSQuery *, uint32_t, uint32_t *step_count);

TSQueryCursor *ts_query_cursor_new(void);
void ts_query_cursor_delete(TSQueryCursor *);
void ts_query_cursor_exec_with_options(TSQueryCursor *, const TSQuery *, TSNode, const TSQueryCursorOptions *);
bool ts_query_cursor_next_match(TSQueryCursor *, TSQueryMatch *);

// aura_capture is one captured node of one match.
typedef struct {
  uint64_t node;
  uint32_t start, end, match;
  uint16_t pattern, capture, symbol;
} aura_capture;

// aura_result is every capture of a file. The caller frees items.
typedef struct {
  aura_capture *items;
  size_t count, size;
} aura_result;

enum { AURA_OK, AURA_NO_MEMORY, AURA_TIMEOUT };

// AURA_FAULT is the pattern and the capture of what cannot be parsed.
enum { AURA_FAULT = 0xffff };

// aura_scan parses text and runs the query over it within budget nanoseconds,
// and over a broken text the query for what cannot be parsed.
int aura_scan(const TSLanguage *, const TSQuery *, const TSQuery *faults, const char *text, uint32_t length, int64_t budget, aura_result *);

#endif
