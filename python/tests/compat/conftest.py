"""Larkspur in llguidance's place, for every test here. The real one, where it is asked, is in a process of its own."""

import larkspur.compat

larkspur.compat.install()
