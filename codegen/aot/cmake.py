"""The CMakeLists.txt of a library: it builds, installs and exports it, so that `find_package` finds it."""

from __future__ import annotations

from collections.abc import Iterator
from string import Template

from affdsl.codegen.aot.shipped import Library
from affdsl.codegen.aot.sources import Sources
from affdsl.codegen.library_functions import called, unknown

STRICT = ("-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math")
"""No product is fused with a sum; kernels read neither errno nor the exception flags."""
FOR_GCC = ("-fexcess-precision=fast",)
"""No float is computed in a double, as gcc would on s390x; clang never does, and knows no such flag before 16."""

_PROCESSORS = {
    "__x86_64__": "x86_64|AMD64|amd64",
    "__aarch64__": "aarch64|arm64|ARM64",
    "__riscv": "riscv64",
    "__wasm__": "wasm32",
}
"""What CMake calls machines."""


def cmake_lists(library: Library, sources: Sources) -> str:
    """The text of CMakeLists.txt."""
    words = {
        "name": library.name,
        "NAME": library.name.upper(),
        "version": library.version,
        "files": " ".join(file.name for file in sources.files),
        "headers": f"{library.name}.h",
        "options": " ".join([*STRICT, *wrapping(sources), *calling(sources), *_for_gcc()]),
        "targets": "".join(_targets(sources)),
        "openmp": "",
        "dependency": "",
        "about": f"{', '.join(library.symbols)}, made by affdsl",
    }
    if sources.has_parallel:
        words |= {"openmp": Template(_OPENMP).substitute(words), "dependency": Template(_DEPENDENCY).substitute(words)}
    return Template(_TEXT).substitute(words)


def wrapping(sources: Sources) -> tuple[str, ...]:
    """The flags of functions that check each access: indices from data may overflow before they are checked."""
    return ("-fwrapv",) if sources.has_checks else ()


def calling(sources: Sources) -> tuple[str, ...]:
    """The flags with which functions of the C library are called, and not computed by the compiler."""
    return unknown(called("".join(file.text for file in sources.files)))


def _for_gcc() -> list[str]:
    """The flags that gcc alone is given."""
    return [f"$<$<C_COMPILER_ID:GNU>:{flag}>" for flag in FOR_GCC]


def _targets(sources: Sources) -> Iterator[str]:
    """The flags of the files that are for one target, by machines."""
    found: dict[str, list[str]] = {}
    for file in sources.files:
        if file.target is not None and file.target.flags:
            options = ";".join(file.target.flags)
            line = f'  set_source_files_properties({file.name} PROPERTIES COMPILE_OPTIONS "{options}")\n'
            found.setdefault(_PROCESSORS[file.target.machine], []).append(line)
    for processors, lines in found.items():
        yield f'if(CMAKE_SYSTEM_PROCESSOR MATCHES "^({processors})$")\n{"".join(lines)}endif()\n'


