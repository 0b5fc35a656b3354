// Fails: build | BUILD_FAILED | <script>alert(1)</script>
// Threat B11: Has the compiler say thousands of lines, with markup and control characters.
#include "lab.hpp"

#define ONE_MORE _Pragma("GCC error \"<script>alert(1)</script> ]]> \x1b[2J ::error::\"")
#define TEN_MORE                                                                                   \
    ONE_MORE ONE_MORE ONE_MORE ONE_MORE ONE_MORE ONE_MORE ONE_MORE ONE_MORE ONE_MORE ONE_MORE
#define MANY_MORE                                                                                  \
    TEN_MORE TEN_MORE TEN_MORE TEN_MORE TEN_MORE TEN_MORE TEN_MORE TEN_MORE TEN_MORE TEN_MORE
MANY_MORE
MANY_MORE
