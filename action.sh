#!/usr/bin/env bash
# The step of action.yml that runs `mishap run`, with the action's inputs in INPUT_*.
set -euo pipefail

arguments=(--verdict "$RUNNER_TEMP/mishap-verdict.json")
[ -z "$INPUT_UPSTREAM" ] || arguments+=(-u "$INPUT_UPSTREAM")
[ -z "$INPUT_SERVE" ] || arguments+=(--serve "$INPUT_SERVE")
while IFS= read -r profile; do
  [ -z "$profile" ] || arguments+=(-p "$profile")
done <<< "$INPUT_PROFILES"
while IFS= read -r argument; do
  [ -z "$argument" ] || arguments+=("$argument")
done <<< "$INPUT_ARGUMENTS"

echo "verdict=$RUNNER_TEMP/mishap-verdict.json" >> "$GITHUB_OUTPUT"
exec mishap run "${arguments[@]}" -- bash -c "$INPUT_COMMAND"
