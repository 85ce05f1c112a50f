# make install PREFIX=...: command, library, header, pkg-config file, CMake package, man pages.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(VHEM_CMAKE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/vhem)

# Seen from its own folder, so that the prefix may be chosen, or changed, after configuring.  The libraries below are
# named one by one: "Requires.private" would add their include folders to the flags of everybody.
file(RELATIVE_PATH VHEM_PC_PREFIX /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
# Each stands before those it calls, so that static libraries are linked too; tmglib and the runtime of Fortran are
# called by static LAPACKE and OpenBLAS alone.
set(VHEM_PC_LIBS "")
foreach(library JANSSON HDF5 EXPAT XXHASH)
    list(JOIN ${library}_LDFLAGS " " flags)
    string(APPEND VHEM_PC_LIBS " ${flags}")
endforeach()
find_library(TMGLIB_LIBRARY tmglib)
list(JOIN OPENBLAS_LDFLAGS " " flags)
string(APPEND VHEM_PC_LIBS " -llapacke")
if(TMGLIB_LIBRARY)
    string(APPEND VHEM_PC_LIBS " -ltmglib")
endif()
string(APPEND VHEM_PC_LIBS " ${flags} -lz")
foreach(library gfortran quadmath)
    execute_process(COMMAND ${CMAKE_C_COMPILER} -print-file-name=lib${library}.a
                    OUTPUT_VARIABLE path OUTPUT_STRIP_TRAILING_WHITESPACE)
    if(IS_ABSOLUTE "${path}")
        string(APPEND VHEM_PC_LIBS " -l${library}")
    endif()
endforeach()
configure_file(cmake/vhem.pc.in vhem.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/vhem.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

if(TARGET vhem_mpi)
    install(TARGETS vhem_mpi RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
install(TARGETS vhem_command RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(TARGETS vhem_shared EXPORT vhemTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS vhem_static vhem_deps EXPORT vhemStaticTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(EXPORT vhemTargets NAMESPACE vhem:: DESTINATION ${VHEM_CMAKE_DIR})
install(EXPORT vhemStaticTargets NAMESPACE vhem:: DESTINATION ${VHEM_CMAKE_DIR})
write_basic_package_version_file(vhemConfigVersion.cmake COMPATIBILITY SameMinorVersion)
file(WRITE ${PROJECT_BINARY_DIR}/vhemOptions.cmake
     "set(VHEM_HDF5 ${VHEM_HDF5})\nset(VHEM_XLSX ${VHEM_XLSX})\n")
install(FILES cmake/vhemConfig.cmake cmake/dependencies.cmake ${PROJECT_BINARY_DIR}/vhemConfigVersion.cmake
              ${PROJECT_BINARY_DIR}/vhemOptions.cmake
        DESTINATION ${VHEM_CMAKE_DIR})

install(DIRECTORY include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(DIRECTORY man/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 FILES_MATCHING PATTERN "*.1")
install(DIRECTORY share/ DESTINATION ${CMAKE_INSTALL_DATADIR})
