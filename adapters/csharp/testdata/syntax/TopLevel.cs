using System;

var greeting = "hi";
Console.WriteLine(Say(greeting));

string Say(string text) => text;

class After { }
