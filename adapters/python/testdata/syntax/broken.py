class Half(:
    def good(self, x: int) -> str:
        return "ok

    def after(self):
        y = (1, 

def top(a, b:
    pass

class Whole:
    z = 1
    def m(self): return self.z
@
