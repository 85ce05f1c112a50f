# Cross-compiles for 64-bit ARM with Debian's compiler, against the libraries of a Debian unpacked in
# build-aarch64-root; tests run under user-mode emulation.  scripts/test-aarch64 sets all of it up.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(VHEM_CXX aarch64-linux-gnu-g++ CACHE STRING "The C++ compiler of the tests")
get_filename_component(CMAKE_SYSROOT ${CMAKE_CURRENT_LIST_DIR}/../build-aarch64-root ABSOLUTE)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(vhem_lib ${CMAKE_SYSROOT}/usr/lib/aarch64-linux-gnu)

set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(ENV{PKG_CONFIG_SYSROOT_DIR} ${CMAKE_SYSROOT})
set(ENV{PKG_CONFIG_LIBDIR} ${vhem_lib}/pkgconfig:${vhem_lib}/openblas-pthread/pkgconfig)

# BLAS and LAPACK live in a folder of their own, which Debian's alternatives would lead to.
set(CMAKE_EXE_LINKER_FLAGS_INIT "-Wl,-rpath-link,${vhem_lib}/openblas-pthread")
set(CMAKE_SHARED_LINKER_FLAGS_INIT "${CMAKE_EXE_LINKER_FLAGS_INIT}")
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64;-L;${CMAKE_SYSROOT};-E;LD_LIBRARY_PATH=/usr/lib/aarch64-linux-gnu/openblas-pthread)
