# What vhem is built on; scripts/setup installs all of it on Debian.
find_package(PkgConfig REQUIRED)
find_package(OpenMP REQUIRED COMPONENTS C)
find_package(ZLIB REQUIRED)
pkg_check_modules(JANSSON REQUIRED IMPORTED_TARGET jansson)
pkg_check_modules(HDF5 REQUIRED IMPORTED_TARGET hdf5)
pkg_check_modules(OPENBLAS REQUIRED IMPORTED_TARGET openblas)
pkg_check_modules(ARPACK REQUIRED IMPORTED_TARGET arpack)
find_library(LAPACKE_LIBRARY lapacke REQUIRED)
find_path(RANDOM123_INCLUDE Random123/philox.h REQUIRED)
add_library(vhem_deps INTERFACE)
target_include_directories(vhem_deps SYSTEM INTERFACE ${RANDOM123_INCLUDE})
target_link_libraries(vhem_deps INTERFACE OpenMP::OpenMP_C ZLIB::ZLIB PkgConfig::JANSSON PkgConfig::HDF5
                      PkgConfig::ARPACK ${LAPACKE_LIBRARY} PkgConfig::OPENBLAS m)
