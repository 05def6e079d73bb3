#include <stdio.h>
#include "shop/order.h"
#define MAX 10
#define SQUARE(x) ((x) * (x))
/* An order. */
typedef struct order { int id, *next; struct { int deep; } in; void (*cb)(int a); unsigned flags : 3; char name[10]; } order_t;
typedef int (*fn_t)(int, char *);
typedef unsigned long ulong;
enum color { RED = 1, GREEN };
union u { int i; float f; };
static const int limit = 3, *other;
extern int ext;
int fwd(int a, char *b, ...);
__attribute__((noinline)) static inline struct order *make(const char *name, int n[], struct order o) { int x = 1, y; for (int i = 0; i < n; i++) { foo(i); } (*o.cb)(1); p->q(2); label: return NULL; }
int *(*weird(int a))(int) { return 0; }
#ifdef X
void cond(void) {}
#endif
int knr(a, b) int a; char *b; { return a; }
int arr[] = { [0] = 1 }, fnlist(void);
