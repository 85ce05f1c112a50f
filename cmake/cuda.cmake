# The .cu files of src/cuda, compiled by nvcc or, for tests without a GPU, by the C++ compiler against the
# device that tests/cuda plays.  The runtime of CUDA is linked statically and looks for the driver when it is first used:
# the result runs on machines without either.
set(VHEM_CUDA_ARCH "90" CACHE STRING "Compute capabilities that vhem is compiled for, separated by semicolons")
file(GLOB VHEM_CU_SOURCES CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/cuda/*.cu)
file(GLOB VHEM_CU_HEADERS CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/cuda/*.h
     ${PROJECT_SOURCE_DIR}/src/cuda/*.cuh)
file(GLOB VHEM_CU_HOST CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/cuda/*.c)

# Objects of the .cu files into the variable out; the rest of the arguments is the compiler and its options.
function(vhem_cu_objects out)
    foreach(source ${VHEM_CU_SOURCES})
        get_filename_component(name ${source} NAME)
        set(object ${CMAKE_CURRENT_BINARY_DIR}/CMakeFiles/vhem_cuda.dir/cuda/${name}.o)
        get_filename_component(folder ${object} DIRECTORY)
        file(MAKE_DIRECTORY ${folder})
        add_custom_command(OUTPUT ${object} COMMAND ${ARGN} -I ${PROJECT_SOURCE_DIR}/src -c ${source} -o ${object}
            DEPENDS ${source} ${VHEM_CU_HEADERS} VERBATIM COMMENT "Building CUDA object ${name}.o")
        set_source_files_properties(${object} PROPERTIES EXTERNAL_OBJECT TRUE GENERATED TRUE)
        list(APPEND objects ${object})
    endforeach()
    set(${out} ${objects} PARENT_SCOPE)
endfunction()

# The toolkit: VHEM_NVCC and the static runtime.
function(vhem_find_cuda)
    find_program(VHEM_NVCC nvcc HINTS ENV CUDACXX ENV CUDA_PATH PATHS /usr/local/cuda/bin PATH_SUFFIXES bin)
    if(NOT VHEM_NVCC)
        message(FATAL_ERROR "VHEM_CUDA=ON needs nvcc of the CUDA toolkit, version 12 or later (https://developer.nvidia.com/cuda-downloads); "
                            "put it on PATH, or leave VHEM_CUDA off")
    endif()
    get_filename_component(nvcc ${VHEM_NVCC} REALPATH)
    get_filename_component(bin ${nvcc} DIRECTORY)
    find_library(VHEM_CUDART cudart_static HINTS ${bin}/../lib64 ${bin}/../targets/x86_64-linux/lib REQUIRED)
endfunction()

# nvcc and its options, into the variable out: machine code for every architecture named, and portable code of the
# oldest and the newest, which the devices between and after them compile for themselves.
function(vhem_nvcc_command out)
    set(command ${VHEM_NVCC} -O3 -std=c++17 -Xcompiler=-fPIC,-fvisibility=hidden)
    set(sorted ${VHEM_CUDA_ARCH})
    list(SORT sorted COMPARE NATURAL)
    list(GET sorted 0 oldest)
    list(GET sorted -1 newest)
    foreach(arch ${sorted})
        list(APPEND command -gencode=arch=compute_${arch},code=sm_${arch})
    endforeach()
    set(portable ${oldest} ${newest})
    list(REMOVE_DUPLICATES portable)
    foreach(arch ${portable})
        list(APPEND command -gencode=arch=compute_${arch},code=compute_${arch})
    endforeach()
    string(REGEX MATCH "^[0-9]+" oldest ${oldest})
    list(APPEND command -DVHEM_CUDA_OLDEST=${oldest})
    set(${out} ${command} PARENT_SCOPE)
endfunction()
