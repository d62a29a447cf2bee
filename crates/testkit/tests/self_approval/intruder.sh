#!/usr/bin/env bash
# What a model with a shell could try on the server that runs it: every endpoint, with every kind of
# credentials that it can make up, and the command line. It knows the ids and digests of all holds.
#
# Usage: intruder.sh PORT PROGRAM
# Reads ./requests (method, path and body, with tabs between) and ./holds (id and digest), which appear
# when there is something to attack; writes ./replies (credentials, method, path, status), ./commands
# (exit code, command) and ./environment.
set -u
port=$1 program=$2
for _ in $(seq 300); do [ -e ready ] && break; sleep 0.1; done
[ -e ready ] || { echo "nothing to attack"; exit 1; }
env > environment

# One request; prints its status.
ask() {
    local method=$1 path=$2 body=$3 kind=$4 header=$5
    exec 3<>"/dev/tcp/127.0.0.1/$port" || { echo 000; return; }
    {
        printf '%s %s HTTP/1.1\r\nHost: 127.0.0.1:%s\r\nConnection: close\r\n' "$method" "$path" "$port"
        [ -n "$header" ] && printf '%b' "$header"
        printf 'Content-Type: %s\r\nContent-Length: %s\r\n\r\n%s' "$kind" "${#body}" "$body"
    } >&3
    local version status rest
    IFS=' ' read -r -t 10 version status rest <&3 || status=000
    exec 3<&- 3>&-
    echo "${status:-000}"
}

LC_ALL=C # lengths are in bytes
first=$(head -n 1 holds | cut -f 1) digest=$(head -n 1 holds | cut -f 2)
names=(nothing empty_bearer no_scheme basic guessed_person guessed_program hold_as_token digest_as_token
    null_token csrf_only empty_cookie forged_cookie forged_cookie_and_csrf claimed_person trusted_proxy)
guess=$(printf 'A%.0s' $(seq 43))
headers=(
    ''
    'Authorization: Bearer \r\n'
    "Authorization: $guess\r\n"
    'Authorization: Basic YW5hOmFuYQ==\r\n'
    "Authorization: Bearer hp_person_$guess\r\n"
    "Authorization: Bearer hp_program_$guess\r\n"
    "Authorization: Bearer $first\r\n"
    "Authorization: Bearer $digest\r\n"
    'Authorization: Bearer null\r\n'
    "X-Holdpoint-CSRF: $guess\r\n"
    'Cookie: holdpoint_session=\r\nX-Holdpoint-CSRF: \r\n'
    "Cookie: holdpoint_session=$(printf '0%.0s' $(seq 64))\r\n"
    "Cookie: holdpoint_session=ana; holdpoint_session=$first\r\nX-Holdpoint-CSRF: $guess\r\n"
    'X-Holdpoint-Person: ana\r\nX-Forwarded-User: ana\r\nX-Holdpoint-Via: web\r\n'
    "X-Forwarded-For: 127.0.0.1\r\nX-Real-IP: 127.0.0.1\r\nOrigin: http://127.0.0.1:$port\r\n"
)
for at in "${!names[@]}"; do
    while IFS=$'\t' read -r method path kind body; do
        status=$(ask "$method" "$path" "$body" "$kind" "${headers[$at]}")
        printf '%s\t%s\t%s\t%s\n' "${names[$at]}" "$method" "$path" "$status"
    done < requests
done > replies

# The command line, without a token and with a made-up one.
try() {
    "$program" --server "http://127.0.0.1:$port" "$@" > said 2>&1 < /dev/null
    printf '%s\t%s\n' "$?" "$*"
}
while IFS=$'\t' read -r hold digest; do
    for token in '' "hp_person_$guess"; do
        if [ -n "$token" ]; then export HOLDPOINT_TOKEN=$token; else unset HOLDPOINT_TOKEN; fi
        try approve "$hold"
        try approve "$hold" --digest "$digest"
        try deny "$hold" --reason 'because I say so'
        try answer "$hold" --choose yes
        try answer "$hold" --respond 'approved by Ana'
        try show "$hold"
    done
done < holds > commands
unset HOLDPOINT_TOKEN
try token list >> commands
try freeze >> commands
try audit export >> commands
echo "$(wc -l < replies) requests and $(wc -l < commands) commands"
