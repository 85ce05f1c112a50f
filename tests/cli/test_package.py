# SPDX-License-Identifier: BSD-3-Clause
"""The installed library as other C projects use it: CMake package, pkg-config, a folder of their own build."""
import os
import pathlib
import shutil
import subprocess
import unittest

from support import SOURCE, VHEM, Case

BUILD = pathlib.Path(VHEM).resolve().parent
PROGRAM = """#include <stdio.h>
#include <vhem.h>
int main(void) { puts(vhem_version()); return 0; }
"""
PROJECT = """cmake_minimum_required(VERSION 3.22)
project(user C)
%s
add_executable(user user.c)
target_link_libraries(user PRIVATE %s)
"""


@unittest.skipUnless((BUILD / "cmake_install.cmake").exists() and shutil.which("cmake"), "not run from a build folder")
class Package(Case):
    def setUp(self):
        super().setUp()
        cache = (BUILD / "CMakeCache.txt").read_text()
        self.flags = "-fsanitize=address,undefined" if "VHEM_SANITIZE:BOOL=ON" in cache else ""
        self.prefix = self.path("a prefix with spaces")
        self.write("user.c", PROGRAM)
        self.run_tool("cmake", "--install", BUILD, "--prefix", self.prefix)
        self.version = self.ok("--version").out.split()[1]

    def run_tool(self, *args, env=None):
        done = subprocess.run([str(a) for a in args], cwd=self.dir, capture_output=True, text=True,
                              env={**os.environ, **(env or {})})
        self.assertEqual(done.returncode, 0, f"{args}: {done.stdout}{done.stderr}")
        return done.stdout

    def configure(self, how, target, *more):
        self.write("CMakeLists.txt", PROJECT % (how, target))
        return self.run_tool("cmake", "-S", ".", "-B", "user", f"-DCMAKE_PREFIX_PATH={self.prefix}",
                             f"-DCMAKE_C_FLAGS={self.flags}", *more)

    def build_and_run(self):
        self.run_tool("cmake", "--build", "user")
        self.assertEqual(self.run_tool("./user/user").strip(), self.version)

    def test_find_package_needs_nothing_else(self):
        """The shared library brings its own libraries: not even pkg-config is asked for."""
        short = ".".join(self.version.split(".")[:2])
        self.configure(f"find_package(vhem {short} CONFIG REQUIRED)", "vhem::vhem", "-DPKG_CONFIG_EXECUTABLE=/bin/false")
        self.build_and_run()

    def test_static_component(self):
        self.configure("find_package(vhem CONFIG REQUIRED COMPONENTS static)", "vhem::static")
        self.build_and_run()
        linked = self.run_tool("ldd", "user/user")
        self.assertNotIn("libvhem", linked)

    def test_unknown_component_is_named(self):
        self.write("CMakeLists.txt", PROJECT % ("find_package(vhem CONFIG REQUIRED COMPONENTS cuda)", "vhem::vhem"))
        done = subprocess.run(["cmake", "-S", ".", "-B", "user", f"-DCMAKE_PREFIX_PATH={self.prefix}"], cwd=self.dir,
                              capture_output=True, text=True)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("vhem has no component cuda", " ".join(done.stderr.split()))

    def test_as_part_of_another_build(self):
        """add_subdirectory: configures, without our tests, under the same names as the package."""
        self.configure(f'add_subdirectory("{SOURCE}" vhem)', "vhem::vhem")
        listed = self.run_tool("cmake", "--build", "user", "--target", "help")
        self.assertIn("vhem_shared", listed)
        self.assertNotIn("unit_core", listed)

    def test_pkg_config(self):
        [pc] = self.prefix.glob("lib*/**/vhem.pc")
        env = {"PKG_CONFIG_PATH": str(pc.parent)}
        cflags = self.run_tool("pkg-config", "--cflags", "vhem", env=env)
        self.assertEqual(cflags.count("-I"), 1, cflags)             # the header needs no other library's headers
        libs = self.run_tool("pkg-config", "--libs", "vhem", env=env)
        self.assertEqual([w for w in libs.split() if w.startswith("-l")], ["-lvhem"])
        for word in ("-ljansson", "-lhdf5", "-lopenblas", "-llapacke", "-lxxhash", "-lz"):
            self.assertIn(word, self.run_tool("pkg-config", "--static", "--libs", "vhem", env=env).split())

    def test_destdir_and_uninstall(self):
        """make uninstall removes the files of the last make install, under DESTDIR too, and nothing else."""
        build = self.path("project/build")
        build.mkdir(parents=True)
        stage = self.path("stage area")
        self.run_tool("cmake", "--install", BUILD, "--prefix", "/opt/a b", env={"DESTDIR": str(stage)})
        shutil.copy(BUILD / "install_manifest.txt", build)
        placed = [p for p in stage.rglob("*") if p.is_file() or p.is_symlink()]
        self.assertTrue(any(p.name == "libvhem.a" for p in placed))
        (stage / "opt/a b/mine").write_text("kept")
        self.run_tool("make", "-C", build.parent, "-f", SOURCE / "Makefile", "uninstall", f"DESTDIR={stage}")
        left = [p.name for p in stage.rglob("*") if p.is_file() or p.is_symlink()]
        self.assertEqual(left, ["mine"])


if __name__ == "__main__":
    unittest.main()
