using System;

var greeting = "hi";
Console.WriteLine(Say(greeting));

string Say(string text) => text;

class After { }

static void Calls(Order? order)
{
    order?.Save(nameof(order));
    order!.Lines?.First<int>().Ship();
    var made = new Shop.Order<int>(1) { Name = Find() };
    _ = new Order(await Load<int>(2));
    (callback)(order is Order(1) ? 1 : 2);
}
public readonly ref partial struct Slice<T> : IEquatable<Slice<T>> where T : unmanaged { public int Length => 0; }
