#!/bin/sh
# agent.sh: stand in for an agent. It reads a prompt, and writes the file that this asks for.
#
# Its first program is wrong. Told so, it repairs it.
set -eu
prompt=$(cat)

# shellcheck disable=SC2016 # the program expands it
case $prompt in
*greet.sh*'"rule": "command"'*) printf '%s\n' '#!/bin/sh' 'echo "Hello, $1!"' >greet.sh ;;
*greet.sh*) printf '%s\n' '#!/bin/sh' 'echo "Hello $1"' >greet.sh ;;
*release.json*) echo '{"name": "greet", "version": 1}' >release.json ;;
*README.md*) printf '# greet\n\nIt is so nice of you to read this.\n' >README.md ;;
*logo.svg*)
    [ -e colour.txt ] || exec dpl-settle --block 'Which colour has the logo? Write it to colour.txt.'
    echo "<svg xmlns='http://www.w3.org/2000/svg'><rect fill='$(cat colour.txt)'/></svg>" >logo.svg
    ;;
*MANUAL.md*) { echo '# Manual' && cat greet.sh release.json; } >MANUAL.md ;;
*)
    echo 'agent.sh: I do not know that' >&2
    exit 1
    ;;
esac
