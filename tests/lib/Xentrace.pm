# SPDX-License-Identifier: GPL-2.0-only
# xentrace streams: made by hand, and decoded a second way, to compare labd's numbers with.
package Xentrace;
use strict;
use warnings;

# A record with a TSC.
sub record {
	my ($id, $tsc, @words) = @_;
	return pack "V Q< V*", 1 << 31 | @words << 28 | $id, $tsc, @words;
}

# What one CPU's buffer gave.
sub window {
	my ($cpu, @records) = @_;
	my $data = join "", @records;
	return pack("V3", 0x2001f003, $cpu, length $data) . $data;
}

# lab-agent's anchors at these TSCs of a 2 GHz clock that began with dom0's, each within 200 ns.
sub anchors {
	my ($seq, @tscs) = @_;
	my $after = 0;
	my @records;
	for my $tsc (@tscs) {
		my $ns = $tsc / 2;
		push @records, record(0x800f1ab, $tsc, $seq++, 2_000_000, unpack "V4", pack "Q<2", $ns - 100, $after);
		$after = $ns + 100;
	}
	return @records;
}

# Answers {records => {id => n}, cpus => {cpu => n}, lost => n, tsc => [first, last], words => {id => [[…], …]}} of a
# file; the words only of the ids in @wanted. Dies where the stream makes no sense.
sub decode {
	my ($path, @wanted) = @_;
	my %wanted = map { $_ => 1 } @wanted;
	open my $fh, "<:raw", $path or die "$path: $!";
	my $data = do { local $/; <$fh> } // "";
	my %all = (records => {}, cpus => {}, lost => 0, words => {});
	my ($at, $end, $cpu) = (0, 0, undef);
	while ($at < length $data) {
		my $header = unpack "V", substr $data, $at, 4;
		my ($id, $n, $has_tsc) = ($header & 0xfffffff, $header >> 28 & 7, $header >> 31);
		my $size = 4 + 8 * $has_tsc + 4 * $n;
		my @words = unpack "V*", substr $data, $at + 4 + 8 * $has_tsc, 4 * $n;
		if ($id == 0x1f003) {
			die "byte $at: a window within a window" if $at != $end;
			$cpu = $words[0];
			$end = $at + $size + $words[1];
			die "byte $at: the window is cut off" if $end > length $data;
		} else {
			die "byte $at: outside of a window" if $at + $size > $end;
			my $tsc = $has_tsc ? unpack "Q<", substr $data, $at + 4, 8 : undef;
			if ($id == 0x1f001) {
				$all{lost} += $words[0];
			} elsif ($id != 0x1f002) {
				$all{records}{$id}++;
				$all{cpus}{$cpu}++;
				push @{ $all{words}{$id} }, \@words if $wanted{$id};
				$all{tsc}[0] //= $tsc;
				$all{tsc}[1] = $tsc // $all{tsc}[1];
			}
		}
		$at += $size;
	}
	return \%all;
}

# Answers {id => n} of a file.
sub count {
	return decode(@_)->{records};
}

1;
