package com.shop.core;
import java.util.List;
import java.util.*;
import static java.lang.Math.max;
/** An order. */
@Entity @Table(name = "orders")
public abstract sealed class Order<T extends Comparable<T>> extends Base<T> implements Saver, java.io.Closeable permits A {
  private static final int MAX = 1, MIN = 2;
  @Column("x") protected List<String> names;
  public Order(int id, String... rest) { super(id); this.names = null; }
  /** Saves. */
  @Override public <R> R save(final Map<String, int[]> m, T t) throws IOException { int x = 1, y; for (String s : names) {} try (var in = open()) {} catch (A | B e) {} Runnable r = (a, b) -> { foo(a); }; var o = new Order<>(1) { void inner() {} }; if (o instanceof Order p) {} switch (o) { case Circle(int q) -> q; } return this.<R>go(Order::new); }
  abstract void nothing();
  static { int z = 1; }
  enum Color implements X { RED(1), GREEN { void f() {} }; int v; Color(int v) {} }
  interface Inner<T> extends A, B<T> { int K = 1; void run(); default int d() { return 1; } }
  @interface Ann { String value() default "x"; }
  record Point(int x, int y) implements P { Point { } static int n; }
}
