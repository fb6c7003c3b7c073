#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only
# What report and API say of one and the same experiment on a machine whose times are a host's, and on one whose
# clock counts instructions: whose clock it is beside each table of times, which view is first, what the spread is.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use Labd;
use Test::More;

my $lab = Labd->new;
$lab->stop;

my %clock = (qemu => "the host's wall clock; all emulated CPUs share one host thread",
	bochs => "instructions at 100 MIPS, emulated; no caches, no IPI cost");
my @machines = (undef, "qemu", "bochs");

sub db {
	open my $fh, "|-", "sqlite3", "-bail", "$lab->{data}/lab.db" or die "sqlite3: $!";
	print $fh @_;
	close $fh or die "sqlite3 failed";
}

# base; same, a copy of base; hint, which halves most of it; rare, above a base of zero.
my %values = (base => [ 4e6, 8e6, 16e6 ], same => [ 4e6, 8e6, 16e6 ], hint => [ 1e6, 4e6, 20e6 ]);
for my $id (1, 2) {
	my $machine = $machines[$id];
	my $quoted = $clock{$machine} =~ s/'/''/gr;
	my $json    = "json_object('clock', '$quoted'" . ($id == 2 ? ", 'deterministic', json('true')" : "") . ")";
	db("INSERT INTO experiment (id, name, machine, subject, state, spec, plan, plan_sha256, machine_json, emulated, "
		. "created, started, ended) VALUES ($id, 't', '$machine', 'kvm', 'done', '{\"rounds\":3}', '{}', '', $json, 1, "
		. "0, 0, 60000000000);\n",
		"INSERT INTO scenario VALUES ($id, 0, 'same16', 'w', '{}');\n",
		"INSERT INTO metric VALUES ($id, 0, 'zap_total', 'ns', 'sum', -1, 1, NULL), "
		. "($id, 1, 'skipped', '1', 'sum', 0, 0, NULL);\n");
	my $position = 0;
	for my $arm (qw(base same hint)) {
		my @v = @{ $values{$arm} };
		db("INSERT INTO arm VALUES ($id, $position, '$arm', 'b', '{}');\n",
			(map { "INSERT INTO slot (experiment, round, position, arm, seed, state) VALUES ($id, $_, "
				. ($position * 3 + $_) . ", '$arm', '1', 'done');\n" } 1 .. 3),
			"INSERT INTO result (experiment, scenario, metric, arm, n, median, min, max, n_events, values_json) "
			. "VALUES ($id, 'same16', 'zap_total', '$arm', 3, $v[1], $v[0], $v[2], 9, '[]'), "
			. "($id, 'same16', 'skipped', '$arm', 3, " . ($arm eq "hint" ? 7 : 0) . ", 0, 7, 9, '[]');\n");
		$position++;
	}
	my $columns = "(experiment, scenario, metric, base, arm, delta, n_pairs, n_lower, n_equal, n_higher, paired_delta, "
		. "ratios_json)";
	db("INSERT INTO compare $columns VALUES ($id, 'same16', 'zap_total', 'base', 'same', 0, 3, 0, 3, 0, 0, '[1.0,1.0,1.0]'), "
		. "($id, 'same16', 'zap_total', 'base', 'hint', -0.5, 3, 2, 0, 1, -0.5, '[0.25,0.5,1.25]'), "
		. "($id, 'same16', 'skipped', 'base', 'same', NULL, 3, 0, 3, 0, 0, '[1.0,1.0,1.0]'), "
		. "($id, 'same16', 'skipped', 'base', 'hint', NULL, 3, 0, 0, 3, NULL, '[null,null,null]');\n");
}
# One of before the paired view was stored.
db("INSERT INTO experiment (id, name, machine, subject, state, spec, plan, plan_sha256, created) "
	. "VALUES (3, 'old', 'qemu', 'kvm', 'queued', '{\"rounds\":3}', '{}', '', 0);\n",
	"INSERT INTO scenario VALUES (3, 0, 's', 'w', '{}'); INSERT INTO arm VALUES (3, 0, 'base', 'b', '{}'), "
	. "(3, 1, 'x', 'b', '{}'); INSERT INTO metric VALUES (3, 0, 'm', 'ns', 'sum', 0, 0, NULL);\n",
	"INSERT INTO compare (experiment, scenario, metric, base, arm, delta, n_pairs, n_lower) "
	. "VALUES (3, 's', 'm', 'base', 'x', 0, 3, 1);\n");
$lab->start;

for my $id (1, 2) {
	my $machine = $machines[$id];
	my $text    = $lab->get("/api/v1/experiments/$id/report")->{content};
	my ($paired, $medians) = map { index $text, $_ } "\nPaired: ", "\nMedians of the boots' values";
	cmp_ok($paired, ">", 0, "$machine: the report has the paired view");
	is($paired < $medians ? "first" : "beside", $id == 2 ? "first" : "beside", "$machine: at its place");
	like($text, qr/same16 +same +0\.0% +0\/3 +3\/3 +0\/3  identical in all 3 rounds\n/, "$machine: A/A is identical");
	like($text, qr/ hint +-50\.0% +2\/3 +0\/3 +1\/3  -75\.0% to \+25\.0%\n/, "$machine: hint by rounds");
	like($text, qr/ hint +- +0\/3 +0\/3 +3\/3  - \(the base is zero\)\n/, "$machine: no ratio over zero");
	# Line breaks apart, the clock stands below each title of a table of times, and below no other.
	(my $flat = $text) =~ s/\n {9}(?=\S)/ /g;
	my $named = () = $flat =~ /\nzap_total.*\n  clock: \Q$clock{$machine}\E\n/g;
	is($named, 3, "$machine: the clock stands beside all three tables of times");
	unlike($flat, qr/\nskipped.*\n  clock:/, "$machine: and beside none of counts");
	like($text, qr/^clock +\S/m, "$machine: and in the head");
	is($text =~ /sensitivity/ ? 1 : 0, $id - 1, "$machine: the spread is called sensitivity where it is that");
	is($text =~ /wall clock of an emulator/ ? 1 : 0, 2 - $id, "$machine: wall clock only where it is one");
	unlike($text, qr/improved|regressed|inconclusive|no change larger/i, "$machine: no verdict before there is one");
	is((grep { length > 75 } split /\n/, $text =~ s/^  sqlite3.*//msr) + 0, 0, "$machine: at most 75 columns");

	my $results = $lab->get("/api/v1/experiments/$id/results")->{json};
	is($results->{clock}, $clock{$machine}, "$machine: results name the clock");
	is($results->{deterministic} ? 1 : 0, $id - 1, "$machine: deterministic or not");
	is($results->{spread}, $id == 2 ? "sensitivity" : "noise", "$machine: what the spread is");
	my ($hint) = grep { $_->{arm} eq "hint" && $_->{metric} eq "zap_total" } @{ $results->{compare} };
	is_deeply($hint->{ratios}, [ 0.25, 0.5, 1.25 ], "$machine: ratios by round");
	is("$hint->{paired_delta} $hint->{n_lower} $hint->{n_equal} $hint->{n_higher}", "-0.5 2 0 1", "$machine: the pairs");
}

my $r = $lab->get("/api/v1/experiments/3/report");
is($r->{status}, 200, "an old experiment has its report");
unlike($r->{content}, qr/Paired/, "without a view that was never stored");
is($lab->get("/api/v1/experiments/3/results")->{json}{clock}, undef, "and without a clock that nobody told");
done_testing;
