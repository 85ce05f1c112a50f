# What goes into the wheel beside python/vhem: the library, and the header its binding is read from.
install(FILES $<TARGET_FILE:vhem_shared> DESTINATION vhem RENAME libvhem.so)
install(FILES include/vhem/vhem.h DESTINATION vhem)
