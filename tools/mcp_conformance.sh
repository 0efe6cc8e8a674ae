#!/bin/sh
# Run the public conformance suite and the inspector of the Model Context Protocol against ours.
#
# Both come from the npm registry, into a folder of their own that is kept for the next run. They
# need Node 22; where there is an older one, a Node 22 is taken from the registry too. Without npm
# nothing is run, and that is said.
#
# usage: tools/mcp_conformance.sh [PYTHON]
set -eu

here=$(cd "$(dirname "$0")/.." && pwd)
python=${1:-"$here/.venv/bin/python"}
folder=${MEMHTML_NPM_FOLDER:-"$here/.venv/npm"}
suite=0.1.16
inspector=2.12.0

if ! command -v npm >/dev/null 2>&1; then
    echo "MCP CONFORMANCE DID NOT RUN: there is no npm" >&2
    exit 0
fi
mkdir -p "$folder"
if [ ! -x "$folder/node_modules/.bin/conformance" ]; then
    (cd "$folder" && npm install --silent --no-fund --no-audit --no-save \
        "@modelcontextprotocol/conformance@$suite" "@modelcontextprotocol/inspector@$inspector" \
        node@22)
fi
PATH="$folder/node_modules/node/bin:$folder/node_modules/.bin:$PATH"
export PATH

work=$(mktemp -d)
port=$("$python" -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
(cd "$here" && PYTHONPATH="$here/src:$here" exec "$python" -m tests.mcpserver.fixture "$work/store" "$port") &
server=$!
trap 'kill "$server" 2>/dev/null || true; rm -rf "$work"' EXIT
url="http://127.0.0.1:$port/mcp"
until "$python" -c "import socket; socket.create_connection(('127.0.0.1', $port), 1)" 2>/dev/null; do
    kill -0 "$server"
    sleep 0.2
done

status=0
for revision in 2025-06-18 2025-11-25; do
    echo "== conformance suite $suite, revision $revision"
    conformance server --url "$url" --suite active --spec-version "$revision" \
        --expected-failures "$here/tests/mcpserver/conformance.yml" \
        --output-dir "$work/results-$revision" || status=1
done

echo "== inspector $inspector over stdio"
for method in tools/list resources/list resources/templates/list prompts/list; do
    if mcp-inspector --cli --method "$method" \
        -e "PYTHONPATH=$here/src" "$python" -m memhtml serve mcp --repo "$work/store" \
        >"$work/answer.json"; then
        "$python" -c 'import json, sys; (name, found), *_ = json.load(open(sys.argv[1])).items(); print(f"ok  {name}: {len(found)}")' "$work/answer.json"
    else
        echo "FAILED  $method"
        status=1
    fi
done
exit $status
