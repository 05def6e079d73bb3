namespace A
{
    class Half
    {
        public int Good() { return 1; }
        public int Bad(int x { var y = ; return "open; }
        public void After() { }
        public string Prop { get
    }
    class Whole { void M() { } }
