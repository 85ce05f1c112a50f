# What vhem is built on; scripts/setup installs all of it on Debian.  Installed with the package: who links the
# static library needs the same libraries.
find_package(PkgConfig REQUIRED)
find_package(OpenMP REQUIRED COMPONENTS C)
find_package(ZLIB REQUIRED)
pkg_check_modules(JANSSON REQUIRED IMPORTED_TARGET jansson)
pkg_check_modules(HDF5 REQUIRED IMPORTED_TARGET hdf5)
pkg_check_modules(XXHASH REQUIRED IMPORTED_TARGET libxxhash)
pkg_check_modules(OPENBLAS REQUIRED IMPORTED_TARGET openblas)
pkg_check_modules(ARPACK REQUIRED IMPORTED_TARGET arpack)
find_library(LAPACKE_LIBRARY lapacke REQUIRED)
