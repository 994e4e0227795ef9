# cmake -D INPUT=page.html -D OUTPUT=page_bytes.cpp -D NAMESPACE=a::b -D NAME=kPage -P embed.cmake
# Writes the bytes of a file as C++: kPageBytes and kPageSize.
file(READ ${INPUT} digits HEX)
string(LENGTH "${digits}" length)
math(EXPR size "${length} / 2")
string(REGEX REPLACE "(................................................................)" "\\1\n" digits "${digits}")
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," digits "${digits}")
file(WRITE ${OUTPUT} "#include <cstddef>
namespace ${NAMESPACE} {
extern const unsigned char ${NAME}Bytes[] = {
${digits}};
extern const std::size_t ${NAME}Size = ${size};
}  // namespace ${NAMESPACE}
")
