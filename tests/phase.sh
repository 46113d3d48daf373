# Sourced by tests/run and .ci/run: phases with their seconds, and the sum of what `cargo test` reports.

# phase NAME COMMAND...: runs it, says how long it took, and returns its status.
phase() {
  local name=$1 start=$SECONDS status=0
  shift
  printf '\n== %s\n' "$name"
  "$@" || status=$?
  printf '== %s: %s, %d s\n' "$name" "$([ "$status" -eq 0 ] && echo ok || echo "failed ($status)")" $((SECONDS - start))
  return "$status"
}

# tally < LOG: "PASSED FAILED" over all test binaries in the log. A binary that dies leaves no result line, but cargo
# lists it among the targets that failed: it counts as one failure.
tally() {
  awk '
    /^test result: / {
      for (i = 1; i < NF; i++) { if ($(i + 1) ~ /^passed/) passed += $i; if ($(i + 1) ~ /^failed/) failed += $i }
    }
    /^test result: FAILED/ { reported++ }
    /^error: [0-9]+ targets? failed:/ { listing = 1; next }
    listing && /^    `/ { listed++; next }
    { listing = 0 }
    END { dead = listed - reported; printf "%d %d\n", passed, failed + (dead > 0 ? dead : 0) }
  '
}
