"""Names of variables in functions: none may hide a name of the overlay that code in its scope
uses."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice

from mpy_linker.scopes import CLASS, MODULE, Binding, Scope, Scopes


class Locals:
    """Chooses the names of all variables inside the functions of a module.

    `outside(node)` is the name behind a Name that is no variable of a function, or None.
    `wanted(binding)` are the names to try for a variable, the best first; `fixed(binding)` tells
    whether it must keep its own name.
    """

    def __init__(
        self,
        scopes: Scopes,
        outside: Callable[[Scope], set[str]],
        wanted: Callable[[Binding], Iterator[str]],
    ) -> None:
        self.names: dict[Binding, str] = {}
        self._scopes = scopes
        self._outside = outside
        self._wanted = wanted
        self._direct: dict[Scope, set[Binding]] = {}
        for node, binding in scopes.variables.items():
            home = scopes.home.get(node)
            if home is not None:
                self._direct.setdefault(home, set()).add(binding)
        for scope in scopes.module.walk():
            if scope.kind not in (MODULE, CLASS):
                self._name(scope)

    def _name(self, scope: Scope) -> None:
        used: set[str] = set()
        for inner in scope.walk():
            used |= self._outside(inner)
            used.update(self._now(one) for one in self._direct.get(inner, ()) if is_local(one))
        own = [one for one in scope.bindings.values() if is_local(one)]
        # Keyword arguments have no choice of name: the others make way for them.
        for binding in own:
            names = list(islice(self._wanted(binding), 2))
            if len(names) == 1:
                self.names[binding] = names[0]
                used.add(names[0])
        for binding in own:
            if binding not in self.names:
                others = used - {binding.name} if self._only(scope, binding) else used
                self.names[binding] = next(
                    name for name in self._wanted(binding) if name not in others
                )
                used.add(self.names[binding])

    def _only(self, scope: Scope, binding: Binding) -> bool:
        """Is this the only variable of its name in the scope?"""
        for inner in scope.walk():
            if binding.name in self._outside(inner):
                return False
            for one in self._direct.get(inner, ()):
                if one is not binding and is_local(one) and self._now(one) == binding.name:
                    # A variable of an inner function may hide it, as in the source.
                    if one.scope is scope or one in self.names:
                        return False
        return True

    def _now(self, binding: Binding) -> str:
        return self.names.get(binding, binding.name)


def is_local(binding: Binding) -> bool:
    """Is it a variable of a function or comprehension?"""
    return binding.scope.kind not in (MODULE, CLASS)
