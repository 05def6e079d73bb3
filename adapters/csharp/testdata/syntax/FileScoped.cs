namespace Company.Tools;

using System.Text;

/** <summary>Block.</summary> */
class Tool { void M() { } }
interface IThing<out T> { T Get(); }
