# Compiler flags for every target.  The instruction sets of src/simd are set in src/CMakeLists.txt.
set(CMAKE_C_STANDARD 11)
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
# Asserts are promises between our own functions; the type Debug (preset asan) checks them, Release does not.
if(NOT CMAKE_BUILD_TYPE)
    set(CMAKE_BUILD_TYPE Release)
endif()
add_compile_options(-Wall -Wextra -Wshadow -Wpointer-arith -Wstrict-prototypes -Wmissing-prototypes
                    -Wvla -Wwrite-strings -Wundef -fno-math-errno
                    -ffp-contract=off) # GCC does so for ISO C, clang does not; the kernels of src/simd ask for it
add_compile_definitions(_POSIX_C_SOURCE=200809L)
if(APPLE) # where the name above hides what is more than POSIX
    add_compile_definitions(_DARWIN_C_SOURCE)
    set(CMAKE_SHARED_LIBRARY_RUNTIME_C_FLAG "-Wl,-rpath,") # CMake finds these out on macOS only
    set(CMAKE_EXECUTABLE_RUNTIME_C_FLAG "-Wl,-rpath,")
endif()
# For ARM, GCC 12 fails with an internal error on loops that keep the largest number by fmax.
if(CMAKE_SYSTEM_PROCESSOR STREQUAL "aarch64" AND CMAKE_C_COMPILER_ID STREQUAL "GNU"
   AND CMAKE_C_COMPILER_VERSION VERSION_LESS 13)
    add_compile_options(-fno-builtin-fmax -fno-builtin-fmin)
endif()
if(VHEM_WERROR)
    add_compile_options(-Werror)
endif()
if(VHEM_SANITIZE)
    add_compile_options(-fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer -O1)
    add_link_options(-fsanitize=address,undefined)
endif()
# Presets fuzz and fuzz-fast, with clang: the fuzz targets of tests/fuzz and what they call, which counts what it
# reaches.  Without the sanitizers the properties alone are checked, several times as fast.
if(VHEM_FUZZ)
    if(VHEM_FUZZ_FAST)
        add_compile_options(-fsanitize=fuzzer-no-link -O2)
    else()
        add_compile_options(-fsanitize=address,undefined,fuzzer-no-link -fno-sanitize-recover=all
                            -fno-omit-frame-pointer -O1)
        add_link_options(-fsanitize=address,undefined)
    endif()
endif()
# Preset tsan, with clang, whose OpenMP runtime tells ThreadSanitizer what its synchronisation means.
if(VHEM_TSAN)
    add_compile_options(-fsanitize=thread -fno-omit-frame-pointer -O1)
    add_link_options(-fsanitize=thread)
endif()
# Preset count: each branch that is taken is counted, so that tests of what grows need no clock.
if(VHEM_COUNT)
    add_compile_options(-fsanitize-coverage=trace-pc)
    add_library(vhem_count OBJECT ${PROJECT_SOURCE_DIR}/tests/count/steps.c)
    target_compile_options(vhem_count PRIVATE -fno-sanitize-coverage=trace-pc)
endif()
