struct order { int id; char *
};
int half(int a, {
  return a +
}
static int kept(void) { return call(1; }
#if X
int open(void) {
#else
int open(int a) {
#endif
}