_TEXT = """\
# $name $version, made by affdsl: builds and installs it. In a project of yours:
#
#   add_subdirectory($name)                       this folder, or, where it is installed,
#   find_package($name REQUIRED)
#   target_link_libraries(app PRIVATE $name::$name)
cmake_minimum_required(VERSION 3.18)
project($name VERSION $version LANGUAGES C)

include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

option(BUILD_SHARED_LIBS "Build a shared library, not a static one" OFF)
if(CMAKE_SOURCE_DIR STREQUAL PROJECT_SOURCE_DIR AND NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Debug, Release, RelWithDebInfo or MinSizeRel" FORCE)
endif()

add_library($name $files)
add_library($name::$name ALIAS $name)
set_target_properties($name PROPERTIES
  VERSION $${PROJECT_VERSION}
  SOVERSION $${PROJECT_VERSION_MAJOR}
  C_STANDARD 11
  C_STANDARD_REQUIRED ON
  C_EXTENSIONS OFF
  C_VISIBILITY_PRESET hidden
  POSITION_INDEPENDENT_CODE ON)
target_include_directories($name PUBLIC
  $$<BUILD_INTERFACE:$${CMAKE_CURRENT_SOURCE_DIR}>
  $$<INSTALL_INTERFACE:$${CMAKE_INSTALL_INCLUDEDIR}>)
target_compile_options($name PRIVATE $options)
target_link_libraries($name PRIVATE m)
$targets$openmp
install(TARGETS $name EXPORT ${name}Targets
  ARCHIVE DESTINATION $${CMAKE_INSTALL_LIBDIR}
  LIBRARY DESTINATION $${CMAKE_INSTALL_LIBDIR}
  RUNTIME DESTINATION $${CMAKE_INSTALL_BINDIR})
install(FILES $headers DESTINATION $${CMAKE_INSTALL_INCLUDEDIR})

# find_package($name)
set(${NAME}_CMAKE_DIR $${CMAKE_INSTALL_LIBDIR}/cmake/$name)
install(EXPORT ${name}Targets NAMESPACE $name:: DESTINATION $${${NAME}_CMAKE_DIR})
file(CONFIGURE OUTPUT $${CMAKE_CURRENT_BINARY_DIR}/${name}Config.cmake @ONLY CONTENT [=[
${dependency}include("$${CMAKE_CURRENT_LIST_DIR}/${name}Targets.cmake")
]=])
write_basic_package_version_file($${CMAKE_CURRENT_BINARY_DIR}/${name}ConfigVersion.cmake
  COMPATIBILITY SameMajorVersion)
install(FILES
  $${CMAKE_CURRENT_BINARY_DIR}/${name}Config.cmake
  $${CMAKE_CURRENT_BINARY_DIR}/${name}ConfigVersion.cmake
  DESTINATION $${${NAME}_CMAKE_DIR})

# pkg-config $name
file(RELATIVE_PATH ${NAME}_PREFIX
  $${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig $${CMAKE_INSTALL_PREFIX})
string(REGEX REPLACE "/+$$" "" ${NAME}_PREFIX "$${${NAME}_PREFIX}")
file(CONFIGURE OUTPUT $${CMAKE_CURRENT_BINARY_DIR}/$name.pc @ONLY CONTENT [=[
prefix=$${pcfiledir}/@${NAME}_PREFIX@
includedir=$${prefix}/@CMAKE_INSTALL_INCLUDEDIR@
libdir=$${prefix}/@CMAKE_INSTALL_LIBDIR@

Name: $name
Description: $about
Version: $version
Cflags: -I$${includedir}
Libs: -L$${libdir} -l$name
Libs.private: -lm@${NAME}_OPENMP_FLAG@
]=])
install(FILES $${CMAKE_CURRENT_BINARY_DIR}/$name.pc DESTINATION $${CMAKE_INSTALL_LIBDIR}/pkgconfig)
"""

_OPENMP = """
option(${NAME}_OPENMP "Run parallel loops on threads" ON)
if(${NAME}_OPENMP)
  if(NOT TARGET OpenMP::OpenMP_C)
    find_package(OpenMP COMPONENTS C)
    if(OpenMP_C_FOUND) # for whoever links this library, in whatever folder
      set_target_properties(OpenMP::OpenMP_C PROPERTIES IMPORTED_GLOBAL TRUE)
    endif()
  endif()
  if(TARGET OpenMP::OpenMP_C)
    target_link_libraries($name PRIVATE OpenMP::OpenMP_C)
    set(${NAME}_OPENMP_FLAG " -fopenmp")
    set(${NAME}_HAS_OPENMP TRUE)
  endif()
endif()
"""

_DEPENDENCY = """\
if("@${NAME}_HAS_OPENMP@" AND NOT "@BUILD_SHARED_LIBS@")
  get_property(languages GLOBAL PROPERTY ENABLED_LANGUAGES)
  if(NOT "C" IN_LIST languages) # the OpenMP of C is asked for in a project of C
    enable_language(C)
  endif()
  include(CMakeFindDependencyMacro)
  find_dependency(OpenMP COMPONENTS C)
endif()
"""
