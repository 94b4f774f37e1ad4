# Completions of the dpl commands for fish, made by scripts/docs from --help --json.


# __dpl_given FLAG: print the value of FLAG on the line, with a variable at its beginning expanded
function __dpl_given
    set -l value
    set -l line (commandline -op)
    for i in (seq (count $line))
        switch $line[$i]
            case --
                break
            case "--$argv[1]=*" "-$argv[1]=*"
                set value (string replace -r '^[^=]*=' '' -- $line[$i])
            case "--$argv[1]" "-$argv[1]"
                set value $line[(math $i + 1)]
        end
    end
    if set -l name (string match -r '^\$\{?([A-Za-z_]\w*)\}?(.*)$' -- "$value")
        set -l variable $name[2]
        set value $$variable$name[3]
    end
    string replace -r '^~/' "$HOME/" -- "$value"
end

# __dpl_ids KIND: print the ids of operations, calls, groups, services, queues, tasks, or things that can be ready,
# in the ledger of the line
function __dpl_ids
    type -q dpl-status; or return
    set -l ledger (__dpl_given ledger)
    set -l op (__dpl_given op)
    set -l group (__dpl_given group)
    set -l queue (__dpl_given queue)
    set -l first (commandline -opc)[2]
    if test -z "$queue"; and string match -q -r '^dpl-(claim|enqueue|queue|settle)$' -- (commandline -opc)[1]
        string match -q -- '-*' "$first"; or set queue $first
    end
    test -n "$queue"; or set queue $DPL_QUEUE
    set -l kind $argv[1]
    set -l which
    test -n "$op"; or set op $DPL_OP
    if test $kind = ready
        set kind calls
        if test -n "$group" -o -z "$op"
            set kind services
        end
    end
    test -n "$group"; or set group $DPL_GROUP
    switch $kind
        case groups
            set which --groups
        case calls
            test -n "$op"; or return
            set which --op $op
        case services
            test -n "$group"; or return
            set which --group $group
        case queues
            set which --queues
        case tasks
            test -n "$queue"; or return
            set which --queue $queue
    end
    test -n "$ledger"; and set which $which --ledger $ledger
    dpl-status --ids $which 2>/dev/null
end

# __dpl_command FLAG...: print the index of the word at which a command begins, after the flags, or
# nothing if the word to complete is still one of the flags. Each FLAG takes a value.
function __dpl_command
    set -l line (commandline -opc)
    set -l i 2
    if string match -q -r '^dpl-(claim|enqueue|queue|serve|settle|work)$' -- $line[1]
        string match -q -- '-*' "$line[2]"; or set i 3
    end
    if test $i = 3 -a $line[1] = dpl-serve
        string match -q -- '-*' "$line[3]"; or set i 4
    end
    while test $i -le (count $line)
        set -l name (string replace -r '^--?' '' -- $line[$i])
        switch $line[$i]
            case --
                math $i + 1
                return
            case '-*=*'
            case '-?*'
                contains -- $name $argv; and set i (math $i + 1)
            case '*'
                echo $i
                return
        end
        set i (math $i + 1)
    end
    test $i -le (math (count $line) + 1)
    and not string match -q -- '-*' (commandline -ct)
    and echo $i
end

# __dpl_rest N: complete the command that begins at word N
function __dpl_rest
    test -n "$argv[1]"; or return
    set -l line (commandline -opc)
    complete -C (string join ' ' -- (string escape -- $line[$argv[1]..]) (commandline -ct))
end

# __dpl_sub: complete the line of "dpl push" like that of dpl-push
function __dpl_sub
    set -l line (commandline -opc)
    if test (count $line) = 1; or test "$line[2]" = help -a (count $line) = 2
        string split " " "demo help links version"
        for command in $PATH/dpl-*
            test -x $command; and string replace -r '.*/dpl-' '' -- $command
        end
        return
    end
    complete -C (string join ' ' -- (string escape -- dpl-$line[2] $line[3..]) (commandline -ct))
end

complete -c dpl -f -a '(__dpl_sub)'
