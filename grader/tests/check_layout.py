#!/usr/bin/env python3
# Checks that every lab has its parts, every part its lab, and every file a first line that says what it is for.
import sys
