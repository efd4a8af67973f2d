"""What can be said about the image and the composition without an engine to run them."""

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from ruamel.yaml import YAML

from service.__main__ import _parser
from service.settings import Settings

ROOT = Path(__file__).parent.parent.parent
REQUIREMENTS = ("requirements.txt", "requirements-dev.txt")


@pytest.fixture(scope="module")
def compose() -> dict[str, Any]:
    loaded: dict[str, Any] = YAML(typ="safe").load(ROOT / "docker-compose.yml")
    return loaded


@pytest.fixture(scope="module")
def dockerfile() -> list[tuple[str, str]]:
    """Each instruction with its arguments, continued lines joined."""
    text = (ROOT / "Dockerfile").read_text("utf-8").replace("\\\n", " ")
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    return [(word.upper(), re.sub(r"\s+", " ", rest)) for word, _, rest in (line.partition(" ") for line in lines)]


def arguments(dockerfile: list[tuple[str, str]], word: str) -> list[str]:
    return [rest for instruction, rest in dockerfile if instruction == word]


def test_the_services_are_these(compose: dict[str, Any]) -> None:
    assert set(compose["services"]) == {"postgres", "migrate", "api", "worker"}
    assert compose["services"]["postgres"]["image"] == "postgres:17"
    commands = {name: compose["services"][name]["command"][0] for name in ("migrate", "api", "worker")}
    assert commands == {"migrate": "migrate", "api": "serve", "worker": "worker"}


@pytest.mark.parametrize("name", ["migrate", "api", "worker"])
def test_every_command_of_the_composition_is_one_we_have(compose: dict[str, Any], name: str) -> None:
    assert _parser().parse_args(compose["services"][name]["command"])


def test_start_waits_for_health(compose: dict[str, Any]) -> None:
    services = compose["services"]
    assert services["postgres"]["healthcheck"]["test"][1] == "pg_isready"
    assert services["migrate"]["depends_on"] == {"postgres": {"condition": "service_healthy"}}
    for name in ("api", "worker"):
        assert services[name]["depends_on"] == {"migrate": {"condition": "service_completed_successfully"}}
    assert "healthcheck" not in services["api"], "the image has one"


def test_what_dies_is_started_again(compose: dict[str, Any]) -> None:
    policies = {name: service["restart"] for name, service in compose["services"].items()}
    assert policies == {
        "postgres": "unless-stopped",
        "migrate": "on-failure",
        "api": "unless-stopped",
        "worker": "unless-stopped",
    }


def test_only_the_api_is_published_and_only_here(compose: dict[str, Any]) -> None:
    published = {name: service["ports"] for name, service in compose["services"].items() if "ports" in service}
    assert published == {"api": ["127.0.0.1:8000:8000"]}
    assert all("network_mode" not in service for service in compose["services"].values())


def test_data_lives_in_named_volumes(compose: dict[str, Any]) -> None:
    assert set(compose["volumes"]) == {"postgres", "data"}
    assert compose["services"]["postgres"]["volumes"] == ["postgres:/var/lib/postgresql/data"]
    for name in ("api", "worker"):
        assert compose["services"][name]["volumes"] == ["data:/data"]


def test_api_and_worker_share_a_database_and_nothing_trains_in_the_api(compose: dict[str, Any]) -> None:
    said = [compose["services"][name]["environment"] for name in ("migrate", "api", "worker")]
    assert said[0] == said[1] == said[2]
    assert said[0]["NIWAKI_DATABASE_URL"].startswith("postgresql://niwaki:")
    assert "@postgres/niwaki" in said[0]["NIWAKI_DATABASE_URL"]
    assert said[0]["NIWAKI_EMBEDDED_WORKER"] == "false"
    assert {name.removeprefix("NIWAKI_").lower() for name in said[0]} <= set(Settings.model_fields)
    password = compose["services"]["postgres"]["environment"]["POSTGRES_PASSWORD"]
    assert f"niwaki:{password}@" in said[0]["NIWAKI_DATABASE_URL"]


def test_our_containers_may_do_little(compose: dict[str, Any]) -> None:
    for name in ("migrate", "api", "worker"):
        service = compose["services"][name]
        assert service["read_only"] is True
        assert service["cap_drop"] == ["ALL"]
        assert service["security_opt"] == ["no-new-privileges:true"]
        assert "privileged" not in service


