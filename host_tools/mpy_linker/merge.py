"""The modules of each overlay, their order, and their needs from other overlays."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field

from mpy_linker.program import AS_OBJECT, External, ModuleTarget, Program, Symbol, Target
from mpy_linker.source import Module
from mpy_linker.syntax import OverlayError, walk
from mpy_linker.table import CORE, Names, Table


@dataclass(eq=False)
class Overlay:
    """Modules that become one file; `symbols` are all names that they define in it."""

    name: str
    modules: list[Module]
    symbols: list[Symbol] = field(default_factory=list)
    #: Symbols of modules used as values, with the names that code looks up in each.
    objects: dict[Symbol, list[str]] = field(default_factory=dict)
    #: Those of them that code looks up by the module's name at run time.
    by_name: set[Symbol] = field(default_factory=set)
    #: Names from other packages that it needs at its top.
    externals: dict[External, str] = field(default_factory=dict)
    #: Symbols from overlays that are always loaded with it, with their names here.
    imported: dict[Symbol, str] = field(default_factory=dict)
    #: Overlays that it needs when it is loaded.
    needs: set[str] = field(default_factory=set)
    #: Its methods for classes of other overlays: (class, fragment).
    lends: list[tuple[Symbol, Symbol]] = field(default_factory=list)
    #: Its classes that lack methods: these, as (class that defines it, name), by the overlay that
    #: has them.
    borrows: dict[Symbol, dict[str, tuple[tuple[Symbol, str], ...]]] = field(default_factory=dict)
    #: The place of the phases that it outlasts among all such sets; the first set is empty.
    stays: int = 0


def arrange(program: Program, table: Table) -> dict[str, Overlay]:
    """The overlays with their modules in order; each symbol gets its overlay. The table has an
    overlay for each module (`Table.adopt`)."""
    _check_phases(program, table)
    order = _in_order(program)
    overlays = {
        name: Overlay(name, [one for one in order if table.overlay_of(one.name) == name])
        for name in table.overlays
    }
    for overlay in overlays.values():
        for module in overlay.modules:
            for name, binding in module.scopes.module.bindings.items():
                symbol = program.symbol(module, name)
                symbol.overlay = overlay.name
                if binding not in program.aliases and binding.stores and symbol.value is None:
                    overlay.symbols.append(symbol)
    _find_split_classes(program, overlays)
    _check_constructors(program, table)
    _find_objects(program, table, overlays)
    _find_needs(program, table, overlays)
    return overlays


def _find_split_classes(program: Program, overlays: dict[str, Overlay]) -> None:
    borrowed: dict[Symbol, dict[str, tuple[str, ...]]] = {}
    for one in program.fragments:
        owner = program.symbol(program.modules[one.home], one.owner)
        made = program.symbol(program.modules[one.module], one.name)
        overlays[made.overlay].lends.append((owner, made))
        borrowed.setdefault(owner, {})[made.overlay] = one.methods
    for symbol in _classes(program):
        # The __getattr__ of a class hides that of its base.
        found: dict[str, tuple[tuple[Symbol, str], ...]] = {}
        for base in family(program, symbol):
            for overlay, methods in borrowed.get(base, {}).items():
                named = tuple((base, name) for name in methods)
                found[overlay] = found.get(overlay, ()) + named
        if symbol in borrowed and found:
            overlays[symbol.overlay].borrows[symbol] = found


def _check_constructors(program: Program, table: Table) -> None:
    """Refuse objects made outside the overlay of their `__init__`: Python would make them
    without it."""
    apart = {
        program.symbol(program.modules[one.home], one.owner): table.overlay_of(one.module)
        for one in program.fragments
        if "__init__" in one.methods
    }
    for module in program.modules.values():
        for node in walk(module.tree):
            used: ast.expr | None = None
            if isinstance(node, ast.Call):
                used = node.func
            elif isinstance(node, ast.Attribute) and node.attr == "__init__":
                used = node.value
            link = program.links.get(used) if used is not None else None
            if link is None or not isinstance(link.target, Symbol):
                continue
            for owner in family(program, link.target):
                home = apart.get(owner)
                if home is not None and table.overlay_of(module.name) != home:
                    raise OverlayError(
                        f"{module.where(node)}: {owner.full} is made here, but its __init__ is in "
                        f"overlay {home}"
                    )


def _classes(program: Program) -> Iterator[Symbol]:
    for module in program.modules.values():
        for node in module.tree.body:
            if isinstance(node, ast.ClassDef):
                yield program.symbol(module, node.name)


def family(program: Program, symbol: Symbol) -> Iterator[Symbol]:
    """Yield a class and the program's classes that it inherits from."""
    yield symbol
    for node in symbol.binding.stores if symbol.binding else ():
        for base in node.bases if isinstance(node, ast.ClassDef) else ():
            link = program.links.get(base)
            if link is not None and isinstance(link.target, Symbol):
                yield from family(program, link.target)


