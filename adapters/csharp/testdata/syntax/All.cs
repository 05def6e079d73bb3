// Licence.
using System;
using static System.Math;
using Alias = System.Collections.Generic.List<int>;
global using System.Linq;

[assembly: InternalsVisibleTo("Tests")]

namespace Company.Shop
{
    /// <summary>
    /// An order, see <see cref="IOrder"/>.
    /// </summary>
    /// <param name="x">The x.</param>
    [Serializable, Obsolete("old")]
    // Plain.
    [Other]
    public sealed partial class Order<TItem> : Base<TItem>, IOrder, System.IDisposable
        where TItem : class, new()
    {
        private const int Max = 10;
        public static readonly string Name = "ünïcode 😀", Other = $"a {Max + 1} b";
        protected internal int? count;
        internal event EventHandler Changed, Removed;

        public Order(int id, params string[] names) : base(id) { count = id; }
        ~Order() { var gone = 1; }

        [Column("size")]
        public int Size { get; private set; } = 1;
        public int Twice => Size * 2;
        public int Full { get { var inner = 1; return inner; } set => count = value; }
        int IOrder.Hidden => 1;
        public TItem this[int index, string key] { get => default!; }
        public event EventHandler Custom { add { } remove { } }

        public virtual async Task<int> SaveAsync<T>(ref int a, out string b, in T c, int d = 1) where T : struct
        {
            var x = 1; int y = 2, z = 3;
            const string Local = "s";
            var (first, second) = Pair();
            if (o is Order<T> { Size: > 1 } found && o is string text) { }
            foreach (var item in list) { }
            foreach (var (k, v) in map) { }
            for (int i = 0; i < 1; i++) { }
            try { } catch (Exception error) when (error is not null) { }
            using (var file = Open()) { }
            using var stream = Open();
            Parse("1", out var parsed);
            Func<int, int> f = n => n + 1, g = (p, q) => { var deep = p; return deep; };
            Action h = delegate (int m) { };
            int LocalFunction(int arg) { return arg; }
            var query = from row in rows let l = row.X join other in others on l equals other.Y into grouped select grouped;
            switch (o) { case int number: break; case var rest: break; }
            var result = o switch { (int u, var w) => u, { } any => 1, _ => 0 };
            label: goto label;
            return 1;
        }

        void IOrder.Run() { }
        public static Order<TItem> operator +(Order<TItem> left, Order<TItem> right) => left;
        public static implicit operator int(Order<TItem> o) => 1;
        partial void OnChanged();
        partial void OnChanged() { }

        public struct Inner { public int Field; }
        private enum Color : byte { [Description("r")] Red, Green = 2 }
        public delegate void Handler<in T>(object sender, T args);
    }

    public partial class Order<TItem> { public void Second() { } }

    public interface IOrder { int Hidden { get; } void Run(); static abstract int Make(); }
    public record Person(string First, [property: Json] int Age = 1) : Base(First) { public string Full => First; }
    public readonly record struct Point(int X, int Y);
    internal ref struct Span { }
    public class Service(ILogger logger) { public void Log() => logger.Log(); }
    file class Hidden { }

    namespace Deep { class C { } }

    public static class Extensions
    {
        public static string Shout(this string text) => text + @"verbatim ""q""" + """raw "quoted" """;
#if DEBUG
        public static void Debugged() { }
#else
        public static void Released() { }
#endif
        #region Part
        public static int @class;
        #endregion
    }
}
