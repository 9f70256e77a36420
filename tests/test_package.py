"""The wheel alone is a whole Foundry: templates, workflows, patterns and the demo's script."""

import subprocess
import sys
import zipfile
from pathlib import Path

ROOT = Path(__file__).parent.parent


def test_wheel_runs_the_demo_outside_the_repository(
    tmp_path: Path, environment: dict[str, str]
) -> None:
    subprocess.run(
        [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", tmp_path, ROOT],
        check=True,
        capture_output=True,
        env=environment,
    )
    (wheel,) = tmp_path.glob("*.whl")
    alone = tmp_path / "alone"
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(alone)
    place = "import foundry; print(foundry.__file__)"
    env = {**environment, "PYTHONPATH": str(alone)}
    found = subprocess.run(
        [sys.executable, "-c", place], cwd=tmp_path, env=env, capture_output=True, text=True,
        check=True,
    )  # fmt: skip
    assert Path(found.stdout.strip()).is_relative_to(alone)
    done = subprocess.run(
        [sys.executable, "-m", "foundry", "demo", "--dir", "demo", "--quiet"],
        cwd=tmp_path,
        env=env,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "verified" in done.stdout
    assert (tmp_path / "demo" / "README.md").exists()
