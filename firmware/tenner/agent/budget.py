# tenner agent.budget: placeholder
class Budget:
    def __init__(self, *a): pass
    def spend(self, tokens, kind): pass
    def left(self, kind): return None
