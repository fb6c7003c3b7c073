# SPDX-License-Identifier: GPL-2.0-only
# Experiments that are done, written straight into a lab's database: what is found in them is known beforehand.
package Stored;
use strict;
use warnings;
use JSON::PP;

our @scenarios = qw(clear quiet lossy);
# In quiet nothing differs; in lossy round 3 of hint lost events.
our %values = (
	clear => { base => [ 100.5e6, 101e6, 99e6, 102e6, 98e6 ], hint => [ 20e6, 21e6, 19e6, 22e6, 18e6 ] },
	quiet => { base => [ 50e6, 52e6, 51e6, 49e6, 48e6 ], hint => [ 51e6, 49e6, 50e6, 52e6, 47e6 ] },
	lossy => { base => [ 7e6, 8e6, 9e6, 10e6, 11e6 ], hint => [ 7.5e6, 8.5e6, 1e6, 10.5e6, 11.5e6 ] },
);

sub spec {
	my ($kind, $arms) = @_;
	return JSON::PP->new->canonical->encode({
		name => "t", machine => "qemu", subject => "kvm", kind => $kind, rounds => 5, seed => 3,
		arms => [ map { { name => $_, build => "kvm-base" } } @$arms ],
		scenarios => [ map { { name => $_, workload => "w" } } @scenarios ],
		trace => { events => ["a:b"] },
		metrics => [
			{ name => "total", event => "a:b", field => "ns", agg => "sum", unit => "ns", better => "lower", primary => JSON::PP::true },
			{ name => "tail", event => "a:b", field => "ns", agg => "p99.9", unit => "ns", better => "lower" },
		] });
}

sub median {
	my @v = sort { $a <=> $b } @_;
	return ($v[ @v / 2 ] + $v[ (@v - 1) / 2 ]) / 2;
}

# What experiment 1, an A/B one of base and hint, is made of.
sub value {
	my ($scenario, $arm, $round) = @_;
	return $values{$scenario}{ (qw(base hint))[$arm] }[ $round - 1 ];
}

# One experiment that is done and not judged yet; $of says a value of a scenario, an arm (0, 1) and a round. The lab
# must be stopped.
sub experiment {
	my ($lab, $id, $kind, $arms, $of) = @_;
	my $json = spec($kind, $arms);
	my @sql  = ("INSERT INTO experiment (id, name, machine, subject, state, spec, plan, plan_sha256, emulated, created, started, "
		. "ended, kind) VALUES ($id, 't', 'qemu', 'kvm', 'done', '$json', '{}', 'ab', 1, 0, 0, 60000000000, '$kind')");
	my $n = $id * 1000;

	push @sql, map { "INSERT INTO arm VALUES ($id, $_, '$arms->[$_]', 'kvm-base', '{}')" } 0, 1;
	push @sql, map { "INSERT INTO scenario VALUES ($id, $_, '$scenarios[$_]', 'w', '{}')" } 0 .. $#scenarios;
	push @sql, "INSERT INTO metric VALUES ($id, 0, 'total', 'ns', 'sum', -1, 1, NULL), ($id, 1, 'tail', 'ns', 'p99.9', -1, 0, NULL)";
	for my $round (1 .. 5) {
		for my $arm (0, 1) {
			my $slot = $n++;
			push @sql, "INSERT INTO slot (id, experiment, round, position, arm, seed, state) "
				. "VALUES ($slot, $id, $round, $slot, '$arms->[$arm]', '1', 'done')",
				"INSERT INTO boot (id, slot, attempt, state, token, console, env_json, env_key, started, ended) "
				. "VALUES ($slot, $slot, 1, 'ok', '', '', '{}', 'key', 0, 1)";
			for my $s (0 .. $#scenarios) {
				my $run  = $slot * 10 + $s;
				my $lost = $id == 1 && $scenarios[$s] eq "lossy" && $arm && $round == 3 ? 4 : 0;
				my $value = $of->($scenarios[$s], $arm, $round);
				# Only base has enough values for an upper bound.
				my ($count, $high) = $arm ? (2000, "NULL") : (5000, 950);
				push @sql, "INSERT INTO run (id, boot, slot, place, scenario, state, events, lost, complete, done_json, started, capture) "
					. "VALUES ($run, $slot, $slot, $s, '$scenarios[$s]', 'ok', 9, $lost, 1, '{}', 0, 'c')",
					"INSERT INTO sample (run, metric, value, n_events, low, high) VALUES ($run, 'total', $value, 9, NULL, NULL), "
					. "($run, 'tail', 900 + $round, $count, 850, $high)";
				push @sql, "INSERT INTO loss (run, cpu, count, cause) VALUES ($run, 1, $lost, 'ring overrun')" if $lost;
			}
		}
	}
	for my $scenario (@scenarios) {
		my @rounds = $id == 1 && $scenario eq "lossy" ? (1, 2, 4, 5) : 1 .. 5;
		push @sql, "INSERT INTO void_pair VALUES (1, 3, 'lossy', '$_', 'hint lost 4 events')" for @rounds == 4 ? @$arms : ();
		for my $metric (qw(total tail)) {
			my @v = map { my $arm = $_; [ map { $metric eq "tail" ? 900 + $_ : $of->($scenario, $arm, $_) } @rounds ] } 0, 1;
			push @sql, map { my @of = sort { $a <=> $b } @{ $v[$_] };
				"INSERT INTO result (experiment, scenario, metric, arm, n, median, min, max, n_events, values_json, low, high) "
				. "VALUES ($id, '$scenario', '$metric', '$arms->[$_]', " . @rounds . ", " . median(@of) . ", $of[0], $of[-1], "
				. ($metric eq "total" ? "9, '[]', NULL, NULL)" : $_ ? "2000, '[]', 850, NULL)" : "5000, '[]', 850, 950)") } 0, 1;
			my %ratio = map { ($rounds[$_] => $v[1][$_] / $v[0][$_]) } 0 .. $#rounds;
			push @sql, "INSERT INTO compare (experiment, scenario, metric, base, arm, delta, n_pairs, n_lower, n_equal, n_higher, "
				. "paired_delta, ratios_json) VALUES ($id, '$scenario', '$metric', '$arms->[0]', '$arms->[1]', "
				. (median(@{ $v[1] }) / median(@{ $v[0] }) - 1) . ", " . @rounds . ", 0, 0, 0, 0, '["
				. join(",", map { $ratio{$_} // "null" } 1 .. 5) . "]')";
		}
	}
	open my $fh, "|-", "sqlite3", "-bail", "$lab->{data}/lab.db" or die "sqlite3: $!";
	print $fh "BEGIN;\n", join(";\n", @sql), ";\nCOMMIT;\n";
	close $fh or die "sqlite3 failed";
}

1;
