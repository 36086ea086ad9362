"""Generates the stubs while the package is built, from the protos of the repository, or a copy of them beside this file.

It needs protoc with gRPC's plugin for Python, or the module grpc_tools, which has both. DOMTAP_VERSION is the version."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

HERE = Path(__file__).parent.resolve()


def protoc():
    """Returns the command of the compiler."""
    plugin = shutil.which("grpc_python_plugin")
    if shutil.which("protoc") and plugin:
        return ["protoc", f"--plugin=protoc-gen-grpc_python={plugin}"]
    if subprocess.run([sys.executable, "-c", "import grpc_tools.protoc"], stderr=subprocess.DEVNULL).returncode == 0:
        return [sys.executable, "-m", "grpc_tools.protoc"]
    sys.exit(
        "build the stubs: there is neither protoc with grpc_python_plugin nor the module grpc_tools: install "
        "protobuf-compiler, protobuf-compiler-grpc and libprotobuf-dev (Debian), or grpcio-tools (pip)"
    )


class Build(build_py):
    """build_py, and the stubs beside the sources."""

    def run(self):
        super().run()
        root = next((d for d in (HERE / "proto", HERE.parent.parent / "proto") if (d / "domtap" / "v1").is_dir()), None)
        if root is None:
            sys.exit("build the stubs: the folder proto/domtap/v1 is neither here nor in ../..: build in the repository")
        files = sorted(str(p.relative_to(root)) for p in (root / "domtap" / "v1").glob("*.proto"))
        out = Path(self.build_lib).resolve()
        outputs = [f"--python_out={out}", f"--pyi_out={out}"]
        subprocess.run([*protoc(), f"-I{root}", *outputs, f"--grpc_python_out={out}", *files], check=True, cwd=root)
        own = HERE / "src"
        subprocess.run([*protoc(), f"-I{own}", *outputs, "domtap/_status.proto"], check=True, cwd=own)
        (out / "domtap" / "v1" / "__init__.py").write_text('"""The generated stubs of the services of domtap."""\n')


setup(version=os.environ.get("DOMTAP_VERSION", "0.0.0"), cmdclass={"build_py": Build})
