# Sourced by the scripts here: makes .venv with the project in it, again only when that is needed.
# Sets `python`. Takes the extra to install, if any.
make_environment() {
  root=$(cd "$(dirname "$0")/.." && pwd)
  python="$root/.venv/bin/python"
  stamp="$root/.venv/.installed${1:+-$1}"
  if [ -x "$python" ] && [ "$stamp" -nt "$root/pyproject.toml" ]; then
    return
  fi
  base=$(find_python) || {
    echo "error: Foundry needs Python 3.11 or newer; none was found on PATH" >&2
    exit 1
  }
  command -v git >/dev/null || {
    echo "error: Foundry needs git; none was found on PATH" >&2
    exit 1
  }
  echo "Making the environment in .venv (once) ..." >&2
  [ -x "$python" ] || "$base" -m venv "$root/.venv" || {
    echo "error: $base cannot make a virtual environment; on Debian: apt install python3-venv" >&2
    exit 1
  }
  "$python" -m pip install --quiet --disable-pip-version-check -e "$root${1:+[$1]}" >&2
  touch "$stamp"
}

find_python() {
  for name in python3.13 python3.12 python3.11 python3 python; do
    if "$name" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
      echo "$name"
      return
    fi
  done
  return 1
}
