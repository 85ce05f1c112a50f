# make install PREFIX=...: command, library, header, pkg-config file, man pages.
include(GNUInstallDirs)
# Seen from its own folder, so that the prefix may be chosen, or changed, after configuring.
file(RELATIVE_PATH VHEM_PC_PREFIX /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
configure_file(cmake/vhem.pc.in vhem.pc @ONLY)
install(TARGETS vhem_command RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(TARGETS vhem_shared vhem_static LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY include/vhem DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(FILES ${CMAKE_BINARY_DIR}/vhem.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
install(DIRECTORY man/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 FILES_MATCHING PATTERN "*.1")
install(DIRECTORY share/ DESTINATION ${CMAKE_INSTALL_DATADIR})
