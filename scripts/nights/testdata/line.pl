# line.pl: copy stdin to stdout at the pace of a slow line.
use strict;
use warnings;

while (1) {
    my $n = sysread STDIN, my $text, 1 << 15;
    die "read: $!\n" if !defined $n;
    last if $n == 0;
    for (my $at = 0; $at < $n;) {
        my $wrote = syswrite STDOUT, $text, $n - $at, $at;
        die "write: $!\n" if !defined $wrote;
        $at += $wrote;
    }
    select undef, undef, undef, 0.02;
}
