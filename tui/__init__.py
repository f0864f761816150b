"""The terminal interface: screens and widgets over `expert.consult`, no rule logic.

In a checkout this is the package `tui`, in the wheel `expert.tui`; `expert.places.tui_module` says which. Inside it,
imports of its own modules are therefore relative.
"""
