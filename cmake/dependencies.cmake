# What vhem is built on; scripts/setup installs all of it on Debian.  Installed with the package: who links the
# static library needs the same libraries.
find_package(PkgConfig REQUIRED)
find_package(OpenMP REQUIRED COMPONENTS C)
find_package(ZLIB REQUIRED)
pkg_check_modules(JANSSON REQUIRED IMPORTED_TARGET jansson)
if(VHEM_HDF5)
    pkg_check_modules(HDF5 REQUIRED IMPORTED_TARGET hdf5)
endif()
if(VHEM_XLSX)
    pkg_check_modules(EXPAT REQUIRED IMPORTED_TARGET expat)
endif()
pkg_check_modules(XXHASH REQUIRED IMPORTED_TARGET libxxhash)
pkg_check_modules(OPENBLAS REQUIRED IMPORTED_TARGET openblas)
if(NOT OPENBLAS_CFLAGS MATCHES "BLAS_SYMBOL_PREFIX") # the build for wheels has LAPACKE in it
    find_library(LAPACKE_LIBRARY lapacke REQUIRED)
endif()
