#!/bin/sh
# Run the public conformance suites and the inspector of the Model Context Protocol against ours.
#
# They come from the npm registry, each into a folder of its own that is kept for the next run. They
# need Node 22; where there is an older one, a Node 22 is taken from the registry too. Without npm
# nothing is run, and that is said. The released suite knows the revisions up to 2025-11-25; that of
# 2026-07-28 is in a preview of the next one.
#
# usage: tools/mcp_conformance.sh [PYTHON]
set -eu

here=$(cd "$(dirname "$0")/.." && pwd)
python=${1:-"$here/.venv/bin/python"}
folder=${MEMHTML_NPM_FOLDER:-"$here/.venv/npm"}
suite=0.1.16
preview=0.2.0-alpha.12
inspector=2.12.0

if ! command -v npm >/dev/null 2>&1; then
    echo "MCP CONFORMANCE DID NOT RUN: there is no npm" >&2
    exit 0
fi

# usage: fetch FOLDER PACKAGE...
fetch() {
    into=$1
    shift
    if [ ! -d "$into/node_modules/@modelcontextprotocol" ]; then
        mkdir -p "$into"
        npm install --prefix "$into" --silent --no-fund --no-audit --no-save "$@"
    fi
}

fetch "$folder" "@modelcontextprotocol/conformance@$suite" \
    "@modelcontextprotocol/inspector@$inspector" node@22
PATH="$folder/node_modules/node/bin:$PATH"
export PATH
fetch "$folder/preview" "@modelcontextprotocol/conformance@$preview"

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

# usage: conform PROGRAM_FOLDER REVISION FLAG...
conform() {
    program=$1 revision=$2
    shift 2
    echo "== conformance suite $("$program/conformance" --version), revision $revision, $*"
    "$program/conformance" server --url "$url" --spec-version "$revision" \
        --output-dir "$work/results" "$@" || status=1
}

for revision in 2025-06-18 2025-11-25; do
    conform "$folder/node_modules/.bin" "$revision" --suite active \
        --expected-failures "$here/tests/mcpserver/conformance.yml"
done
conform "$folder/preview/node_modules/.bin" 2026-07-28 --suite active
for scenario in caching http-header-validation sep-2164-resource-not-found json-schema-2020-12; do
    conform "$folder/preview/node_modules/.bin" 2026-07-28 --scenario "$scenario"
done

# usage: look OVER FLAG...; ask over "stdio" or "http" and say how it went
look() {
    over=$1
    shift
    what="$over $2 ${4:-}"
    if [ "$over" = stdio ]; then
        set -- "$@" -e "PYTHONPATH=$here/src" "$python" -m memhtml serve mcp --repo "$work/store"
    else
        set -- "$@" --transport http --server-url "$url"
    fi
    if "$folder/node_modules/.bin/mcp-inspector" --cli "$@" >"$work/answer.json" 2>"$work/error.txt" &&
        "$python" -c 'import json, sys; sys.exit(bool(json.load(open(sys.argv[1])).get("isError")))' "$work/answer.json"; then
        echo "ok  $what"
    else
        echo "FAILED  $what"
        cat "$work/answer.json" "$work/error.txt"
        status=1
    fi
}

echo "== inspector $inspector"
for over in stdio http; do
    look "$over" --method tools/list
    look "$over" --method tools/call --tool-name memory_write \
        --tool-arg "title=Gate $over" memory_type=semantic "body=The gate is opened over $over."
    look "$over" --method tools/call --tool-name memory_search --tool-arg "query=who opens the gate"
    look "$over" --method resources/list
    look "$over" --method resources/templates/list
    look "$over" --method resources/read --uri memhtml://index
    look "$over" --method prompts/list
    look "$over" --method prompts/get --prompt-name recall-for-task --prompt-args "task=open the gate"
done
exit $status
