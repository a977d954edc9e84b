"""Libraries for browsers and other engines of WebAssembly: the JavaScript that calls a module, and a page."""
