# What goes into the wheel beside python/vhem: the library, the header its binding is read from, and the command,
# which uses the library beside it.
set_target_properties(vhem_command PROPERTIES INSTALL_RPATH $ORIGIN)
install(TARGETS vhem_shared LIBRARY DESTINATION vhem)
install(TARGETS vhem_command RUNTIME DESTINATION vhem)
install(DIRECTORY include/ DESTINATION vhem/include)
