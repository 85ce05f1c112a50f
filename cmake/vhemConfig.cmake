# find_package(vhem CONFIG)                      gives vhem::vhem, the shared library, which needs nothing else;
# find_package(vhem CONFIG COMPONENTS static)    gives vhem::static too, and finds what it is linked with.
include(${CMAKE_CURRENT_LIST_DIR}/vhemTargets.cmake)
if("static" IN_LIST vhem_FIND_COMPONENTS)
    include(${CMAKE_CURRENT_LIST_DIR}/vhemOptions.cmake) # the libraries it was built without
    include(${CMAKE_CURRENT_LIST_DIR}/dependencies.cmake)
    include(${CMAKE_CURRENT_LIST_DIR}/vhemStaticTargets.cmake)
    set(vhem_static_FOUND TRUE)
endif()
foreach(component ${vhem_FIND_COMPONENTS})
    if(vhem_FIND_REQUIRED_${component} AND NOT vhem_${component}_FOUND)
        set(vhem_FOUND FALSE)
        set(vhem_NOT_FOUND_MESSAGE "vhem has no component ${component}; there is one, static")
    endif()
endforeach()
