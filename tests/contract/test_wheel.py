"""The wheel is complete: installed beside nothing but what it asks for, it answers the commands of the README."""

import subprocess
import sys
import venv
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib.metadata import Distribution, PathDistribution, distribution
from pathlib import Path
from zipfile import ZipFile

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from service.settings import Settings
from service.version import VERSION
from tests.contract.test_readme import ROOT, assert_as_shown, commands, printed_by
from tests.journeys.running import QUICK_LEASE, Service, serving

PACKAGES = ("core", "service", "migrations")


@dataclass(frozen=True)
class Installed:
    """An environment with the wheel and what it asks for, and an empty folder to run it in."""

    bin: Path
    packages: Path
    empty: Path

    def run(self, command: str, *arguments: str) -> str:
        done = subprocess.run(
            [self.bin / command, *arguments], cwd=self.empty, capture_output=True, text=True, timeout=60, check=False
        )
        assert done.returncode == 0, done.stderr
        return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    run([sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)])
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Installed:
    """The wheel in an environment of its own. What it asks for is linked from here, so that nothing is downloaded."""
    environment = tmp_path_factory.mktemp("environment")
    venv.create(environment, symlinks=True)
    (packages,) = environment.glob("lib/python3*/site-packages")
    run([sys.executable, "-m", "pip", "--python", str(environment), "install", "--no-deps", "--no-index", str(wheel)])
    (metadata,) = packages.glob("niwaki-*.dist-info")
    for needed in needed_by(PathDistribution(metadata), extras=()).values():
        link(needed, packages)
    return Installed(environment / "bin", packages, tmp_path_factory.mktemp("empty"))


@pytest.fixture(scope="module")
def served(installed: Installed) -> Iterator[Service]:
    settings = Settings(data_dir=installed.empty / "data", port=0, engine="definition", **QUICK_LEASE)
    niwaki = [str(installed.bin / "niwaki")]
    with serving(settings, installed.bin / "log", niwaki=niwaki, cwd=installed.empty) as service:
        yield service


def run(command: list[str]) -> None:
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def needed_by(project: Distribution, extras: Iterable[str]) -> dict[str, Distribution]:
    """Every distribution that a project asks for, and those that they ask for, by name."""
    found: dict[str, Distribution] = {}
    asked = [(project, extra) for extra in ("", *extras)]
    seen = set()
    while asked:
        asking, extra = asked.pop()
        for requirement in map(Requirement, asking.requires or ()):
            if requirement.marker is not None and not requirement.marker.evaluate({"extra": extra}):
                continue
            name = canonicalize_name(requirement.name)
            found[name] = distribution(name)
            new = {(name, wanted) for wanted in ("", *requirement.extras)} - seen
            asked += [(found[name], wanted) for _, wanted in new]
            seen |= new
    return found


def link(needed: Distribution, packages: Path) -> None:
    """Show a distribution's modules in another folder."""
    tops = {file.parts[0] for file in needed.files or () if file.parts[0] not in ("..", "__pycache__")}
    for top in tops:
        if not (packages / top).exists():
            (packages / top).symlink_to(str(needed.locate_file(top)))


def test_it_holds_every_file_of_its_packages(wheel: Path) -> None:
    files = {path for package in PACKAGES for path in (ROOT / package).rglob("*") if path.is_file()}
    expected = {str(path.relative_to(ROOT)) for path in files if path.parent.name != "__pycache__"}
    held = {name for name in ZipFile(wheel).namelist() if ".dist-info/" not in name}
    assert held == expected
    assert {"core/py.typed", "service/py.typed", "migrations/script.py.mako"} <= held


def test_its_metadata_is_complete(installed: Installed) -> None:
    (folder,) = installed.packages.glob("niwaki-*.dist-info")
    told = PathDistribution(folder).metadata
    assert (told["Version"], told["License-Expression"], told["Author"]) == (VERSION, "MIT", "The Niwaki contributors")
    assert {f"Programming Language :: Python :: 3.{minor}" for minor in (11, 12, 13)} <= set(told.get_all("Classifier"))
    assert (folder / "licenses" / "LICENSE").read_text("utf-8") == (ROOT / "LICENSE").read_text("utf-8")


def test_the_environment_holds_nothing_else(installed: Installed) -> None:
    program = "import core, service, migrations; print(core.__path__, service.__path__, migrations.__path__)"
    expected = " ".join(f"['{installed.packages / package}']" for package in PACKAGES)
    assert installed.run("python", "-c", program).strip() == expected
    missing = "from importlib.util import find_spec; print(*filter(find_spec, ('pytest', 'httpx', 'sklearn')))"
    assert installed.run("python", "-c", missing).strip() == ""


def test_it_tells_its_version(installed: Installed) -> None:
    assert installed.run("niwaki", "--version") == f"niwaki {VERSION}\n"


def test_it_answers_the_commands_of_the_readme(served: Service) -> None:
    shown = commands()
    for answer, (_, expected) in zip(printed_by([command for command, _ in shown], served), shown, strict=True):
        assert expected is not None
        assert_as_shown(answer, expected)