def object_of(program: Program, module_name: str, where: str) -> Symbol:
    """The symbol of a module as a value."""
    module = program.modules.get(module_name)
    if module is None:
        raise OverlayError(f"{where}: the package {module_name} is used as a value")
    return program.symbol(module, AS_OBJECT)


# --- order


def _in_order(program: Program) -> list[Module]:
    """All modules, each after the modules it imports."""
    done: dict[str, Module] = {}
    path: list[str] = []

    def add(name: str) -> None:
        if name in done or name in path:
            return
        path.append(name)
        for other in imported_at_top(program, program.modules[name]):
            add(other)
        done[path.pop()] = program.modules[name]

    for name in sorted(program.modules):
        add(name)
    return list(done.values())


def imported_at_top(program: Program, module: Module) -> Iterator[str]:
    """Yield the program's modules that this one imports at its top."""
    for node in walk(module.tree):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            if not module.scopes.home[node].runs_at_import:
                continue
            for alias in node.names:
                binding = module.scopes.variables[alias]
                target = program.aliases.get(binding) or program.assigned.get(alias)
                name = _module_of(target)
                if name in program.modules and name != module.name:
                    yield name


def _module_of(target: Target | None) -> str:
    if isinstance(target, Symbol):
        return target.module.name
    return target.name if isinstance(target, ModuleTarget) else ""


# --- phases

#: Functions of the run time whose first argument is the name of a phase.
_ENTER = ("run", "step", "once", "_enter", "later", "released")
#: An argument of any call with the phases of a request, a tuple of names.
_STAGES = "phases"


def phases_named(program: Program, names: Names) -> Iterator[tuple[ast.Constant, Module]]:
    """Yield the name of each phase that the source enters, and its module. It must stand in the
    call, as the build puts a number there."""
    for module in program.modules.values():
        for node in walk(module.tree):
            if not isinstance(node, ast.Call):
                continue
            for argument in node.keywords:
                if argument.arg == _STAGES and isinstance(argument.value, ast.Tuple):
                    for one in argument.value.elts:
                        if isinstance(one, ast.Constant) and isinstance(one.value, str):
                            yield one, module
            link = program.links.get(node.func)
            if link is None or not isinstance(link.target, Symbol):
                continue
            if (
                link.target.module.name == names.runtime
                and link.target.name in _ENTER
                and node.args
            ):
                name = node.args[0]
                either = [name.body, name.orelse] if isinstance(name, ast.IfExp) else [name]
                for one in either:
                    if isinstance(one, ast.Constant) and isinstance(one.value, str):
                        yield one, module
                    elif module.name != names.runtime:
                        raise OverlayError(
                            f"{module.where(node)}: write the name of the phase into the call"
                        )


def _check_phases(program: Program, table: Table) -> None:
    for name, module in phases_named(program, table.names):
        if name.value not in table.phases:
            raise OverlayError(f"{module.where(name)}: the rules have no phase {name.value!s}")


# --- modules as values


