"""The lessons of earlier builds: the library, which of them fit, how a build adds to it."""
