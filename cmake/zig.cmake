# Builds for another system with zig, against the libraries that "scripts/libraries TARGET" made in VHEM_LIBRARIES.
set(VHEM_LIBRARIES "$ENV{VHEM_LIBRARIES}" CACHE PATH "The folder that scripts/libraries made for the system")
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES VHEM_LIBRARIES)
file(STRINGS ${VHEM_LIBRARIES}/triple vhem_triple)
string(REGEX MATCH "^[a-z0-9_]+" CMAKE_SYSTEM_PROCESSOR "${vhem_triple}")
if(vhem_triple MATCHES "windows")
    set(CMAKE_SYSTEM_NAME Windows)
elseif(vhem_triple MATCHES "macos")
    set(CMAKE_SYSTEM_NAME Darwin)
else()
    set(CMAKE_SYSTEM_NAME Linux)
endif()
set(CMAKE_C_COMPILER ${VHEM_LIBRARIES}/bin/cc)
set(CMAKE_CXX_COMPILER ${VHEM_LIBRARIES}/bin/c++)
set(VHEM_CXX ${VHEM_LIBRARIES}/bin/c++ CACHE STRING "The C++ compiler of the tests")
set(CMAKE_AR ${VHEM_LIBRARIES}/bin/ar CACHE FILEPATH "")
set(CMAKE_RANLIB ${VHEM_LIBRARIES}/bin/ranlib CACHE FILEPATH "")

if(NOT CMAKE_SYSTEM_NAME STREQUAL "Darwin") # no symbols of the libraries; there zig's linker cannot leave them out
    set(CMAKE_EXE_LINKER_FLAGS_INIT -s)
    set(CMAKE_SHARED_LINKER_FLAGS_INIT -s)
endif()

set(CMAKE_FIND_ROOT_PATH ${VHEM_LIBRARIES})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(ENV{PKG_CONFIG_LIBDIR} ${VHEM_LIBRARIES}/lib/pkgconfig)

# OpenMP is said here, since zig has no runtime of its own to try the compiler with.
set(OpenMP_C_FLAGS "-fopenmp" CACHE STRING "")
set(OpenMP_C_LIB_NAMES "omp" CACHE STRING "")
if(CMAKE_SYSTEM_NAME STREQUAL "Windows")
    set(OpenMP_C_LIB_NAMES "omp;psapi" CACHE STRING "" FORCE)
    set(OpenMP_psapi_LIBRARY psapi CACHE STRING "")
endif()
set(OpenMP_omp_LIBRARY ${VHEM_LIBRARIES}/lib/libomp.a CACHE FILEPATH "")

# zig's names of the processors; it takes one of -march and -mtune.
set(VHEM_MARCH_avx2 -march=x86_64_v3)
set(VHEM_MARCH_avx512 -march=x86_64_v4)