def test_the_image_has_two_stages_of_a_slim_python(dockerfile: list[tuple[str, str]]) -> None:
    stages = arguments(dockerfile, "FROM")
    assert [stage.split()[0] for stage in stages] == ["python:3.12-slim", "python:3.12-slim"]
    assert any(copied.startswith("--from=packages ") for copied in arguments(dockerfile, "COPY"))
    installed = [run for run in arguments(dockerfile, "RUN") if "pip install" in run]
    assert len(installed) == 1
    assert "--require-hashes -r requirements.txt" in installed[0]


def test_the_image_runs_as_nobody_in_particular(dockerfile: list[tuple[str, str]]) -> None:
    (user,) = arguments(dockerfile, "USER")
    assert re.fullmatch(r"[1-9]\d*:[1-9]\d*", user)
    words = [word for word, _ in dockerfile]
    assert words.index("USER") < words.index("ENTRYPOINT")


def test_the_image_tells_whether_it_is_well(dockerfile: list[tuple[str, str]]) -> None:
    (check,) = arguments(dockerfile, "HEALTHCHECK")
    assert check.endswith('CMD ["python", "-m", "service", "health"]')
    assert arguments(dockerfile, "ENTRYPOINT") == ['["python", "-m", "service"]']
    assert arguments(dockerfile, "CMD") == ['["serve"]']
    assert arguments(dockerfile, "EXPOSE") == ["8000"]


def test_the_image_brings_compiled_code_that_nobody_can_change(dockerfile: list[tuple[str, str]]) -> None:
    (variables,) = (rest for rest in arguments(dockerfile, "ENV") if "NIWAKI_KERNEL_DIR" in rest)
    folder = dict(pair.split("=", 1) for pair in variables.split())["NIWAKI_KERNEL_DIR"]
    assert not folder.startswith("/data"), "a volume would hide it"
    warmed = next(i for i, step in enumerate(dockerfile) if step[0] == "RUN" and "python -m service warm-up" in step[1])
    assert warmed < next(i for i, step in enumerate(dockerfile) if step[0] == "USER")
    assert "NIWAKI_CPU" not in variables, "the default is the baseline"
    assert _parser().parse_args(["warm-up"])


def test_the_image_holds_what_the_service_needs(dockerfile: list[tuple[str, str]]) -> None:
    copied = {rest.split()[0] for rest in arguments(dockerfile, "COPY")}
    assert {"core", "service", "migrations"} <= copied
    ignored = (ROOT / ".dockerignore").read_text("utf-8").split()
    assert ".git" in ignored or "*" in ignored


def pinned(name: str) -> dict[str, str]:
    """What a requirements file installs: each entry joined to one line, by package."""
    text = (ROOT / name).read_text("utf-8").replace("\\\n", " ")
    lines = [line for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")]
    return {canonicalize_name(re.split(r"[=\[ ;]", line, maxsplit=1)[0]): line for line in lines}


@pytest.mark.parametrize("name", REQUIREMENTS)
def test_every_requirement_is_pinned_with_hashes(name: str) -> None:
    entries = pinned(name)
    assert len(entries) > 20
    for package, line in entries.items():
        assert re.match(r"[A-Za-z0-9._-]+(\[[a-z,]+\])?==[^\s;]+( ;[^-]*)? ", line), package
        assert re.search(r"--hash=sha256:[0-9a-f]{64}", line), package


@pytest.mark.parametrize("name", [*REQUIREMENTS, "pyproject.toml", "Dockerfile", "Makefile", "docker-compose.yml"])
def test_no_registry_is_named(name: str) -> None:
    text = (ROOT / name).read_text("utf-8")
    for word in ("index-url", "find-links", "trusted-host", "pypi.", "://files.", "PIP_INDEX"):
        assert word not in text.replace("--no-emit-index-url", "")


def test_what_the_project_asks_for_is_pinned() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    runtime, development = pinned(REQUIREMENTS[0]), pinned(REQUIREMENTS[1])
    asked = [Requirement(text) for text in project["dependencies"]]
    also = [Requirement(text) for text in project["optional-dependencies"]["dev"]]
    for requirement, entries in [*((one, runtime) for one in asked), *((one, development) for one in (*asked, *also))]:
        version = re.search(r"==([^\s;]+)", entries[canonicalize_name(requirement.name)])
        assert version is not None
        assert requirement.specifier.contains(version[1]), requirement


def test_both_files_agree() -> None:
    runtime, development = pinned(REQUIREMENTS[0]), pinned(REQUIREMENTS[1])
    for package, line in runtime.items():
        assert line.split(" --hash")[0] == development[package].split(" --hash")[0], package
