# Makes a C file with the bytes of other files: cmake -DOUT=assets.c -DFILES="a.css;b.js" -P embed.cmake.
# report/report.css becomes vh_report_css[] and vh_report_css_size.
set(text "/* Made from ${FILES}. */\n#include \"report/assets.h\"\n")
foreach(path ${FILES})
    get_filename_component(name ${path} NAME)
    string(MAKE_C_IDENTIFIER vh_${name} id)
    file(READ ${path} bytes HEX)
    string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
    string(APPEND text "const unsigned char ${id}[] = { ${bytes} };\nconst size_t ${id}_size = sizeof ${id};\n")
endforeach()
file(WRITE ${OUT} "${text}")