def _find_objects(program: Program, table: Table, overlays: dict[str, Overlay]) -> None:
    looked_up = set(_looked_up(program))
    for module in program.modules.values():
        for link in program.links_of(module):
            if isinstance(link.target, ModuleTarget):
                symbol = object_of(program, link.target.name, module.where(link.node))
                _add_object(program, overlays, symbol, looked_up)
    for name, module in program.modules.items():
        bindings = set(module.scopes.module.bindings)
        listed = table.looked_up(name, bindings)
        if listed or name in table.api:
            wanted = bindings if name in table.api else set(listed)
            symbol = program.symbol(module, AS_OBJECT)
            _add_object(program, overlays, symbol, wanted, name in table.api)
            overlays[symbol.overlay].by_name.add(symbol)


def _looked_up(program: Program) -> Iterator[str]:
    """Yield every attribute that code looks up in a possible module."""
    for module in program.modules.values():
        for node in walk(module.tree):
            if isinstance(node, ast.Attribute) and node not in program.links:
                yield node.attr
        yield from program.texts(module)


def _add_object(
    program: Program,
    overlays: dict[str, Overlay],
    symbol: Symbol,
    wanted: set[str],
    is_api: bool = False,
) -> None:
    module = symbol.module
    overlay = next(one for one in overlays.values() if module in one.modules)
    symbol.overlay = overlay.name
    if symbol not in overlay.objects:
        overlay.symbols.append(symbol)
        overlay.objects[symbol] = []
    names = overlay.objects[symbol]
    for name, binding in sorted(module.scopes.module.bindings.items()):
        if name not in wanted or name.startswith("_") or name in names:
            continue
        target = program.aliases.get(binding)
        # Only code from outside the build may use a module's imports through it.
        if isinstance(target, ModuleTarget) or (isinstance(target, External) and not is_api):
            continue
        if binding.rebound:
            raise OverlayError(
                f"{module.path}: {name} changes, and {module.name} is used as a value: "
                "keep the changing value in an object"
            )
        names.append(name)


# --- needs at import


def _find_needs(program: Program, table: Table, overlays: dict[str, Overlay]) -> None:
    for overlay in overlays.values():
        place = {module.name: at for at, module in enumerate(overlay.modules)}
        for module in overlay.modules:
            for link in program.links_of(module):
                if not link.at_import:
                    continue
                target = _symbol_of(program, link.target)
                if target is None or target.value is not None:
                    continue
                if target.overlay != overlay.name:
                    _need(table, overlay, module, link.node, target)
                elif place[target.module.name] > place[module.name]:
                    raise OverlayError(
                        f"{module.where(link.node)}: {module.name} needs {target.full} while it "
                        "is imported, and imports it in a circle"
                    )
    _check_circles(overlays)


def _need(table: Table, overlay: Overlay, module: Module, node: ast.AST, target: Symbol) -> None:
    if not table.may_need(overlay.name, target.overlay):
        phase = table.leaving_phase(overlay.name, target.overlay)
        reason = (
            f"{overlay.name} stays in phase {phase} without {target.overlay}"
            if phase and overlay.name != CORE
            else "core is there without it"
        )
        raise OverlayError(
            f"{module.where(node)}: {module.name} (overlay {overlay.name}) needs {target.full} "
            f"(overlay {target.overlay}) while it is imported, and {reason}: use it inside a "
            "function, or put both into overlays that are loaded together"
        )
    if target.overlay != CORE:
        overlay.needs.add(target.overlay)


def _check_circles(overlays: dict[str, Overlay]) -> None:
    def visit(name: str, path: list[str]) -> None:
        if name in path:
            circle = " -> ".join([*path[path.index(name) :], name])
            raise OverlayError(f"overlays need each other while they are loaded: {circle}")
        for other in sorted(overlays[name].needs):
            visit(other, [*path, name])

    for name in overlays:
        visit(name, [])


def _symbol_of(program: Program, target: Target) -> Symbol | None:
    if isinstance(target, ModuleTarget):
        return program.symbol(program.modules[target.name], AS_OBJECT)
    return target if isinstance(target, Symbol) else None
